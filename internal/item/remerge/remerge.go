// Package remerge merges work items item by item where git merged their files line by line: merges
// that git left open, and wrong merges without a stop.
//
// [Finish] finishes git's open merge: a merge, a rebase, a cherry-pick, or a conflict that only the
// index knows. Edits since git stopped count as a change on top. It also corrects the results of
// earlier merges: conflict markers in a file that is unreadable because of them, items that git
// lost or moved to the trash, numbers that mean other items in a copied commit, two files of one
// item, and a number that an item and a deleted one share. [Check] finds the same without changing
// anything.
//
// Package gitmerge reports what git did, and package merge computes the result. The interface
// [Files] represents the store.
package remerge

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/gitmerge"
	"github.com/copse-dev/copse/internal/item/itemdir"
	"github.com/copse-dev/copse/internal/item/merge"
	"github.com/copse-dev/copse/internal/item/merge/references"
	"github.com/copse-dev/copse/internal/item/storage"
)

// Files is a store that nobody else changes at the same time.
type Files interface {
	Reader
	// Replace puts the files of one tree in place of those of another.
	Replace(old, with merge.Tree) error
	// Restore brings an item back from the trash. It reports false for one whose file cannot
	// be read or changed.
	Restore(id item.ID) (bool, error)
	// SetNote replaces a note; "" removes it.
	SetNote(name, text string) error
}

// Fix is something that was repaired.
type Fix struct {
	File string // as in an item.Warning
	Done string // continues after the name of the file
}

// Result is what was merged.
type Result struct {
	Fixes []Fix
	// Merge is the merge of git that was finished, or done again, in the files; nil if there
	// was none.
	Merge *gitmerge.Merge
}

// Finish merges what git has left open, or has merged wrongly. repo is nil for a store that
// is in no repository.
func Finish(ctx context.Context, files Files, repo *gitmerge.Repo, now time.Time) (Result, error) {
	tree, err := files.Tree()
	if err != nil {
		return Result{}, err
	}
	m := &merging{ctx: ctx, files: files, repo: repo, now: now, tree: tree}
	err = m.all()
	return m.result, err
}

// merging finishes merges. Its tree is what the files have, and is kept up to date.
type merging struct {
	ctx    context.Context
	files  Files
	repo   *gitmerge.Repo // nil outside git
	now    time.Time
	tree   merge.Tree
	result Result
}

func (m *merging) all() error {
	if m.repo != nil {
		for _, step := range []func(*gitmerge.Repo) error{m.ofGit, m.marked, m.vanished, m.rewritten, m.buried, m.copied} {
			if err := step(m.repo); err != nil {
				return err
			}
		}
	}
	for _, step := range []func() error{m.leftovers, m.copies, m.sharedNumbers} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (m *merging) done(file, format string, args ...any) {
	m.result.Fixes = append(m.result.Fixes, Fix{File: file, Done: fmt.Sprintf(format, args...)})
}

// configError reports that a configuration cannot be merged.
func configError(err error) error {
	return &storage.ConfigError{File: merge.ConfigName, Reason: err.Error()}
}

// stores merges what git has merged in a commit, and returns the options, too.
func (m *merging) stores(of *gitmerge.Merge) (merge.Result, merge.Options, error) {
	options, err := of.Options(m.ctx)
	if err != nil {
		return merge.Result{}, options, err
	}
	options.Now, options.Taken = m.now, m.taken()
	result, err := merge.Stores(of.Base, of.Ours, of.Theirs, options)
	if err != nil {
		return merge.Result{}, options, configError(err)
	}
	return result, options, nil
}

// ofGit finishes the merge that git has open, or that gave a number to two items.
func (m *merging) ofGit(repo *gitmerge.Repo) error {
	open, err := repo.Find(m.ctx)
	if err == nil && open == nil && len(m.shared()) > 0 {
		open, err = repo.Last(m.ctx)
	}
	if open == nil || err != nil {
		return err
	}
	m.result.Merge = open
	done, err := m.files.Note(mergedNote)
	if err != nil {
		return err
	}
	if done == open.Name && len(m.shared()) == 0 && !slices.ContainsFunc(open.Unmerged, m.isUnmerged) {
		return nil
	}
	result, options, err := m.stores(open)
	if err != nil {
		return err
	}
	own := m.ownChanges(open, result.Tree)
	if !maps.Equal(own.mine, own.left) {
		options.Rank = inTree(result.Tree)
		again, err := merge.Stores(own.left, result.Tree, own.mine, options)
		if err != nil {
			return configError(err)
		}
		again.Renumbered = append(result.Renumbered, again.Renumbered...)
		again.Reports = append(append(result.Reports, again.Reports...), own.reports...)
		result = again
	}
	if err := m.store(result); err != nil {
		return err
	}
	return m.files.SetNote(mergedNote, open.Name)
}

// rewritten corrects references when a rebase is done.
func (m *merging) rewritten(repo *gitmerge.Repo) error {
	if w, ok := repo.Rewritten(); ok {
		return m.files.SetNote(RewrittenNote, w.From+" "+w.Onto+"\n")
	}
	text, err := m.files.Note(RewrittenNote)
	if text == "" || err != nil {
		return err
	}
	from, onto, _ := strings.Cut(strings.TrimSpace(text), " ")
	base, branch, err := repo.Before(m.ctx, gitmerge.Rewritten{From: from, Onto: onto})
	if err != nil {
		return err
	}
	if len(branch) > 0 {
		changed, reports, err := references.Rewritten(base, branch, m.tree)
		if err != nil {
			return err
		}
		result := merge.Result{Tree: maps.Clone(m.tree), Reports: reports}
		maps.Copy(result.Tree, changed)
		if err := m.store(result); err != nil {
			return err
		}
	}
	return m.files.SetNote(RewrittenNote, "")
}

// copied corrects references in what a cherry-pick or a rebase copied without a stop.
func (m *merging) copied(repo *gitmerge.Repo) error {
	if _, going := repo.Rewritten(); going {
		return nil // the commits that are still to come build on it
	}
	since, err := followed(m.files)
	if err != nil {
		return err
	}
	past, err := repo.Past(m.ctx, since)
	if err != nil || past.Head() == since {
		return err
	}
	copies, err := past.Copied(m.ctx)
	if err != nil {
		return err
	}
	corrected, reports, err := followCopied(copies, m.tree)
	if err != nil {
		return err
	}
	if len(reports) > 0 {
		if err := m.store(merge.Result{Tree: corrected, Reports: reports}); err != nil {
			return err
		}
	}
	return m.files.SetNote(followedNote, past.Head()+"\n")
}

// followCopied returns a tree with the references corrected that came with commits which
// git copied from elsewhere.
func followCopied(copies []references.Copy, tree merge.Tree) (merge.Tree, []merge.Report, error) {
	corrected := maps.Clone(tree)
	var reports []merge.Report
	for _, c := range copies {
		changed, more, err := references.Copied(c, corrected)
		if err != nil {
			return nil, nil, err
		}
		maps.Copy(corrected, changed)
		reports = append(reports, more...)
	}
	return corrected, reports, nil
}

// copies joins the files of an item that git brought to the store twice.
func (m *merging) copies() error {
	result, err := merge.Once(m.tree, m.options())
	if err != nil {
		return configError(err)
	}
	if len(result.Reports) == 0 {
		return nil
	}
	return m.store(result)
}

// sharedNumbers parts items and deleted items that have the same number.
func (m *merging) sharedNumbers() error {
	shared := m.shared()
	if len(shared) == 0 {
		return nil
	}
	base, ours, theirs := maps.Clone(m.tree), maps.Clone(m.tree), maps.Clone(m.tree)
	for _, name := range shared {
		delete(base, merge.ItemsDir+"/"+name)
		delete(base, merge.TrashDir+"/"+name)
		delete(ours, merge.TrashDir+"/"+name)
		delete(theirs, merge.ItemsDir+"/"+name)
	}
	return m.mergeTrees(base, ours, theirs)
}

// shared returns the names of files that are both among the items and in the trash.
func (m *merging) shared() []string {
	var names []string
	for name := range m.tree {
		if file, ok := strings.CutPrefix(name, merge.TrashDir+"/"); ok {
			if _, ok := m.tree[merge.ItemsDir+"/"+file]; ok {
				names = append(names, file)
			}
		}
	}
	slices.Sort(names)
	return names
}

func (m *merging) mergeTrees(base, ours, theirs merge.Tree) error {
	result, err := merge.Stores(base, ours, theirs, m.options())
	if err != nil {
		return configError(err)
	}
	return m.store(result)
}

// options returns those of a merge that git knows nothing about.
func (m *merging) options() merge.Options {
	o := merge.Options{Now: m.now, Taken: m.taken()}
	if m.repo != nil {
		o.Retitled = m.repo.Retitled(m.ctx)
	}
	return o
}

// taken returns the largest number that is in use here, also by what was made since git stopped.
func (m *merging) taken() item.ID {
	var largest item.ID
	for name := range m.tree {
		_, file, _ := strings.Cut(name, "/")
		if id, err := itemdir.Number(file); err == nil {
			largest = max(largest, id)
		}
	}
	return largest
}

// store writes the result of a merge over the files.
func (m *merging) store(result merge.Result) error {
	var changed []string
	for _, name := range slices.Sorted(maps.Keys(result.Tree)) {
		if text := result.Tree[name]; m.tree[name] != text {
			changed = append(changed, name)
		}
	}
	if err := m.files.Replace(m.tree, result.Tree); err != nil {
		return err
	}
	m.tree = result.Tree
	for _, r := range result.Renumbered {
		m.done(merge.ItemsDir+"/"+itemdir.FileName(r.To), "is %q, which was #%d", r.Title, r.From)
	}
	for _, r := range result.Reports {
		m.done(r.File, "%s", r.Text)
	}
	if len(changed) > 0 && len(result.Renumbered)+len(result.Reports) == 0 {
		m.done(changed[0], "was merged%s", andOthers(len(changed)-1))
	}
	return nil
}

func andOthers(n int) string {
	if n == 0 {
		return ""
	}
	return ", and " + cleantext.Count(n, "other file")
}
