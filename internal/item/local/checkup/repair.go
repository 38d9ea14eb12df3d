package checkup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/gitmerge"
	"github.com/copse-dev/copse/internal/item/itemdir"
	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/item/local/reader"
	"github.com/copse-dev/copse/internal/item/local/trash"
	"github.com/copse-dev/copse/internal/item/merge"
	"github.com/copse-dev/copse/internal/item/remerge"
	"github.com/copse-dev/copse/internal/item/ticfile"
	"github.com/copse-dev/copse/internal/lockedstore"
)

// Changing is the change of the store that a repair is part of.
type Changing struct {
	Reader *reader.Reader
	Tx     *lockedstore.Tx
	Trash  trash.Trash
	// Repo is the repository that the store is in; nil if there is none.
	Repo *gitmerge.Repo
	Now  time.Time
	// Config reads the configuration for a change, and NextID returns a number that no item has or
	// had.
	Config func() (*ticfile.Config, error)
	NextID func(*ticfile.Config) (item.ID, error)
	// Space returns an error if the files of a tree have no space in the place of those of another one.
	Space func(old, with merge.Tree) error
}

// Repair repairs the problems of [Check] that need no decision:
//
//   - it finishes an open merge of git, item by item and field by field, as
//     package merge describes, and the remains of an earlier merge: conflict markers in a
//     file that is unreadable because of them, and a number that an item and a deleted one share;
//   - references from a cherry-pick or a rebase follow the items that they
//     meant in the original commit;
//   - a file whose name and number differ gets the number of its name, or a new
//     one if the name is not a number;
//   - references to items that do not exist are removed;
//   - a next number that an item has already is corrected.
//
// Check still reports the problems that Repair leaves to a person. Finishing a merge of files does not
// finish it in git: the caller runs git add.
func Repair(ctx context.Context, c Changing) (remerge.Result, error) {
	done, err := remerge.Finish(ctx, rewriting{reading{c.Tx.Root(), c.Reader.Space()}, c}, c.Repo, c.Now)
	if err != nil {
		return done, err
	}
	r := &repair{Changing: c}
	err = r.remaining()
	done.Fixes = append(done.Fixes, r.fixes...)
	return done, err
}

type repair struct {
	Changing
	config *ticfile.Config
	fixes  []remerge.Fix
}

func (r *repair) done(file, format string, args ...any) {
	r.fixes = append(r.fixes, remerge.Fix{File: file, Done: fmt.Sprintf(format, args...)})
}

// remaining repairs what git has not merged: the files with problems.
func (r *repair) remaining() error {
	var err error
	if r.config, err = r.Config(); err != nil {
		return err
	}
	if _, err := r.Reader.Snapshot(); err != nil {
		return err
	}
	for _, name := range r.Reader.FilesWithProblems() {
		if err := r.file(name); err != nil {
			return err
		}
	}
	return errors.Join(r.references(), r.next())
}

// next corrects the next number, if an older state of the configuration came back.
func (r *repair) next() error {
	snapshot, err := r.Reader.Snapshot()
	if err != nil {
		return err
	}
	given := r.config.NextID()
	if given == 0 || given > snapshot.Largest() {
		return nil
	}
	if err := r.config.SetNextID(snapshot.Largest() + 1); err != nil {
		return err
	}
	r.done(layout.Config, "has next_id: %d now; it had %d", r.config.NextID(), given)
	return r.Tx.Write(lockedstore.File{Name: layout.Config, Data: []byte(r.config.Text())})
}

// file repairs the file of that name, if it can.
func (r *repair) file(name string) error {
	path := layout.Items + "/" + name
	info, err := r.Tx.Root().Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil //nolint:nilerr // not for us
	}
	text, err := itemdir.ReadFile(r.Tx.Root(), path)
	if err != nil {
		return nil //nolint:nilerr // not for us
	}
	id, nameErr := itemdir.Number(name)
	content, err := ticfile.Parse(text)
	if err != nil {
		return nil //nolint:nilerr // for a person
	}
	it, _, err := content.Item()
	switch {
	case err != nil:
		return nil //nolint:nilerr // for a person
	case nameErr != nil:
		if err := r.number(content, fmt.Sprintf("was %s", path)); err != nil {
			return err
		}
		return r.Tx.Remove(path)
	case it.ID != 0 && it.ID != id:
		if err := content.SetID(id); err != nil {
			return nil //nolint:nilerr // for a person
		}
		if err := r.save(id, content); err != nil {
			return err
		}
		r.done(path, "now has the number in its name; it had %d", it.ID)
	}
	return nil
}

// save writes the file of an item. A repair is not a change in its history.
func (r *repair) save(id item.ID, content *ticfile.File) error {
	file, err := layout.File(layout.Items, id, content)
	if err != nil {
		return err
	}
	return r.Tx.Write(file)
}

// number makes a new item of content.
func (r *repair) number(content *ticfile.File, origin string) error {
	id, err := r.NextID(r.config)
	if err != nil {
		return err
	}
	if err := errors.Join(content.SetID(id), r.config.SetNextID(id+1)); err != nil {
		return err
	}
	file, err := layout.File(layout.Items, id, content)
	if err != nil {
		return err
	}
	r.done(file.Name, "is new: it %s", origin)
	return r.Tx.Write(lockedstore.File{Name: layout.Config, Data: []byte(r.config.Text())}, file)
}

// references removes dangling references.
func (r *repair) references() error {
	snapshot, err := r.Reader.Snapshot()
	if err != nil {
		return err
	}
	for _, it := range snapshot.List(item.Config{}, item.Filter{All: true}) {
		missing := dangling(r.Reader.Lookup, it)
		if len(missing) == 0 {
			continue
		}
		content, _, err := layout.Open(r.Tx.Root(), layout.Items, it.ID)
		if err != nil || content.Forget(missing...) != nil {
			continue // for a person
		}
		if err := r.save(it.ID, content); err != nil {
			return err
		}
		for _, id := range missing {
			r.done(layout.Item(it.ID), "no longer refers to #%d, which does not exist", id)
		}
	}
	return nil
}
