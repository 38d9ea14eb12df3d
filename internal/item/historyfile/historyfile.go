// Package historyfile implements the format of the files with the histories of items: one for each
// item, named like its claim, with a line of JSON for each change, the latest last.
//
// It ignores an unreadable line: a loss of power can truncate the last one. [Merge] merges two
// histories of an item, whatever changes they have.
package historyfile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/claimfile"
)

// Directory is the directory of histories in a store that clones share.
const Directory = "history"

const extension = ".jsonl"

// maxText is the maximum size of a history in bytes; the latest change is kept in any case.
const maxText = 1 << 20

// Name returns the name of the file for the history of an item, without its directory.
func Name(id item.ID, created string) string { return claimfile.Key(id, created) + extension }

// Log is the history of an item.
type Log struct {
	Changes []changes.Change
	// Seen is the time of an update that changed no field: it is not a change of the history, and
	// no other program made it.
	Seen string
}

// seen is the line of an update without a change.
type seen struct {
	Seen string `json:"seen"`
}

// line is any line of the file.
type line struct {
	changes.Change
	seen
}

// Parse reads a file.
func Parse(text string) Log {
	var log Log
	for text := range strings.Lines(text) {
		var l line
		if json.Unmarshal([]byte(text), &l) != nil {
			continue
		}
		log.Seen = max(log.Seen, l.Seen)
		if l.ID != "" && l.Kind != "" {
			log.Changes = append(log.Changes, l.Change)
		}
	}
	return log
}

// Text returns the content of a file with as many changes as a history keeps.
func (l Log) Text() (string, error) {
	var lines []string
	size := 0
	add := func(v any) error {
		data, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("write a history: %w", err)
		}
		lines = append(lines, string(data)+"\n")
		size += len(data) + 1
		return nil
	}
	if l.Seen != "" {
		if err := add(seen{l.Seen}); err != nil {
			return "", err
		}
	}
	for i, c := range slices.Backward(changes.Bounded(l.Changes)) {
		if err := add(c); err != nil {
			return "", err
		}
		if size > maxText && i < len(l.Changes)-1 {
			lines = lines[:len(lines)-1]
			break
		}
	}
	slices.Reverse(lines)
	return strings.Join(lines, ""), nil
}

// Last returns the time of the latest update that the history knows of. It need not be that of
// the last change: an update is later than the one before it also where the clock is not, and a
// theft after it has the time of the clock.
func (l Log) Last() string {
	last := l.Seen
	for _, c := range l.Changes {
		last = max(last, c.At)
	}
	return last
}

// Union returns one history of several, with each change once.
func Union(logs ...Log) Log {
	var all Log
	known := map[string]bool{}
	for _, log := range logs {
		all.Seen = max(all.Seen, log.Seen)
		for _, c := range log.Changes {
			if !known[c.ID] {
				known[c.ID] = true
				all.Changes = append(all.Changes, c)
			}
		}
	}
	slices.SortStableFunc(all.Changes, func(a, b changes.Change) int { return cmp.Compare(a.At, b.At) })
	return all
}

// Merge merges two versions of a file.
func Merge(ours, theirs string) string {
	merged, err := Union(Parse(ours), Parse(theirs)).Text()
	if err != nil { // what was read can be written
		return theirs
	}
	return merged
}
