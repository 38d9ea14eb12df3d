package records_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/git/gittest"
)

// link places a link in git's directory to a file of the same name outside.
func link(t *testing.T, w *world, name, text string) {
	t.Helper()
	target := filepath.Join(w.Home, "other", name)
	gittest.Write(t, target, text)
	if err := os.Symlink(target, filepath.Join(w.dir, ".git", name)); err != nil {
		t.Skip("no symbolic links here")
	}
}

// Whatever is wrong with one record, it says so, and the others still answer.
func TestDamaged(t *testing.T) {
	t.Parallel()
	junk := strings.Repeat("\x00\xffjunk\n", 1000)
	for name, tt := range map[string]struct {
		do   func(t *testing.T, w *world)
		want string // a part of the note
	}{
		"git-spice version": {func(t *testing.T, w *world) {
			t.Helper()
			gittest.Write(t, filepath.Join(w.Home, "blob"), "9\n")
			blob := w.Run(w.dir, "hash-object", "-w", filepath.Join(w.Home, "blob"))
			w.Run(w.dir, "update-index", "--add", "--cacheinfo", "100644,"+blob+",version")
			w.Run(w.dir, "update-ref", "refs/spice/data", w.Run(w.dir, "commit-tree", "-m", "x", w.Run(w.dir, "write-tree")))
		}, "git-spice: its record cannot be read: the store has version"},
		"git-spice blob": {func(t *testing.T, w *world) {
			t.Helper()
			w.Run(w.dir, "update-ref", "refs/spice/data", w.Run(w.dir, "hash-object", "-w", filepath.Join(w.dir, ".git", "HEAD")))
		}, "git-spice: refs/spice/data is not a commit"},
		"git-spice ref": {func(t *testing.T, w *world) {
			t.Helper()
			gittest.Write(t, filepath.Join(w.dir, ".git", "refs", "spice", "data"), junk)
		}, "git-spice: refs/spice/data is not a commit"},
		"graphite database": {func(t *testing.T, w *world) {
			t.Helper()
			gittest.Write(t, filepath.Join(w.dir, ".git", ".graphite_metadata.db"), "SQLite format 3\x00"+junk)
		}, "graphite: its record cannot be read: damaged SQLite file"},
		"graphite ref": {func(t *testing.T, w *world) {
			t.Helper()
			large := filepath.Join(w.Home, "large")
			gittest.Write(t, large, strings.Repeat(" ", 2<<20))
			w.Run(w.dir, "update-ref", "refs/branch-metadata/b", w.Run(w.dir, "hash-object", "-w", large))
		}, "graphite: the entry of b cannot be read"},
		"graphite pull requests": {func(t *testing.T, w *world) {
			t.Helper()
			gittest.Write(t, filepath.Join(w.dir, ".git", ".graphite_metadata.db"), string(database(t, "a main - - - VALID\n")))
			gittest.Write(t, filepath.Join(w.dir, ".git", ".graphite_pr_info"), `{"prInfos":[{"prNumber":-1}]}`)
		}, "graphite: its pull requests cannot be read"},
		"git-town name": {func(t *testing.T, w *world) {
			t.Helper()
			w.Run(w.dir, "config", "git-town-branch.b.parent", "a..b")
		}, `git-town: the parent of "b" is not a branch`},
		"git-machete": {func(t *testing.T, w *world) {
			t.Helper()
			gittest.Write(t, filepath.Join(w.dir, ".git", "machete"), junk)
		}, "git-machete: its record cannot be read: line 1 is not a branch"},
		"gh-stack": {func(t *testing.T, w *world) {
			t.Helper()
			gittest.Write(t, filepath.Join(w.dir, ".git", "gh-stack"), junk)
		}, "gh-stack: the file of the main worktree cannot be read"},
		"gh-stack as a link": {func(t *testing.T, w *world) {
			t.Helper()
			link(t, w, "gh-stack", `{"schemaVersion":1,"stacks":[{"trunk":{"branch":"main"},"branches":[{"branch":"b"}]}]}`)
		}, "gh-stack: the file of the main worktree cannot be read: path escapes from parent"},
		"git-machete as a link": {func(t *testing.T, w *world) {
			t.Helper()
			link(t, w, "machete", "main\n\tb\n")
		}, "git-machete: its record cannot be read: machete: path escapes from parent"},
		"graphite as a link": {func(t *testing.T, w *world) {
			t.Helper()
			link(t, w, ".graphite_metadata.db", string(database(t, "b main - - - VALID\n")))
		}, "graphite: its record cannot be read: .graphite_metadata.db: path escapes from parent"},
		"upstream": {func(t *testing.T, w *world) {
			t.Helper()
			w.Run(w.dir, "config", "branch.b.remote", ".")
			w.Run(w.dir, "config", "branch.b.merge", "refs/heads/x y")
		}, `upstream: the upstream of "b" is not a branch`},
		"reflog": {func(t *testing.T, w *world) {
			t.Helper()
			gittest.Write(t, filepath.Join(w.dir, ".git", "logs", "refs", "heads", "b"), junk)
		}, "reflog: the log of b is damaged"},
		"reflog that is none": {func(t *testing.T, w *world) {
			t.Helper()
			log := filepath.Join(w.dir, ".git", "logs", "refs", "heads", "b")
			if err := os.Remove(log); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(log, 0o700); err != nil {
				t.Fatal(err)
			}
		}, "reflog: the log of b is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Run(w.dir, "branch", "b")
			w.Run(w.dir, "branch", "good")
			source := "git-town"
			if strings.HasPrefix(name, source) {
				source = "upstream"
				w.Run(w.dir, "config", "branch.good.remote", ".")
				w.Run(w.dir, "config", "branch.good.merge", "refs/heads/main")
			} else {
				w.Run(w.dir, "config", "git-town-branch.good.parent", "main")
			}
			tt.do(t, w)
			edges, notes := w.join(t, nil)
			if edges["good"] != "main "+source {
				t.Errorf("the others answer %v", edges)
			}
			if !strings.Contains(strings.Join(notes, "; "), tt.want) {
				t.Errorf("got %q, want %q", notes, tt.want)
			}
		})
	}
}
