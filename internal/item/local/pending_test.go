package local_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/item"
)

// relations writes who is below and who depends on whom.
func relations(t *testing.T, dir string) string {
	t.Helper()
	snapshot, err := open(t, dir, false).Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, it := range snapshot.List(item.Config{}, item.Filter{All: true}) {
		out = append(out, fmt.Sprintf("%d<%d%v", it.ID, it.Parent, it.DependsOn))
	}
	return strings.Join(out, " ")
}

// A deletion or restoration that stopped after any step is finished, or undone,
// by the next change.
func TestPending(t *testing.T) {
	t.Parallel()
	const (
		deleting  = `{"delete":1,"deleted":"2026-01-01T00:00:00.000Z","children":[2],"dependents":[2,3]}`
		restoring = `{"restore":1}`
		before    = "1<0[] 2<1[1] 3<0[1]"
		after     = "2<0[] 3<0[]"
	)
	lost := []string{"deleted: then", "deleted_children:", "  - \"2\"", "deleted_dependents:", "  - \"2\"", "  - \"3\""}
	one := itemText("1")
	two, twoAlone := itemText("2", `parent: "1"`, "depends_on:", `  - "1"`), itemText("2")
	three, threeAlone := itemText("3", "depends_on:", `  - "1"`), itemText("3")
	tests := map[string]struct {
		pending string
		files   map[string]string
		want    string
	}{
		"delete, only written down": {deleting, map[string]string{"items/1.md": one, "items/2.md": two, "items/3.md": three}, before},
		"delete, moved":             {deleting, map[string]string{"trash/1.md": one, "items/2.md": two, "items/3.md": three}, after},
		"delete, half done":         {deleting, map[string]string{"trash/1.md": itemText("1", lost...), "items/2.md": twoAlone, "items/3.md": three}, after},
		"delete, done":              {deleting, map[string]string{"trash/1.md": itemText("1", lost...), "items/2.md": twoAlone, "items/3.md": threeAlone}, after},
		"delete, one is gone":       {deleting, map[string]string{"trash/1.md": one, "items/3.md": three}, "3<0[]"},
		"delete, one is broken":     {deleting, map[string]string{"trash/1.md": one, "items/2.md": "x", "items/3.md": three}, "3<0[1]"},
		"restore, only written":     {restoring, map[string]string{"trash/1.md": itemText("1", lost...), "items/2.md": twoAlone, "items/3.md": threeAlone}, after},
		"restore, moved":            {restoring, map[string]string{"items/1.md": itemText("1", lost...), "items/2.md": twoAlone, "items/3.md": threeAlone}, before},
		"restore, half done":        {restoring, map[string]string{"items/1.md": itemText("1", lost...), "items/2.md": two, "items/3.md": threeAlone}, before},
		"restore, done":             {restoring, map[string]string{"items/1.md": one, "items/2.md": two, "items/3.md": three}, before},
		"rubbish":                   {"{", map[string]string{"items/1.md": one, "items/2.md": two, "items/3.md": three}, before},
		"nothing":                   {"{}", map[string]string{"items/1.md": one, "items/2.md": two, "items/3.md": three}, before},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := project(t)
			write(t, dir, ".copse/pending.json", test.pending)
			for file, text := range test.files {
				write(t, dir, file, text)
			}
			if err := open(t, dir, true).SetIteration(t.Context(), "any change"); err != nil {
				t.Fatal(err)
			}
			diff(t, "relations", test.want, relations(t, dir))
			if _, err := os.Stat(path(dir, ".copse/pending.json")); err == nil {
				t.Error("it is still pending")
			}
			if test.want != after {
				return
			}
			if _, err := open(t, dir, true).Restore(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			diff(t, "relations when restored", before, relations(t, dir))
		})
	}
}

// What was deleted and restored is the same, byte for byte.
func TestDeletedFileComesBack(t *testing.T) {
	t.Parallel()
	dir := project(t)
	files := map[string]string{
		"items/1.md": itemText("1", "estimate: 3 # days", "parent: \"2\"", "depends_on: [3, 2] # both"),
		"items/2.md": itemText("2", "depends_on: ", "- '3' # first"),
		"items/3.md": itemText("3"),
	}
	for name, text := range files {
		write(t, dir, name, text)
	}
	s := open(t, dir, true)
	if err := s.Delete(t.Context(), 1, "", false); err != nil {
		t.Fatal(err)
	}
	deleted := read(t, dir, "trash/1.md")
	if !strings.Contains(deleted, "\ndeleted: ") || !strings.Contains(deleted, "estimate: 3 # days") {
		t.Errorf("in the trash: %s", deleted)
	}
	if _, err := s.Restore(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		diff(t, name, text, read(t, dir, name))
	}
	if _, err := os.Stat(path(dir, "trash/1.md")); err == nil {
		t.Error("it is still in the trash")
	}
}

func TestTrashHasTheNumber(t *testing.T) {
	t.Parallel()
	dir := project(t)
	write(t, dir, "items/1.md", itemText("1"))
	write(t, dir, "trash/1.md", "another")
	err := open(t, dir, true).Delete(t.Context(), 1, "", false)
	if err == nil || err.Error() != "A deleted item also has the number 1: trash/1.md. Remove that file first" {
		t.Errorf("got %v", err)
	}
	diff(t, "item", itemText("1"), read(t, dir, "items/1.md"))
	diff(t, "deleted item", "another", read(t, dir, "trash/1.md"))
}
