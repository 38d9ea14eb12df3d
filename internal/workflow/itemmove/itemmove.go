// Package itemmove moves the work items of a project between files and a database.
//
// [Move] copies the complete content of the store, compares the copy with it, and records in the
// store that it was left, all while nobody else changes that store. A killed move has either done
// nothing, or completed the copy; in that case, the next call continues it.
package itemmove

import (
	"context"
	"errors"
	"fmt"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/archive"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/exchange"
	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/item/postgres"
)

// Place is a store, and its name for people.
type Place struct {
	// Store is a *local.Store or a *postgres.Store.
	Store item.Store
	Name  string
}

// Done is what was moved.
type Done struct {
	Items    int    `json:"items"`
	Deleted  int    `json:"deleted"`
	Comments int    `json:"comments"`
	From     string `json:"from"`
	To       string `json:"to"`
}

// Move moves all items of one place to another.
func Move(ctx context.Context, from, to Place) (Done, error) {
	all, err := from.Store.Snapshot(ctx)
	if err != nil {
		return Done{}, err
	}
	if held := all.Claims(); len(held) > 0 {
		c, _ := all.Claim(held[0].ID)
		return Done{}, fmt.Errorf("claims cannot be moved, and the project has %s, such as #%d by %s; release them first", cleantext.Count(len(held), "claim"), held[0].ID, c.Holder)
	}
	done := Done{From: from.Name, To: to.Name}
	leave := func(all archive.Archive) (string, error) {
		for _, r := range all.Records {
			done.Comments += len(r.Comments)
			if r.InTrash {
				done.Deleted++
			} else {
				done.Items++
			}
		}
		return to.Name, enter(ctx, to.Store, all)
	}
	switch source := from.Store.(type) {
	case *local.Store:
		err = source.Leave(ctx, func(files exchange.Files, h local.Histories) (string, error) {
			all, err := archive.Read(files, h, layout.LinkName)
			if err != nil {
				return "", err
			}
			return leave(all)
		})
	case *postgres.Store:
		err = source.Leave(ctx, func(all archive.Archive) (string, error) {
			done = Done{From: from.Name, To: to.Name} // it can be called again
			return leave(all)
		})
	default:
		err = errors.New("items can be moved between files and a database")
	}
	if err != nil {
		return Done{}, err
	}
	return done, nil
}

// enter makes a store of an archive.
func enter(ctx context.Context, to item.Store, all archive.Archive) error {
	switch target := to.(type) {
	case *postgres.Store:
		return target.Enter(ctx, all)
	case *local.Store:
		return enterFiles(ctx, target, all)
	}
	return errors.New("items can be moved between files and a database")
}

// enterFiles writes an archive to files, reads them again, and compares the two.
func enterFiles(ctx context.Context, to *local.Store, all archive.Archive) error {
	if _, err := to.Config(ctx); errors.Is(err, item.ErrNoProject) {
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
	err = to.Enter(ctx, func(old exchange.Files, had local.Histories, moved bool) (exchange.Files, local.Histories, error) {
		before, err := archive.Read(old, had, layout.LinkName)
		if !moved && (err != nil || !before.Empty() && fields(before).Compare(fields(all)) != nil) {
			return nil, nil, &item.StoreError{
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
