package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/itemfolder"
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

// dangling are the items that it refers to and that do not exist.
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
