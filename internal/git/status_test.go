package git_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
)

func TestStatus(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	r := discover(t, g, dir)
	check := func(what string, want git.Status) {
		t.Helper()
		got, err := r.Status(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	write := func(name, text string) { gittest.Write(t, join(dir, name), text) }
	check("empty repository", git.Status{})

	for _, name := range []string{"a", "b", "c d", "ü"} {
		write(name, name+"\n")
	}
	check("new files", git.Status{Untracked: 4})
	g.Run(dir, "add", "-A")
	check("added files", git.Status{Staged: 4})
	g.Run(dir, "commit", "-q", "-m", "first")
	check("committed", git.Status{})

	write(".gitignore", "*.o\n")
	write("x.o", "")
	write("new/1", "")
	write("new/2", "")
	write("a", "changed\n")
	write("b", "changed\n")
	g.Run(dir, "add", "b")
	write("b", "changed again\n")
	g.Run(dir, "mv", "c d", "ren amed")
	remove(t, join(dir, "ü"))
	check("mixed", git.Status{Staged: 2, Modified: 3, Untracked: 2})
	g.Run(dir, "config", "status.showUntrackedFiles", "no")
	g.Run(dir, "config", "status.aheadBehind", "false")
	check("other configuration", git.Status{Staged: 2, Modified: 3, Untracked: 2})

	g.Run(dir, "add", "-A")
	g.Run(dir, "commit", "-q", "-m", "second")
	g.Run(dir, "branch", "up")
	g.Run(dir, "branch", "--set-upstream-to=up")
	check("level with upstream", git.Status{Upstream: "up"})
	g.Commit(dir, "third")
	g.Commit(dir, "fourth")
	g.Run(dir, "checkout", "-q", "up")
	write("a", "theirs\n")
	g.Run(dir, "commit", "-q", "-a", "-m", "theirs")
	g.Run(dir, "checkout", "-q", "main")
	check("diverged", git.Status{Upstream: "up", Ahead: 2, Behind: 1})
	write("a", "ours\n")
	g.Run(dir, "commit", "-q", "-a", "-m", "ours")
	if _, err := g.Try(dir, "merge", "up"); err == nil {
		t.Fatal("the merge has no conflict")
	}
	check("conflict", git.Status{Upstream: "up", Ahead: 3, Behind: 1, Conflicted: 1})
	g.Run(dir, "merge", "--abort")
	g.Run(dir, "update-ref", "-d", "refs/heads/up")
	check("upstream gone", git.Status{Upstream: "up", UpstreamGone: true})
	g.Run(dir, "checkout", "-q", "--detach")
	check("detached", git.Status{})
	g.Run(dir, "symbolic-ref", "HEAD", "refs/heads/unborn")
	g.Run(dir, "config", "branch.unborn.remote", ".")
	g.Run(dir, "config", "branch.unborn.merge", "refs/heads/main")
	g.Run(dir, "rm", "-r", "-q", "--cached", ".")
	g.Run(dir, "config", "core.excludesFile", "/nowhere")
	check("unborn", git.Status{Upstream: "main", Untracked: 5})
}

func TestStatusRefused(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	bare := discover(t, g, g.Init("--bare"))
	if _, err := bare.Status(t.Context()); !errors.Is(err, git.ErrBare) {
		t.Errorf("error is %v, want ErrBare", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := discover(t, g, g.Init()).Status(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want context.Canceled", err)
	}
}

func TestWorktrees(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	commit := g.Commit(dir, "first")
	top := filepath.Dir(dir)
	for _, name := range []string{"b", "locked", "lost", "unborn"} {
		g.Run(dir, "worktree", "add", "-q", "-b", "topic/"+name, join(top, name))
	}
	g.Run(dir, "worktree", "add", "-q", "--detach", join(top, "detached"))
	g.Run(dir, "worktree", "lock", "--reason", "on a\ndisk", join(top, "locked"))
	g.Run(join(top, "unborn"), "symbolic-ref", "HEAD", "refs/heads/none")
	remove(t, join(top, "lost"))

	want := []git.Worktree{
		{Name: "repo", Path: dir, Branch: "main", Head: commit},
		{Name: "b", Path: join(top, "b"), Branch: "topic/b", Head: commit},
		{Name: "detached", Path: join(top, "detached"), Head: commit, Detached: true},
		{Name: "locked", Path: join(top, "locked"), Branch: "topic/locked", Head: commit, Locked: true},
		{Name: "lost", Path: join(top, "lost"), Branch: "topic/lost", Head: commit, Prunable: true},
		{Name: "unborn", Path: join(top, "unborn"), Branch: "none"},
	}
	for _, start := range []string{dir, join(top, "b")} {
		got, err := discover(t, g, start).Worktrees(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if got[i].Used.IsZero() != got[i].Prunable {
				t.Errorf("%s was used at %s", got[i].Path, got[i].Used)
			}
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(git.Worktree{}, "Used")); diff != "" {
			t.Errorf("from %s (-want +got):\n%s", start, diff)
		}
	}
}

// Reading leaves every file as it was, also an index that git would like to
// refresh.
func TestNothingIsWritten(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	gittest.Write(t, join(dir, "a"), "a\n")
	g.Run(dir, "add", "a")
	g.Commit(dir, "first")
	g.Run(dir, "remote", "add", "origin", "https://example.com/x")
	g.Run(dir, "worktree", "add", "-q", join(filepath.Dir(dir), "linked"))
	if err := os.Chtimes(join(dir, "a"), time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, filepath.Dir(dir))
	everything(t, discover(t, g, dir), func(method string, err error) {
		if err != nil {
			t.Errorf("%s: %v", method, err)
		}
	})
	if diff := cmp.Diff(before, snapshot(t, filepath.Dir(dir))); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
	// The same without the precaution, to see that the test can tell.
	g.Run(dir, "status")
	if cmp.Equal(before, snapshot(t, filepath.Dir(dir))) {
		t.Error("git status would not have written either")
	}
}

type fileState struct {
	ModTime time.Time
	Mode    fs.FileMode
	Sum     [sha256.Size]byte
}

func snapshot(t *testing.T, root string) map[string]fileState {
	t.Helper()
	states := map[string]fileState{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		state := fileState{ModTime: fi.ModTime(), Mode: fi.Mode()}
		if fi.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			state.Sum = sha256.Sum256(text)
		}
		states[path] = state
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return states
}
