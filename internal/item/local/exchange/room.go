package exchange

import (
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/item/ticfile"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
)

// check returns an error if the store cannot have the files that the journal leaves in it. Nothing
// has been written then. A journal that cannot be completed would end every later change.
func (j journal) check(root *os.Root, after Files) error {
	if err := distinguishable(after); err != nil {
		return err
	}
	p := places{root, map[string]bool{}, map[string]bool{}}
	for _, name := range j.Remove {
		p.removed[name] = true
	}
	for name, text := range j.Write {
		if len(text) > ticfile.MaxSize {
			return fmt.Errorf("%q has %d bytes; the limit is %d", name, len(text), ticfile.MaxSize)
		}
		for dir := range parents(name) {
			if _, ok := after[dir]; ok {
				return fmt.Errorf("%q is a file, and %q needs a directory of that name; rename one of them", dir, name)
			}
			if p.directories[dir] {
				break
			}
			p.directories[dir] = true
			if err := p.check(dir, fs.FileMode.IsDir); err != nil {
				return err
			}
		}
		if err := p.check(name, fs.FileMode.IsRegular); err != nil {
			return err
		}
	}
	return nil
}

// distinguishable returns an error if two of the files have one name on a file system that ignores
// case, the form of letters, or dots at the end: one would replace the other there, and then everywhere.
func distinguishable(files Files) error {
	names := make(map[string]string, len(files))
	for _, name := range append(slices.Clone(directories), layout.Config) {
		names[plain(name)] = name
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		for name := file; name != "."; name = path.Dir(name) {
			form := plain(name)
			other, known := names[form]
			if known && other != name {
				return fmt.Errorf("%q and %q have one name on a file system that ignores case; rename or remove %q on the branch", other, name, file)
			}
			if known {
				break // and so are its directories
			}
			names[form] = name
		}
	}
	return nil
}

// plain returns what file systems that ignore details of a name have of it.
func plain(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return unicode.ToLower(unicode.ToUpper(r))
	}, norm.NFKD.String(name))
	parts := strings.Split(strings.ReplaceAll(name, "ß", "ss"), "/")
	for i, part := range parts {
		parts[i] = strings.TrimRight(part, ". ")
	}
	return strings.Join(parts, "/")
}

// places finds what is in the way of a change.
type places struct {
	root        *os.Root
	removed     map[string]bool // by the change
	directories map[string]bool // that were checked
}

// check returns an error if something other than expected has a name, and keeps it.
func (p places) check(name string, expected func(fs.FileMode) bool) error {
	info, err := p.root.Lstat(name)
	switch {
	case regular.Absent(err) || err == nil && (expected(info.Mode()) || info.Mode().IsRegular() && p.removed[name]):
		return nil
	case err != nil:
		return fmt.Errorf("inspect %q: %w", name, rooted.WithoutPath(err))
	case !info.IsDir():
		return obstacle(name)
	}
	return fs.WalkDir(p.root.FS(), name, func(inside string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !p.removed[inside] {
			return obstacle(inside)
		}
		return err
	})
}

func obstacle(name string) error {
	return fmt.Errorf("%q is in the way of a file of the branch; move it out of the store, and sync again", name)
}

// makeRoom removes the files that have the name of a directory to make, and the directories that
// have the name of a file to write.
func (j journal) makeRoom(tx *lockedstore.Tx) error {
	needed := map[string]bool{}
	for name := range j.Write {
		for dir := range parents(name) {
			needed[dir] = true
		}
	}
	for _, name := range j.Remove {
		inside := func(dir string) bool { _, file := j.Write[dir]; return file }
		below := slices.ContainsFunc(slices.Collect(parents(name)), inside)
		if !IsFile(name) || !needed[name] && !below {
			continue
		}
		if err := remove(tx, name); err != nil {
			return err
		}
		for dir := range parents(name) {
			if below && tx.RemoveDir(dir) != nil {
				break // it is not empty yet, or gone
			}
		}
	}
	return nil
}

// remove removes a file. It leaves a directory that has taken its place, or that of one of its
// parents, alone.
func remove(tx *lockedstore.Tx, name string) error {
	info, err := tx.Root().Lstat(name)
	if regular.Absent(err) || err == nil && info.IsDir() {
		return nil
	}
	if err := tx.Remove(name); !regular.Absent(err) {
		return err
	}
	return nil
}

// parents yields the directories that a name is in, the nearest first.
func parents(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for dir := path.Dir(name); dir != "." && yield(dir); dir = path.Dir(dir) {
		}
	}
}
