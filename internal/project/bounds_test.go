package project_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/project"
)

const tooMany = "the .gitignore files have too many patterns to compare with every name, so this list also has files that git ignores; list a subdirectory, or remove patterns"

// Half a million patterns do not cost each name half a million comparisons.
func TestManyPatterns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gittest.Write(t, filepath.Join(dir, ".gitignore"), strings.Repeat("?\n", 500_000))
	for i := range 4000 {
		gittest.Write(t, filepath.Join(dir, fmt.Sprintf("file-%d", i)), "")
	}
	got := list(t, plain(dir), ".", project.Range{Depth: 1, Max: 1})
	want := []string{".gitignore", "of 4001", ".gitignore has more than 20000 patterns; copse ignores the rest", tooMany}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Neither do patterns that are spread over many files, each within its limit.
func TestManyFilesOfPatterns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 12 {
		var b strings.Builder
		for j := range 19_000 {
			fmt.Fprintf(&b, "name-%d-%d\n", i, j)
		}
		gittest.Write(t, filepath.Join(dir, fmt.Sprintf("d%02d", i), ".gitignore"), b.String())
	}
	got := list(t, plain(dir), ".", project.Range{Depth: 2, Max: 1})
	if diff := cmp.Diff([]string{"d00/", "of 24", tooMany}, got); diff != "" {
		t.Error(diff)
	}
}

// What copse cannot read of a file of patterns hides nothing, and says so.
func TestPatternsThatDoNotCount(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gittest.Write(t, filepath.Join(dir, "a", "x\n## Files", ".gitignore"), strings.Repeat("#", 1<<20+1))
	gittest.Write(t, filepath.Join(dir, "b", ".gitignore", "x"), "")
	if err := os.Mkdir(filepath.Join(dir, "c"), 0o700); err != nil {
		t.Fatal(err)
	}
	got := list(t, plain(dir), ".", project.Range{Depth: 3, Max: 1})
	warning := got[len(got)-1]
	if !strings.Contains(warning, ".gitignore does not count: ") || !strings.HasSuffix(warning, "; the same applies to 1 more file of patterns") ||
		strings.Contains(warning, "\n") {
		t.Errorf("got %q", got)
	}
}
