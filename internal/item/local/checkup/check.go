// Package checkup finds problems of a store of work items, and repairs those that need no decision.
//
// [Check] reports; it only reads, and fails only if it cannot check. [Repair] repairs, as a part of
// a change of the store. Both ask git, if the store is in a repository: what is unmerged, and the
// state before a merge or a copy of a commit.
package checkup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/gitmerge"
	"github.com/copse-dev/copse/internal/item/itemdir"
	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/item/local/reader"
	"github.com/copse-dev/copse/internal/item/local/trash"
	"github.com/copse-dev/copse/internal/item/merge"
	"github.com/copse-dev/copse/internal/item/relation"
	"github.com/copse-dev/copse/internal/item/remerge"
	"github.com/copse-dev/copse/internal/item/renumbered"
	"github.com/copse-dev/copse/internal/item/storage"
)

// Options are the inputs of a check.
type Options struct {
	Reader *reader.Reader
	// Repo is the repository that the store is in; nil if there is none.
	Repo *gitmerge.Repo
	// Committed means that the store is versioned with the code, so a checkout brings other items.
	Committed bool
	// Noted are warnings of the caller, which come after those of the configuration.
	Noted []item.Warning
}

// Check returns unreadable and unmerged files, dangling references, and cycles.
func Check(ctx context.Context, o Options) ([]item.Warning, error) {
	root, err := o.Reader.Root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var found []item.Warning
	config, err := o.Reader.Config()
	if broken, ok := errors.AsType[*storage.ConfigError](err); ok {
		found = append(found, item.Warning{File: broken.File, Reason: broken.Reason})
	} else if err != nil {
		return nil, err
	}
	found = append(append(found, config.Warnings...), o.Noted...)
	snapshot, err := o.Reader.Snapshot()
	if err != nil {
		return nil, err
	}
	found = append(found, snapshot.Warnings...)
	c := check{o, root}
	twice, err := c.copies(ctx)
	if err != nil {
		return nil, err
	}
	found = append(found, twice...)
	for _, look := range []func() ([]item.Warning, error){
		func() ([]item.Warning, error) { return c.trash(twice) },
		func() ([]item.Warning, error) { return c.merges(ctx) },
		func() ([]item.Warning, error) { return c.overwritten(snapshot) },
		c.apart,
	} {
		more, err := look()
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	all := snapshot.List(config, item.Filter{All: true})
	cycles := relation.FindCycles(all)
	for _, it := range all {
		for _, problem := range checkItem(config, o.Reader.Lookup, cycles, it) {
			found = append(found, item.Warning{File: layout.Item(it.ID), Reason: problem})
		}
	}
	return found, nil
}

// check is a check in progress.
type check struct {
	Options
	root *os.Root
}

// merges returns warnings about wrong merges and copies that git made without a stop.
func (c check) merges(ctx context.Context) ([]item.Warning, error) {
	if c.Repo == nil {
		return nil, nil
	}
	found, err := remerge.Check(ctx, reading{c.root, c.Reader.Space()}, c.Repo)
	if large, ok := errors.AsType[*storage.StoreError](err); ok { // with a warning, the other checks continue
		return []item.Warning{{File: layout.Config, Reason: fmt.Sprintf("is in a store whose merges are not checked: %s. %s", large.Problem, large.Next)}}, nil
	}
	return found, err
}

// apart returns a warning about the versions of items that a merge has put beside them.
func (c check) apart() ([]item.Warning, error) {
	names, err := layout.Names(c.root, merge.ApartDir)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	return []item.Warning{{File: merge.ApartDir, Reason: fmt.Sprintf(
		"has %s of items that were too large to merge; copy what you need into the items, and delete the files", cleantext.Count(len(names), "version"))}}, nil
}

// overwritten returns a warning for each item that another program overwrote.
func (c check) overwritten(all *item.Snapshot) ([]item.Warning, error) {
	if c.Committed { // a checkout or a rebase brings other items, too
		return nil, nil
	}
	born, err := c.Reader.Births()
	if err != nil {
		return nil, err
	}
	return born.Overwritten(all, func() ([]storage.Trashed, error) {
		deleted, _, err := trash.List(c.root, c.Reader.Space())
		return deleted, err
	})
}

// trash returns a warning for each deleted item that is unreadable, or shares its number with an
// item. copies already reports two files of one item.
func (c check) trash(copies []item.Warning) ([]item.Warning, error) {
	deleted, found, err := trash.List(c.root, c.Reader.Space())
	if err != nil {
		return nil, err
	}
	for _, d := range deleted {
		file := layout.Item(d.ID)
		if _, err := c.Reader.Lookup(d.ID); item.IsNotFound(err) || slices.ContainsFunc(copies, func(w item.Warning) bool { return w.File == file }) {
			continue
		}
		found = append(found, item.Warning{File: file, Reason: fmt.Sprintf("has the same number as the deleted item %s; run `copse item doctor --repair`", layout.Trashed(d.ID))})
	}
	return found, nil
}

// maxListed is the number of characters of the possible values in the problem of an item.
const maxListed = 1000

// checkItem returns the problems of a readable item.
func checkItem(config item.Config, find relation.Lookup, cycles relation.Cycles, it *item.Summary) []string {
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
			problems = append(problems, fmt.Sprintf("has the %s %q, which is not one of %s", field.name, field.value, cleantext.Cut(strings.Join(field.valid, ", "), maxListed)))
		}
	}
	for _, id := range dangling(find, it) {
		problems = append(problems, fmt.Sprintf("refers to #%d, which does not exist", id))
	}
	if len(problems) == 0 {
		if err := cycles.Problem(it); err != nil {
			problems = append(problems, "is in a cycle: "+err.Error())
		}
	}
	return problems
}

// dangling returns the referenced items that do not exist.
func dangling(find relation.Lookup, it *item.Summary) []item.ID {
	var missing distinct.List[item.ID]
	for _, id := range append([]item.ID{it.Parent}, it.DependsOn...) {
		if id == 0 || missing.Has(id) {
			continue
		}
		if _, err := find(id); item.IsNotFound(err) {
			missing.Add(id)
		}
	}
	return missing.Values()
}

// copies returns a warning for each item that has two files: another in the trash, or
// another for a number that it had before. It reads only the files that can be copies.
func (c check) copies(ctx context.Context) ([]item.Warning, error) {
	tree, total := merge.Tree{}, int64(0)
	read := func(names ...string) {
		for _, name := range names {
			size := itemdir.SizeOf(c.root, name)
			if !c.Reader.Space().Allows(total+size, size) {
				return // other checks report the size
			}
			if text, err := itemdir.ReadFile(c.root, name); err == nil {
				tree[name] = text
				total += size
			}
		}
	}
	deleted, err := layout.Names(c.root, layout.Trash)
	if err != nil {
		return nil, err
	}
	for _, name := range deleted {
		if _, err := c.root.Lstat(layout.Items + "/" + name); err == nil {
			read(layout.Items+"/"+name, layout.Trash+"/"+name)
		}
	}
	read(renumbered.Name)
	for _, r := range renumbered.Parse(tree[renumbered.Name]) {
		for _, id := range []item.ID{r.From, r.To} {
			read(layout.Item(id), layout.Trashed(id))
		}
	}
	options := merge.Options{}
	if c.Repo != nil {
		options.Retitled = c.Repo.Retitled(ctx)
	}
	joined, err := merge.Once(tree, options)
	if err != nil {
		return nil, err
	}
	var found []item.Warning
	for _, r := range joined.Reports {
		if r.Kind == merge.Joined {
			found = append(found, item.Warning{File: r.File, Reason: r.Text + "; run `copse item doctor --repair`"})
		}
	}
	return found, nil
}
