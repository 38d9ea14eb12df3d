package recipe_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/recipe"
	"github.com/copse-dev/copse/internal/recipe/justsource"
	"github.com/copse-dev/copse/internal/recipe/running"
	"github.com/copse-dev/copse/internal/rooted/rootedtest"
	"github.com/copse-dev/copse/internal/tempdir"
	"github.com/copse-dev/copse/internal/test/need"
	"github.com/copse-dev/copse/internal/xec"
)

// without returns the justfile of a root for which just is not installed, so that an error
// of the file is one that was found before just was to run.
func without(t *testing.T, root, home string) *recipe.Justfile {
	t.Helper()
	return recipe.New(root, xec.Env{"PATH=" + t.TempDir(), "HOME=" + home}, recipe.NewJournal("", root), recipe.Options{})
}

// refused reports what is wrong with a justfile that must be refused before just runs.
func refused(t *testing.T, j *recipe.Justfile) string {
	t.Helper()
	_, err := j.Recipes(t.Context())
	if _, ok := errors.AsType[*justsource.FileError](err); !ok {
		return fmt.Sprintf("%v: just would have run", err)
	}
	if strings.Contains(err.Error(), rootedtest.Secret) {
		return "it is shown: " + err.Error()
	}
	return ""
}

// Nothing outside the root is imported, in any form, at any depth.
func TestWall(t *testing.T) {
	t.Parallel()
	root := rootedtest.Project(t)
	home := filepath.Dir(root)
	escapes := append(rootedtest.Escapes(root), "~/secret.txt", "~/outside/b.txt", "~//secret.txt", "~/../secret.txt", "~/.")
	forms := []string{
		"import '%s'", "import? '%s'", `import "%s"`, "import'%s'", "import  \t'%s'", "import ? '%s'", "import\\\n  '%s'", "import \\\r\n'%s'", "\ufeffimport '%s'",
		"import '''%s'''", `import """%s"""`, "import '''  %s'''", "mod x \"\"\"\t%s \"\"\"", "import '%s' # why", "mod x '%s'", "mod? x '%s'", "mod x\\\n'%s'", "[private]\nimport '%s'", "[group('a')]\n# doc\nmod x '%s'",
		"import x'%s'", "import x '%s'", "mod x x'%s'", "a:\n  echo\nimport '%s'", "x := '''\n'''\nimport '%s'",
		"\\\n  import '%s'", "\\\r\n\t\\\r\nmod x '%s'", "\ufeff import '%s'", "\\\n\ufeffimport '%s'", "a:\n  echo\n\\\n import '%s'",
	}
	tried := 0
	j := without(t, root, home)
	for i, escape := range escapes {
		if strings.Contains(escape, `\`) {
			continue // TestWallEscapes has them; what they mean depends on the quotes and the system
		}
		for n, form := range forms {
			if (i+n)%5 != 0 && n > 1 {
				continue // each escape has been in some forms, and each form with many escapes
			}
			gittest.Write(t, filepath.Join(root, "justfile"), fmt.Sprintf(form, escape)+"\n")
			if problem := refused(t, j); problem != "" {
				t.Errorf("%q: %s", fmt.Sprintf(form, escape), problem)
			}
			tried++
		}
	}
	t.Logf("%d imports and modules were refused", tried)
}

func TestWallEscapes(t *testing.T) {
	t.Parallel()
	root := rootedtest.Project(t)
	for _, text := range []string{
		`import "\u{2e}\u{2e}/secret.txt"`, `import "..\u{2f}secret.txt"`, `import "\u{7e}/secret.txt"`, `import "\u{2F}etc/passwd"`, `import "out\u{2d}file"`,
		"import x'$HOME/secret.txt'", "import x\"~/secret.txt\"", "import '''\n  ../secret.txt'''", "import '../secret.txt\n'", `import "\z"`, `import "\u{110000}"`, `import? "~/x'\u{a}import '/etc/passwd"`, "import '../secret.txt",
		"mod out-dir", "mod proc", "mod out-root", "mod? out-dir", "import 'in.just'", "mod in", "mod sub", "mod sub 'sub'", "mod y 'linked'",
		"set dotenv-path := '/etc/passwd'", "set dotenv-path := '../secret.txt'", "set dotenv-filename := 'out-file'", "set working-directory := '..'", "set working-directory := 'out-dir'",
		"set dotenv-path := '/etc' / 'passwd'", "mod set",
	} {
		gittest.Write(t, filepath.Join(root, "in.just"), "import 'deep/er.just'\n")
		gittest.Write(t, filepath.Join(root, "deep", "er.just"), "import? '../../secret.txt'\n")
		gittest.Write(t, filepath.Join(root, "sub", "JustFile"), "mod inner '../../outside/b.txt'\n")
		gittest.Write(t, filepath.Join(root, "set.just"), "set working-directory := '..'\n")
		_ = os.MkdirAll(filepath.Join(root, "linked"), 0o755)
		_ = os.Symlink("../../secret.txt", filepath.Join(root, "linked", "mod.just"))
		gittest.Write(t, filepath.Join(root, "justfile"), text+"\n")
		j := without(t, root, filepath.Dir(root))
		if strings.HasPrefix(text, "set ") || text == "mod set" {
			if _, err := xec.Env(os.Environ()).LookPath("just"); err != nil {
				continue // only just knows the settings, which do nothing while it lists recipes
			}
			j = recipe.New(root, os.Environ(), recipe.NewJournal("", root), recipe.Options{})
		}
		if problem := refused(t, j); problem != "" {
			t.Errorf("%q: %s", text, problem)
		}
	}
}

// The justfile itself is a file of the project.
func TestWallLinks(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"../secret.txt", "/etc/passwd", "out-file", "/dev/zero", "/proc/self/environ", "dir", "loop1"} {
		root := rootedtest.Project(t)
		if err := os.Symlink(target, filepath.Join(root, ".JUSTFILE")); err != nil {
			t.Fatal(err)
		}
		if problem := refused(t, without(t, root, "/home")); problem != "" {
			t.Errorf("a justfile that is a link to %s: %s", target, problem)
		}
	}
}

// What just says of a mistake comes without the lines that it quotes.
func TestNoExcerpts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"syntax":    {"# one\na:\n  echo\nb := 'x' s3cret\n", `The justfile cannot be used: justfile, line 4: "expected`},
		"in import": {"import 'more.just'\n", "The justfile cannot be used: more.just, line 2: "},
		"module":    {"mod sub\n", "The justfile cannot be used: sub/mod.just, line 1: "},
		"unknown":   {"a: s3cret-dependency\n", "The justfile cannot be used: justfile, line 1: "},
	} {
		j, root := project(t, map[string]string{"justfile": c.text, "more.just": "\n} s3cret\n", "sub/mod.just": "} s3cret\n"})
		_, err := j.Recipes(t.Context())
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret\n") || strings.Contains(err.Error(), "│") || strings.Contains(err.Error(), os.TempDir()) || strings.Contains(err.Error(), root) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Paths that stay in the project work as just takes them.
func TestInside(t *testing.T) {
	t.Parallel()
	j, root := project(t, map[string]string{
		"a/b/one.just": "one:\n", "two.just": "import './a/b/../../three.just'\ntwo:\n", "three.just": "three:\n", "mods/x/JUSTFILE": "import '../../a/b/../c.just'\nfour:\n",
		"a/c.just": "c:\n", "m1.just": "r:\n", "m2/mod.just": "r:\n", "m3/.justfile": "r:\n", "os.just": "win:\n",
	})
	text := "import 'two.just'\nimport \"a/b/on\\u{65}.just\"\nimport? 'missing.just'\nmod? gone\nmod m1\nmod m2 # with a comment\nmod m3\nmod q 'mods/x'\nimport '" + filepath.Join(root, "os.just") + "'\n" +
		"import := 'a'\nmod target:\n  echo\nx := '''\nimport 'nothing.just'\n'''\njs:\n  #!/usr/bin/env node\n  import '../../outside.js'\n"
	gittest.Write(t, filepath.Join(root, "justfile"), text)
	list, err := j.Recipes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range list {
		names = append(names, r.Name)
	}
	if got, want := strings.Join(names, " "), "js mod one three two win m1::r m2::r m3::r q::c q::four"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	gittest.Write(t, filepath.Join(root, "gone.just"), "found:\n")
	if list, err = j.Recipes(t.Context()); err != nil || len(list) != len(names)+1 {
		t.Errorf("after a module was added: %v, %v", list, err)
	}
}

func TestTooMuch(t *testing.T) {
	t.Parallel()
	root := rootedtest.Project(t)
	var many strings.Builder
	for i := range 600 {
		name := fmt.Sprintf("i%d.just", i)
		gittest.Write(t, filepath.Join(root, name), "")
		fmt.Fprintf(&many, "import '%s'\n", name)
	}
	for _, text := range []string{many.String(), strings.Repeat("#", 1<<20+1), "\xff"} {
		gittest.Write(t, filepath.Join(root, "justfile"), text)
		if problem := refused(t, without(t, root, "/home")); problem != "" {
			t.Errorf("%.20q: %s", text, problem)
		}
	}
}

// While links are swapped, nothing from outside is listed or quoted.
func TestRacingLinks(t *testing.T) {
	t.Parallel()
	if _, err := xec.Env(os.Environ()).LookPath("just"); err != nil {
		need.Skip(t, "just is not installed")
	}
	root := rootedtest.Project(t)
	gittest.Write(t, filepath.Join(root, "justfile"), "import 'swap.just'\nown:\n")
	gittest.Write(t, filepath.Join(filepath.Dir(root), "evil.just"), "leaked:\n}\n")
	swap := filepath.Join(root, "swap.just")
	gittest.Write(t, swap, "inner:\n") // there from the first reading on
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			next := swap + ".next"
			if i%2 == 0 {
				_ = os.Symlink("../evil.just", next)
			} else {
				_ = os.WriteFile(next, []byte("inner:\n"), 0o600)
			}
			_ = os.Rename(next, swap)
		}
	})
	good, bad := 0, 0
	for range 50 {
		list, err := recipe.New(root, os.Environ(), recipe.NewJournal("", root), recipe.Options{}).Recipes(t.Context())
		if err != nil {
			bad++
			// Between a look at a link and its target the file can have come back: then it is a
			// file that is not there, or no longer a link.
			refused := strings.Contains(err.Error(), "points outside the project") || strings.Contains(err.Error(), "invalid argument") || strings.Contains(err.Error(), "could not find source file for import")
			if strings.Contains(err.Error(), "leaked") || !refused {
				t.Fatal(err)
			}
			continue
		}
		good++
		for _, r := range list {
			if r.Name == "leaked" {
				t.Fatal("a recipe from outside is listed")
			}
		}
	}
	close(stop)
	swapping.Wait()
	t.Logf("%d readings, %d refused", good+bad, bad)
}

// While links are swapped, a recipe shows no line of a file outside the root, although just reads all files again. The
// errors about the lines that copse has checked stay.
func TestRacingRuns(t *testing.T) {
	t.Parallel()
	j, root := project(t, map[string]string{"justfile": "import 'swap.just'\nhello:\n  @echo hi\n", "swap.just": "inner:\n", "../secret": "machine s3cret\n"})
	swap := filepath.Join(root, "swap.just")
	refused := 0
	for range 40 {
		gittest.Write(t, swap, "inner:\n")
		if _, err := j.Recipes(t.Context()); err != nil {
			t.Fatal(err)
		}
		swapped := make(chan struct{})
		begun := func(running.Task) { // which is after the check
			defer close(swapped)
			_ = os.Remove(swap)
			_ = os.Symlink("../secret", swap)
		}
		got := run(t, j, recipe.Call{Name: "hello", Begun: begun})
		<-swapped
		if strings.Contains(got, "s3cret") {
			t.Fatal(got)
		}
		if strings.Contains(got, "has not checked that line") {
			refused++
		}
		if err := os.Remove(swap); err != nil {
			t.Fatal(err)
		}
	}
	if refused == 0 {
		t.Error("just read no swapped file")
	}
	gittest.Write(t, swap, "inner:\n")
	gittest.Write(t, filepath.Join(root, "justfile"), "import 'swap.just'\nx := `false`\nhello:\n  @echo {{x}}\n")
	if got := run(t, j, recipe.Call{Name: "hello"}); !strings.Contains(got, "2 │ x := `false`\n") {
		t.Errorf("an error of the project's own justfile is not shown: %s", got)
	}
}

// FuzzImports looks for an import that just finds and copse does not.
func FuzzImports(f *testing.F) {
	for _, s := range []string{"import 'leak.just'", "import? 'leak.just'", "mod leak", "mod x 'leak.just'", "import\\\n'leak.just'", "[private]\nimport 'leak.just'", "x := '\n'\nimport \"leak.just\"", "import x'leak.just'"} {
		f.Add(s)
	}
	if _, err := xec.Env(os.Environ()).LookPath("just"); err != nil {
		need.Skip(f, "just is not installed")
	}
	f.Fuzz(func(t *testing.T, text string) {
		root := t.TempDir()
		gittest.Write(t, filepath.Join(root, "leak.just"), "leaked:\n")
		gittest.Write(t, filepath.Join(root, "justfile"), text+"\n")
		res, err := xec.Run(t.Context(), xec.Command{
			Name: "just", Dir: root, Env: os.Environ(), Args: []string{"--justfile", filepath.Join(root, "justfile"), "--dump", "--dump-format", "json"},
		})
		if err != nil || !strings.Contains(string(res.Stdout), `"leaked"`) || strings.Contains(text, "leaked") {
			return
		}
		list, err := recipe.New(root, os.Environ(), recipe.NewJournal("", root), recipe.Options{}).Recipes(t.Context())
		for _, r := range list {
			if strings.HasSuffix(r.Name, "leaked") {
				return
			}
		}
		if _, refused := errors.AsType[*justsource.FileError](err); !refused {
			t.Errorf("%q: just finds an import that was not seen: %v, %v", text, list, err)
		}
	})
}

// The copies that just reads are removed, also those of a killed process.
func TestCopies(t *testing.T) {
	if _, err := xec.Env(os.Environ()).LookPath("just"); err != nil {
		need.Skip(t, "just is not installed")
	}
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Setenv("TMP", temporary) // on Windows
	left := filepath.Join(temporary, "copse-just-left")
	lock := filepath.Join(left, tempdir.LockName)
	gittest.Write(t, lock, "")
	gittest.Write(t, filepath.Join(left, "justfile"), "left:\n")
	long := time.Now().Add(-time.Hour)
	if err := errors.Join(os.Chmod(left, 0o700), os.Chtimes(lock, long, long)); err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	gittest.Write(t, filepath.Join(root, "justfile"), "import '"+tempdir.LockName+"'\na:\n")
	gittest.Write(t, filepath.Join(root, tempdir.LockName), "b:\n")
	list, err := recipe.New(root, os.Environ(), recipe.NewJournal("", root), recipe.Options{}).Recipes(t.Context())
	if err != nil || len(list) != 2 {
		t.Errorf("%v, %v", list, err)
	}
	if names, err := filepath.Glob(filepath.Join(temporary, "copse-*")); err != nil || len(names) > 0 {
		t.Errorf("%v, %v", names, err)
	}
}

// A justfile whose files name each other so often that just would read millions is refused.
func TestFilesThatDouble(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"mod a '%[1]s'\nmod b '%[1]s'\n", "import '%[1]s'\nimport '%[1]s'\n", "mod a '%[1]s'\nimport? '%[1]s'\n"} {
		root := rootedtest.Project(t)
		gittest.Write(t, filepath.Join(root, "justfile"), fmt.Sprintf(form, "m0.just"))
		for i := range 25 {
			gittest.Write(t, filepath.Join(root, fmt.Sprintf("m%d.just", i)), fmt.Sprintf(form, fmt.Sprintf("m%d.just", i+1)))
		}
		gittest.Write(t, filepath.Join(root, "m25.just"), "x:\n")
		if problem := refused(t, without(t, root, "/home")); problem != "" {
			t.Errorf("%q: %s", form, problem)
		}
	}
	// Large files count each time, too, and a cycle ends.
	root := rootedtest.Project(t)
	gittest.Write(t, filepath.Join(root, "justfile"), strings.Repeat("import 'large.just'\n", 20))
	gittest.Write(t, filepath.Join(root, "large.just"), strings.Repeat("# "+strings.Repeat("x", 98)+"\n", 5000))
	j := without(t, root, "/home")
	if problem := refused(t, j); problem != "" {
		t.Error(problem)
	}
	gittest.Write(t, filepath.Join(root, "justfile"), "import 'a.just'\n")
	gittest.Write(t, filepath.Join(root, "a.just"), "import 'justfile'\nimport 'a.just'\n")
	if _, err := j.Recipes(t.Context()); !errors.As(err, new(recipe.NotInstalledError)) {
		t.Errorf("a cycle, which just reports: %v", err)
	}
}

// A file with very many statements, or beginnings of them, is refused before they cost time.
func TestManyStatements(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"mod\n", "import\n", "mod =\n", "import 'a\n", "import? 'gone.just'\n"} {
		root := rootedtest.Project(t)
		gittest.Write(t, filepath.Join(root, "justfile"), strings.Repeat(line, 1<<20/len(line)))
		j := without(t, root, "/home")
		if problem := refused(t, j); problem != "" {
			t.Errorf("%q: %s", line, problem)
		}
		gittest.Write(t, filepath.Join(root, "justfile"), strings.Repeat("mod_one := 'a'\nmod:\n", 400)+"import? 'gone.just'\n")
		if _, err := j.Recipes(t.Context()); !errors.As(err, new(recipe.NotInstalledError)) {
			t.Errorf("few statements: %v", err)
		}
	}
}

// limited returns an environment with just and a project, on a system that can limit what a program
// uses.
func limited(t *testing.T) (g *gittest.Git, root string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the memory and the processor time of a program cannot be limited here")
	}
	g = gittest.New(t)
	if _, err := g.Env.LookPath("just"); err != nil {
		need.Skip(t, "just is not installed")
	}
	return g, rootedtest.Project(t)
}

// Constants that double in each line are an error, and just gets no more memory than its limit.
func TestConstantsThatDouble(t *testing.T) {
	t.Parallel()
	g, root := limited(t)
	var text strings.Builder
	text.WriteString("v0 := 'aaaaaaaa'\n")
	for i := range 32 {
		fmt.Fprintf(&text, "v%d := v%d + v%d\n", i+1, i, i)
	}
	gittest.Write(t, filepath.Join(root, "justfile"), text.String()+"[doc(v32)]\nr:\n  @echo\n")
	j := recipe.New(root, g.Env, recipe.NewJournal("", root), recipe.Options{})
	recipes, err := j.Recipes(t.Context())
	if err != nil && !strings.Contains(err.Error(), "memory") {
		t.Errorf("just ended for another reason: %v", err)
	}
	t.Log(len(recipes), err) // an older just does not evaluate it
}

// A justfile that just would read for minutes is an error, whatever makes it slow.
func TestSlowJustfile(t *testing.T) {
	t.Parallel()
	g, root := limited(t)
	var text strings.Builder
	text.WriteString("r")
	for i := range 60_000 {
		fmt.Fprintf(&text, " p%d=''", i)
	}
	gittest.Write(t, filepath.Join(root, "justfile"), text.String()+":\n  @echo\n")
	_, err := recipe.New(root, g.Env, recipe.NewJournal("", root), recipe.Options{}).Recipes(t.Context())
	if _, ok := errors.AsType[*justsource.FileError](err); !ok || !strings.Contains(err.Error(), "processor time") {
		t.Errorf("got %v", err)
	}
}

// Reading a justfile shows the names of variables, not their values.
func TestVariablesAreNotShown(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	if _, err := g.Env.LookPath("just"); err != nil {
		need.Skip(t, "just is not installed")
	}
	root := rootedtest.Project(t)
	gittest.Write(t, filepath.Join(root, "justfile"), "# a\nr p=x'$CLOUD_KEY' q=x'$MISE_GITHUB_TOKEN' d=x'$MISE_DATA_DIR' m=x'$MISE_NODE_MIRROR_URL':\n  @echo {{p}}\n")
	j := recipe.New(root, g.Env.With("CLOUD_KEY=sesame17", "MISE_GITHUB_TOKEN=sesame17", "MISE_DATA_DIR=/opt/mise", "MISE_NODE_MIRROR_URL=https://ada:sesame17@mirror.example/"), recipe.NewJournal("", root), recipe.Options{})
	recipes, err := j.Recipes(t.Context())
	if err != nil || len(recipes) != 1 {
		t.Fatal(recipes, err)
	}
	if shown := fmt.Sprintf("%+v", recipes); strings.Contains(shown, "sesame17") || !strings.Contains(shown, "$CLOUD_KEY") || !strings.Contains(shown, "/opt/mise") {
		t.Error(shown)
	}
}
