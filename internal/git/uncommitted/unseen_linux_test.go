package uncommitted_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/git/uncommitted"
	"github.com/copse-dev/copse/internal/test/otheruser"
)

// A directory that copse cannot list can have files that nobody compared, also if git says nothing: it
// ends at an error of a disk as at the last name.
func TestUnseenDirectory(t *testing.T) {
	t.Parallel()
	otheruser.ObeyModes(t)
	g := gittest.New(t)
	dir := g.Init()
	for _, name := range []string{"tracked/a", "ignored/b", ".gitignore"} {
		gittest.Write(t, filepath.Join(dir, filepath.FromSlash(name)), "/ignored/\n")
	}
	g.Run(dir, "add", "-A")
	g.Run(dir, "commit", "-q", "-m", "first")
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	repo, err := git.Discover(t.Context(), dir, git.Options{Env: g.Env})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"tracked": true, "empty": true, "ignored": false, ".": true} {
		closed := filepath.Join(dir, name)
		if err := os.Chmod(closed, 0o300); err != nil {
			t.Fatal(err)
		}
		state, err := uncommitted.New(nil, time.Now).State(t.Context(), repo, "", nil)
		if err != nil || state.Edits.Partial != want {
			t.Errorf("%s: got %+v, %v", name, state, err)
		}
		if err := os.Chmod(closed, 0o700); err != nil { //nolint:gosec // a directory
			t.Fatal(err)
		}
	}
}
