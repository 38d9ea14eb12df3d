package project_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/project"
)

// A sparse checkout omits files that git tracks. An error about one of them, and the listing of
// their directory, say so; they say nothing without a sparse checkout.
func TestSparseCheckout(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	for _, index := range []string{"--no-sparse-index", "--sparse-index"} {
		dir := g.Init()
		for _, name := range []string{"a.txt", "in/b.txt", "out/c.txt", "out/deep/d.txt", "out-too/e.txt"} {
			gittest.Write(t, filepath.Join(dir, name), name)
		}
		g.Run(dir, "add", ".")
		g.Commit(dir, "files")
		p := open(t, g, dir)
		look := func() (found []string) {
			for _, path := range []string{"in/b.txt", "out/c.txt", "nowhere"} {
				found = append(found, read(t, p, path, project.Lines{}))
			}
			for _, path := range []string{".", "in", "out"} {
				found = append(found, list(t, p, path, shallow)...)
			}
			return found
		}
		before := []string{
			"in/b.txt", "out/c.txt", "error: File not found: nowhere", "in/", "out/", "out-too/", "a.txt", "in/b.txt", "out/deep/", "out/c.txt",
		}
		if diff := cmp.Diff(before, look()); diff != "" {
			t.Errorf("without a sparse checkout:\n%s", diff)
		}

		g.Run(dir, "sparse-checkout", "set", "--cone", index, "in")
		want := []string{
			"in/b.txt", "error: File not found: out/c.txt (git tracks it, but this worktree's sparse checkout leaves it out)", "error: File not found: nowhere",
			"in/", "a.txt", "the sparse checkout of this worktree leaves out 3 tracked files here (out-too/, out/); `git sparse-checkout add DIRECTORY` writes them",
			"in/b.txt", "error: File not found: out (git tracks it, but this worktree's sparse checkout leaves it out)",
		}
		if diff := cmp.Diff(want, look()); diff != "" {
			t.Errorf("%s:\n%s", index, diff)
		}

		g.Run(dir, "sparse-checkout", "add", "out/deep")
		want = []string{"out/deep/", "out/c.txt"}
		if diff := cmp.Diff(want, list(t, p, "out", shallow)); diff != "" {
			t.Errorf("%s: the files of a directory above one that is in:\n%s", index, diff)
		}

		// A file that the user deleted, or that git is told to pass over, is merely missing.
		g.Run(dir, "sparse-checkout", "disable")
		if err := os.Remove(filepath.Join(dir, "a.txt")); err != nil {
			t.Fatal(err)
		}
		if got := read(t, p, "a.txt", project.Lines{}); got != "error: File not found: a.txt" {
			t.Error(got)
		}
	}
}
