package itemdir_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/itemdir"
	"github.com/copse-dev/copse/internal/rooted"
)

// An index that was kept says what one that is opened now says, whatever happened to
// the files, and whether the system tells what happens or not.
func TestUpdateMatchesFreshIndex(t *testing.T) {
	t.Parallel()
	for _, watching := range []bool{true, false} {
		t.Run(fmt.Sprint(watching), func(t *testing.T) {
			t.Parallel()
			base, n := t.TempDir(), 0
			rapid.Check(t, func(rt *rapid.T) {
				n++
				dir := filepath.Join(base, fmt.Sprint(n))
				must(rt, os.Mkdir(dir, 0o755))
				kept, err := itemdir.Open(rooted.Dir{Wall: dir, Name: "."}, itemdir.Options{Name: "items", Watching: watching})
				must(rt, err)
				defer kept.Close()
				for range rapid.IntRange(1, 6).Draw(rt, "rounds") {
					for range rapid.IntRange(0, 4).Draw(rt, "changes") {
						change(rt, dir)
					}
					ok, err := kept.Update()
					must(rt, err)
					if !ok {
						rt.Fatal("the folder is still the one that was opened")
					}
					fresh, err := itemdir.Open(rooted.Dir{Wall: dir, Name: "."}, itemdir.Options{Name: "items"})
					must(rt, err)
					if d := cmp.Diff(all(fresh), all(kept)); d != "" {
						rt.Fatalf("the kept index (+) differs from a fresh one (-):\n%s", d)
					}
					fresh.Close()
				}
			})
		})
	}
}

func change(t *rapid.T, dir string) {
	name := func(label string) string {
		return filepath.Join(dir, rapid.SampledFrom([]string{"1.md", "2.md", "3.md", "10.md", "x.md", "other"}).Draw(t, label))
	}
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		_ = os.Remove(name("removed"))
	case 1:
		_ = os.Rename(name("from"), name("to"))
	case 2:
		path := name("folder")
		_ = os.Remove(path)
		_ = os.Mkdir(path, 0o755)
	default:
		text := rapid.SampledFrom([]string{"no item", "---\nid: 1\ntitle: a\n---\nfirst", "---\nid: 2\ntitle: b\n---\nother", "---\nid: \"3\"\ntitle: a\n---\n"}).Draw(t, "text")
		_ = os.WriteFile(name("written"), []byte(text), 0o600) // over a directory it fails
	}
}

// all returns what an index says.
func all(x *itemdir.Index) []string {
	said := []string{fmt.Sprint(x.Largest(), x.FilesWithProblems(), x.Snapshot().Warnings)}
	for _, hit := range x.Snapshot().Search(item.Config{}, "", item.Filter{All: true}) {
		said = append(said, fmt.Sprint(hit.ID, hit.Title))
	}
	for _, hit := range x.Snapshot().Search(item.Config{}, "first", item.Filter{All: true}) {
		said = append(said, "first: "+hit.ID.String())
	}
	return said
}

func must(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
