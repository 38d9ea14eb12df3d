package git_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
)

func TestDiscoverNothing(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := gittest.Dir(t)
	gittest.Write(t, join(dir, "not", ".git", "HEAD"), "ref: refs/heads/main\n") // and nothing else
	gittest.Write(t, join(dir, "file"), "")
	for _, start := range []string{dir, join(dir, "not"), join(dir, "not", ".git"), join(dir, "missing"), join(dir, "file")} {
		_, err := git.Discover(t.Context(), start, git.Options{Env: g.Env})
		if !errors.Is(err, git.ErrNotRepository) || !strings.Contains(err.Error(), start) {
			t.Errorf("from %s: error is %v, want ErrNotRepository with the folder", start, err)
		}
	}
	if _, err := git.Discover(t.Context(), "relative", git.Options{Env: g.Env}); err == nil {
		t.Error("a relative path was accepted")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := git.Discover(ctx, dir, git.Options{Env: g.Env}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want context.Canceled", err)
	}
}

func TestDiscoverBroken(t *testing.T) {
	t.Parallel()
	// Each case damages a new repository with a linked worktree next to it,
	// says from where to look, and what the message must say.
	tests := map[string]struct {
		damage func(t *testing.T, g *gittest.Git, dir, linked string) (start string)
		path   string // relative to the directory of both
		says   []string
	}{
		"main moved": {
			func(t *testing.T, _ *gittest.Git, dir, linked string) string {
				rename(t, dir, dir+"-moved")
				return linked
			},
			"linked/.git", []string{"no longer at", "repo/.git", "git worktree repair"},
		},
		"worktree pruned": {
			func(t *testing.T, _ *gittest.Git, dir, linked string) string {
				remove(t, join(dir, ".git", "worktrees"))
				return linked
			},
			"linked/.git", []string{"does not know", "git worktree add"},
		},
		"worktree moved, from inside .git": {
			func(t *testing.T, _ *gittest.Git, dir, linked string) string {
				rename(t, linked, linked+"-moved")
				return join(dir, ".git", "worktrees", "linked")
			},
			"repo/.git/worktrees/linked/gitdir", []string{"git worktree repair"},
		},
		"gitfile to nowhere": {
			func(t *testing.T, _ *gittest.Git, _, linked string) string {
				gittest.Write(t, join(linked, ".git"), "gitdir: ../nowhere\n")
				return linked
			},
			"linked/.git", []string{"points to", "nowhere"},
		},
		"gitfile is something else": {
			func(t *testing.T, _ *gittest.Git, _, linked string) string {
				gittest.Write(t, join(linked, ".git"), "hello\n")
				return linked
			},
			"linked/.git", []string{"gitdir: "},
		},
		"HEAD is empty": {
			func(t *testing.T, _ *gittest.Git, dir, _ string) string {
				gittest.Write(t, join(dir, ".git", "HEAD"), "")
				return dir
			},
			"repo/.git/HEAD", []string{"damaged", "ref: refs/heads/"},
		},
		"format version": {
			func(t *testing.T, _ *gittest.Git, dir, _ string) string {
				gittest.Write(t, join(dir, ".git", "config"), "[core]\nrepositoryformatversion = 2\n")
				return dir
			},
			"repo/.git/config", []string{`version "2"`},
		},
		"extension": {
			func(t *testing.T, _ *gittest.Git, dir, linked string) string {
				gittest.Write(t, join(dir, ".git", "config"), "[core]\nrepositoryformatversion = 1\n[extensions]\nfooBar = x\n")
				return linked
			},
			"repo/.git/config", []string{`extension "foobar"`},
		},
		"extension too early": {
			func(t *testing.T, _ *gittest.Git, dir, _ string) string {
				gittest.Write(t, join(dir, ".git", "config"), "[core]\nrepositoryformatversion = 0\n[extensions]\nobjectFormat = sha256\n")
				return dir
			},
			"repo/.git/config", []string{"extensions.objectformat", "version 0"},
		},
		"object format": {
			func(t *testing.T, _ *gittest.Git, dir, _ string) string {
				gittest.Write(t, join(dir, ".git", "config"), "[core]\nrepositoryformatversion = 1\n[extensions]\nobjectFormat = sha512\n")
				return dir
			},
			"repo/.git/config", []string{"sha512"},
		},
		"ref format": {
			func(t *testing.T, _ *gittest.Git, dir, _ string) string {
				gittest.Write(t, join(dir, ".git", "config"), "[core]\nrepositoryformatversion = 1\n[extensions]\nrefStorage = cloud\n")
				return dir
			},
			"repo/.git/config", []string{"cloud"},
		},
		"configuration": {
			func(t *testing.T, _ *gittest.Git, dir, _ string) string {
				gittest.Write(t, join(dir, ".git", "config"), "[core]\n\tbare = false\n<<<<<<<\n")
				return dir
			},
			"repo/.git/config", []string{"line 3"},
		},
		"core.bare": {
			func(t *testing.T, _ *gittest.Git, dir, _ string) string {
				gittest.Write(t, join(dir, ".git", "config"), "[core]\n\tbare = perhaps\n")
				return dir
			},
			"repo/.git/config", []string{"core.bare", "perhaps"},
		},
		"core.worktree": {
			func(_ *testing.T, g *gittest.Git, dir, _ string) string {
				g.Run(dir, "config", "core.worktree", "/nowhere")
				return dir
			},
			"repo/.git/config", []string{"core.worktree", "/nowhere"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gittest.New(t)
			dir := g.Init()
			g.Commit(dir, "first")
			top := filepath.Dir(dir)
			linked := join(top, "linked")
			g.Run(dir, "worktree", "add", "-q", linked)
			start := tt.damage(t, g, dir, linked)

			_, err := git.Discover(t.Context(), start, git.Options{Env: g.Env, Named: true})
			broken, ok := errors.AsType[*git.BrokenError](err)
			if !ok {
				t.Fatalf("error is %v, want a *BrokenError", err)
			}
			if want := join(top, filepath.FromSlash(tt.path)); broken.Path != want {
				t.Errorf("path is %q, want %q", broken.Path, want)
			}
			for _, text := range tt.says {
				if !strings.Contains(filepath.ToSlash(err.Error()), text) {
					t.Errorf("message does not say %q: %v", text, err)
				}
			}
			if errors.Is(err, git.ErrNotRepository) {
				t.Error("a broken repository is not the same as none")
			}
			if out, err := g.Try(start, "status"); err == nil && start != join(dir, ".git", "worktrees", "linked") {
				t.Errorf("git has no trouble with it: %s", out)
			}
		})
	}
}

// After the remedy that the message names, all is well.
func TestDiscoverAfterRepair(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	g.Commit(dir, "first")
	linked := join(filepath.Dir(dir), "linked")
	g.Run(dir, "worktree", "add", "-q", linked)
	moved := dir + "-moved"
	rename(t, dir, moved)
	g.Run(moved, "worktree", "repair")
	agree(t, g, place{linked, linked, moved})
}

// The main worktree may be gone without harm to a linked one.
func TestDiscoverMainWorktreeGone(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	g.Commit(dir, "first")
	linked := join(filepath.Dir(dir), "linked")
	g.Run(dir, "worktree", "add", "-q", linked)
	g.Run(dir, "config", "core.worktree", "/nowhere")
	if r := discover(t, g, linked); r.Root() != linked || r.MainRoot() != "" {
		t.Errorf("root %q, main root %q; want %q and none", r.Root(), r.MainRoot(), linked)
	}
}

func TestDiscoverUnreadable(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("permissions do not keep this user out")
	}
	g := gittest.New(t)
	for _, path := range []string{".git", ".git/HEAD", ".git/config"} {
		dir := g.Init()
		path = join(dir, filepath.FromSlash(path))
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(path, 0o755) })
		_, err := git.Discover(t.Context(), dir, git.Options{Env: g.Env})
		if _, ok := errors.AsType[*git.BrokenError](err); !ok || !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: error is %v, want a *BrokenError about permissions", path, err)
		}
	}
}

func TestDiscoverCeiling(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	top := filepath.Dir(dir)
	deep := mkdir(g, dir, "a", "b")
	link := join(top, "link")
	relink(t, link, dir)
	list := func(paths ...string) string { return strings.Join(paths, string(filepath.ListSeparator)) }
	for _, ceiling := range []string{
		"", top, dir, join(dir, "a"), deep, join(deep, "c"), dir + "/", "/", "relative", join(dir, "ab"),
		list(top, join(dir, "a")), list(join(dir, "a"), top), list(dir, "/nowhere"),
		join(link, "a"), list("", join(link, "a")), list(join(link, "a"), ""), join(dir, "x", "..", "a"),
	} {
		for _, start := range []string{dir, join(dir, "a"), deep} {
			env := g.Env.With("GIT_CEILING_DIRECTORIES=" + ceiling)
			_, err := git.Discover(t.Context(), start, git.Options{Env: env})
			asked := gittest.Git{TB: t, Env: env, Home: g.Home}
			_, gitErr := asked.Try(start, "rev-parse", "--git-dir")
			if (err != nil) != (gitErr != nil) {
				t.Errorf("ceiling %q, from %s: error is %v, git's is %v", ceiling, start, err, gitErr)
			}
		}
	}
}

// What git sets for hooks does not lead astray.
func TestDiscoverIgnoresHookVariables(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	other := g.Init()
	g.Run(other, "symbolic-ref", "HEAD", "refs/heads/other")
	g.Run(other, "remote", "add", "origin", "https://example.com/other")
	dir := g.Init()
	want := g.Commit(dir, "first")
	gittest.Write(t, join(dir, "new"), "")

	env := g.Env.With("GIT_DIR="+join(other, ".git"), "GIT_WORK_TREE="+other, "GIT_COMMON_DIR="+join(other, ".git"),
		"GIT_INDEX_FILE="+join(other, "index"), "GIT_OBJECT_DIRECTORY="+join(other, ".git", "objects"),
		"GIT_PREFIX=x/", "GIT_CONFIG_PARAMETERS='remote.origin.url=https://example.com/x'")
	r, err := git.Discover(t.Context(), dir, git.Options{Env: env})
	if err != nil {
		t.Fatal(err)
	}
	if r.Root() != dir {
		t.Errorf("root is %q, want %q", r.Root(), dir)
	}
	if head, err := r.Head(t.Context()); err != nil || head.Commit != want {
		t.Errorf("HEAD is %+v, %v; want %s", head, err, want)
	}
	if _, err := r.RemoteURL(t.Context(), "origin"); !errors.Is(err, git.ErrNoRemote) {
		t.Errorf("error is %v, want ErrNoRemote", err)
	}
	if s, err := r.Status(t.Context()); err != nil || s != (git.Status{Untracked: 1}) {
		t.Errorf("status is %+v, %v; want one untracked file", s, err)
	}
	if list, err := r.Worktrees(t.Context()); err != nil || len(list) != 1 || list[0].Path != dir {
		t.Errorf("worktrees are %+v, %v; want %q", list, err, dir)
	}
}

func TestGone(t *testing.T) {
	t.Parallel()
	tests := map[string]func(t *testing.T, dir, linked string) (start, removed string){
		"all":             func(_ *testing.T, dir, _ string) (string, string) { return dir, dir },
		".git":            func(_ *testing.T, dir, _ string) (string, string) { return dir, join(dir, ".git") },
		"linked worktree": func(_ *testing.T, _, linked string) (string, string) { return linked, linked },
		"main repository": func(_ *testing.T, dir, linked string) (string, string) { return linked, dir },
		"from inside":     func(_ *testing.T, dir, _ string) (string, string) { return join(dir, ".git"), dir },
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gittest.New(t)
			dir := g.Init()
			g.Commit(dir, "first")
			g.Run(dir, "remote", "add", "origin", "https://example.com/x")
			linked := join(filepath.Dir(dir), "linked")
			g.Run(dir, "worktree", "add", "-q", linked)
			start, removed := tt(t, dir, linked)
			r := discover(t, g, start)
			everything(t, r, func(method string, err error) {
				if err != nil {
					t.Errorf("before: %s: %v", method, err)
				}
			})
			remove(t, removed)
			everything(t, r, func(method string, err error) {
				if !errors.Is(err, git.ErrNotRepository) {
					t.Errorf("after: %s: error is %v, want ErrNotRepository", method, err)
				}
			})
			if watches := r.Watches(); removed != linked && len(watches) > 0 {
				t.Errorf("folders to watch are %+v, want none", watches)
			}
		})
	}
}

// everything calls all methods that read.
func everything(t *testing.T, r *git.Repo, report func(method string, err error)) {
	ctx := t.Context()
	_, err := r.Head(ctx)
	report("Head", err)
	_, err = r.LocalBranches(ctx)
	report("LocalBranches", err)
	_, err = r.HasBranch(ctx, "main")
	report("HasBranch", err)
	_, err = r.DefaultBranch(ctx)
	report("DefaultBranch", err)
	_, err = r.RemoteURL(ctx, "origin")
	report("RemoteURL", err)
	_, err = r.Worktrees(ctx)
	report("Worktrees", err)
	_, err = r.Status(ctx)
	report("Status", err)
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}
