package local_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/lockedstore/lockedstoretest"
)

// Each state that a loss of power can leave is a good one: what is written down, numbers
// and items reach the disk in this order.
func TestOrderOnDisk(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	dir := project(t)
	s := local.New(local.Location{Dir: dir}, time.Now)
	t.Cleanup(func() { s.Close() })
	create := func(d item.Draft) {
		t.Helper()
		if _, err := s.Create(ctx, d); err != nil {
			t.Fatal(err)
		}
	}
	create(item.Draft{Title: "Parent"})
	var disk lockedstoretest.Recorder
	local.On(s, &disk)
	check := func(what, want string) {
		t.Helper()
		if diff := cmp.Diff(want, disk.Steps()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
		disk.Reset()
	}

	// The number is taken before the item has it: at worst a number is lost.
	create(item.Draft{Title: "Child", Parent: 1})
	check("create", `content config.yml
content items/2.md
put config.yml
put items/2.md
names .
names items
`)

	// What is to be done is on disk before the item moves, and is forgotten last.
	if err := s.Delete(ctx, 1, ""); err != nil {
		t.Fatal(err)
	}
	check("delete", `content .copse/pending.json
put .copse/pending.json
names .
names .copse
move items/1.md trash/1.md
content items/2.md
content trash/1.md
put trash/1.md
put items/2.md
names items
names trash
remove .copse/pending.json
names .copse
`)

	if err := s.Delete(ctx, 2, ""); err != nil {
		t.Fatal(err)
	}
	disk.Reset()
	if _, err := s.Restore(ctx, 2); err != nil {
		t.Fatal(err)
	}
	check("restore", `content .copse/pending.json
put .copse/pending.json
names .copse
move trash/2.md items/2.md
content items/2.md
put items/2.md
names items
names trash
remove .copse/pending.json
names .copse
`)
}
