// Package renumbered records which items changed their number, because two clones had assigned it
// to two items.
//
// The records are in a file of the store, [Name]: a line of four tab-separated values for each,
// sorted, so git can merge the file by keeping the lines of both sides. The creation time, which
// never changes, identifies an item.
package renumbered

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/item"
)

// Name is the name of the file in the store.
const Name = "renumbered.tsv"

const header = "from\tto\tcreated\ton\n"

// Record states that an item got another number.
type Record struct {
	From, To item.ID
	Created  string // of the item, as its file says it
	On       string // the day, as 2026-11-21
}

// Parse reads the file. It skips lines that are not records: the header, and the markers of an
// unfinished merge.
func Parse(text string) []Record {
	var records []Record
	for line := range strings.Lines(text) {
		values := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		if len(values) != 4 {
			continue
		}
		from, fromErr := item.ParseID(values[0])
		to, toErr := item.ParseID(values[1])
		created, createdErr := strconv.Unquote(`"` + values[2] + `"`)
		if fromErr != nil || toErr != nil || createdErr != nil {
			continue
		}
		records = append(records, Record{From: from, To: to, Created: created, On: values[3]})
	}
	return Union(records)
}

// Format returns the text of the file; "" without records.
func Format(records []Record) string {
	if len(records) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(header)
	for _, r := range Union(records) {
		created := strconv.Quote(r.Created)
		b.WriteString(r.From.String() + "\t" + r.To.String() + "\t" + created[1:len(created)-1] + "\t" + r.On + "\n")
	}
	return b.String()
}

// Union returns each record once, sorted. Of two that differ only in the day, it returns the
// earlier one.
func Union(lists ...[]Record) []Record {
	all := slices.Concat(lists...)
	slices.SortFunc(all, func(a, b Record) int { return cmp.Or(compare(a, b), cmp.Compare(a.On, b.On)) })
	return slices.CompactFunc(all, func(a, b Record) bool { return compare(a, b) == 0 })
}

func compare(a, b Record) int {
	return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.From, b.From), cmp.Compare(a.Created, b.Created))
}

// maxFormer is how many earlier numbers of an item count. Two clones give an item another
// number when they meet, so each has a few.
const maxFormer = 100

// Of returns the records of an item that has the number id now, those of its earlier
// numbers included, the latest first. records are sorted, as those of [Parse] and [Union] are.
func Of(records []Record, id item.ID, created string) []Record {
	var found []Record
	numbers := distinct.Of(id)
	for i := 0; i < numbers.Len(); i++ { //nolint:intrange // the list grows
		now := numbers.Values()[i]
		at, _ := slices.BinarySearchFunc(records, now, func(r Record, to item.ID) int { return cmp.Compare(r.To, to) })
		for _, r := range records[at:] {
			if r.To != now || len(found) == maxFormer {
				break
			}
			if r.Created == created && numbers.Add(r.From) {
				found = append(found, r)
			}
		}
	}
	return found
}
