package ownpath_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/git/ownpath"
	"github.com/copse-dev/copse/internal/xec"
)

const bin = "node_modules/.bin"

// list joins paths below base as the value of PATH.
func list(base string, names ...string) string {
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = filepath.Join(base, filepath.FromSlash(name))
	}
	return strings.Join(paths, string(filepath.ListSeparator))
}

func mkdir(t *testing.T, base string, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.MkdirAll(filepath.Join(base, filepath.FromSlash(name)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// Directories of the project on the PATH do not count, unless the home directory is that project.
func TestWithout(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	mkdir(t, base, "root/"+bin, "root/docs", "own", "root2", "tools/bin")
	gittest.Write(t, filepath.Join(base, "root", ".venv", "pyvenv.cfg"), "")
	gittest.Write(t, filepath.Join(base, "archive", "justfile"), "")
	gittest.Write(t, filepath.Join(base, "root", "Makefile"), "")
	gittest.Write(t, filepath.Join(base, "bare", ".venv", "pyvenv.cfg"), "")
	mkdir(t, base, "archive/docs", "archive/tools", "bare/docs", "bare/.venv/bin")
	mkdir(t, base, "root/.venv/bin")
	if err := os.Symlink(filepath.Join(base, "root", bin), filepath.Join(base, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(base, filepath.Join(base, "own", "alias")); err != nil {
		t.Fatal(err)
	}
	all := []string{"root/" + bin, "root/.venv/bin", "own", "link", "root", "root2", "root/missing", "own/alias/root/missing", "tools/bin", "archive/tools", "bare/.venv/bin", "bare/tools"}
	others := []string{"own", "root2", "tools/bin", "archive/tools", "bare/.venv/bin", "bare/tools"}
	without := func(removed string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return name == removed })
	}
	for name, tt := range map[string]struct {
		home, dir string
		want      []string
	}{
		"the project":                     {"own", "root", others},
		"over a link":                     {"own", "own/alias/root", others},
		"no directory":                    {"own", "", all},
		"no home":                         {"", "root", others},
		"the home is the project":         {"root", "root", all},
		"the home is in it":               {"root/node_modules", "root", all},
		"below the top":                   {"own", "root/docs", others},
		"a virtual environment alone":     {"own", "bare/docs", without("bare/.venv/bin")},
		"a project without git":           {"own", "archive/docs", without("archive/tools")},
		"beside it":                       {"own", "root2", without("root2")},
		"a directory of programs":         {"own", "tools/bin", without("tools/bin")},
		"beside a directory of programs":  {"own", "tools/docs", all},
		"a directory that does not exist": {"own", "gone", all},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := xec.Env{"PATH=" + list(base, all...)}
			if tt.home != "" {
				e = append(e, "HOME="+filepath.Join(base, filepath.FromSlash(tt.home)))
			}
			dir := tt.dir
			if dir != "" {
				dir = filepath.Join(base, filepath.FromSlash(dir))
			}
			if diff := cmp.Diff(filepath.SplitList(list(base, tt.want...)), filepath.SplitList(ownpath.Without(e, dir).Get("PATH"))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// A project begins with any of the usual files, in any case, whatever lies below it; so does a directory
// with too many names to tell.
func TestBegin(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10_000 {
		gittest.Write(t, filepath.Join(base, "many", strconv.Itoa(i)), "")
	}
	for name, want := range map[string]bool{"many": true, "JustFile": true, ".JUSTFILE": true, "CMakeLists.txt": true, "README.md": true, "deno.json": true, "notes.txt": false,
		".envrc": true, "mise.toml": true, ".mise.local.toml": true, ".tool-versions": true, "devbox.json": true, "shell.nix": true, "pom.xml": true, "build.gradle": true,
		"requirements.txt": true, "setup.py": true, "Taskfile.dist.yml": true, "AGENTS.md": true, "LICENSE": true, ".gitignore": true, ".vscode": true, "README.rst": true,
		".DS_Store": false, "pkg": false, "lost+found": false, ".Trashes": false,
	} {
		at := filepath.Join(base, name)
		mkdir(t, at, "bin", "sub/.git")
		if name != "many" {
			gittest.Write(t, filepath.Join(at, name), "")
		}
		e := xec.Env{"HOME=" + filepath.Join(base, "home"), "PATH=" + list(at, "bin")}
		if got := ownpath.Without(e, filepath.Join(at, "sub")).Get("PATH") == ""; got != want {
			t.Errorf("%s: removed %t, want %t", name, got, want)
		}
	}
}

// Programs that a user installs are not a project's, wherever the repository is.
func TestInstalled(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"home/bin", "home/.local/bin", "home/.cargo/bin", "home/.volta/bin", "opt/node/bin", "data/go/bin"}
	for _, name := range names {
		mkdir(t, base, name)
	}
	for _, name := range []string{"home/.envrc", "home/.tool-versions", "home/.gitignore", "opt/node/README.md", "data/.DS_Store"} {
		gittest.Write(t, filepath.Join(base, filepath.FromSlash(name)), "")
	}
	e := xec.Env{"HOME=" + filepath.Join(base, "home"), "PATH=" + list(base, names...)}
	for _, dir := range []string{"home/src/app", "home/go/src/app", "opt/app", "data/go/src/app"} {
		mkdir(t, base, dir)
		if got := ownpath.Without(e, filepath.Join(base, filepath.FromSlash(dir))).Get("PATH"); got != list(base, names...) {
			t.Errorf("%s: got %s", dir, got)
		}
	}
}

// A directory with the programs of the system is not a project.
func TestSystem(t *testing.T) {
	t.Parallel()
	e := xec.Env{"HOME=/home/ada", "PATH=/usr/local/bin:/usr/bin:/bin"}
	for _, dir := range []string{"/", "/usr", "/usr/bin", "/usr/local", "/bin"} {
		if got := ownpath.Without(e, dir); got.Get("PATH") != e.Get("PATH") {
			t.Errorf("%s: got %s", dir, got.Get("PATH"))
		}
	}
	e = xec.Env{"HOME=/home/ada", "PATH=/usr/src/app/node_modules/.bin:/usr/local/bin"}
	if got := ownpath.Without(e, "/usr/src/app").Get("PATH"); runtime.GOOS != "windows" && got != "/usr/local/bin" {
		t.Errorf("got %s", got)
	}
}

// All worktrees of a repository are one project, and so are a submodule and what contains it.
func TestWorktrees(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(base, name) }
	for _, name := range []string{"main", "other"} {
		mkdir(t, base, name)
		g.Run(at(name), "init", "-q", "-b", "main")
		g.Run(at(name), "commit", "-q", "--allow-empty", "-m", "start")
	}
	g.Run(at("main"), "worktree", "add", "-q", "../a", "-b", "a")
	g.Run(at("main"), "worktree", "add", "-q", "../b", "-b", "b")
	g.Run(at("main"), "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", at("other"), "sub")
	e := xec.Env{"HOME=" + at("home"), "PATH=" + list(base, "main/"+bin, "a/"+bin, "b/tools", "other/"+bin, "main/sub/bin", "bin")}
	for dir, want := range map[string]string{
		"a":        list(base, "other/"+bin, "bin"),
		"main":     list(base, "other/"+bin, "bin"),
		"other":    list(base, "main/"+bin, "a/"+bin, "b/tools", "main/sub/bin", "bin"),
		"main/sub": list(base, "other/"+bin, "bin"),
	} {
		if got := ownpath.Without(e, at(dir)).Get("PATH"); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", dir, got, want)
		}
	}
}

// So is one whose .git git reads in its own way.
func TestOddWorktree(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]string{"line ends": strings.Repeat("\n", 70_000), "a NUL": "\x00", "text after a NUL": "\x00x\n"} {
		base, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		g := gittest.New(t)
		main, linked := filepath.Join(base, "main"), filepath.Join(base, "linked")
		mkdir(t, base, "main", "home")
		g.Run(main, "init", "-q", "-b", "main")
		g.Run(main, "commit", "-q", "--allow-empty", "-m", "start")
		g.Run(main, "worktree", "add", "-q", linked, "-b", "a")
		gittest.Write(t, filepath.Join(linked, ".git"), "gitdir: "+filepath.Join(main, ".git", "worktrees", "linked")+end)
		mkdir(t, linked, "bin")
		e := xec.Env{"HOME=" + filepath.Join(base, "home"), "PATH=" + list(base, "linked/bin")}
		if got := ownpath.Without(e, main).Get("PATH"); got != "" {
			t.Errorf("%s: %s remains", name, got)
		}
	}
}
