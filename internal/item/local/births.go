package local

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
	"github.com/copse-dev/copse/internal/item/itemfolder"
)

// birthsName is where the numbers that were given out here are noted with the times of birth: a
// line "3 2026-01-02T15:04:05.000Z" for each. Programs that know nothing of the lock can put
// another item in place of one; the birth shows it, because nothing ever changes that.
const birthsName = privateFolder + "/births"

// birth returns the time of birth of a new item: that of the clock or, if an item of the
// store was born then, the next moment. Links and merges identify an item by its birth.
func (w *writer) birth(id item.ID) string {
	noted, err := itemfolder.ReadFile(w.tx.Root(), birthsName)
	if err != nil {
		noted = "" // the items still count
	}
	known, at := w.birthsBefore(id), w.now()
	if born := timestamp(at); !slices.Contains(known, born) && !strings.Contains(noted, " "+born+"\n") {
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
	for taken[timestamp(at)] {
		at = at.Add(time.Millisecond)
	}
	return timestamp(at)
}

// birthsBefore returns the births of the items that are in memory or, without any, of the item
// before a new one. Those of items that were created here are noted in birthsName as well.
func (w *writer) birthsBefore(id item.ID) []string {
	var all []*item.Summary
	w.mu.Lock()
	loaded := w.index != nil
	if loaded {
		all = w.index.Snapshot().List(item.Config{}, item.Filter{All: true})
	}
	w.mu.Unlock()
	if !loaded {
		it, err := w.find(id - 1)
		if err != nil {
			return nil
		}
		all = []*item.Summary{it}
	}
	births := make([]string, len(all))
	for i, it := range all {
		births[i] = it.Created
	}
	return births
}

// noteBirth notes the birth of a new item. The note is a help for finding damage,
// and no change fails for want of it.
func (w *writer) noteBirth(it item.Item) {
	if info, err := w.tx.Root().Lstat(birthsName); err == nil && !info.Mode().IsRegular() {
		return
	}
	file, err := w.tx.Root().OpenFile(birthsName, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return
	}
	_, _ = fmt.Fprintf(file, "%d %s\n", it.ID, it.Created)
	_ = file.Close()
}

// outdated returns a warning about a next number that went back: an item has it
// that was created here. Nothing here leaves such a configuration behind, and a
// checkout takes the items along. Another program read the configuration, kept it,
// and wrote it back later, as a server of the original does; its next item
// overwrites one that exists. The next item that is created here corrects it.
func (f *folder) outdated(snapshot *item.Snapshot) []item.Warning {
	config, err := f.readConfig()
	if err != nil || config.NextID == 0 || config.NextID > snapshot.Largest() {
		return nil
	}
	births, err := f.births()
	if err != nil {
		return nil // only a help for finding damage
	}
	for id, born := range births {
		if it, err := snapshot.Find(id); err != nil || id < config.NextID || it.Created != born {
			continue
		}
		return []item.Warning{{
			File: configName,
			Reason: fmt.Sprintf("says next_id: %d, but item #%d exists. Another program wrote back an older state, "+
				"as a long-running `tic mcp serve` of the original does; restart it before it overwrites items", config.NextID, snapshot.Largest()),
		}}
	}
	return nil
}

// overwritten finds the items that were created here and are gone, with another one
// under their number. One that only moved to another number is not gone.
func (f *folder) overwritten(snapshot *item.Snapshot) ([]item.Warning, error) {
	births, err := f.births()
	if err != nil || len(births) == 0 {
		return nil, err
	}
	var missing []item.ID
	for id, born := range births {
		if it, err := snapshot.Find(id); err == nil && it.Created != born {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 {
		return nil, nil
	}
	alive := map[string]bool{}
	for _, it := range snapshot.List(item.Config{}, item.Filter{All: true}) {
		alive[it.Created] = true
	}
	deleted, _, err := f.deleted()
	if err != nil {
		return nil, err
	}
	for _, it := range deleted {
		alive[it.Created] = true
	}
	slices.Sort(missing)
	var found []item.Warning
	for _, id := range missing {
		if alive[births[id]] {
			continue
		}
		found = append(found, item.Warning{
			File: itemsFolder + "/" + itemfolder.FileName(id),
			Reason: fmt.Sprintf("is not the item that got this number here at %s: another program overwrote that one, "+
				"as a long-running `tic mcp serve` of the original does. Look for the lost one in backups and in the answers of that time", births[id]),
		})
	}
	return found, nil
}

// births returns the noted times of birth by number. A number has one birth here, and the last note
// counts.
func (f *folder) births() (map[item.ID]string, error) {
	root, err := f.dir.Open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	text, err := itemfolder.ReadFile(root, birthsName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", birthsName, err)
	}
	births := map[item.ID]string{}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		number, born, _ := strings.Cut(lines.Text(), " ")
		if id, err := item.ParseID(number); err == nil && born != "" {
			births[id] = born
		}
	}
	return births, nil
}
