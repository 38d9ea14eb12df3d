package recipe_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/recipe"
	"github.com/copse-dev/copse/internal/recipe/capture"
	"github.com/copse-dev/copse/internal/recipe/justsource"
)

// just follows a link in place of a file with variables, searches the directories above, and quotes what it cannot
// read. A recipe runs only if the files are in the project.
func TestVariables(t *testing.T) {
	t.Parallel()
	const load, secret = "set dotenv-load\n", "machine example.com login s3cret\n"
	for name, c := range map[string]struct {
		files   map[string]string
		links   map[string]string
		refused string // a part of the error, "" if the recipe runs
		fails   bool   // just cannot read the file
	}{
		"none":                         {files: map[string]string{"justfile": load}},
		"a file":                       {files: map[string]string{"justfile": load, ".env": "A=b\n", "../.env": "A=c\n"}},
		"above":                        {files: map[string]string{"justfile": load, "../.env": secret}, refused: "outside the project: create"},
		"far above":                    {files: map[string]string{"justfile": load, "../../.env": secret}, refused: "outside the project: create"},
		"a link":                       {files: map[string]string{"justfile": load, "../netrc": secret}, links: map[string]string{".env": "../netrc"}, refused: "points outside"},
		"an absolute link":             {files: map[string]string{"justfile": load}, links: map[string]string{".env": "/etc/passwd"}, refused: "points outside"},
		"a link inside":                {files: map[string]string{"justfile": load, "env": "A=b\n"}, links: map[string]string{".env": "env"}},
		"a directory":                  {files: map[string]string{"justfile": load, ".env/x": ""}},
		"not loaded":                   {files: map[string]string{"justfile": "", "../.env": secret}, links: map[string]string{".env": "../.env"}},
		"required":                     {files: map[string]string{"justfile": "set dotenv-required\n", "../.env": secret}, refused: "outside the project: create"},
		"override":                     {files: map[string]string{"justfile": "set dotenv-override\n", "../.env": secret}, refused: "outside the project: create"},
		"another name":                 {files: map[string]string{"justfile": "set dotenv-filename := 'my.env'\n", ".env": "A=b\n", "../my.env": secret}, refused: "outside the project: create"},
		"a path":                       {files: map[string]string{"justfile": "set dotenv-path := 'x/my.env'\n", "x/my.env": "A=b\n", "../.env": secret}},
		"a path that is a link":        {files: map[string]string{"justfile": "set dotenv-path := 'x/my.env'\n", "x/y": "", "../../netrc": secret}, links: map[string]string{"x/my.env": "../../../netrc"}, refused: "points outside"},
		"a missing path":               {files: map[string]string{"justfile": "set dotenv-path := 'x/my.env'\n", "../.env": secret}, refused: "outside the project: create"},
		"a large one":                  {files: map[string]string{"justfile": load, ".env": strings.Repeat("#\n", 600_000)}, refused: "has more than"},
		"of a module":                  {files: map[string]string{"justfile": "mod sub\n", "sub/mod.just": load + "x:\n", "../netrc": secret}, links: map[string]string{"sub/.env": "../../netrc"}, refused: "points outside"},
		"above a module":               {files: map[string]string{"justfile": "mod sub\n", "sub/mod.just": load + "x:\n", ".env": "A=b\n", "../.env": secret}},
		"far above a module":           {files: map[string]string{"justfile": "mod sub\n", "sub/mod.just": load + "x:\n", "../.env": secret}, refused: "outside the project: create"},
		"a link before two dots":       {files: map[string]string{"justfile": "set dotenv-filename := 'link/../netrc'\n", "../netrc": secret, "../outside/x": ""}, links: map[string]string{"link": "../outside"}, refused: "points outside"},
		"a path with a link and dots":  {files: map[string]string{"justfile": "set dotenv-path := 'link/../netrc'\n", "../netrc": secret, "../outside/x": ""}, links: map[string]string{"link": "../outside"}, refused: "points outside"},
		"a path with dots":             {files: map[string]string{"justfile": "set dotenv-path := 'nosuch/../justfile'\n", "../netrc": secret}, links: map[string]string{".env": "../netrc"}, refused: "\"..\""},
		"an empty path":                {files: map[string]string{"justfile": "set dotenv-path := ''\n", "../netrc": secret}, links: map[string]string{".env": "../netrc"}, refused: "points outside"},
		"an empty name":                {files: map[string]string{"justfile": "set dotenv-filename := ''\n", "../netrc": secret}},
		"a working directory and dots": {files: map[string]string{"justfile": "set working-directory := 'link/..'\n", "../outside/x": ""}, links: map[string]string{"link": "../outside"}, refused: "points outside"},
		"an inserted variable":         {files: map[string]string{"justfile": "set dotenv-filename := x'link${GIT_TERMINAL_PROMPT:-}'\n", "../netrc": secret}, links: map[string]string{"link0": "../netrc"}, refused: "x\"$NAME\""},
		"an inserted path":             {files: map[string]string{"justfile": "set dotenv-path := x'$HOME/netrc'\n"}, refused: "points outside"},
		"a line break":                 {files: map[string]string{"justfile": "set dotenv-filename := \"a\\nb\"\n", "a\nb": "A=b\nKEY='s3cret\n"}, refused: "control character"},
		"an error behind other words":  {files: map[string]string{"justfile": "set dotenv-command := 'printf z >&2'\nmod sub\n", "sub/mod.just": load + "x:\n", "sub/.env": "A=b\nKEY='s3cret\n"}, fails: true},
		"of another working dir":       {files: map[string]string{"justfile": load + "set working-directory := 'w'\n", "w/x": "", ".env": "A=b\n", "../netrc": secret}, links: map[string]string{"w/.env": "../../netrc"}, refused: "points outside"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j, root := project(t, c.files)
			gittest.Write(t, filepath.Join(root, "justfile"), c.files["justfile"]+"\nhello:\n  @echo hi\n")
			for link, target := range c.links {
				if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
					t.Fatal(err)
				}
			}
			var out capture.Output
			_, err := j.Run(t.Context(), recipe.Call{Name: "hello"}, &out)
			text, _ := out.Text()
			_, known := errors.AsType[*justsource.FileError](err)
			switch {
			case strings.Contains(text+fmt.Sprint(err), "s3cret"):
				t.Errorf("the secret is shown: %s %v", text, err)
			case c.fails:
				if !strings.Contains(text, "copse omits") {
					t.Errorf("it did not fail: %q, %v", text, err)
				}
			case c.refused == "" && (err != nil || text != "hi\n"):
				t.Errorf("it did not run: %q, %v", text, err)
			case c.refused != "" && (!known || !strings.Contains(err.Error(), c.refused)):
				t.Errorf("%q, %v; want an error with %q", text, err, c.refused)
			}
		})
	}
}

// A worktree inside the main worktree uses its file, as just does, and not a link there.
func TestVariablesOfMain(t *testing.T) {
	t.Parallel()
	_, top := project(t, map[string]string{".worktrees/one/justfile": "set dotenv-load\nhello:\n  @echo $A\n", ".env": "A=main\n", "../netrc": "s3cret x\n"})
	root := filepath.Join(top, ".worktrees", "one")
	run := func(main string) string {
		j := recipe.New(root, os.Environ(), recipe.NewJournal(t.TempDir(), root), recipe.Options{Main: main})
		var out capture.Output
		_, err := j.Run(t.Context(), recipe.Call{Name: "hello"}, &out)
		text, _ := out.Text()
		return text + fmt.Sprint(err)
	}
	if got := run(top); got != "main\n<nil>" {
		t.Errorf("with the file of the main worktree: %s", got)
	}
	if err := os.Symlink("../../.env", filepath.Join(root, ".env")); err != nil {
		t.Fatal(err)
	}
	if got := run(top); got != "main\n<nil>" {
		t.Errorf("with a link to the file of the main worktree: %s", got)
	}
	if err := os.Remove(filepath.Join(root, ".env")); err != nil {
		t.Fatal(err)
	}
	if got := run(filepath.Join(top, "other")); !strings.Contains(got, "outside the project: create") {
		t.Errorf("below a directory that is not the main worktree: %s", got)
	}
	if err := os.Remove(filepath.Join(top, ".env")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../netrc", filepath.Join(top, ".env")); err != nil {
		t.Fatal(err)
	}
	if got := run(top); !strings.Contains(got, "points outside") {
		t.Errorf("with a link in the main worktree: %s", got)
	}
}

// The line of a file with variables that just cannot read is not shown: it often has a secret.
func TestVariablesWithMistake(t *testing.T) {
	t.Parallel()
	j, _ := project(t, map[string]string{"justfile": "set dotenv-load\nx := `echo first >&2`\nhello:\n  @echo {{x}}\n", ".env": "A=b\nKEY='s3cret\nmore s3cret\n"})
	if got := run(t, j, recipe.Call{Name: "hello"}); !strings.Contains(got, ": copse omits the line that just cannot read") || strings.Contains(got, "s3cret") {
		t.Error(got)
	}
}

// An argument is checked against the justfile in the environment in which it runs: just inserts variables into some
// strings.
func TestInsertedVariables(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{"set by copse": "${GIT_TERMINAL_PROMPT:-'}", "of the run": "${COPSE_RUN_ID:-'}"} {
		j, root := project(t, map[string]string{"justfile": "v := x\"" + value + "\"\nhello p:\n  @echo '{{v}} {{quote(p)}} '{{v}}\n"})
		_, err := j.Run(t.Context(), recipe.Call{Name: "hello", Args: []string{"; touch pwned;"}}, io.Discard)
		if _, ok := errors.AsType[*recipe.SplicedError](err); !ok {
			t.Errorf("%s: the argument is accepted: %v", name, err)
		}
		if _, err := os.Lstat(filepath.Join(root, "pwned")); err == nil {
			t.Errorf("%s: the argument ran", name)
		}
		if got := run(t, j, recipe.Call{Name: "hello", Args: []string{"plain"}}); strings.Contains(got, "error") {
			t.Errorf("%s: a plain argument: %s", name, got)
		}
	}
}
