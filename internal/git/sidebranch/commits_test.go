package sidebranch_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/git/sidebranch"
)

// A commit that is too large is refused before the branch moves, wherever it is in what is new. After a
// correction, the next fetch succeeds.
func TestLargeCommit(t *testing.T) {
	t.Parallel()
	g, clone, remote := repository(t)
	ctx, from := t.Context(), sidebranch.Remote{Fetch: remote}
	b := open(t, g, clone)
	message := filepath.Join(filepath.Dir(clone), "message")
	tree := strings.TrimSpace(g.Run(clone, "rev-parse", "HEAD^{tree}"))
	var tip string
	commit := func(size int) {
		t.Helper()
		gittest.Write(t, message, strings.Repeat("x", size))
		args := []string{"commit-tree", tree, "-F", message}
		if tip != "" {
			args = append(args, "-p", tip)
		}
		tip = strings.TrimSpace(g.Run(clone, args...))
		g.Run(clone, "push", "-q", "--force", "origin", tip+":refs/heads/"+name)
	}
	const limit = 1 << 20
	commit(limit - 1000)
	good := tip
	if got, err := b.Fetch(ctx, from); err != nil || string(got) != good {
		t.Fatalf("fetched %q: %v", got, err)
	}
	for _, where := range []string{"at the tip", "in the history"} {
		large := tip
		if where == "at the tip" {
			commit(limit)
			large = tip
		} else {
			commit(1)
		}
		if _, err := b.Fetch(ctx, from); err == nil || !strings.Contains(err.Error(), large[:12]) || !strings.Contains(err.Error(), "the limit is 1048576") {
			t.Errorf("%s: got error %v", where, err)
		}
	}
	// A branch that has the commit already keeps working.
	if err := b.Move(ctx, sidebranch.Commit(tip), ""); err != nil {
		t.Fatal(err)
	}
	commit(2)
	if _, err := b.Fetch(ctx, from); err != nil {
		t.Error(err)
	}
	tip = good
	commit(3)
	if got, err := b.Fetch(ctx, from); err != nil || string(got) != tip {
		t.Errorf("after the correction: %q, %v", got, err)
	}
}

// The error of a fetch from a shallow clone says that it is one.
func TestShallowRemote(t *testing.T) {
	t.Parallel()
	g, clone, remote := repository(t)
	g.Commit(clone, "second")
	g.Run(clone, "push", "-q", "origin", "HEAD:refs/heads/"+name)
	shallow := remote + ".shallow"
	g.Run(clone, "clone", "-q", "--bare", "--depth", "1", "--branch", name, "file://"+filepath.ToSlash(remote), shallow)
	other := g.Init()
	_, err := open(t, g, other).Fetch(t.Context(), sidebranch.Remote{Fetch: shallow})
	if _, ok := errors.AsType[*sidebranch.UnreachableError](err); !ok || !strings.Contains(err.Error(), "it is a shallow clone") {
		t.Errorf("got %v", err)
	}
}

// A clone with --filter has commits without their files, and fetches them.
func TestFilteredClone(t *testing.T) {
	t.Parallel()
	g, clone, remote := repository(t)
	ctx := t.Context()
	b := open(t, g, clone)
	files := sidebranch.Tree{"a.md": "a"}
	first := must[sidebranch.Commit](t)(b.Commit(ctx, files, "First"))
	if err := b.Push(ctx, sidebranch.Remote{Fetch: remote}, first, ""); err != nil {
		t.Fatal(err)
	}
	g.Run(remote, "config", "uploadpack.allowFilter", "true")
	filtered := clone + ".filtered"
	g.Run(filepath.Dir(clone), "clone", "-q", "--no-checkout", "--filter=blob:none", "--branch", name, "file://"+filepath.ToSlash(remote), filtered)
	c := open(t, g, filtered)
	if got, err := c.Fetch(ctx, sidebranch.Remote{Fetch: remote}); err != nil || got != first {
		t.Fatalf("fetched %q: %v", got, err)
	}
	if tree := must[sidebranch.Tree](t)(c.Read(ctx, first, everything, 1<<20)); tree["a.md"] != "a" {
		t.Errorf("got %v", tree)
	}
}

// Git writes objects, here and in a remote on this machine, to the disk, which it does not do by itself:
// a machine that loses power has no branch at an empty commit.
func TestFlushed(t *testing.T) {
	t.Parallel()
	g, clone, remote := repository(t)
	trace := filepath.Join(filepath.Dir(clone), "trace")
	g.Env = g.Env.Without("GIT_TEST_FSYNC").With("GIT_TRACE2_EVENT=" + trace)
	b := open(t, g, clone)
	flushes := func() int {
		t.Helper()
		text, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(trace); err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), `"category":"fsync"`)
	}
	commit, err := b.Commit(t.Context(), sidebranch.Tree{"a": "a"}, "message")
	if n := flushes(); err != nil || n < 3 { // of the file, the directory, and the commit
		t.Errorf("a commit: %d processes of git flush, %v", n, err)
	}
	if err := b.Push(t.Context(), sidebranch.Remote{Fetch: remote}, commit, ""); err != nil || flushes() < 1 {
		t.Errorf("a push does not flush the branch of a remote on this machine: %v", err)
	}
}
