package git_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
)

// bareInside puts what looks like the inside .git into a directory of a repository, as
// anyone can commit it.
func bareInside(t *testing.T, g *gittest.Git) (dir, inside string) {
	dir = g.Init()
	g.Commit(dir, "first")
	inside = join(dir, "docs")
	gittest.Write(t, join(inside, "HEAD"), "ref: refs/heads/evil\n")
	gittest.Write(t, join(inside, "objects", "x"), "")
	gittest.Write(t, join(inside, "refs", "x"), "")
	gittest.Write(t, join(inside, "config"), "[core]\nbare = false\nworktree = .\n")
	gittest.Write(t, join(inside, "deep", "x"), "")
	return dir, inside
}

// What looks like the inside .git is passed over on the way up.
func TestDiscoverPassesOverBare(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir, inside := bareInside(t, g)
	for _, start := range []string{inside, join(inside, "deep"), join(inside, "refs")} {
		r, err := git.Discover(t.Context(), start, git.Options{Env: g.Env})
		if err != nil || r.Root() != dir || r.GitDir() != join(dir, ".git") {
			t.Errorf("from %s: %v, %v; want %s", start, r, err, dir)
		}
	}
	// Named, it is a repository that is not to be used: nothing leads back to it.
	_, err := git.Discover(t.Context(), inside, git.Options{Env: g.Env, Named: true})
	if _, ok := errors.AsType[*git.BrokenError](err); !ok || !strings.Contains(err.Error(), "core.worktree") {
		t.Errorf("named: error is %v, want a *BrokenError about core.worktree", err)
	}
	// Below it, it is not the one that was named.
	if r, err := git.Discover(t.Context(), join(inside, "deep"), git.Options{Env: g.Env, Named: true}); err != nil || r.Root() != dir {
		t.Errorf("below the named one: %v, %v; want %s", r, err, dir)
	}
}

// A bare repository is used where it is named, and the error says so where it is not.
func TestDiscoverBare(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	bare := g.Init("--bare")
	_, err := git.Discover(t.Context(), bare, git.Options{Env: g.Env})
	if !errors.Is(err, git.ErrNotRepository) || !strings.Contains(err.Error(), "--repo") {
		t.Errorf("error is %v, want ErrNotRepository and what to do", err)
	}
	r, err := git.Discover(t.Context(), bare, git.Options{Env: g.Env, Named: true})
	if err != nil || !r.Bare() || r.GitDir() != bare {
		t.Fatalf("named: %v, %v", r, err)
	}
	if _, err := r.Worktrees(t.Context()); err != nil {
		t.Error(err)
	}
}

// No file of a repository moves the root to a directory that does not agree.
func TestRootStays(t *testing.T) {
	t.Parallel()
	tests := map[string]func(t *testing.T, g *gittest.Git, dir, victim string){
		"absolute": func(_ *testing.T, g *gittest.Git, dir, victim string) {
			g.Run(dir, "config", "core.worktree", victim)
		},
		"relative": func(_ *testing.T, g *gittest.Git, dir, victim string) {
			rel, _ := filepath.Rel(join(dir, ".git"), victim)
			g.Run(dir, "config", "core.worktree", rel)
		},
		"root of the system": func(_ *testing.T, g *gittest.Git, dir, _ string) {
			g.Run(dir, "config", "core.worktree", "/")
		},
		"link": func(t *testing.T, g *gittest.Git, dir, victim string) {
			relink(t, join(dir, ".git", "out"), victim)
			g.Run(dir, "config", "core.worktree", "out")
		},
		"of a worktree": func(_ *testing.T, g *gittest.Git, dir, victim string) {
			g.Run(dir, "config", "extensions.worktreeConfig", "true")
			g.Run(dir, "config", "--worktree", "core.worktree", victim)
		},
		"main repository": func(t *testing.T, _ *gittest.Git, dir, victim string) {
			gittest.Write(t, join(dir, ".git", "commondir"), join(victim, ".git")+"\n")
		},
		"linked worktree of another": func(t *testing.T, g *gittest.Git, dir, victim string) {
			g.Run(victim, "worktree", "add", "-q", join(filepath.Dir(victim), "linked"))
			remove(t, join(dir, ".git"))
			gittest.Write(t, join(dir, ".git"), "gitdir: "+join(victim, ".git", "worktrees", "linked")+"\n")
		},
	}
	for name, move := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gittest.New(t)
			dir, victim := g.Init(), g.Init()
			g.Commit(dir, "first")
			g.Commit(victim, "first")
			gittest.Write(t, join(victim, "secret"), "")
			move(t, g, dir, victim)
			for _, named := range []bool{false, true} {
				r, err := git.Discover(t.Context(), dir, git.Options{Env: g.Env, Named: named})
				if err != nil {
					continue
				}
				if r.Root() != dir || r.MainRoot() != "" && r.MainRoot() != dir {
					t.Errorf("root %q, main root %q, want %q", r.Root(), r.MainRoot(), dir)
				}
			}
		})
	}
}

// A .git file or link in a directory of strangers opens no repository of another directory.
func TestForeignRepository(t *testing.T) {
	t.Parallel()
	plant := func(t *testing.T, dir, gitDir string) { gittest.Write(t, join(dir, ".git"), "gitdir: "+gitDir+"\n") }
	link := func(t *testing.T, dir, gitDir string) { relink(t, join(dir, ".git"), gitDir) }
	for name, tt := range map[string]struct {
		plant func(t *testing.T, dir, gitDir string)
		// victim returns the git directory of a repository.
		victim func(g *gittest.Git, repo string) string
	}{
		"file to a repository": {plant, func(_ *gittest.Git, repo string) string { return join(repo, ".git") }},
		"link to a repository": {link, func(_ *gittest.Git, repo string) string { return join(repo, ".git") }},
		"relative": {plant, func(_ *gittest.Git, repo string) string {
			return join("..", "..", filepath.Base(filepath.Dir(repo)), "repo", ".git")
		}},
		"linked worktree": {plant, func(g *gittest.Git, repo string) string {
			g.Run(repo, "worktree", "add", "-q", join(filepath.Dir(repo), "linked"))
			return join(repo, ".git", "worktrees", "linked")
		}},
		"submodule": {plant, func(g *gittest.Git, repo string) string {
			src := g.Init()
			g.Commit(src, "first")
			g.Run(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "--name", "mod", src, "sub")
			return join(repo, ".git", "modules", "mod")
		}},
		"link to a submodule": {link, func(g *gittest.Git, repo string) string {
			src := g.Init()
			g.Commit(src, "first")
			g.Run(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "--name", "mod", src, "sub")
			return join(repo, ".git", "modules", "mod")
		}},
		"git directory apart that names its worktree": {plant, func(g *gittest.Git, repo string) string {
			apart := join(filepath.Dir(repo), "apart.git")
			g.Run(repo, "init", "-q", "--separate-git-dir", apart)
			g.Run(repo, "config", "core.worktree", repo)
			return apart
		}},
		"main repository": {func(t *testing.T, dir, gitDir string) {
			gittest.Write(t, join(dir, ".git", "HEAD"), "ref: refs/heads/main\n")
			gittest.Write(t, join(dir, ".git", "commondir"), gitDir+"\n")
		}, func(_ *gittest.Git, repo string) string { return join(repo, ".git") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gittest.New(t)
			repo := g.Init()
			g.Commit(repo, "first")
			gitDir := tt.victim(g, repo)
			dir := join(gittest.Dir(t), "archive")
			gittest.Write(t, join(dir, "sub", "x"), "")
			tt.plant(t, dir, gitDir)
			for _, start := range []string{dir, join(dir, "sub")} {
				r, err := git.Discover(t.Context(), start, git.Options{Env: g.Env, Named: true})
				if _, broken := errors.AsType[*git.BrokenError](err); !broken {
					t.Errorf("got %v, %v; want a *BrokenError", r, err)
				}
			}
		})
	}
}

// What is set while a repository is in use does not move it either.
func TestRootStaysLater(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir, victim := g.Init(), gittest.Dir(t)
	g.Commit(dir, "first")
	gittest.Write(t, join(victim, "secret"), "")
	r := discover(t, g, dir)
	g.Run(dir, "config", "core.worktree", victim)
	_, changes, err := r.Changes(t.Context())
	if err != nil || len(changes) != 0 {
		t.Errorf("changes are %v, %v; want none", changes, err)
	}
}

// A repository does not make another directory one of its worktrees.
func TestWorktreeThatDoesNotLeadBack(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir, victim := g.Init(), g.Init()
	g.Commit(dir, "first")
	linked := join(filepath.Dir(dir), "linked")
	g.Run(dir, "worktree", "add", "-q", linked)
	gittest.Write(t, join(dir, ".git", "worktrees", "linked", "gitdir"), join(victim, ".git")+"\n")
	list, err := discover(t, g, dir).Worktrees(t.Context())
	if err != nil || len(list) != 2 || list[1].Path != victim || !list[1].Prunable {
		t.Errorf("worktrees are %+v, %v; want that of %q prunable", list, err, victim)
	}
	_, err = git.Discover(t.Context(), join(dir, ".git", "worktrees", "linked"), git.Options{Env: g.Env, Named: true})
	if _, ok := errors.AsType[*git.BrokenError](err); !ok {
		t.Errorf("error is %v, want a *BrokenError", err)
	}
}

// A file that is named like a revision does not confuse git.
func TestFileNamedHEAD(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	gittest.Write(t, join(dir, "HEAD"), "one\n")
	g.Run(dir, "add", "HEAD")
	g.Run(dir, "commit", "-q", "-m", "first")
	gittest.Write(t, join(dir, "HEAD"), "one\ntwo\n")
	r := discover(t, g, dir)
	if stat, err := r.DiffStat(t.Context()); err != nil || stat["HEAD"] != (git.LineCount{Added: 1}) {
		t.Errorf("DiffStat: %v, %v", stat, err)
	}
	if commits, err := r.Log(t.Context(), 1); err != nil || len(commits) != 1 {
		t.Errorf("Log: %v, %v", commits, err)
	}
}

// The filters of the user still work, also where the repository sets the same ones.
func TestUsersFiltersWork(t *testing.T) {
	t.Parallel()
	for _, local := range []bool{false, true} {
		g := gittest.New(t)
		dir := g.Init()
		gittest.Write(t, join(g.Home, ".gitconfig"), "[filter \"up\"]\nclean = tr a-z A-Z\nrequired\n")
		gittest.Write(t, join(dir, ".gitattributes"), "*.txt filter=up\n")
		gittest.Write(t, join(dir, "a.txt"), "text\n")
		g.Run(dir, "add", ".")
		g.Run(dir, "commit", "-q", "-m", "first")
		old(t, join(dir, "a.txt"))
		if local {
			g.Run(dir, "config", "filter.up.clean", "false")
			g.Run(dir, "config", "filter.up.smudge", "false")
		}
		r := discover(t, g, dir)
		if s, err := r.Status(t.Context()); err != nil || s.Modified != 0 {
			t.Errorf("also of the repository: %v: %+v, %v; want no changes", local, s, err)
		}
		gittest.Write(t, join(dir, "a.txt"), "other\n")
		if s, err := r.Status(t.Context()); err != nil || s.Modified != 1 {
			t.Errorf("also of the repository: %v: %+v, %v; want one change", local, s, err)
		}
	}
}

// Reading writes nothing, the index included.
func TestReadingLeavesTheIndex(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	gittest.Write(t, join(dir, "a.txt"), "text\n")
	g.Run(dir, "add", ".")
	g.Run(dir, "commit", "-q", "-m", "first")
	old(t, join(dir, "a.txt"))
	old(t, join(dir, ".git", "index"))
	ask(t, g, dir)
	if !isOld(t, join(dir, ".git", "index")) {
		t.Error("the index was written")
	}
}

// Git's own refusal of a repository of somebody else is passed on.
func TestRefusalOfAnotherOwner(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	g.Commit(dir, "first")
	g.Env = g.Env.With("GIT_TEST_ASSUME_DIFFERENT_OWNER=1")
	if _, err := g.Try(dir, "status"); err == nil {
		t.Skip("this git does not ask who owns a repository")
	}
	_, err := discover(t, g, dir).Status(t.Context())
	if err == nil || !strings.Contains(err.Error(), "safe.directory") {
		t.Errorf("error is %v, want git's", err)
	}
}
