package refstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/spread"
)

// directory is the cached content of one directory of loose refs.
type directory struct {
	seen        stamp
	refs        []looseRef // named by their files
	directories map[string]*directory
}

// update updates f and its subdirectories from the directory at path, and reports whether anything
// has changed. It skips symbolic links to directories.
func (f *directory) update(ctx context.Context, path string, hashLen int, left *int) (changed bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	fi, err := os.Lstat(path)
	if regular.Absent(err) {
		changed = len(f.refs) > 0 || len(f.directories) > 0
		*f = directory{}
		return changed, nil
	}
	if err != nil {
		return false, err
	}
	if fi.Mode()&fs.ModeSymlink != 0 {
		return false, &fs.PathError{Op: "list", Path: path, Err: &regular.NotRegularError{Mode: fs.ModeSymlink}}
	}
	if !f.seen.same(fi) {
		seen := newStamp(fi)
		refs, names, err := readDir(path, hashLen, left)
		if err != nil {
			return false, err
		}
		directories := make(map[string]*directory, len(names))
		for _, name := range names {
			if directories[name] = f.directories[name]; directories[name] == nil {
				directories[name] = new(directory)
			}
		}
		if slices.ContainsFunc(refs, func(r looseRef) bool { return r.kind == unread }) {
			seen = stamp{} // the directory does not show when the file can be read
		}
		*f = directory{seen: seen, refs: refs, directories: directories}
		changed = true
	}
	for name, sub := range f.directories {
		subChanged, err := sub.update(ctx, filepath.Join(path, name), hashLen, left)
		if err != nil {
			return false, err
		}
		changed = changed || subChanged
	}
	return changed, nil
}

// all returns the refs of f and its subdirectories with valid names.
func (f *directory) all(prefix string) []looseRef {
	refs := make([]looseRef, 0, len(f.refs))
	for _, ref := range f.refs {
		ref.name = prefix + ref.name
		if ValidName(BranchPrefix + ref.name) {
			refs = append(refs, ref)
		}
	}
	for name, sub := range f.directories {
		refs = append(refs, sub.all(prefix+name+"/")...)
	}
	return refs
}

// maxFiles is the maximum number of files and directories of branches.
const maxFiles = 200_000

// readDir reads the refs in one directory, and the names of its subdirectories. It opens every
// file: one that a crash truncated or filled with zeros, or a symbolic ref, can have the size of a
// good ref.
func readDir(path string, hashLen int, left *int) (refs []looseRef, directories []string, err error) {
	dir, err := os.OpenFile(path, regular.Flags, 0)
	if regular.Absent(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = dir.Close() }()
	entries, err := dir.ReadDir(*left + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	if *left -= len(entries); *left < 0 {
		return nil, nil, fmt.Errorf("%q: there are more than %d branches in files; run `git pack-refs --all`", path, maxFiles)
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.HasPrefix(name, "."), strings.HasSuffix(name, ".lock"):
		case e.IsDir():
			directories = append(directories, name)
		default:
			refs = append(refs, looseRef{name: name})
		}
	}
	const worthAnother = 32 // files per additional goroutine
	kept := spread.Collect(refs, worthAnother, func(part []looseRef) []looseRef {
		buf := make([]byte, 512)
		kept := part[:0]
		for _, ref := range part {
			if ref.kind = kindOf(dir, ref.name, hashLen, buf); ref.kind != missing {
				kept = append(kept, ref)
			}
		}
		return kept
	})
	return kept, directories, nil
}

// kindOf reads the ref in a file of dir. A file that is not one of git is a broken ref.
func kindOf(dir *os.File, name string, hashLen int, buf []byte) kind {
	text, err := readSmall(dir, name, buf)
	if err == nil {
		return parseLoose(text, hashLen).kind
	}
	if errors.Is(err, fs.ErrNotExist) {
		return missing
	}
	v, err := readLoose(filepath.Join(dir.Name(), name), hashLen)
	switch {
	case regular.Unseen(err):
		return unread
	case err != nil:
		return broken
	}
	return v.kind
}
