// Package births records when each number of a store of work items was assigned.
//
// The creation time identifies an item: links and merges use it, and nothing changes it. [New]
// returns a time that no other item of the store has, [Note] records it, and [Read] returns the
// records. Programs that do not use the store's lock can replace an item; [Overwritten] and
// [Outdated] detect that from the records. The records only help to find damage: a change of a
// store never fails because of them.
package births

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/itemdir"
	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/item/storage"
)

// name is the file of the records: a line "3 2026-01-02T15:04:05.000Z" for each number.
const name = layout.Private + "/births"

// Born are the noted times of creation by number. A number has one here: the last note counts.
type Born map[item.ID]string

// Timestamp returns a time as tic writes it.
func Timestamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// New returns the creation time of a new item: now or, if an item of the store was created then,
// the next free moment. known are the times of the items in memory; the records have those of all
// items that were created here.
func New(root *os.Root, known []string, now time.Time) string {
	noted, err := itemdir.ReadFile(root, name)
	if err != nil {
		noted = "" // the items still count
	}
	if born := Timestamp(now); !slices.Contains(known, born) && !strings.Contains(noted, " "+born+"\n") {
		return born
	}
	taken := map[string]bool{}
	for _, born := range known {
		taken[born] = true
	}
	for line := range strings.Lines(noted) {
		_, born, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		taken[born] = true
	}
	for taken[Timestamp(now)] {
		now = now.Add(time.Millisecond)
	}
	return Timestamp(now)
}

// Note records the time of creation of a new item.
func Note(root *os.Root, it *item.Summary) {
	if info, err := root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return
	}
	file, err := root.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return
	}
	_, _ = fmt.Fprintf(file, "%d %s\n", it.ID, it.Created)
	_ = file.Close()
}

// Read returns the notes; none if there are none.
func Read(root *os.Root) (Born, error) {
	text, err := itemdir.ReadFile(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", name, err)
	}
	born := Born{}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		number, at, _ := strings.Cut(lines.Text(), " ")
		if id, err := item.ParseID(number); err == nil && at != "" {
			born[id] = at
		}
	}
	return born, nil
}

// Outdated returns a warning if the next number decreased: an item that was created here has it.
// copse leaves no such configuration behind, and a checkout changes the items, too. Another program
// read the configuration, kept it, and wrote it back later, as a server of the original does; its
// next item overwrites an existing one. The next item that is created here corrects the number.
func (b Born) Outdated(all *item.Snapshot, next item.ID) []item.Warning {
	for id, at := range b {
		if it, err := all.Find(id); err != nil || id < next || it.Created != at {
			continue
		}
		return []item.Warning{{
			File: layout.Config,
			Reason: fmt.Sprintf("has next_id: %d, but item #%d exists. Another program wrote back an older state, "+
				"as a long-running `tic mcp serve` of the original does, or git did in a revert; restart that program before it overwrites items, and run `copse item doctor --repair`", next, all.Largest()),
		}}
	}
	return nil
}

// Overwritten returns a warning for each item that was created here and is missing, with another
// one under its number. An item that got another number, or was deleted, is not missing. deleted is
// called only if an item may be missing.
func (b Born) Overwritten(all *item.Snapshot, deleted func() ([]storage.Trashed, error)) ([]item.Warning, error) {
	var missing []item.ID
	for id, at := range b {
		if it, err := all.Find(id); err == nil && it.Created != at {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 {
		return nil, nil
	}
	alive := map[string]bool{}
	for _, it := range all.List(item.Config{}, item.Filter{All: true}) {
		alive[it.Created] = true
	}
	trashed, err := deleted()
	if err != nil {
		return nil, err
	}
	for _, it := range trashed {
		alive[it.Created] = true
	}
	slices.Sort(missing)
	var found []item.Warning
	for _, id := range missing {
		if alive[b[id]] {
			continue
		}
		found = append(found, item.Warning{
			File: layout.Item(id),
			Reason: fmt.Sprintf("is not the item that got this number here at %s: another program overwrote that one, "+
				"as a long-running `tic mcp serve` of the original does. Look for the lost one in backups and in the answers of that time", b[id]),
		})
	}
	return found, nil
}
