package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
)

// place is a directory to start from, and what must be found.
type place struct {
	start          string
	root, mainRoot string // "" if bare
}

// scenarios make repositories and say from where to look at them. That what is
// found there is right is for the comparison with git to tell.
var scenarios = map[string]func(t *testing.T, g *gittest.Git) []place{
	"plain": func(_ *testing.T, g *gittest.Git) []place {
		dir := g.Init()
		g.Commit(dir, "first")
		g.Run(dir, "branch", "feature/x")
		return []place{
			{dir, dir, dir},
			{mkdir(g, dir, "sub", "deep"), dir, dir},
			{join(dir, ".git"), dir, dir},
			{join(dir, ".git", "refs", "heads"), dir, dir},
		}
	},
	"SHA-256": func(_ *testing.T, g *gittest.Git) []place {
		dir := g.Init("--object-format=sha256")
		g.Commit(dir, "first")
		g.Run(dir, "branch", "x")
		g.Run(dir, "pack-refs", "--all")
		return []place{{dir, dir, dir}}
	},
	"unborn": func(_ *testing.T, g *gittest.Git) []place {
		dir := g.Init()
		return []place{{dir, dir, dir}}
	},
	"orphan": func(_ *testing.T, g *gittest.Git) []place {
		dir := g.Init()
		g.Commit(dir, "first")
		g.Run(dir, "symbolic-ref", "HEAD", "refs/heads/new/branch")
		return []place{{dir, dir, dir}}
	},
	"detached": func(_ *testing.T, g *gittest.Git) []place {
		dir := g.Init()
		g.Commit(dir, "first")
		g.Run(dir, "checkout", "-q", "--detach")
		return []place{{dir, dir, dir}}
	},
	"HEAD over a symbolic branch": func(_ *testing.T, g *gittest.Git) []place {
		dir := g.Init()
		g.Commit(dir, "first")
		g.Run(dir, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
		g.Run(dir, "symbolic-ref", "HEAD", "refs/heads/alias")
		return []place{{dir, dir, dir}}
	},
	"HEAD as a link": func(t *testing.T, g *gittest.Git) []place {
		dir := g.Init()
		g.Commit(dir, "first")
		relink(t, join(dir, ".git", "HEAD"), "refs/heads/main")
		return []place{{dir, dir, dir}}
	},
	"HEAD as a link to an unborn branch": func(t *testing.T, g *gittest.Git) []place {
		dir := g.Init()
		relink(t, join(dir, ".git", "HEAD"), "refs/heads/none")
		return []place{{dir, dir, dir}}
	},
	"loose and packed": func(_ *testing.T, g *gittest.Git) []place {
		dir := g.Init()
		first := g.Commit(dir, "first")
		for _, name := range []string{"a", "b", "c/d", "e"} {
			g.Run(dir, "branch", name)
		}
		g.Run(dir, "pack-refs", "--all")
		g.Commit(dir, "second")
		g.Run(dir, "branch", "-f", "a", "main")
		g.Run(dir, "branch", "-D", "b")
		g.Run(dir, "update-ref", "refs/heads/f", first)
		g.Run(dir, "symbolic-ref", "refs/heads/g", "refs/heads/e")
		gittest.Write(g.TB, join(dir, ".git", "refs", "heads", "e"), "")
		return []place{{dir, dir, dir}}
	},
	"linked worktree": func(_ *testing.T, g *gittest.Git) []place {
		dir := g.Init()
		g.Commit(dir, "first")
		linked, detached := join(filepath.Dir(dir), "linked"), join(filepath.Dir(dir), "detached")
		g.Run(dir, "worktree", "add", "-q", "-b", "feature", linked)
		g.Run(dir, "worktree", "add", "-q", "--detach", detached)
		g.Commit(linked, "second")
		return []place{
			{dir, dir, dir},
			{linked, linked, dir},
			{mkdir(g, linked, "sub"), linked, dir},
			{detached, detached, dir},
			{join(dir, ".git", "worktrees", "linked"), linked, dir},
		}
	},
	"linked worktree inside the main one": func(_ *testing.T, g *gittest.Git) []place {
		dir := g.Init()
		g.Commit(dir, "first")
		linked := join(dir, "worktrees", "linked")
		g.Run(dir, "worktree", "add", "-q", linked)
		return []place{{linked, linked, dir}, {filepath.Dir(linked), dir, dir}}
	},
	"relative links": func(t *testing.T, g *gittest.Git) []place {
		if !g.AtLeast(2, 48) {
			t.Skip("git before 2.48 has no relative links")
		}
		dir := g.Init()
		g.Commit(dir, "first")
		linked := join(filepath.Dir(dir), "linked")
		g.Run(dir, "worktree", "add", "-q", "--relative-paths", linked)
		return []place{{linked, linked, dir}, {dir, dir, dir}}
	},
	"bare": func(_ *testing.T, g *gittest.Git) []place {
		dir := g.Init("--bare")
		src := g.Init()
		g.Commit(src, "first")
		g.Run(src, "push", "-q", dir, "main", "main:other")
		return []place{{dir, "", ""}}
	},
	"bare with worktrees": func(_ *testing.T, g *gittest.Git) []place {
		src := g.Init()
		g.Commit(src, "first")
		top := filepath.Dir(src)
		bare, linked := join(top, "repo.git"), join(top, "linked")
		g.Run(top, "clone", "-q", "--bare", src, bare)
		g.Run(bare, "worktree", "add", "-q", linked, "-b", "x")
		return []place{{linked, linked, ""}, {bare, "", ""}}
	},
	"bare in .git with worktrees": func(_ *testing.T, g *gittest.Git) []place {
		src := g.Init()
		g.Commit(src, "first")
		top := mkdir(g, filepath.Dir(src), "project")
		bare, linked := join(top, ".git"), join(top, "linked")
		g.Run(top, "clone", "-q", "--bare", src, bare)
		g.Run(bare, "worktree", "add", "-q", linked, "-b", "x")
		return []place{{linked, linked, ""}, {top, "", ""}}
	},
	"submodule": func(_ *testing.T, g *gittest.Git) []place {
		src := g.Init()
		g.Commit(src, "first")
		dir := g.Init()
		g.Commit(dir, "first")
		g.Run(dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "--name", "mod", src, "lib/mod")
		sub := join(dir, "lib", "mod")
		linked := join(filepath.Dir(dir), "linked")
		g.Run(sub, "worktree", "add", "-q", linked, "-b", "x")
		return []place{
			{sub, sub, sub},
			{filepath.Dir(sub), dir, dir},
			{join(dir, ".git", "modules", "mod"), sub, sub},
			{linked, linked, sub},
		}
	},
	"core.worktree": func(t *testing.T, g *gittest.Git) []place {
		dir := g.Init()
		g.Commit(dir, "first")
		tree := mkdir(g, filepath.Dir(dir), "tree")
		g.Run(dir, "config", "core.worktree", "../../tree")
		gittest.Write(t, join(tree, ".git"), "gitdir: ../repo/.git\n")
		return []place{{dir, tree, tree}, {join(dir, ".git"), tree, tree}}
	},
	"separate git dir": func(_ *testing.T, g *gittest.Git) []place {
		elsewhere := join(gittest.Dir(g.TB), "elsewhere")
		dir := g.Init("--separate-git-dir", elsewhere)
		g.Commit(dir, "first")
		return []place{{dir, dir, dir}}
	},
	"worktree configuration": func(_ *testing.T, g *gittest.Git) []place {
		dir := g.Init()
		g.Commit(dir, "first")
		linked := join(filepath.Dir(dir), "linked")
		g.Run(dir, "config", "extensions.worktreeConfig", "true")
		g.Run(dir, "worktree", "add", "-q", linked)
		g.Run(dir, "config", "--worktree", "remote.origin.url", "https://example.com/main")
		g.Run(linked, "config", "--worktree", "remote.origin.url", "https://example.com/linked")
		return []place{{dir, dir, dir}, {linked, linked, dir}}
	},
	"strange names": func(_ *testing.T, g *gittest.Git) []place {
		top := mkdir(g, gittest.Dir(g.TB), " ünï \"cödé\" 'x' $HOME")
		g.Run(top, "init", "-q", "--initial-branch=zweig/ä-'$x'", ".")
		g.Commit(top, "first")
		g.Run(top, "branch", "日本語/枝")
		linked := join(filepath.Dir(top), "linked work tree ")
		g.Run(top, "worktree", "add", "-q", "-b", "linked", linked)
		g.Run(top, "remote", "add", "origin", "../ein paar Wörter;#\"\\")
		return []place{{top, top, top}, {linked, linked, top}}
	},
	"over a link": func(t *testing.T, g *gittest.Git) []place {
		dir := g.Init()
		g.Commit(dir, "first")
		link := join(gittest.Dir(g.TB), "link")
		relink(t, link, mkdir(g, dir, "sub"))
		return []place{{link, dir, dir}}
	},
	"repository in a repository": func(_ *testing.T, g *gittest.Git) []place {
		dir := g.Init()
		inner := join(dir, "inner")
		g.Run(dir, "init", "-q", inner)
		empty := mkdir(g, dir, "empty", ".git")
		return []place{{inner, inner, inner}, {filepath.Dir(empty), dir, dir}}
	},
	"reftable": func(_ *testing.T, g *gittest.Git) []place {
		dir := g.Init("--ref-format=reftable")
		g.Commit(dir, "first")
		for _, name := range []string{"Z", "a/b", "a-b"} {
			g.Run(dir, "branch", name)
		}
		g.Run(dir, "symbolic-ref", "refs/heads/alias", "refs/heads/Z")
		g.Run(dir, "symbolic-ref", "refs/heads/dangling", "refs/heads/none")
		linked, detached := join(filepath.Dir(dir), "linked"), join(filepath.Dir(dir), "detached")
		g.Run(dir, "worktree", "add", "-q", linked)
		g.Run(dir, "worktree", "add", "-q", "--detach", detached)
		return []place{{dir, dir, dir}, {linked, linked, dir}, {detached, detached, dir}}
	},
	"reftable unborn": func(_ *testing.T, g *gittest.Git) []place {
		dir := g.Init("--ref-format=reftable")
		return []place{{dir, dir, dir}}
	},
	"reftable SHA-256": func(_ *testing.T, g *gittest.Git) []place {
		dir := g.Init("--ref-format=reftable", "--object-format=sha256")
		g.Commit(dir, "first")
		return []place{{dir, dir, dir}}
	},
}

func join(elem ...string) string { return filepath.Join(elem...) }

func mkdir(g *gittest.Git, elem ...string) string {
	g.TB.Helper()
	dir := join(elem...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		g.TB.Fatal(err)
	}
	return dir
}

// relink makes path a symbolic link to target.
func relink(t *testing.T, path, target string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
}

func discover(t testing.TB, g *gittest.Git, start string) *git.Repo {
	t.Helper()
	r, err := git.Discover(t.Context(), start, git.Options{Env: g.Env, Named: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
