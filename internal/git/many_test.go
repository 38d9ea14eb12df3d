package git_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/git/gittest"
)

// A repository whose configuration has tens of thousands of sections answers soon: no answer takes
// quadratic time, and none reads packed-refs once for each ref.
func TestManySections(t *testing.T) {
	t.Parallel()
	const many = 30_000
	g := gittest.New(t)
	dir := g.Init()
	commit := g.Commit(dir, "first")
	var config, packed, remotes strings.Builder
	var refs, branches []string
	for i := range many {
		fmt.Fprintf(&config, "[remote \"r%05d\"]\n\turl = https://example.com/r\n", i)
		fmt.Fprintf(&config, "[branch \"b%05d\"]\n\tremote = r%05d\n", i, i)
		fmt.Fprintf(&packed, "%s refs/heads/b%05d\n", commit, i)
		fmt.Fprintf(&remotes, "%s refs/remotes/r%05d/b%05d\n", commit, i, i)
		refs = append(refs, fmt.Sprintf("refs/remotes/r%05d/b%05d", i, i), fmt.Sprintf("refs/heads/b%05d", i))
		branches = append(branches, fmt.Sprintf("b%05d", i))
	}
	gittest.Write(t, join(dir, ".git", "config"), config.String())
	gittest.Write(t, join(dir, ".git", "packed-refs"), "# pack-refs with: peeled fully-peeled sorted \n"+packed.String()+remotes.String())
	r := discover(t, g, dir)
	begun := time.Now()
	names, err := r.Remotes(t.Context())
	if err != nil || len(names) != many || names[many-1] != "r29999" {
		t.Errorf("got %d remotes, %v", len(names), err)
	}
	commits, err := r.CommitsOf(t.Context(), refs)
	if err != nil || len(commits) != 2*many || commits[refs[0]] != commit || commits[refs[1]] != commit {
		t.Errorf("got %d commits, %v", len(commits), err)
	}
	published, err := r.Published(t.Context(), branches)
	if err != nil || len(published) != many || len(published["b00007"]) != 1 || published["b00007"][0] != "refs/remotes/r00007/b00007" {
		t.Errorf("got %d published branches, %v: %v", len(published), err, published["b00007"])
	}
	// Each of the three took a minute when it was quadratic.
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
}

// Refs that lead to others have the hashes that git reports.
func TestCommitsOfSymbolicRefs(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	commit := g.Commit(dir, "first")
	g.Run(dir, "update-ref", "refs/remotes/origin/main", commit)
	g.Run(dir, "update-ref", "refs/tags/v1", commit)
	g.Run(dir, "pack-refs", "--all")
	g.Run(dir, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	g.Run(dir, "symbolic-ref", "refs/heads/alias", "refs/remotes/origin/HEAD")
	g.Run(dir, "symbolic-ref", "refs/heads/nowhere", "refs/heads/none")
	gittest.Write(t, filepath.Join(dir, ".git", "refs", "heads", "loop"), "ref: refs/heads/loop\n")
	refs := []string{"refs/remotes/origin/HEAD", "refs/heads/alias", "refs/heads/main", "refs/tags/v1", "HEAD", "refs/heads/nowhere", "refs/heads/loop", "refs/tags/v", "..", "refs/heads/main"}
	got, err := discover(t, g, dir).CommitsOf(t.Context(), refs)
	if err != nil || len(got) != 5 {
		t.Errorf("got %v, %v", got, err)
	}
	for _, ref := range refs[:5] {
		if got[ref] != commit {
			t.Errorf("%s is %q", ref, got[ref])
		}
	}
}
