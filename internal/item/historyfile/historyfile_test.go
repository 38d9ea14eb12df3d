package historyfile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/historyfile"
)

// drawn draws a history of changes that several clones can have made.
func drawn(t *rapid.T, label string) historyfile.Log {
	var log historyfile.Log
	for i := range rapid.IntRange(0, 6).Draw(t, label) {
		n := rapid.IntRange(0, 20).Draw(t, "change")
		text := rapid.String().Draw(t, "title")
		log = historyfile.Union(log, historyfile.Log{Changes: []changes.Change{{
			ID: fmt.Sprint("c", n), Item: 1, At: fmt.Sprintf("2026-01-02T03:04:05.%03dZ", n), Kind: changes.Updated,
			By: claim.Agent{Name: fmt.Sprint(i)}, Before: item.Patch{Title: &text, Parent: new(item.ID(0))}, After: item.Patch{DependsOn: new([]item.ID{})},
		}}})
	}
	return log
}

func text(t fataler, log historyfile.Log) string {
	s, err := log.Text()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

type fataler interface{ Fatal(args ...any) }

// A history is read as it was written, and merges to the same changes in any order.
func TestProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawn(t, "a"), drawn(t, "b")
		if diff := cmp.Diff(a, historyfile.Parse(text(t, a))); diff != "" {
			t.Fatal(diff)
		}
		ids := func(s string) (all []string) {
			for _, c := range historyfile.Parse(s).Changes {
				all = append(all, c.ID)
			}
			return all
		}
		one, other := historyfile.Merge(text(t, a), text(t, b)), historyfile.Merge(text(t, b), text(t, a))
		if diff := cmp.Diff(ids(one), ids(other)); diff != "" {
			t.Fatal(diff)
		}
		if again := historyfile.Merge(one, text(t, b)); again != one {
			t.Fatal("merging again changes the history")
		}
	})
}

// A damaged line costs that line, and a file keeps to its size.
func TestDamaged(t *testing.T) {
	t.Parallel()
	var log historyfile.Log
	for i := range 2 * changes.MaxChanges {
		c := changes.NewChange(changes.Updated, 1, claim.Agent{}, fmt.Sprintf("2026-01-02T03:04:%02d.%03dZ", i/1000, i%1000))
		c.After.Description = new(strings.Repeat("x", changes.MaxText))
		log.Changes = append(log.Changes, c)
	}
	s := text(t, log)
	if len(s) > 2<<20 || !strings.Contains(s, log.Changes[len(log.Changes)-1].ID) {
		t.Errorf("it has %d bytes", len(s))
	}
	n := len(historyfile.Parse(s).Changes)
	if n == 0 || n > changes.MaxChanges {
		t.Errorf("it has %d changes", n)
	}
	for _, damaged := range []string{s[:len(s)-10], "{\n" + s, s + "null\n[]\n\"x\"\n"} {
		if got := len(historyfile.Parse(damaged).Changes); got < n-1 || got > n {
			t.Errorf("a damaged file has %d changes, it had %d", got, n)
		}
	}
}

// An update is later than the one before it also where the clock is not. A theft after it, with
// the time of the clock, does not make it an update that another program made.
func TestLast(t *testing.T) {
	t.Parallel()
	log := historyfile.Log{Seen: "2026-01-02T03:04:05.001Z", Changes: []changes.Change{{At: "2026-01-02T03:04:05.003Z"}, {At: "2026-01-02T03:04:05.002Z"}}}
	if got := log.Last(); got != "2026-01-02T03:04:05.003Z" {
		t.Errorf("got %s", got)
	}
}
