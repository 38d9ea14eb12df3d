package git_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/test/otheruser"
)

// A worktree that is reached by another path is the one that the main repository knows, under the
// path that the others know. A mount of a directory at a second place has no symbolic link that could
// be resolved, like another spelling on a file system that ignores case.
func TestOtherPathOfWorktree(t *testing.T) {
	t.Parallel()
	otheruser.Need(t)
	g := gittest.New(t)
	dir := g.Init()
	g.Commit(dir, "first")
	linked := filepath.Join(filepath.Dir(dir), "linked")
	g.Run(dir, "worktree", "add", "-q", linked)
	alias := filepath.Join(gittest.Dir(t), "alias")
	if err := os.Mkdir(alias, 0o755); err != nil {
		t.Fatal(err)
	}
	type result struct {
		repo *git.Repo
		err  error
	}
	done := make(chan result)
	go func() {
		runtime.LockOSThread() // without an end: the thread with its mounts ends with the goroutine
		var r result
		defer func() { done <- r }()
		if r.err = syscall.Unshare(syscall.CLONE_NEWNS); r.err != nil {
			return
		}
		if r.err = syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); r.err != nil {
			return
		}
		if r.err = syscall.Mount(filepath.Dir(dir), alias, "", syscall.MS_BIND, ""); r.err != nil {
			return
		}
		r.repo, r.err = git.Discover(context.Background(), filepath.Join(alias, "linked"), git.Options{Env: g.Env})
	}()
	r := <-done
	if r.err != nil {
		t.Fatal(r.err)
	}
	if !r.repo.Owned() || r.repo.Root() != linked || r.repo.MainRoot() != dir {
		t.Errorf("owned is %v, root %q, main root %q; want true, %q, %q", r.repo.Owned(), r.repo.Root(), r.repo.MainRoot(), linked, dir)
	}
}
