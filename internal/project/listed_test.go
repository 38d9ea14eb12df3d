package project_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/project"
)

// The entries of a directory are kept, and every change of them is seen.
func TestListAgain(t *testing.T) {
	t.Parallel()
	dir, created := gittest.Dir(t), time.Now()
	write := func(name string) { gittest.Write(t, filepath.Join(dir, filepath.FromSlash(name)), "x") }
	write("b.txt")
	write("sub/c.txt")
	p := plain(dir)
	list := func(name string, want ...string) {
		t.Helper()
		found, err := p.List(t.Context(), name, project.Range{Depth: 1, Max: 10})
		var got []string
		for _, e := range found.Entries {
			got = append(got, string(e.Type)+" "+e.Path)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
	kept := func(name string) {
		t.Helper()
		if !p.Kept(name) && runtime.GOOS != "windows" {
			t.Errorf("%s: not kept", name)
		}
	}
	list(".", "directory sub", "file b.txt")
	if p.Kept(".") && time.Since(created) < 2*time.Second {
		t.Error("kept a moment after a change")
	}
	time.Sleep(3200 * time.Millisecond) // a change is told from a later one only after a while
	list(".", "directory sub", "file b.txt")
	kept(".")
	list("sub", "file sub/c.txt")
	kept("sub")
	list(".", "directory sub", "file b.txt")
	kept(".")
	write("e.txt")
	list(".", "directory sub", "file b.txt", "file e.txt")
	list("sub", "file sub/c.txt")
	kept("sub")
	write("sub/d.txt")
	list("sub", "file sub/c.txt", "file sub/d.txt")
	list(".", "directory sub", "file b.txt", "file e.txt")
	if err := os.Remove(filepath.Join(dir, "b.txt")); err != nil {
		t.Fatal(err)
	}
	write("b.txt/a.txt")
	list(".", "directory b.txt", "directory sub", "file e.txt")
	if err := os.RemoveAll(filepath.Join(dir, "sub")); err != nil {
		t.Fatal(err)
	}
	write("sub")
	list(".", "directory b.txt", "file e.txt", "file sub")
	if _, err := p.List(t.Context(), "sub", project.Range{Depth: 1, Max: 10}); err == nil {
		t.Error("the entries of a directory that is a file now are listed")
	}
}
