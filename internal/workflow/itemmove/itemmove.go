// Package itemmove moves the work items of a project between files and a database.
//
// [Move] copies the complete content of the store, compares the copy with it, and records in the
// store that it was left, all while nobody else changes that store. The copy accepts changes only
// after that, so there is no moment at which both stores do. If a move is killed, the old store
// is still in use, or no store accepts changes until the next call ends the move.
package itemmove

import (
	"context"
	"errors"
	"fmt"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/item/archive"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/exchange"
	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/item/postgres"
	"github.com/copse-dev/copse/internal/item/storage"
)

// Endpoint is a store that items move from or to, and its name for people.
type Endpoint struct {
	// Store is a *local.Store or a *postgres.Store.
	Store storage.Store
	Name  string
}

// target is a store that items can be moved to. It accepts changes after Arrive.
type target interface {
	// Arriving reports whether a move to the store has not ended.
	Arriving(ctx context.Context) (bool, error)
	// Arrive ends it, and does nothing if it has ended.
	Arrive(ctx context.Context) error
}

var errKinds = errors.New("items can be moved between files and a database")

// Done is what was moved.
type Done struct {
	Items    int    `json:"items"`
	Deleted  int    `json:"deleted"`
	Comments int    `json:"comments"`
	From     string `json:"from"`
	To       string `json:"to"`
}

// Move moves all items of one store to another.
func Move(ctx context.Context, from, to Endpoint) (Done, error) {
	m := mover{from: from, to: to, enter: enter}
	at, ok := to.Store.(target)
	if !ok {
		return Done{}, errKinds
	}
	all, err := from.Store.Snapshot(ctx)
	if err != nil {
		return Done{}, err
	}
	if held := all.Claims(); len(held) > 0 {
		c, _ := all.Claim(held[0].ID)
		return Done{}, fmt.Errorf("claims cannot be moved, and the project has %s, such as #%d by %s; release them first", cleantext.Count(len(held), "claim"), held[0].ID, c.Holder)
	}
	unfinished, err := at.Arriving(ctx)
	if err != nil {
		return Done{}, err
	}
	if err := m.copy(ctx, unfinished); err != nil {
		return Done{}, err
	}
	if err := at.Arrive(ctx); err != nil {
		return Done{}, fmt.Errorf("the copy is complete, but no store accepts changes before the move has ended, so repeat the command: %w", err)
	}
	return m.done, nil
}

// mover is one call of Move.
type mover struct {
	from, to Endpoint
	enter    func(ctx context.Context, from, to Endpoint, all archive.Archive) error
	done     Done
}

// copy copies everything, and records in the old store that it was left. unfinished means that an
// earlier move may have done so.
func (m *mover) copy(ctx context.Context, unfinished bool) error {
	again := ""
	if unfinished {
		again = m.to.Name
	}
	switch source := m.from.Store.(type) {
	case *local.Store:
		return source.Leave(ctx, again, func(files exchange.Files, h local.Histories) (string, error) {
			all, err := archive.Read(files, h, layout.LinkName)
			if err != nil {
				return "", err
			}
			return m.leave(ctx, all)
		})
	case *postgres.Store:
		return source.Leave(ctx, again, func(all archive.Archive) (string, error) { return m.leave(ctx, all) })
	}
	return errKinds
}

// leave copies everything and returns the name of the store that has it. It can be called again.
func (m *mover) leave(ctx context.Context, all archive.Archive) (string, error) {
	m.done = Done{From: m.from.Name, To: m.to.Name}
	for _, r := range all.Records {
		m.done.Comments += len(r.Comments)
		if r.InTrash {
			m.done.Deleted++
		} else {
			m.done.Items++
		}
	}
	return m.to.Name, m.enter(ctx, m.from, m.to, all)
}

// enter makes a store of the archive of another one.
func enter(ctx context.Context, from, to Endpoint, all archive.Archive) error {
	switch target := to.Store.(type) {
	case *postgres.Store:
		return target.Enter(ctx, from.Name, all)
	case *local.Store:
		return enterFiles(ctx, from.Name, target, all)
	}
	return errKinds
}

// enterFiles writes an archive to files, reads them again, and compares the two.
func enterFiles(ctx context.Context, from string, to *local.Store, all archive.Archive) error {
	if _, err := to.Config(ctx); errors.Is(err, storage.ErrNoProject) {
		if _, err := to.Init(ctx); err != nil {
			return err
		}
	}
	files, err := all.Write(layout.LinkName)
	if err != nil {
		return err
	}
	histories := make(local.Histories)
	for _, r := range all.Records {
		if len(r.History) > 0 {
			histories[r.ID] = r.History
		}
	}
	if err := same(all, files, histories); err != nil {
		return err
	}
	err = to.Enter(ctx, from, func(old exchange.Files, had local.Histories, unused bool) (exchange.Files, local.Histories, error) {
		before, err := archive.Read(old, had, layout.LinkName)
		if !unused && (err != nil || !before.Empty() && fields(before).Compare(fields(all)) != nil) {
			return nil, nil, &storage.StoreError{
				Problem: "the directory .tic has items of its own (" + before.Count() + ")",
				Next:    "Move it away first.",
			}
		}
		return files, histories, nil
	})
	if err != nil {
		return err
	}
	return to.View(ctx, func(files exchange.Files, histories local.Histories) error { return same(all, files, histories) })
}

// same returns an error if files differ from an archive.
func same(all archive.Archive, files exchange.Files, histories local.Histories) error {
	found, err := archive.Read(files, histories, layout.LinkName)
	if err == nil {
		err = fields(all).Compare(fields(found))
	}
	if err != nil {
		return fmt.Errorf("the copy in files differs, so nothing was moved: %w", err)
	}
	return nil
}

// fields returns an archive without the texts of files, which change with the fields.
func fields(a archive.Archive) archive.Archive {
	records := make([]archive.Record, len(a.Records))
	for i, r := range a.Records {
		r.Text = ""
		records[i] = r
	}
	a.Records, a.ConfigText = records, ""
	return a
}
