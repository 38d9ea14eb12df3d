package conflicts_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/workflow/conflicts"
)

// What git could not merge is tried again, and does not count as compared.
func TestFailureIsNotKept(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.commit(t, w.worktree("one"), "a.txt", "1\none\n3\n")
	w.commit(t, w.worktree("two"), "a.txt", "1\ntwo\n3\n")
	w.spy(t)
	script := filepath.Join(w.Home, "bin", "git")
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	gittest.Write(t, script, strings.Replace(string(text), "exec", "case \"$*\" in *merge-tree*) echo 'error: No space left on device' >&2; exit 128;; esac\nexec", 1))
	same := w.radar()
	found := report(t, same, conflicts.Request{})
	if got := strings.Join(found.Notes, "\n"); found.Compared != 0 || found.NotCompared != 3 || strings.Count(got, "could not be compared: \"error: No space left on device\"") != 3 {
		t.Errorf("when git fails: %+v", found)
	}
	gittest.Write(t, script, string(text))
	want := []string{"one x two: a.txt [one one 0] [two two 0]"}
	for name, r := range map[string]*conflicts.Radar{"the same process": same, "another": w.radar()} {
		found := report(t, r, conflicts.Request{})
		if diff := cmp.Diff(want, lines(found)); diff != "" || found.Compared != 2 || found.NotCompared != 0 || len(found.Notes) > 0 {
			t.Errorf("after it, %s: %+v\n(-want +got)\n%s", name, found, diff)
		}
	}
}

// Where the history of a shallow clone ends, nothing follows from commits that seem to have no
// common history, and nothing is kept from it for a longer history.
func TestShallowClone(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.Run(w.root, "branch", "merged")
	w.commit(t, w.worktree("one"), "a.txt", "1\none\n3\n")
	w.commit(t, w.worktree("two"), "a.txt", "1\ntwo\n3\n")
	w.commit(t, w.root, "b.txt", "1\nmain\n3\n")
	clone := filepath.Join(w.Home, "clone")
	w.Run(w.Home, "clone", "-q", "--depth", "1", "--no-single-branch", "file://"+filepath.ToSlash(w.root), clone)
	for _, name := range []string{"one", "two", "merged"} {
		w.Run(clone, "branch", "-q", name, "origin/"+name)
	}
	w.root = clone
	same := w.radar()
	found := report(t, same, conflicts.Request{})
	if got := strings.Join(found.Notes, "\n"); found.Compared != 0 || found.NotCompared != 6 || len(found.Notes) != 1 || !strings.Contains(got, "6 pairs") || !strings.Contains(got, "git fetch --unshallow") {
		t.Errorf("in a shallow clone: %+v", found)
	}
	w.Run(clone, "fetch", "-q", "--unshallow")
	for name, r := range map[string]*conflicts.Radar{"the same process": same, "another": w.radar()} {
		found := report(t, r, conflicts.Request{})
		if diff := cmp.Diff([]string{"one x two: a.txt"}, lines(found)); diff != "" || found.Compared != 2 || found.NotCompared != 0 || len(found.Notes) > 0 {
			t.Errorf("with all of the history, %s: %+v\n(-want +got)\n%s", name, found, diff)
		}
	}
}
