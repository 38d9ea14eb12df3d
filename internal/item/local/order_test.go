package local_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/lockedstore/lockedstoretest"
)

// stamp is the time of an item's creation in the names of files.
var stamp = regexp.MustCompile(`-\d+T\d+Z`)

// Each state that a loss of power can leave is a good one: records, numbers, and items reach the
// disk in this order.
func TestOrderOnDisk(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	dir := project(t)
	s := local.New(location.Search{Dir: dir}, time.Now)
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
		if diff := cmp.Diff(want, stamp.ReplaceAllString(disk.Steps(), "-BORN")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
		disk.Reset()
	}

	// The number is taken before the item has it: at worst a number is lost. The history has a
	// change before the item does: at worst it has one that was not made, which shows.
	create(item.Draft{Title: "Child", Parent: 1})
	check("create", `content .copse/history/2-BORN.jsonl
content config.yml
content items/2.md
put config.yml
put .copse/history/2-BORN.jsonl
put items/2.md
names .
names .copse/history
names items
`)

	// The record of the move is on disk before the item moves, and is removed last.
	if err := s.Delete(ctx, 1, "", false); err != nil {
		t.Fatal(err)
	}
	check("delete", `content .copse/pending.json
put .copse/pending.json
names .
names .copse
move items/1.md trash/1.md
content .copse/history/1-BORN.jsonl
content items/2.md
content trash/1.md
put trash/1.md
put .copse/history/1-BORN.jsonl
put items/2.md
names .copse/history
names items
names trash
remove .copse/pending.json
names .copse
`)

	if err := s.Delete(ctx, 2, "", false); err != nil {
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
content .copse/history/2-BORN.jsonl
content items/2.md
put .copse/history/2-BORN.jsonl
put items/2.md
names .copse/history
names items
names trash
remove .copse/pending.json
names .copse
`)
}
