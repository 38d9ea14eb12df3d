package recipe_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/recipe"
	"github.com/copse-dev/copse/internal/recipe/capture"
	"github.com/copse-dev/copse/internal/test/need"
	"github.com/copse-dev/copse/internal/xec"
)

// project makes a project of files, beside a directory that has a justfile too.
func project(t *testing.T, files map[string]string) (*recipe.Justfile, string) {
	t.Helper()
	if _, err := xec.Env(os.Environ()).LookPath("just"); err != nil {
		need.Skip(t, "just is not installed")
	}
	top := gittest.Dir(t)
	root := filepath.Join(top, "project")
	gittest.Write(t, filepath.Join(top, "justfile"), "evil:\n  echo evil\n")
	gittest.Write(t, filepath.Join(root, "other", "justfile"), "evil:\n  echo evil\n")
	for name, text := range files {
		gittest.Write(t, filepath.Join(root, name), text)
	}
	return recipe.New(root, os.Environ(), recipe.NewJournal(filepath.Join(top, "state"), root), recipe.Options{}), root
}

// run runs a recipe and tells everything about it in one text.
func run(t *testing.T, j *recipe.Justfile, c recipe.Call) string {
	t.Helper()
	var out capture.Output
	r, err := j.Run(t.Context(), c, &out)
	text, _ := out.Text()
	if err != nil {
		return text + "error: " + err.Error()
	}
	if r.Failed() {
		text += fmt.Sprintf("[%d %s]", r.ExitCode, r.Problem)
	}
	return text
}

const full = `
import 'more.just'
import? 'optional.just'
mod sub
alias b := build

# Build it
[group('dev')]
build target='all' *flags: dep
  @echo building {{target}} {{flags}}
  @echo warned >&2

[group('dev'), group('ci')]
dep:
  @echo dep
_hidden:
  @echo hidden
[private]
secret:
  @echo secret
[confirm]
danger:
  @echo boom
deploy env +hosts:
  @echo {{env}}: {{hosts}}
fail:
  @echo before
  @exit 3
input:
  @read line || echo no input
`

func TestRecipes(t *testing.T) {
	t.Parallel()
	j, _ := project(t, map[string]string{
		"Justfile": full, "more.just": "import 'deep/er.just'\nimported:\n  @echo imported\n", "deep/er.just": "deeper:\n  @echo deeper\n",
		"sub.just": "# In a module\nfoo a:\n  @echo foo {{a}}\n_private:\n  @echo p\n",
	})
	recipes, err := j.Recipes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range recipes {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s | %s %v %v", r.Usage(), r.Doc, r.Groups, r.Aliases)))
	}
	if diff := cmp.Diff([]string{
		"build target='all' *flags | Build it [dev] [b]",
		"danger |  [] []",
		"deeper |  [] []",
		"dep |  [ci dev] []",
		"deploy env +hosts |  [] []",
		"fail |  [] []",
		"imported |  [] []",
		"input |  [] []",
		"sub::foo a | In a module [] []",
	}, got); diff != "" {
		t.Error(diff)
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	j, _ := project(t, map[string]string{"justfile": full, "more.just": "x:\n  @echo x\n", "sub.just": "foo a:\n  @echo foo {{a}}\n"})
	for _, tt := range []struct {
		call recipe.Call
		want string
	}{
		{recipe.Call{Name: "build"}, "dep\nbuilding all\nwarned\n"},
		{recipe.Call{Name: "b", Args: []string{"x", "--list", "dep"}}, "dep\nbuilding x --list dep\nwarned\n"},
		{recipe.Call{Name: "deploy", Args: []string{"-f", "/etc/passwd"}}, "-f: /etc/passwd\n"},
		{recipe.Call{Name: "sub::foo", Args: []string{"a=b"}}, "foo a=b\n"},
		{recipe.Call{Name: "fail"}, "before\nerror: recipe `fail` failed on line 28 with exit code 3\n[3 ]"},
		{recipe.Call{Name: "input"}, "no input\n"},
		{recipe.Call{Name: "danger"}, "Run recipe `danger`? error: recipe `danger` was not confirmed\n[1 the recipe asks for confirmation, which only a person can give: with `copse task run` in a terminal]"},
		{recipe.Call{Name: "danger", Person: true}, "Run recipe `danger`? error: recipe `danger` was not confirmed\n[1 the recipe was not confirmed; run it in a terminal, or with --yes before its name]"},
		{recipe.Call{Name: "danger", Confirmed: true}, "boom\n"},
		{recipe.Call{Name: "dep", Args: []string{"fail"}}, "error: dep was called with 1 argument; call it as `dep`"},
		{recipe.Call{Name: "deploy", Args: []string{"a"}}, "error: deploy was called with 1 argument; call it as `deploy env +hosts`"},
	} {
		if got := run(t, j, tt.call); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.call, got, tt.want)
		}
	}
}

// Only the project's own public recipes are run.
func TestRefused(t *testing.T) {
	t.Parallel()
	j, _ := project(t, map[string]string{"justfile": "a:\n  @echo ran\n_b:\n  @echo ran\n[private]\nc:\n  @echo ran\nalias _d := a\n"})
	for _, name := range []string{
		"", "--list", "-f", "--init", "--choose", "--evaluate", "../evil", "../a", "other/evil", "/a", "x=1", "a=1", "_b", "c", "_d", "a b", "a\x00", "A", "::a", "a::", "evil", "--",
	} {
		if got := run(t, j, recipe.Call{Name: name}); !strings.HasPrefix(got, "error: There is no task ") || !strings.HasSuffix(got, "Tasks: a") {
			t.Errorf("%q: %q", name, got)
		}
	}
}

func TestBadFiles(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"none":    {nil, "There is no justfile in the project root."},
		"several": {map[string]string{"justfile": "", ".justfile": ""}, "There are several justfiles in the project root: .justfile, justfile. Keep one"},
		"syntax":  {map[string]string{"justfile": "a:\n  @echo\nb\n"}, `justfile, line 3: "expected`},
		"import":  {map[string]string{"justfile": "import 'x.just'\n", "x.just": "a:\n  @echo\n}\n"}, "x.just, line 3: it cannot be read"},
		"missing": {map[string]string{"justfile": "import 'x.just'\n"}, "could not find source file for import"},
		"empty":   {map[string]string{"justfile": ""}, `There is no task "a"; the justfile has none`},
	} {
		j, root := project(t, tt.files)
		for range 2 { // the cached answer is the same
			if got := run(t, j, recipe.Call{Name: "a"}); !strings.Contains(got, tt.want) || strings.Contains(got, root) {
				t.Errorf("%s: %q", name, got)
			}
		}
	}
	_, root := project(t, map[string]string{"justfile": full})
	bare := recipe.New(root, xec.Env{"PATH=" + t.TempDir()}, recipe.NewJournal("", root), recipe.Options{})
	if got := run(t, bare, recipe.Call{Name: "a"}); !strings.Contains(got, "`just` is not installed") {
		t.Errorf("without just: %q", got)
	}
}

// What JUST_… variables say does not count.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	_, root := project(t, map[string]string{"justfile": "a:\n  @echo own\n"})
	env := xec.Env(os.Environ()).With("JUST_JUSTFILE="+filepath.Join(filepath.Dir(root), "justfile"), "JUST_DRY_RUN=true", "JUST_COLOR=always")
	j := recipe.New(root, env, recipe.NewJournal("", root), recipe.Options{})
	if got := run(t, j, recipe.Call{Name: "a"}); got != "own\n" {
		t.Errorf("got %q", got)
	}
}

// The recipes are read again when a file changes, and only then.
func TestKept(t *testing.T) {
	t.Parallel()
	j, root := project(t, map[string]string{"justfile": "import? 'later.just'\nmod? sub\nimport 'more.just'\na:\n  @echo\n", "more.just": "b:\n  @echo\n"})
	counter := filepath.Join(root, "calls")
	wrapper := filepath.Join(t.TempDir(), "just") // one in the project does not count
	program, err := xec.Env(os.Environ()).LookPath("just")
	if err != nil {
		t.Fatal(err)
	}
	gittest.Write(t, wrapper, "#!/bin/sh\necho x >>"+counter+"\nexec "+program+" \"$@\"\n")
	if err := os.Chmod(wrapper, 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	j = recipe.New(root, xec.Env(os.Environ()).With("PATH="+filepath.Dir(wrapper)+string(os.PathListSeparator)+os.Getenv("PATH")), recipe.NewJournal("", root), recipe.Options{})
	names := func() string {
		recipes, err := j.Recipes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, r := range recipes {
			names = append(names, r.Name)
		}
		return strings.Join(names, " ")
	}
	calls := func() int {
		text, err := os.ReadFile(counter)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Count(text, []byte("x"))
	}
	old := time.Now().Add(-time.Hour)
	age := func() {
		for _, name := range []string{"justfile", "more.just", "later.just", "sub/mod.just"} {
			_ = os.Chtimes(filepath.Join(root, name), old, old) // those that there are
		}
	}
	age()
	// The change time cannot be set: wait until it is trusted.
	time.Sleep(3500 * time.Millisecond)
	for range 5 {
		if got := names(); got != "a b" {
			t.Fatalf("got %q", got)
		}
	}
	if n := calls(); n != 1 {
		t.Errorf("just was asked %d times", n)
	}
	for _, step := range []struct{ file, text, want string }{
		{"more.just", "c:\n  @echo\n", "a c"}, {"later.just", "d:\n  @echo\n", "a c d"}, {"sub/mod.just", "e:\n  @echo\n", "a c d sub::e"},
	} {
		gittest.Write(t, filepath.Join(root, step.file), step.text)
		if got := names(); got != step.want {
			t.Errorf("after %s: %q, want %q", step.file, got, step.want)
		}
	}
}

func TestStopped(t *testing.T) {
	t.Parallel()
	j, root := project(t, map[string]string{"justfile": "slow:\n  @echo begun; trap '' TERM; (sleep 300; echo >late) & sleep 300; echo >late\n"})
	if got := run(t, j, recipe.Call{Name: "slow", Timeout: 300 * time.Millisecond}); got != "begun\n[-1 stopped after the time limit of 300ms]" {
		t.Errorf("got %q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out signalled
	out.onFirst = cancel
	r, err := j.Run(ctx, recipe.Call{Name: "slow"}, &out)
	if err != nil || r.ExitCode != -1 || r.Problem != "canceled" {
		t.Errorf("got %+v, %v", r, err)
	}
	if _, err := os.Stat(filepath.Join(root, "late")); err == nil {
		t.Error("it went on")
	}
}

type signalled struct {
	onFirst func()
	done    atomic.Bool
}

func (s *signalled) Write(p []byte) (int, error) {
	if !s.done.Swap(true) {
		s.onFirst()
	}
	return len(p), nil
}

// One recipe runs once at a time, also with another process in between.
func TestBusy(t *testing.T) {
	t.Parallel()
	j, root := project(t, map[string]string{"justfile": "slow:\n  @echo begun; while [ ! -e go ]; do sleep 0.02; done\nquick:\n  @echo quick\n"})
	state := filepath.Join(filepath.Dir(root), "state")
	elsewhere := recipe.New(root, os.Environ(), recipe.NewJournal(state, root), recipe.Options{})
	begun, ended := make(chan struct{}), make(chan error, 1)
	out := &signalled{onFirst: func() { close(begun) }}
	go func() {
		_, err := j.Run(t.Context(), recipe.Call{Name: "slow"}, out)
		ended <- err
	}()
	<-begun
	for _, who := range []*recipe.Justfile{j, elsewhere} {
		_, err := who.Run(t.Context(), recipe.Call{Name: "slow"}, io.Discard)
		if _, busy := errors.AsType[*recipe.BusyError](err); !busy {
			t.Errorf("got %v", err)
		}
		if got := run(t, who, recipe.Call{Name: "quick"}); got != "quick\n" {
			t.Errorf("another recipe: %q", got)
		}
	}
	gittest.Write(t, filepath.Join(root, "go"), "")
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := run(t, elsewhere, recipe.Call{Name: "slow"}); got != "begun\n" {
		t.Errorf("afterwards: %q", got)
	}
}

func TestLast(t *testing.T) {
	t.Parallel()
	j, root := project(t, map[string]string{"justfile": "a:\n  @for i in $(seq 1 100); do echo line $i; done; exit 4\nb:\n  @echo fine\n"})
	state := filepath.Join(filepath.Dir(root), "state")
	if _, ok := recipe.NewJournal(state, root).Last(); ok {
		t.Error("there is a last run before the first one")
	}
	run(t, j, recipe.Call{Name: "a"})
	last, ok := recipe.NewJournal(state, root).Last()
	if !ok || last.Task != "a" || last.ExitCode != 4 || !strings.HasPrefix(last.Tail, "line 82\n") || !strings.HasSuffix(last.Tail, "with exit code 4") {
		t.Errorf("got %+v", last)
	}
	run(t, j, recipe.Call{Name: "b"})
	if last, _ := recipe.NewJournal(state, root).Last(); last.Task != "b" || last.Tail != "fine" {
		t.Errorf("got %+v", last)
	}
	if _, ok := recipe.NewJournal(state, root+"-other").Last(); ok {
		t.Error("another project has the same last run")
	}
	// Without a directory it is remembered here.
	alone := recipe.NewJournal("", root)
	run(t, recipe.New(root, os.Environ(), alone, recipe.Options{}), recipe.Call{Name: "b"})
	if last, _ := alone.Last(); last.Task != "b" {
		t.Errorf("got %+v", last)
	}
}

// Arguments that become a part of a script are plain, unless a person typed them.
func TestSpliced(t *testing.T) {
	t.Parallel()
	j, _ := project(t, map[string]string{"more.just": "asked (c\n) := shell(c)\n", "justfile": `set unstable
import 'more.just'
defined a:
  @echo {{quote(asked(a))}}
raw a *b:
  @echo {{a}} {{quote(b)}}
many +a:
  @echo {{a}}
python a:
  #!/usr/bin/env python3
  print({{quote(a)}})
safe a:
  @echo {{quote(a)}}
calls a:
  @just raw {{quote(a)}}
inside a:
  @tool {{quote('b ' + a)}}
either a:
  @{ [[ {{quote(a)}} == c || {{quote(a)}} == d ]]; } 2>/dev/null; echo {{quote(a)}}
[arg('a', long='name')]
option a b='':
  @echo {{a}} {{quote(b)}}
`})
	refused := []string{";", "a b", "$x", "`x`", "'", `"`, "a\nb", "~", "*", "{", "é", "#", "!", "%", "\\"}
	for _, tt := range []struct {
		call recipe.Call
		want string
	}{
		{recipe.Call{Name: "raw", Args: []string{"a-b_c.d/e:f=g,h@i+J9", "; x"}}, "a-b_c.d/e:f=g,h@i+J9 ; x\n"},
		{recipe.Call{Name: "safe", Args: []string{"$(x) 'y'"}}, "$(x) 'y'\n"},
		{recipe.Call{Name: "raw", Args: []string{"a  b"}, Person: true}, "a b \n"},
		{recipe.Call{Name: "raw", Args: []string{"; x"}}, `error: raw: the argument "; x" is refused, because it could run other commands: a becomes part of a script ` +
			"(the recipe inserts it without quote()). Such an argument can contain only unaccented letters, digits, and -_./:=,@+. " +
			`To allow any argument, change the justfile: write {{quote(a)}} outside quotation marks, or add "set positional-arguments" and use "$1"`},
		{recipe.Call{Name: "raw", Args: []string{"a", "; x"}}, "a ; x\n"},
		{recipe.Call{Name: "many", Args: []string{"; x"}}, `error: many: the argument "; x" is refused, because it could run other commands: a becomes part of a script ` +
			"(the recipe inserts it without quote()). Such an argument can contain only unaccented letters, digits, and -_./:=,@+. " +
			`To allow any argument, change the justfile: add "set positional-arguments" and use "$@"`},
		{recipe.Call{Name: "python", Args: []string{"; x"}}, `error: python: the argument "; x" is refused, because it could run other commands: a becomes part of a script ` +
			"(quote() does not protect it, as the recipe's script is not for a POSIX shell). Such an argument can contain only unaccented letters, digits, and -_./:=,@+. " +
			"To allow any argument, change the justfile: add [positional-arguments] to the recipe, and read argument 1 in the language of the script, such as sys.argv[1] in Python"},
		{recipe.Call{Name: "calls", Args: []string{"; x"}}, `error: calls: the argument "; x" is refused, because it could run other commands: a becomes part of a script ` +
			"(the recipe passes it to just, which can read it as code again, in the command just). Such an argument can contain only unaccented letters, digits, and -_./:=,@+. " +
			`To allow any argument, change the justfile: name the other recipe as a dependency, as in "recipe x: (other x)"`},
		{recipe.Call{Name: "inside", Args: []string{"; x"}}, `error: inside: the argument "; x" is refused, because it could run other commands: a becomes part of a script ` +
			"(the recipe passes it to a program inside a longer text, after an option such as -c or --exec, or as the command to run, and the program can evaluate that, in the command tool). " +
			"Such an argument can contain only unaccented letters, digits, and -_./:=,@+. To allow any argument, change the justfile: pass it as a word of its own"},
		{recipe.Call{Name: "either", Args: []string{"c"}}, "c\n"},
		{recipe.Call{Name: "either", Args: []string{"; x"}}, `error: either: the argument "; x" is refused, because it could run other commands: a becomes part of a script ` +
			"(the script of the recipe has [[ ]], and sh can be a shell without it, in the command [[). " +
			"Such an argument can contain only unaccented letters, digits, and -_./:=,@+. " +
			`To allow any argument, change the justfile: write [ ], or run the script with bash, by "set shell := ['bash', '-uc']" or #!/usr/bin/env bash`},
		{recipe.Call{Name: "option", Args: []string{"--name", "x"}}, "x \n"},
	} {
		if got := run(t, j, tt.call); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.call, got, tt.want)
		}
	}
	for _, text := range refused {
		for name, args := range map[string][]string{"raw": {text}, "many": {"a", "b", text}, "option": {"--name", text}, "defined": {text}} {
			if got := run(t, j, recipe.Call{Name: name, Args: args}); !strings.Contains(got, "is refused, because") {
				t.Errorf("%s %q: %q", name, args, got)
			}
		}
	}
}

// A script that names no interpreter is one of a POSIX shell, unless a setting selects another program, or
// it is unknown which one does.
func TestScriptInterpreter(t *testing.T) {
	t.Parallel()
	const scripts = "set unstable\n[script]\nsafe a:\n  echo {{quote(a)}}\n"
	for setting, accepted := range map[string]bool{
		"": true, "set script-interpreter := ['bash', \"-eu\"] # a comment\n": true, "set script-interpreter := ['env', 'sh']\n": true,
		"set script-interpreter := ['python3']\n": false, "set script-interpreter := ['sh', '-c', 'eval \"$(cat \"$0\")\"']\n": false,
		"set script-interpreter := [\n'python3',\n]\n": false, "set script-interpreter := [x'sh']\n": false, "import 'more.just'\n": false, "mod inner\nset script-interpreter := ['sh']\n": false,
	} {
		j, _ := project(t, map[string]string{"justfile": setting + scripts, "more.just": "set script-interpreter := ['python3']\n", "inner.just": "a:\n"})
		recipes, err := j.Recipes(t.Context())
		if err != nil {
			t.Fatal(setting, err)
		}
		for _, r := range recipes {
			if r.Name == "safe" && (r.Parameters[0].Spliced == "") != accepted {
				t.Errorf("%q: %q, want it accepted: %v", setting, r.Parameters[0].Spliced, accepted)
			}
		}
	}
	j, _ := project(t, map[string]string{"justfile": scripts})
	if got := run(t, j, recipe.Call{Name: "safe", Args: []string{"'; echo $(id) #"}}); got != "'; echo $(id) #\n" {
		t.Errorf("got %q", got)
	}
}

// A recipe that no person started does not see credentials, unless the user allows it.
func TestCredentials(t *testing.T) {
	t.Parallel()
	_, root := project(t, map[string]string{"justfile": "env:\n  @env\n"})
	secrets := []string{"GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "JIRA_TOKEN", "JIRA_API_TOKEN", "JIRA_PASSWORD", "NETRC", "COPSE_ITEMS", "PGPASSWORD", "PGSSLPASSWORD", "SSHPASS", "GIT_CONFIG_PARAMETERS"}
	env := xec.Env(os.Environ()).With("OTHER=sesame")
	for _, name := range secrets {
		env = env.With(name + "=sesame")
	}
	addresses := []string{"GITHUB_API_URL", "GITHUB_SERVER_URL", "DOCKER_HOST", "HTTPS_PROXY", "http_proxy"}
	for i, name := range addresses {
		// What cannot be cleaned is taken away.
		env = env.With(name + "=" + []string{"https://ada:sesame@h.example:8/v3", "tcp://ada:sesame@h.example", "ada:sesame@h.example:8", "socks5://h.example/?token=sesame", "http://ada:sesame/@h:1"}[i])
	}
	secrets = append(secrets, addresses...)
	for _, tt := range []struct {
		pass func() (bool, error)
		call recipe.Call
		want int
	}{
		{nil, recipe.Call{Name: "env"}, 1},
		{func() (bool, error) { return false, nil }, recipe.Call{Name: "env"}, 1},
		{func() (bool, error) { return true, nil }, recipe.Call{Name: "env"}, 1 + len(secrets)},
		{nil, recipe.Call{Name: "env", Person: true}, 1 + len(secrets)},
	} {
		j := recipe.New(root, env, recipe.NewJournal("", root), recipe.Options{PassCredentials: tt.pass})
		if got := run(t, j, tt.call); strings.Count(got, "sesame") != tt.want {
			t.Errorf("%+v: want %d secrets\n%s", tt.call, tt.want, got)
		}
	}
	public := run(t, recipe.New(root, env, recipe.NewJournal("", root), recipe.Options{}), recipe.Call{Name: "env"})
	for _, want := range []string{"GITHUB_API_URL=https://h.example:8/v3\n", "GITHUB_SERVER_URL=tcp://h.example\n", "DOCKER_HOST=http://h.example:8\n"} {
		if !strings.Contains(public, want) {
			t.Errorf("want %s in\n%s", want, public)
		}
	}
	j := recipe.New(root, env, recipe.NewJournal("", root), recipe.Options{PassCredentials: func() (bool, error) { return true, errors.New("broken settings") }})
	if got := run(t, j, recipe.Call{Name: "env"}); got != "error: broken settings" {
		t.Errorf("got %q", got)
	}
}

// A recipe that fails for want of a credential says where it is.
func TestWithheld(t *testing.T) {
	t.Parallel()
	_, root := project(t, map[string]string{
		"justfile":  "uses:\n  @test -n \"$GH_TOKEN$JIRA_TOKEN$GITHUB_TOKEN\"\n\nother:\n  @false\n\nprints:\n  @./deploy.sh\n\nfine:\n  @echo GH_TOKEN\n",
		"deploy.sh": "#!/bin/sh\necho GH_TOKEN: parameter not set; exit 2\n",
	})
	if err := os.Chmod(filepath.Join(root, "deploy.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	env := xec.Env(os.Environ()).Without("GITHUB_TOKEN").With("GH_TOKEN=sesame", "JIRA_TOKEN=sesame")
	pass := func() (bool, error) { return true, nil }
	const hint = "; set tasks.pass_credentials in the user's settings to pass credentials on, or run `copse task run` in a terminal"
	for _, tt := range []struct {
		name, want string
		o          recipe.Options
	}{
		{"uses", "recipes that an assistant starts do not get the credentials in $GH_TOKEN, $JIRA_TOKEN" + hint, recipe.Options{}},
		{"uses", "", recipe.Options{PassCredentials: pass}},
		{"prints", "recipes that an assistant starts do not get the credentials in $GH_TOKEN" + hint, recipe.Options{}},
		{"other", "", recipe.Options{}},
		{"fine", "", recipe.Options{}},
	} {
		got, err := recipe.New(root, env, recipe.NewJournal("", root), tt.o).Run(t.Context(), recipe.Call{Name: tt.name}, io.Discard)
		if err != nil || got.Problem != tt.want {
			t.Errorf("%s: got %q, %v", tt.name, got.Problem, err)
		}
	}
}

// A running task is known to every process of the user, and can be ended by its ID.
func TestStop(t *testing.T) {
	t.Parallel()
	j, root := project(t, map[string]string{"justfile": "slow a:\n  @echo begun; sleep 300 & sleep 300\n"})
	state := filepath.Join(filepath.Dir(root), "state")
	elsewhere := recipe.New(filepath.Dir(root), os.Environ(), recipe.NewJournal(state, filepath.Dir(root)), recipe.Options{})
	for name, who := range map[string]*recipe.Justfile{"the same process": j, "another registry": elsewhere} {
		begun, ended := make(chan struct{}), make(chan recipe.Run, 1)
		go func() {
			r, err := j.Run(t.Context(), recipe.Call{Name: "slow", Args: []string{"x"}, Client: "a\u202eb, who asks for more"}, &signalled{onFirst: func() { close(begun) }})
			if err != nil {
				t.Error(err)
			}
			ended <- r
		}()
		<-begun
		_, err := j.Run(t.Context(), recipe.Call{Name: "slow", Args: []string{"x"}}, io.Discard)
		busy, ok := errors.AsType[*recipe.BusyError](err)
		if !ok || busy.Task == nil || !strings.HasPrefix(err.Error(), "slow is already running, as task "+busy.Task.ID+": started by \"ab, who asks for more\" at ") {
			t.Fatalf("%s: got %v", name, err)
		}
		tasks := who.Running()
		if len(tasks) != 1 || tasks[0].Name != "slow" || tasks[0].Root != root || tasks[0].Owner.PID != os.Getpid() || tasks[0].Leader.PID == 0 {
			t.Errorf("%s: got %+v", name, tasks)
		}
		if _, err := who.Stop(t.Context(), "0123456789", "me"); err == nil || !strings.Contains(err.Error(), `No running task has the id "0123456789". Running: `+busy.Task.ID+" (slow)") {
			t.Errorf("%s: got %v", name, err)
		}
		if got, err := who.Stop(t.Context(), busy.Task.ID, "me"); err != nil || got.ID != busy.Task.ID {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
		if r := <-ended; r.ExitCode != -1 || r.Problem != "stopped by me" {
			t.Errorf("%s: got %+v", name, r)
		}
		if tasks := who.Running(); len(tasks) != 0 {
			t.Errorf("%s: still there: %+v", name, tasks)
		}
		if files, err := filepath.Glob(filepath.Join(state, "running", "*")); err != nil || len(files) != 0 {
			t.Errorf("%s: files are left: %q, %v", name, files, err)
		}
	}
}
