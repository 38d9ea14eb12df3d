package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/gitmerge"
	"github.com/copse-dev/copse/internal/item/itemfolder"
	"github.com/copse-dev/copse/internal/item/merge"
	"github.com/copse-dev/copse/internal/item/numbers"
	"github.com/copse-dev/copse/internal/item/renumbered"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/regular"
)

// mergedName keeps the name of the merge that was finished last, so that it is not
// done again over what was changed since.
const mergedName = privateFolder + "/merged"

// InGit lets the store ask git what is unmerged, and what was before a merge. It is to
// be called before the store is used.
func (s *Store) InGit(options git.Options) *Store {
	s.git = &options
	return s
}

// openRepo returns the repository that the store is in; nil if there is none.
func (s *Store) openRepo(ctx context.Context, f *folder) (*gitmerge.Repo, error) {
	if s.git == nil {
		return nil, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.repo != nil {
		return f.repo, nil
	}
	repo, err := gitmerge.OpenRepo(ctx, f.dir.Path(), *s.git)
	if errors.Is(err, gitmerge.ErrNoRepository) {
		return nil, nil // there can be one later
	}
	f.repo = repo
	return repo, err
}

// book returns the numbers that are in use elsewhere in the repository; nil if the store
// is in none.
func (s *Store) book(ctx context.Context, f *folder) *numbers.Book {
	repo, err := s.openRepo(ctx, f)
	if repo == nil || err != nil {
		return nil // a number that is free here is good enough
	}
	return numbers.Open(repo.Git().Program(), repo.Git().CommonDir(), repo.Prefix())
}

// Merging returns the merge of the store that git has open; nil if there is none.
func (s *Store) Merging(ctx context.Context) (*gitmerge.Merge, error) {
	f, err := s.find(ctx)
	if err != nil {
		return nil, err
	}
	repo, err := s.openRepo(ctx, f)
	if repo == nil || err != nil {
		return nil, err
	}
	return repo.Find(ctx)
}

// merging finishes merges. Its tree is what the files have, and is kept up to date.
type merging struct {
	*repair
	ctx  context.Context
	repo *gitmerge.Repo // nil outside of git
	tree merge.Tree
}

func (r *repair) merges(ctx context.Context, repo *gitmerge.Repo) error {
	tree, err := r.readTree()
	if err != nil {
		return err
	}
	m := &merging{repair: r, ctx: ctx, repo: repo, tree: tree}
	if repo != nil {
		if err := m.ofGit(repo); err != nil {
			return err
		}
		for _, step := range []func(*gitmerge.Repo) error{m.marked, m.vanished, m.rewritten, m.buried, m.copied} {
			if err := step(repo); err != nil {
				return err
			}
		}
	}
	if err := m.leftovers(); err != nil {
		return err
	}
	if err := m.copies(); err != nil {
		return err
	}
	return m.sharedNumbers()
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
	m.merged = open
	done, err := regular.ReadIn(m.tx.Root(), mergedName, maxOwnFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read %q: %w", mergedName, lockedstore.WithoutPath(err))
	}
	if string(done) == open.Name && len(m.shared()) == 0 && !slices.ContainsFunc(open.Unmerged, m.isUnmerged) {
		return nil
	}
	options, err := open.Options(m.ctx)
	if err != nil {
		return err
	}
	options.Now, options.Taken = m.now(), m.taken()
	result, err := merge.Stores(open.Base, open.Ours, open.Theirs, options)
	if err != nil {
		return configError(err)
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
	return m.tx.Write(lockedstore.File{Name: mergedName, Data: []byte(open.Name)})
}

// rewrittenName keeps what a rebase that stopped here rewrites, until it is done: later
// commits that git takes over without a stop can refer to old numbers.
const rewrittenName = privateFolder + "/rewritten"

// afterRebase returns a warning if a rebase that was repaired is done, but not what its
// last commits refer to.
func (s *Store) afterRebase(ctx context.Context, f *folder) []item.Warning {
	info, err := f.dir.In().Stat(rewrittenName)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	repo, err := s.openRepo(ctx, f)
	if repo == nil || err != nil {
		return nil
	}
	if _, going := repo.Rewritten(); going {
		return nil
	}
	return []item.Warning{{File: itemsFolder, Reason: "can have references to old numbers after a rebase; run doctor --repair once more"}}
}

// rewritten corrects references when a rebase is done.
func (m *merging) rewritten(repo *gitmerge.Repo) error {
	if w, ok := repo.Rewritten(); ok {
		return m.tx.Write(lockedstore.File{Name: rewrittenName, Data: []byte(w.From + " " + w.Onto + "\n")})
	}
	text, err := itemfolder.ReadFile(m.tx.Root(), rewrittenName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s %w", rewrittenName, err)
	}
	from, onto, _ := strings.Cut(strings.TrimSpace(text), " ")
	base, branch, err := repo.Before(m.ctx, gitmerge.Rewritten{From: from, Onto: onto})
	if err != nil {
		return err
	}
	if len(branch) > 0 {
		changed, reports, err := merge.FollowRewritten(base, branch, m.tree)
		if err != nil {
			return err
		}
		result := merge.Result{Tree: maps.Clone(m.tree), Reports: reports}
		maps.Copy(result.Tree, changed)
		if err := m.store(result); err != nil {
			return err
		}
	}
	return m.tx.Remove(rewrittenName)
}

// followedName keeps the last commit whose references are known to be right.
const followedName = privateFolder + "/followed"

// copied corrects references in what a cherry-pick or a rebase copied without a stop.
func (m *merging) copied(repo *gitmerge.Repo) error {
	if _, going := repo.Rewritten(); going {
		return nil // the commits that are still to come build on it
	}
	since, err := followed(m.tx.Root())
	if err != nil {
		return err
	}
	head, copies, err := repo.Copied(m.ctx, since)
	if err != nil || head == since {
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
	return m.tx.Write(lockedstore.File{Name: followedName, Data: []byte(head + "\n")})
}

// unchecked is what git did to a store that nobody has looked at.
type unchecked struct {
	repo  *gitmerge.Repo
	root  *os.Root // of the store; the caller closes it
	since string   // the last commit whose references are known to be right
}

// unchecked returns what git did to the store; nil outside of git, and while git rewrites
// commits, because those that are still to come count as well.
func (s *Store) unchecked(ctx context.Context, f *folder) (*unchecked, error) {
	repo, err := s.openRepo(ctx, f)
	if repo == nil || err != nil {
		return nil, err
	}
	if _, going := repo.Rewritten(); going {
		return nil, nil
	}
	root, err := f.dir.Open()
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", lockedstore.WithoutPath(err))
	}
	since, err := followed(root)
	if err != nil {
		_ = root.Close()
		return nil, err
	}
	return &unchecked{repo: repo, root: root, since: since}, nil
}

// afterCopying returns a warning for each item that refers to other items than where git
// copied its commit from.
func (s *Store) afterCopying(ctx context.Context, f *folder) ([]item.Warning, error) {
	past, err := s.unchecked(ctx, f)
	if past == nil || err != nil {
		return nil, err
	}
	defer past.root.Close()
	_, copies, err := past.repo.Copied(ctx, past.since)
	if len(copies) == 0 || err != nil {
		return nil, err
	}
	tree, err := readTree(past.root)
	if err != nil {
		return nil, err
	}
	_, reports, err := followCopied(copies, tree)
	var found []item.Warning
	for _, r := range reports {
		found = append(found, item.Warning{
			File: r.File, Reason: "came with a merge, cherry-pick or rebase, and refers to items by numbers that are of other items here; run doctor --repair",
		})
	}
	return found, err
}

// followed returns the last commit whose references are known to be right; "" if none is.
func followed(root *os.Root) (string, error) {
	text, err := regular.ReadIn(root, followedName, maxOwnFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read %q: %w", followedName, lockedstore.WithoutPath(err))
	}
	return strings.TrimSpace(string(text)), nil
}

// followCopied returns a tree with the references corrected that came with commits which
// git copied from elsewhere.
func followCopied(copies []merge.Copied, tree merge.Tree) (merge.Tree, []merge.Report, error) {
	corrected := maps.Clone(tree)
	var reports []merge.Report
	for _, c := range copies {
		changed, more, err := merge.FollowCopied(c, corrected)
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
		delete(base, itemsFolder+"/"+name)
		delete(base, trashFolder+"/"+name)
		delete(ours, trashFolder+"/"+name)
		delete(theirs, itemsFolder+"/"+name)
	}
	return m.mergeTrees(base, ours, theirs)
}

// shared are the names of files that are both among the items and in the trash.
func (m *merging) shared() []string {
	var names []string
	for name := range m.tree {
		if file, ok := strings.CutPrefix(name, trashFolder+"/"); ok {
			if _, ok := m.tree[itemsFolder+"/"+file]; ok {
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

// options are those of a merge that git knows nothing about.
func (m *merging) options() merge.Options {
	o := merge.Options{Now: m.now(), Taken: m.taken()}
	if m.repo != nil {
		o.Retitled = m.repo.Retitled(m.ctx)
	}
	return o
}

// taken is the largest number that is in use here, also by what was made since git
// stopped.
func (m *merging) taken() item.ID {
	var largest item.ID
	for name := range m.tree {
		_, file, _ := strings.Cut(name, "/")
		if id, err := itemfolder.Number(file); err == nil {
			largest = max(largest, id)
		}
	}
	return largest
}

// store writes the result of a merge over the files.
func (m *merging) store(result merge.Result) error {
	var files []lockedstore.File
	for _, name := range slices.Sorted(maps.Keys(result.Tree)) {
		if text := result.Tree[name]; m.tree[name] != text {
			files = append(files, lockedstore.File{Name: name, Data: []byte(text)})
		}
	}
	for _, folder := range []string{itemsFolder, trashFolder, linksFolder} {
		if slices.ContainsFunc(files, func(f lockedstore.File) bool { return strings.HasPrefix(f.Name, folder+"/") }) {
			if err := m.tx.MakeFolder(folder); err != nil {
				return err
			}
		}
	}
	if err := m.tx.Write(files...); err != nil {
		return err
	}
	for name := range m.tree {
		if _, kept := result.Tree[name]; !kept {
			if err := m.tx.Remove(name); err != nil {
				return err
			}
		}
	}
	m.tree = result.Tree
	for _, r := range result.Renumbered {
		m.done(itemsFolder+"/"+itemfolder.FileName(r.To), "is %q, which was #%d", r.Title, r.From)
	}
	for _, r := range result.Reports {
		m.done(r.File, "%s", r.Text)
	}
	if len(files) > 0 && len(result.Renumbered)+len(result.Reports) == 0 {
		m.done(files[0].Name, "was merged%s", andOthers(len(files)-1))
	}
	return nil
}

func andOthers(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return ", and 1 other file"
	}
	return fmt.Sprintf(", and %d other files", n)
}

// isMerged reports whether a file in a folder of the store is one that merges.
func isMerged(name string) bool {
	if strings.HasPrefix(name, linksFolder+"/") {
		return strings.HasSuffix(name, linkExtension)
	}
	return strings.HasSuffix(name, ".md")
}

// readTree reads all files that merge.
func (w *writer) readTree() (merge.Tree, error) { return readTree(w.tx.Root()) }

func readTree(root *os.Root) (merge.Tree, error) {
	tree := merge.Tree{}
	read := func(name string) error {
		text, err := itemfolder.ReadFile(root, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return &item.ConfigError{File: name, Reason: err.Error()}
		}
		tree[name] = text
		return nil
	}
	for _, name := range []string{configName, renumbered.Name} {
		if err := read(name); err != nil {
			return nil, err
		}
	}
	for _, folder := range []string{itemsFolder, trashFolder, linksFolder} {
		names, err := readNames(root, folder)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			path := folder + "/" + name
			if info, err := root.Lstat(path); err != nil || !info.Mode().IsRegular() || !isMerged(path) {
				continue // not for us
			}
			if err := read(path); err != nil {
				return nil, err
			}
		}
	}
	return tree, nil
}
