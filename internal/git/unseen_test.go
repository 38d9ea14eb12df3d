package git_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
)

// hide puts a link to itself in place of a file, which nobody can then read, not even root.
func hide(t *testing.T, path string) (show func()) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	before := os.Rename(path, path+".hidden")
	if err := os.Symlink(filepath.Base(path), path); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".hidden", path); before == nil && err != nil {
			t.Fatal(err)
		}
	}
}

// A worktree that cannot be seen is not one that is missing: `git worktree prune` would remove it.
func TestUnseenWorktree(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	g.Run(dir, "commit", "-q", "--allow-empty", "-m", "first")
	side := filepath.Join(t.TempDir(), "side")
	g.Run(dir, "worktree", "add", "-q", "-b", "topic", side)
	private := filepath.Join(dir, ".git", "worktrees", "side")
	for _, file := range []string{filepath.Join(private, "HEAD"), filepath.Join(private, "commondir"), filepath.Join(side, ".git")} {
		show := hide(t, file)
		list, err := discover(t, g, dir).Worktrees(t.Context())
		if err != nil || len(list) != 2 || list[1].Prunable || list[1].Unseen == nil || !strings.Contains(list[1].Unseen.Error(), file) {
			t.Errorf("without %s: got %+v, %v", file, list, err)
		}
		// From inside, the repository is one that cannot be read, and not another one or none.
		if _, err := git.Discover(t.Context(), side, git.Options{Env: g.Env}); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("without %s: found %v", file, err)
		}
		show()
	}
	show := hide(t, filepath.Join(private, "gitdir"))
	r := discover(t, g, dir)
	if list, err := r.Worktrees(t.Context()); err == nil || !strings.Contains(err.Error(), "gitdir") || !strings.Contains(err.Error(), "do not run `git worktree prune`") {
		t.Errorf("without gitdir: got %+v, %v", list, err)
	}
	if list, err := r.Checkouts(t.Context()); err == nil {
		t.Errorf("without gitdir: got %+v", list)
	}
	if _, err := git.Discover(t.Context(), side, git.Options{Env: g.Env}); err == nil {
		t.Error("a worktree whose repository may not know it became one without an owner")
	}
	show()
	if list, err := discover(t, g, dir).Worktrees(t.Context()); err != nil || len(list) != 2 || list[1].Unseen != nil {
		t.Errorf("got %+v, %v", list, err)
	}
}

// A .git that cannot be read does not make the repository above the one of the directory.
func TestUnseenRepository(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	inner := filepath.Join(dir, "inner")
	g.Run(dir, "init", "-q", inner)
	for _, name := range []string{".git", ".git/commondir", ".git/objects"} {
		show := hide(t, filepath.Join(inner, filepath.FromSlash(name)))
		_, err := git.Discover(t.Context(), inner, git.Options{Env: g.Env})
		if broken, ok := err.(*git.BrokenError); !ok || !strings.Contains(err.Error(), syscall.ELOOP.Error()) || broken.Remedy == "" { //nolint:errorlint // nothing wraps it
			t.Errorf("without %s: got %v", name, err)
		}
		show()
	}
}
