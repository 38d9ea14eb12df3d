package itemdir_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/itemdir"
	"github.com/copse-dev/copse/internal/item/storage"
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
				space := rapid.SampledFrom([]itemdir.Space{0, 70, 40}).Draw(rt, "space")
				open := func(watching bool) *itemdir.Index {
					x, err := itemdir.Open(rooted.Dir{Wall: dir, Name: "."}, itemdir.Options{Name: "items", Watching: watching, Space: space})
					must(rt, err)
					return x
				}
				kept := open(watching)
				defer func() { kept.Close() }()
				for range rapid.IntRange(1, 6).Draw(rt, "rounds") {
					for range rapid.IntRange(0, 4).Draw(rt, "changes") {
						change(rt, dir)
					}
					ok, err := kept.Update()
					must(rt, err)
					if !ok && space == 0 {
						rt.Fatal("the directory is still the one that was opened")
					}
					if !ok {
						kept.Close()
						kept = open(watching)
					}
					fresh := open(false)
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

func must(t interface {
	Helper()
	Fatal(args ...any)
}, err error,
) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The items with the smallest numbers have the space, however the files were read; the others are
// warnings.
func TestMaxTotal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const size, all = 100, 500
	for i := 1; i <= all; i++ {
		text := fmt.Sprintf("---\nid: %d\ntitle: a\n---\n", i)
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.md", i)), []byte(fmt.Sprintf("%-*s", size, text)), 0o600))
	}
	x, err := itemdir.Open(rooted.Dir{Wall: dir, Name: "."}, itemdir.Options{Name: "items", Space: 250*size + size/2})
	must(t, err)
	defer x.Close()
	for i := 1; i <= all; i++ {
		_, err := x.Find(item.ID(i))
		switch broken, _ := errors.AsType[*storage.BrokenError](err); {
		case i <= 250 && err != nil:
			t.Errorf("item %d: %v", i, err)
		case i > 250 && (broken == nil || !strings.Contains(broken.Reason, "is not read: the items together")):
			t.Errorf("item %d: error is %v", i, err)
		}
	}
	if warnings := x.Snapshot().Warnings; len(warnings) != all-250 || x.Largest() != all {
		t.Errorf("%d warnings, the largest number is %d", len(warnings), x.Largest())
	}
	must(t, os.Remove(filepath.Join(dir, "7.md")))
	if ok, err := x.Update(); ok || err != nil {
		t.Errorf("another item has the space: %v, %v", ok, err)
	}
}

// Without a limit of its own, a directory is not read past the default.
func TestDefaultMaxTotal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const size, all = 8 << 20, 18
	for i := 1; i <= all; i++ {
		path := filepath.Join(dir, fmt.Sprintf("%d.md", i))
		must(t, os.WriteFile(path, []byte("x"), 0o600))
		must(t, os.Truncate(path, size))
	}
	x, err := itemdir.Open(rooted.Dir{Wall: dir, Name: "."}, itemdir.Options{Name: "items"})
	must(t, err)
	defer x.Close()
	left := 0
	for i := 1; i <= all; i++ {
		_, err := x.Find(item.ID(i))
		if broken, ok := errors.AsType[*storage.BrokenError](err); ok && strings.Contains(broken.Reason, "is not read: the items together") {
			left++
		}
	}
	if left != 2 {
		t.Errorf("%d files are not read, want 2", left)
	}
}
