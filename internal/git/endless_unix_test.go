//go:build unix

package git_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/git/history"
)

// endless are the files that keep a reader waiting, or reading.
var endless = map[string]func(path string) error{
	"named pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
	"device":     func(path string) error { return os.Symlink("/dev/zero", path) },
	"huge file": func(path string) error {
		return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<42))
	},
}

// gits are the files that git and this package read, relative to the worktree.
var gits = []string{
	".git", ".git/HEAD", ".git/config", ".git/config.worktree", ".git/commondir", ".git/index", ".git/packed-refs",
	".git/refs/heads/main", ".git/refs/heads/other", ".git/refs/remotes/origin/main", ".git/refs/replace/x", ".git/refs/tags/x",
	".git/shallow", ".git/info/attributes", ".git/info/exclude", ".git/info/grafts", ".git/objects/info/alternates",
	".git/logs/refs/heads/main", ".git/MERGE_HEAD", ".git/rebase-merge/head-name", ".git/worktrees/linked/gitdir",
	".git/worktrees/linked/HEAD", ".git/worktrees", ".git/remotes/origin", ".gitattributes", ".gitignore", ".gitmodules", ".mailmap",
	"sub/.gitignore",
}

// Whatever replaces a file of git's, every method ends, and the memory of this process does not
// grow.
func TestEndlessFiles(t *testing.T) {
	t.Parallel()
	for kind, put := range endless {
		for _, name := range gits {
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				g := gittest.New(t)
				dir := g.Init()
				gittest.Write(t, join(dir, "sub", "a.txt"), "text\n")
				g.Run(dir, "add", ".")
				g.Run(dir, "commit", "-q", "-m", "first")
				g.Run(dir, "worktree", "add", "-q", "-b", "linked", join(filepath.Dir(dir), "linked"))
				path := join(dir, filepath.FromSlash(name))
				if err := errors.Join(os.RemoveAll(path), os.MkdirAll(filepath.Dir(path), 0o755), put(path)); err != nil {
					t.Skip(err)
				}
				// No timing is compared: what hangs, hangs until the end of the test.
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				done := inBackground(func() {
					r, err := git.Discover(ctx, dir, git.Options{Env: g.Env})
					if err != nil {
						t.Log(err)
						return
					}
					everything(t, r, func(method string, err error) {
						if errors.Is(err, context.DeadlineExceeded) {
							t.Errorf("%s: %v", method, err)
						}
					})
					if _, _, err := r.Changes(ctx); errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("Changes: %v", err)
					}
					if _, err := r.Log(ctx, 3); errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("Log: %v", err)
					}
					if _, err := history.Unmerged(ctx, r.Program(), nil); errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("Unmerged: %v", err)
					}
					history.FileLogs(r.CommonDir())("main")
				})
				select {
				case <-done:
				case <-ctx.Done():
					t.Fatal("it hangs")
				}
			})
		}
	}
}

// inBackground runs f in the background.
func inBackground(f func()) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	return done
}

// Git reads which commit a submodule is at.
func TestEndlessFilesOfSubmodules(t *testing.T) {
	t.Parallel()
	for kind, put := range endless {
		for _, name := range []string{"HEAD", "refs/heads/main", "packed-refs", "commondir"} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				g := gittest.New(t)
				dir := g.Init()
				g.Commit(dir, "first")
				submodule(t, trap{g: g, dir: dir})
				path := join(dir, ".git", "modules", "sub", filepath.FromSlash(name))
				if err := errors.Join(os.RemoveAll(path), put(path)); err != nil {
					t.Skip(err)
				}
				_, err := discover(t, g, dir).Status(t.Context())
				if broken, ok := errors.AsType[*git.BrokenError](err); !ok || broken.Path != path {
					t.Errorf("error is %v, want a *BrokenError about %q", err, path)
				}
			})
		}
	}
}

// A file that git waits for deep in the worktree is found while git runs, and named.
func TestObstacle(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	gittest.Write(t, join(dir, "a", "b", "c.txt"), "text\n")
	g.Run(dir, "add", ".")
	pipe := join(dir, "a", "b", ".gitignore")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	_, err := discover(t, g, dir).Status(t.Context())
	broken, ok := errors.AsType[*git.BrokenError](err)
	if !ok || broken.Path != pipe {
		t.Errorf("error is %v, want a *BrokenError about %q", err, pipe)
	}
}

// So is one behind the .git of a repository in the worktree, whatever it leads to: git looks for the
// commit of each.
func TestObstacleInNestedRepository(t *testing.T) {
	t.Parallel()
	for kind, lead := range map[string]func(dir, nested string) error{
		"file": func(_, nested string) error {
			return os.WriteFile(join(nested, ".git"), []byte("gitdir: ../stuff\n"), 0o600)
		},
		"link":      func(_, nested string) error { return os.Symlink("../stuff", join(nested, ".git")) },
		"commondir": shares,
	} {
		for _, name := range []string{"HEAD", "commondir", "refs/heads/main", "config"} {
			if kind == "commondir" && (name == "HEAD" || name == "commondir") {
				continue // git reads these only in nested
			}
			for _, split := range []bool{false, true} {
				t.Run(fmt.Sprint(kind, "/", name, "/", split), func(t *testing.T) {
					t.Parallel()
					g := gittest.New(t)
					dir := g.Init()
					head := g.Commit(dir, "first")
					gittest.Write(t, join(dir, "nested", "file.txt"), "text\n")
					for file, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": "[core]\n\trepositoryformatversion = 0\n", "refs/heads/main": head + "\n", "objects/info/x": ""} {
						gittest.Write(t, join(dir, "stuff", filepath.FromSlash(file)), text)
					}
					if split {
						g.Run(dir, "update-index", "--add", "--cacheinfo", "160000,"+head+",nested")
						g.Run(dir, "commit", "--quiet", "--message", "second")
						g.Run(dir, "update-index", "--split-index")
					}
					pipe := join(dir, "stuff", filepath.FromSlash(name))
					_ = os.Remove(pipe)
					if err := errors.Join(lead(dir, join(dir, "nested")), syscall.Mkfifo(pipe, 0o600)); err != nil {
						t.Skip(err)
					}
					start := time.Now()
					_, err := discover(t, g, dir).Status(t.Context())
					broken, ok := errors.AsType[*git.BrokenError](err)
					if err != nil && (!ok || broken.Path != pipe) || time.Since(start) > 20*time.Second {
						t.Errorf("error is %v, want a *BrokenError about %q", err, pipe)
					}
				})
			}
		}
	}
}

// shares makes nested a worktree of the repository stuff.
func shares(dir, nested string) error {
	gitDir := join(nested, ".git")
	return errors.Join(os.Mkdir(gitDir, 0o700), os.WriteFile(join(gitDir, "HEAD"), []byte("ref: refs/heads/main\n"), 0o600),
		os.WriteFile(join(gitDir, "commondir"), []byte(join(dir, "stuff")), 0o600))
}

// So is one behind a .git or a commondir that git reads in its own way; and those that copse does not
// follow are obstacles themselves.
func TestObstacleBehindOddGitFile(t *testing.T) {
	t.Parallel()
	long := "g" + strings.Repeat("\n", 70_000)
	for name, tt := range map[string]struct{ git, link, common, obstacle string }{
		"line ends":              {git: "gitdir: " + long, obstacle: "nested/g/HEAD"},
		"a NUL":                  {git: "gitdir: g\x00", obstacle: "nested/g/HEAD"},
		"text after a NUL":       {git: "gitdir: g\x00x\n", obstacle: "nested/g/HEAD"},
		"the process":            {git: "gitdir: /proc/self/cwd/nested/g\n", obstacle: "nested/.git"},
		"a link to the process":  {link: "/proc/self/cwd/nested/g", obstacle: "nested/.git"},
		"a link of the process":  {link: "/dev/fd/../cwd/nested/g", obstacle: "nested/.git"},
		"a shared NUL":           {common: "../g\x00", obstacle: "nested/g/refs/heads/main"},
		"shared line ends":       {common: "../" + long, obstacle: "nested/.git/commondir"},
		"shared and the process": {common: "/proc/self/cwd/nested/g", obstacle: "nested/.git/commondir"},
	} {
		for _, submodule := range []bool{false, true} {
			if tt.common != "" && !submodule {
				continue // git reads no refs there
			}
			if _, err := os.Stat("/proc/self/cwd"); err != nil && strings.Contains(name, "process") && !submodule {
				continue // git follows it nowhere, and ends
			}
			t.Run(fmt.Sprint(name, "/", submodule), func(t *testing.T) {
				t.Parallel()
				g := gittest.New(t)
				dir, err := filepath.EvalSymlinks(g.Init())
				if err != nil {
					t.Fatal(err)
				}
				head := g.Commit(dir, "first")
				gittest.Write(t, join(dir, "nested", "g", "objects", "x"), "")
				gittest.Write(t, join(dir, "nested", "g", "refs", "heads", "x"), "")
				dotGit := join(dir, "nested", ".git")
				pipe := join(dir, "nested", "g", "HEAD")
				switch {
				case tt.git != "":
					gittest.Write(t, dotGit, tt.git)
				case tt.link != "":
					err = os.Symlink(tt.link, dotGit)
				default:
					gittest.Write(t, join(dotGit, "HEAD"), "ref: refs/heads/main\n")
					gittest.Write(t, join(dotGit, "commondir"), tt.common)
					pipe = join(dir, "nested", "g", "refs", "heads", "main")
				}
				if err := errors.Join(err, syscall.Mkfifo(pipe, 0o600)); err != nil {
					t.Skip(err)
				}
				if submodule {
					g.Run(dir, "update-index", "--add", "--cacheinfo", "160000,"+head+",nested")
				}
				_, err = discover(t, g, dir).Status(t.Context())
				broken, ok := errors.AsType[*git.BrokenError](err)
				if !ok || broken.Path != join(dir, filepath.FromSlash(tt.obstacle)) {
					t.Errorf("error is %v, want a *BrokenError about %s", err, tt.obstacle)
				}
			})
		}
	}
}

// So is one in an object directory that the repository borrows from.
func TestObstacleInAlternates(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	gittest.Write(t, join(dir, "a.txt"), "text\n")
	g.Run(dir, "add", ".")
	g.Commit(dir, "first")
	name := join(dir, "alt", "pack", "pack-"+strings.Repeat("1", 40))
	gittest.Write(t, name+".pack", "")
	if err := syscall.Mkfifo(name+".idx", 0o600); err != nil {
		t.Skip(err)
	}
	gittest.Write(t, join(dir, "below", "alt"), "")
	if err := os.Symlink(join(dir, "alt", "pack"), join(dir, "below", "link")); err != nil {
		t.Fatal(err)
	}
	// Git follows the link before the dots, and so reaches the directory with the pipe.
	for _, path := range []string{"../../alt", "../../below/link/../../alt", join(dir, "below") + "/link/../../alt"} {
		gittest.Write(t, join(dir, ".git", "objects", "info", "alternates"), path+"\n")
		_, err := discover(t, g, dir).Tips(t.Context())
		broken, ok := errors.AsType[*git.BrokenError](err)
		if !ok || filepath.Base(broken.Path) != filepath.Base(name+".idx") {
			t.Errorf("%s: error is %v, want a *BrokenError about the pipe", path, err)
		}
	}
}

// Object directories that borrow from each other under many names are examined once, as in git, and only so many.
func TestManyAlternates(t *testing.T) {
	t.Parallel()
	for name, spell := range map[string]func(level, i int) string{
		"spellings": func(level, i int) string { return strings.Repeat("./", i) + fmt.Sprintf("level%d", level) },
		"links":     func(level, i int) string { return fmt.Sprintf("link%d-%d", level, i) },
	} {
		g := gittest.New(t)
		dir := g.Init()
		g.Commit(dir, "first")
		at := join(dir, ".git", "objects")
		for level := range 5 {
			gittest.Write(t, join(at, "x"), "")
			var list strings.Builder
			for i := range 50 {
				fmt.Fprintln(&list, spell(level, i))
				if err := os.Symlink(fmt.Sprintf("level%d", level), join(at, fmt.Sprintf("link%d-%d", level, i))); err != nil {
					t.Fatal(err)
				}
			}
			gittest.Write(t, join(at, "info", "alternates"), list.String())
			at = join(at, fmt.Sprintf("level%d", level))
		}
		gittest.Write(t, join(at, "x"), "")
		done := make(chan error, 1)
		go func() {
			_, err := discover(t, g, dir).Tips(t.Context())
			done <- err
		}()
		select {
		case err := <-done:
			if many := err != nil && strings.Contains(err.Error(), "leads to more than 100 object directories"); many != (name == "links") {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: no end", name)
		}
	}
}

// Patterns that git compares for hours are found while git runs, and named.
func TestPatterns(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"nested":  strings.Repeat("**/", 200) + "x\n",
		"several": strings.Repeat(strings.Repeat("**/", 14)+"x\n", 2000),
		"single":  strings.Repeat(strings.Repeat("*a", 60)+"b\n", 2000),
	} {
		for _, file := range []string{".gitignore", ".git/info/exclude"} {
			t.Run(name+" in "+file, func(t *testing.T) {
				t.Parallel()
				g := gittest.New(t)
				dir := g.Init()
				g.Commit(dir, "first")
				deep := strings.Repeat("a/", 100)
				for i := range 100 {
					gittest.Write(t, join(dir, deep, strings.Repeat("a", 230)+fmt.Sprintf("%d.txt", i)), "text\n")
				}
				path := join(dir, filepath.FromSlash(file))
				gittest.Write(t, path, text)
				_, err := discover(t, g, dir).Status(t.Context())
				broken, ok := errors.AsType[*git.BrokenError](err)
				if err == nil && quick(t, dir) {
					return // git 2.41 and later compares some of these patterns in no time
				}
				if !ok || broken.Path != path {
					t.Errorf("error is %v, want a *BrokenError about %q", err, path)
				}
			})
		}
	}
}

// quick reports whether plain git finishes soon in a repository.
func quick(t *testing.T, dir string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	program := os.Getenv(gittest.ProgramVar)
	if program == "" {
		program = "git"
	}
	return exec.CommandContext(ctx, program, "-C", dir, "status", "--porcelain").Run() == nil
}

// Git compares the conditions of includes each time it starts, so it does not start.
func TestPatternsInConditions(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]string{
		"nested":      "[includeIf \"onbranch:" + strings.Repeat("**/", 20) + "zz\"]\n\tpath = other\n",
		"several":     strings.Repeat("[includeIf \"onbranch:"+strings.Repeat("**/", 14)+"zz\"]\n\tpath = other\n", 10),
		"single":      strings.Repeat("[includeIf \"onbranch:"+strings.Repeat("*a", 60)+"b\"]\n\tpath = other\n", 1000),
		"git needed":  "[includeIf \"onbranch:" + strings.Repeat("**/", 20) + "[z]\"]\n\tpath = other\n",
		"a directory": "[includeIf \"gitdir:" + strings.Repeat("**/", 20) + "zz\"]\n\tpath = other\n",
		"a submodule": "[submodule]\n\tactive = \":(glob)" + strings.Repeat("**/", 20) + "zz\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gittest.New(t)
			dir := g.Init()
			g.Commit(dir, "first")
			g.Run(dir, "checkout", "-q", "-b", strings.Repeat("a/", 60)+"b")
			path := join(dir, ".git", "config")
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			gittest.Write(t, path, string(text)+config)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			repo, err := git.Discover(ctx, dir, git.Options{Env: g.Env, Named: true})
			if err == nil {
				_, err = repo.Status(ctx)
			}
			broken, ok := errors.AsType[*git.BrokenError](err)
			if !ok || broken.Path != path {
				t.Errorf("error is %v, want a *BrokenError about %q", err, path)
			}
		})
	}
}
