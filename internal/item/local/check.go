package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/itemfolder"
	"github.com/copse-dev/copse/internal/item/merge"
	"github.com/copse-dev/copse/internal/item/remerge"
	"github.com/copse-dev/copse/internal/item/renumbered"
	"github.com/copse-dev/copse/internal/lockedstore"
)

// Check looks for all that is wrong with the store: what cannot be read, what
// was not merged, and what refers to nothing or in a circle. Only what keeps it
// from looking is an error.
func (s *Store) Check(ctx context.Context) ([]item.Warning, error) {
	f, err := s.find(ctx)
	if err != nil {
		return nil, err
	}
	var found []item.Warning
	config, err := f.readConfig()
	if broken, ok := errors.AsType[*item.ConfigError](err); ok {
		found = append(found, item.Warning{File: broken.File, Reason: broken.Reason})
	} else if err != nil {
		return nil, err
	}
	found = append(found, config.Warnings...)
	found = append(found, s.afterRebase(ctx, f)...)
	found = append(found, f.failedSync()...)
	snapshot, err := f.snapshot()
	if err != nil {
		return nil, err
	}
	found = append(found, snapshot.Warnings...)
	copies, err := s.copies(ctx, f)
	if err != nil {
		return nil, err
	}
	found = append(found, copies...)
	inTrash, err := f.checkTrash(copies)
	if err != nil {
		return nil, err
	}
	found = append(found, inTrash...)
	silent, err := s.checkMerges(ctx, f)
	if err != nil {
		return nil, err
	}
	found = append(found, silent...)
	if s.Mode(ctx) != Committed { // else a checkout or a rebase brings other items, too
		overwritten, err := f.overwritten(snapshot)
		if err != nil {
			return nil, err
		}
		found = append(found, overwritten...)
	}
	for _, it := range snapshot.List(config, item.Filter{All: true}) {
		for _, problem := range checkItem(config, f.lookup, it) {
			found = append(found, item.Warning{File: itemsFolder + "/" + itemfolder.FileName(it.ID), Reason: problem})
		}
	}
	return found, nil
}

// checkMerges returns warnings about what git merged or copied wrongly, without a stop.
func (s *Store) checkMerges(ctx context.Context, f *folder) ([]item.Warning, error) {
	repo, err := s.openRepo(ctx, f)
	if repo == nil || err != nil {
		return nil, err
	}
	root, err := f.dir.Open()
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", lockedstore.WithoutPath(err))
	}
	defer root.Close()
	return remerge.Check(ctx, reading{root}, repo)
}

// checkTrash returns a warning for each deleted item that cannot be read, or whose number
// an item has as well. Two files of one item are in copies already.
func (f *folder) checkTrash(copies []item.Warning) ([]item.Warning, error) {
	deleted, found, err := f.deleted()
	if err != nil {
		return nil, err
	}
	for _, d := range deleted {
		file := itemsFolder + "/" + itemfolder.FileName(d.ID)
		if _, err := f.lookup(d.ID); item.IsNotFound(err) || slices.ContainsFunc(copies, func(w item.Warning) bool { return w.File == file }) {
			continue
		}
		found = append(found, item.Warning{File: file, Reason: fmt.Sprintf("has the same number as a deleted item, %s; run doctor --repair", trashName(d.ID))})
	}
	return found, nil
}

// checkItem says what is wrong with an item that can be read.
func checkItem(config item.Config, find item.Lookup, it *item.Summary) []string {
	var problems []string
	for _, field := range []struct {
		name, value string
		valid       []string
	}{
		{"type", it.Type, config.Types},
		{"status", it.Status, config.Statuses},
		{"priority", it.Priority, item.Priorities()},
	} {
		if len(field.valid) > 0 && !slices.Contains(field.valid, field.value) {
			problems = append(problems, fmt.Sprintf("has the %s %q, which is none of %s", field.name, field.value, strings.Join(field.valid, ", ")))
		}
	}
	for _, id := range dangling(find, it) {
		problems = append(problems, fmt.Sprintf("refers to #%d, which does not exist", id))
	}
	if len(problems) == 0 {
		err := item.CheckRelations(find, it.ID, &it.Parent, &it.DependsOn)
		if _, ok := errors.AsType[*item.InvalidError](err); ok {
			problems = append(problems, "is in a circle: "+err.Error())
		}
	}
	return problems
}

// dangling returns the items that it refers to and that do not exist.
func dangling(find item.Lookup, it *item.Summary) []item.ID {
	var missing []item.ID
	for _, id := range append([]item.ID{it.Parent}, it.DependsOn...) {
		if id == 0 || slices.Contains(missing, id) {
			continue
		}
		if _, err := find(id); item.IsNotFound(err) {
			missing = append(missing, id)
		}
	}
	return missing
}

// copies returns a warning for each item that has two files: another in the trash, or
// another for a number that it had before. It reads only the files that can be copies.
func (s *Store) copies(ctx context.Context, f *folder) ([]item.Warning, error) {
	root, err := f.dir.Open()
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", lockedstore.WithoutPath(err))
	}
	defer root.Close()
	tree := merge.Tree{}
	read := func(names ...string) {
		for _, name := range names {
			if text, err := itemfolder.ReadFile(root, name); err == nil {
				tree[name] = text
			}
		}
	}
	trash, err := readNames(root, trashFolder)
	if err != nil {
		return nil, err
	}
	for _, name := range trash {
		if _, err := root.Lstat(itemsFolder + "/" + name); err == nil {
			read(itemsFolder+"/"+name, trashFolder+"/"+name)
		}
	}
	read(renumbered.Name)
	for _, r := range renumbered.Parse(tree[renumbered.Name]) {
		for _, id := range []item.ID{r.From, r.To} {
			read(itemsFolder+"/"+itemfolder.FileName(id), trashFolder+"/"+itemfolder.FileName(id))
		}
	}
	repo, err := s.openRepo(ctx, f)
	if err != nil {
		return nil, err
	}
	options := merge.Options{}
	if repo != nil {
		options.Retitled = repo.Retitled(ctx)
	}
	joined, err := merge.Once(tree, options)
	if err != nil {
		return nil, err
	}
	var found []item.Warning
	for _, r := range joined.Reports {
		if r.Kind == merge.Joined {
			found = append(found, item.Warning{File: r.File, Reason: r.Text + "; run doctor --repair"})
		}
	}
	return found, nil
}
