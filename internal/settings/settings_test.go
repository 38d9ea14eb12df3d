package settings_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/settings"
	"github.com/copse-dev/copse/internal/yamlfile"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// show returns what a file says, for comparison.
func show(values fmt.Stringer, warnings []settings.Warning, err error) string {
	if err != nil {
		return err.Error()
	}
	lines := []string{values.String()}
	for _, w := range warnings {
		lines = append(lines, w.String())
	}
	return strings.Join(lines, "\n")
}

type printed struct{ v any }

func (p printed) String() string { return fmt.Sprintf("%+v", p.v) }

func TestUser(t *testing.T) {
	t.Parallel()
	const all = "commands.runner, items.branch, items.database, items.directory, items.done, items.project, items.sync, jira.host, stacks.sources, tasks.pass_credentials"
	for text, want := range map[string]string{
		"":            "{Commands:{Runner:} Items:{Items:{Done:[] Project:} Directory:map[] Database:map[] Branch: Sync:} Jira:{Host:} Stacks:{Sources:[]} Tasks:{PassCredentials:false}}",
		"# nothing\n": "{Commands:{Runner:} Items:{Items:{Done:[] Project:} Directory:map[] Database:map[] Branch: Sync:} Jira:{Host:} Stacks:{Sources:[]} Tasks:{PassCredentials:false}}",
		"commands: {runner: deno}\nitems:\n  done: [shipped]\n  directory: {~/src/a: ~/notes, /b: /c}\njira: {host: j.example}\ntasks: {pass_credentials: true}\n": "{Commands:{Runner:deno} Items:{Items:{Done:[shipped] Project:} Directory:map[/b:/c ~/src/a:~/notes] Database:map[] Branch: Sync:} Jira:{Host:j.example} Stacks:{Sources:[]} Tasks:{PassCredentials:true}}",
		"commands:\n  runner: node\n":                        `FILE cannot be used: commands.runner is "node"; use native or deno`,
		"commands: [":                                        "FILE cannot be used: line 1: sequence end token ']' not found",
		"commands:\n  runner: [a, b]\n":                      "FILE cannot be used: line 2: expected text, got a list",
		"tasks:\n  pass_credentials: perhaps\n":              "FILE cannot be used: line 2: expected true or false, got text",
		"items:\n  directory: ../elsewhere\n":                "FILE cannot be used: line 2: expected a mapping, got text",
		"items:\n  directory: {/a: ../b}\n":                  `FILE cannot be used: items.directory has the path "../b"; write an absolute path, or one that begins with ~/`,
		"items:\n  database: {a: 'postgres://ada:pw@h/d'}\n": `FILE cannot be used: items.database has the path "a"; write an absolute path, or one that begins with ~/`,
		"items:\n  sync: often\n":                            `FILE cannot be used: items.sync is "often"; use manual or after-change`,
		"- a\n":                                              "FILE cannot be used: line 1: expected a mapping, got a list",
		"jira:\n  token: x\nother: {a: 1}\n":                 "{Commands:{Runner:} Items:{Items:{Done:[] Project:} Directory:map[] Database:map[] Branch: Sync:} Jira:{Host:} Stacks:{Sources:[]} Tasks:{PassCredentials:false}}\nFILE:2: jira.token is ignored, because there is no such setting; use " + all + "\nFILE:3: other is ignored, because there is no such setting; use " + all,
		"jira.host: x\n":                                     "{Commands:{Runner:} Items:{Items:{Done:[] Project:} Directory:map[] Database:map[] Branch: Sync:} Jira:{Host:} Stacks:{Sources:[]} Tasks:{PassCredentials:false}}\nFILE:1: \"jira.host\" is ignored, because there is no such setting; use jira.host",
		"items: {syncc: manual}\n":                           "{Commands:{Runner:} Items:{Items:{Done:[] Project:} Directory:map[] Database:map[] Branch: Sync:} Jira:{Host:} Stacks:{Sources:[]} Tasks:{PassCredentials:false}}\nFILE:1: items.syncc is ignored, because there is no such setting; use items.sync",
	} {
		path := filepath.Join(t.TempDir(), settings.UserName)
		write(t, path, text)
		f := settings.OpenUser(path)
		s, err := f.Get()
		got := strings.ReplaceAll(show(printed{s}, f.Warnings(), err), path, "FILE")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	for _, path := range []string{"", filepath.Join(t.TempDir(), "missing")} {
		if s, err := settings.OpenUser(path).Get(); err != nil || s.Commands.Runner == settings.Deno || s.Tasks.PassCredentials {
			t.Errorf("without a file: %+v, %v", s, err)
		}
	}
}

// A repository sets what can do no harm, whatever else its file says.
func TestRepository(t *testing.T) {
	t.Parallel()
	const cannot = ", because a repository cannot set it; set it in your own settings, /home/me/config.yml"
	for text, want := range map[string]string{
		"":                        "{Items:{Done:[] Project:}}",
		"items: {done: [a, b]}\n": "{Items:{Done:[a b] Project:}}",
		"items: {project: shop, database: {/: 'postgres://ada:pw@evil.example/db'}}\n": "{Items:{Done:[] Project:shop}}\n.copse.yml:1: items.database is ignored" + cannot,
		"commands:\n  runner: deno\n": "{Items:{Done:[] Project:}}\n.copse.yml:2: commands.runner is ignored" + cannot,
		"tasks: {pass_credentials: true}\nitems:\n  done: [a]\n  directory:\n    /a: /b\njira: {host: evil.example}": "{Items:{Done:[a] Project:}}\n.copse.yml:1: tasks.pass_credentials is ignored" + cannot +
			"\n.copse.yml:4: items.directory is ignored" + cannot + "\n.copse.yml:6: jira.host is ignored" + cannot,
		"x: &x {pass_credentials: true}\ntasks:\n  <<: *x\n": "{Items:{Done:[] Project:}}\n.copse.yml:1: x is ignored, because there is no such setting; use items.done, items.project\n.copse.yml:1: tasks.pass_credentials is ignored, because a repository cannot set it; set it in your own settings, /home/me/config.yml",
		"items: {done: 1}\n":                      ".copse.yml cannot be used: line 1: expected a list, got a number",
		"\"a\\u202e\\n## b\": 1\n":                "{Items:{Done:[] Project:}}\n.copse.yml:1: \"a\\u202e\\n## b\" is ignored, because there is no such setting; use items.done, items.project",
		strings.Repeat("k", 200) + ": 1\n":        "{Items:{Done:[] Project:}}\n.copse.yml:1: \"" + strings.Repeat("k", 79) + "…\" is ignored, because there is no such setting; use items.done, items.project",
		"a: &a [*a]\n":                            ".copse.yml cannot be used: line 1: the alias *a is a part of its own value",
		strings.Repeat("#", yamlfile.MaxSize+1):   fmt.Sprintf(".copse.yml cannot be used: has %d bytes; the limit is %d", yamlfile.MaxSize+1, yamlfile.MaxSize),
		"items: " + strings.Repeat("[", 101):      ".copse.yml cannot be used: it nests more than 100 collections",
		"items: {done: " + bomb(7) + "}":          "",
		"commands:\n  runner: " + bomb(12) + "\n": "",
	} {
		root := t.TempDir()
		write(t, filepath.Join(root, settings.RepositoryName), text)
		f := settings.OpenRepository(root, "/home/me/config.yml")
		s, err := f.Get()
		got := show(printed{s}, f.Warnings(), err)
		if want == "" {
			want = ".copse.yml cannot be used: line 1: its aliases expand to more than 65536 bytes; write the values out, or use fewer"
			got = strings.Replace(got, "line 2:", "line 1:", 1)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

// bomb returns a short text that aliases expand to nine to the power of levels.
func bomb(levels int) string {
	inner := "&a0 [x,x,x,x,x,x,x,x,x]"
	for i := range levels {
		alias := fmt.Sprintf("*a%d", i)
		inner = fmt.Sprintf("&a%d [%s,%s]", i+1, inner, strings.Join([]string{alias, alias, alias, alias, alias, alias, alias, alias}, ","))
	}
	return inner
}

func TestManyWarnings(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	var text strings.Builder
	for i := range 10 {
		fmt.Fprintf(&text, "k%d: 1\n", i)
	}
	write(t, filepath.Join(root, settings.RepositoryName), text.String())
	if all := settings.OpenRepository(root, "").Warnings(); len(all) != 10 || strings.Contains(all[9].Problem, "more") {
		t.Errorf("10 warnings: %v", all)
	}
	for i := range 20 {
		fmt.Fprintf(&text, "l%d: 1\n", i)
	}
	write(t, filepath.Join(root, settings.RepositoryName), text.String())
	got := settings.OpenRepository(root, "").Warnings()
	if len(got) != 10 || !strings.HasSuffix(got[9].Problem, " (and 20 more)") {
		t.Errorf("got %v", got)
	}
}

// The file of a repository is in the repository.
func TestRepositoryLink(t *testing.T) {
	t.Parallel()
	root, elsewhere := t.TempDir(), t.TempDir()
	write(t, filepath.Join(elsewhere, "secret.yml"), "items: {done: [secret]}\n")
	if err := os.Symlink(filepath.Join(elsewhere, "secret.yml"), filepath.Join(root, settings.RepositoryName)); err != nil {
		t.Skip("no symbolic links here")
	}
	s, err := settings.OpenRepository(root, "").Get()
	if err == nil || s.Items.Done != nil || strings.Contains(err.Error(), elsewhere) {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestDirectoryOf(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	real := filepath.Join(home, "src", "shop")
	if err := errors.Join(os.MkdirAll(real, 0o700), os.Symlink("src", filepath.Join(home, "link"))); err != nil {
		t.Skip(err)
	}
	items := settings.UserItems{Directory: map[string]string{"~/link/shop": "~/notes/shop", "/other": "/elsewhere"}}
	for root, want := range map[string]string{
		real: filepath.Join(home, "notes", "shop"), filepath.Join(home, "link", "shop"): filepath.Join(home, "notes", "shop"),
		"/other": "/elsewhere", "/other/sub": "", "": "",
	} {
		if got, _ := items.DirectoryOf(home, root); got != want {
			t.Errorf("%s: %q, want %q", root, got, want)
		}
	}
}

// Each setting that a repository may have is one that a user may have, and is documented.
func TestKeys(t *testing.T) {
	t.Parallel()
	shared := 0
	for _, k := range settings.Keys() {
		if k.Doc == "" || k.Form == "" {
			t.Errorf("%s is not documented", k.Name)
		}
		if k.Shared {
			shared++
		}
	}
	if shared != 2 {
		t.Errorf("a repository can set %d keys; make sure that none of them can do harm, then correct this number", shared)
	}
}
