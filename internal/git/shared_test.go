package git_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
)

// sharedRoot returns what the repository at dir shares its files in, seen from base.
func sharedRoot(t *testing.T, g *gittest.Git, base, dir string) string {
	t.Helper()
	repo, err := git.Discover(t.Context(), dir, git.Options{Env: g.Env, Named: true})
	if err != nil {
		t.Fatal(err)
	}
	if repo.SharedRoot() == "" {
		return ""
	}
	rel, err := filepath.Rel(base, repo.SharedRoot())
	if err != nil {
		t.Fatal(err)
	}
	return filepath.ToSlash(rel)
}

// All worktrees of a repository agree on one directory, wherever git's own is.
func TestSharedRoot(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		make func(g *gittest.Git, base string)
		dirs []string
		want string
	}{
		"usual": {func(g *gittest.Git, base string) {
			g.Run(base, "init", "-q", "app")
			g.Commit(filepath.Join(base, "app"), "first")
			g.Run(filepath.Join(base, "app"), "worktree", "add", "-q", "../linked")
		}, []string{"app", "linked"}, "app"},
		"git directory apart": {func(g *gittest.Git, base string) {
			mkdir(g, filepath.Join(base, "store"))
			g.Run(base, "init", "-q", "--separate-git-dir=store/app.git", "app")
			g.Commit(filepath.Join(base, "app"), "first")
			g.Run(filepath.Join(base, "app"), "worktree", "add", "-q", "../linked")
		}, []string{"app", "linked"}, "store"},
		"git directory apart that names its worktree": {func(g *gittest.Git, base string) {
			mkdir(g, filepath.Join(base, "store"))
			g.Run(base, "init", "-q", "--separate-git-dir=store/app.git", "app")
			g.Commit(filepath.Join(base, "app"), "first")
			g.Run(filepath.Join(base, "app"), "config", "core.worktree", filepath.Join(base, "app"))
			g.Run(filepath.Join(base, "app"), "worktree", "add", "-q", "../linked")
		}, []string{"app", "linked"}, "app"},
		"bare, hidden": {func(g *gittest.Git, base string) {
			hidden(g, filepath.Join(base, "app"))
			gittest.Write(g.TB, filepath.Join(base, "app", ".git"), "gitdir: ./.bare\n")
		}, []string{"app/main", "app/feat", "app/.bare"}, "app"},
		"bare, hidden, without a .git beside it": {func(g *gittest.Git, base string) {
			hidden(g, filepath.Join(base, "app"))
		}, []string{"app/main", "app/feat"}, "app"},
		"beside another repository": {func(g *gittest.Git, base string) {
			hidden(g, filepath.Join(base, "app"))
			g.Run(filepath.Join(base, "app"), "init", "-q", "--bare", "other.git")
		}, []string{"app/main", "app/feat", "app/.bare"}, ""},
		"inside a worktree of another repository": {func(g *gittest.Git, base string) {
			g.Run(base, "init", "-q", "app")
			hidden(g, filepath.Join(base, "app"))
		}, []string{"app/main", "app/feat", "app/.bare"}, ""},
		"submodule": {func(g *gittest.Git, base string) {
			g.Run(base, "init", "-q", "lib")
			g.Commit(filepath.Join(base, "lib"), "first")
			g.Run(base, "init", "-q", "app")
			g.Run(filepath.Join(base, "app"), "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", filepath.Join(base, "lib"), "sub")
		}, []string{"app/sub"}, "app/sub"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gittest.New(t)
			base := gittest.Dir(t)
			tt.make(g, base)
			for _, dir := range tt.dirs {
				if got := sharedRoot(t, g, base, filepath.Join(base, filepath.FromSlash(dir))); got != tt.want {
					t.Errorf("%s: got %q, want %q", dir, got, tt.want)
				}
			}
		})
	}
}

// A linked worktree that the repository does not know gets nothing of it.
func TestSharedRootOfStranger(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	base := gittest.Dir(t)
	hidden(g, filepath.Join(base, "app"))
	stranger := filepath.Join(base, "stranger")
	if err := os.Rename(filepath.Join(base, "app", "feat"), filepath.Join(base, "moved")); err != nil {
		t.Fatal(err) // while it is there, the directory is its own
	}
	gittest.Write(t, filepath.Join(stranger, ".git"), "gitdir: ../app/.bare/worktrees/feat\n")
	if got := sharedRoot(t, g, base, stranger); got != "" {
		t.Errorf("got %q", got)
	}
}

// A worktree that the git directory does not know sees no other one, however its .git leads there.
func TestOwned(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	base := gittest.Dir(t)
	app, apart, gone := filepath.Join(base, "app"), filepath.Join(base, "apart"), filepath.Join(base, "gone")
	hidden(g, app)
	gittest.Write(t, filepath.Join(app, ".git"), "gitdir: ./.bare\n")
	g.Run(base, "init", "-q", "--separate-git-dir=apart.git", "apart")
	g.Commit(apart, "first")
	g.Run(apart, "worktree", "add", "-q", "../linked")
	g.Run(apart, "worktree", "add", "-q", gone)
	if err := os.RemoveAll(gone); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"bare": "app/.bare", "apart": "apart.git", "stale": "apart.git/worktrees/gone"} {
		gittest.Write(t, filepath.Join(base, "archive "+name, ".git"), "gitdir: ../"+to+"\n")
	}
	for dir, owned := range map[string]bool{
		"app": true, "app/main": true, "app/.bare": true, "linked": true, "apart.git": true,
		"apart": false, "archive bare": false, "archive apart": false, "archive stale": false,
	} {
		repo, err := git.Discover(t.Context(), filepath.Join(base, dir), git.Options{Env: g.Env, Named: true})
		if err != nil {
			t.Fatal(err)
		}
		if repo.Owned() != owned {
			t.Errorf("%s: owned is %t", dir, !owned)
		}
		for what, list := range map[string]func(context.Context) ([]git.Worktree, error){"worktrees": repo.Worktrees, "checkouts": repo.Checkouts} {
			all, err := list(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range all {
				if !owned && !w.Bare && w.Path != repo.Root() {
					t.Errorf("%s: the %s have %s", dir, what, w.Path)
				}
			}
			if owned && len(all) < 2 && what == "worktrees" {
				t.Errorf("%s: the %s are %v", dir, what, all)
			}
		}
	}
	g.Run(apart, "config", "core.worktree", apart)
	if repo, err := git.Discover(t.Context(), apart, git.Options{Env: g.Env}); err != nil || !repo.Owned() {
		t.Errorf("with core.worktree: %v", err)
	}
}

// hidden makes a bare repository dir/.bare with the worktrees main and feat.
func hidden(g *gittest.Git, dir string) {
	g.TB.Helper()
	from := g.Init()
	g.Commit(from, "first")
	mkdir(g, dir)
	g.Run(dir, "clone", "-q", "--bare", from, ".bare")
	bare := filepath.Join(dir, ".bare")
	g.Run(bare, "worktree", "add", "-q", "../main", "main")
	g.Run(bare, "worktree", "add", "-q", "-b", "feat", "../feat")
}
