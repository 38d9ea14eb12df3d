package uncommitted_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/git/uncommitted"
)

// A directory that a build makes is one entry, however many files it has.
func TestIgnored(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	for _, name := range []string{
		"source/kept", "source/x.o", "target/deep/a", "target/b", "objects/y.o", "objects/deep/z.o", ".env", "a\nb.o", "new/file",
	} {
		gittest.Write(t, filepath.Join(dir, filepath.FromSlash(name)), "text\n")
	}
	gittest.Write(t, filepath.Join(dir, ".gitignore"), "*.o\ntarget/\n.env\n")
	g.Run(dir, "add", "source", ".gitignore")
	g.Run(dir, "commit", "-q", "-m", "first")
	repo, err := git.Discover(t.Context(), dir, git.Options{Env: g.Env})
	if err != nil {
		t.Fatal(err)
	}
	found, err := uncommitted.Ignored(t.Context(), repo)
	if want := []string{".env", "a\nb.o", "objects/", "source/x.o", "target/"}; err != nil || !slices.Equal(found, want) {
		t.Errorf("%q, %v; want %q", found, err, want)
	}
}
