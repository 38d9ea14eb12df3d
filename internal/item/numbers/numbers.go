// Package numbers finds the numbers of items in use elsewhere in a repository: on other branches,
// on remote-tracking branches, and in other worktrees.
//
// It stores its data in a file of git's common directory, [FileName]: for each commit of a ref the
// largest number in its store, and the largest number that any worktree has assigned. A call reads
// only the trees of refs that have changed, and runs git only if a ref has. Two clones can still
// assign the same number; a merge settles that.
//
// The file is a help, not a promise: if it is lost or cannot be locked, numbers come from other
// known data.
package numbers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/copse-dev/copse/internal/git/objects"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/regular"
)

// FileName is the file with what was seen, in git's common directory.
const FileName = "copse/numbers.json"

// lockWait is how long a call waits for another to finish.
const lockWait = time.Second

// Git is the git program in a repository, which only reads.
type Git interface {
	Feed(ctx context.Context, input []byte, args ...string) ([]byte, error)
}

// Book is the numbers of the stores of one path in all worktrees of a repository.
type Book struct {
	git    Git
	common string
	prefix string
}

// Open returns the book of a store. common is git's common directory, prefix the path
// of the store from the root of a worktree, with a slash.
func Open(git Git, common, prefix string) *Book {
	return &Book{git: git, common: common, prefix: prefix}
}

// plausible is the largest number that is believed. A branch of a stranger must not use
// up all numbers.
const plausible item.ID = 1 << 31

// state is the content of the file.
type state struct {
	// Dirs are the directories of refs with the time of their last change: git replaces
	// a ref by renaming a file, which changes its directory.
	Dirs map[string]int64 `json:"dirs"`
	// Packed stands for the file packed-refs, Read is when the refs were read.
	Packed string            `json:"packed"`
	Read   int64             `json:"read"`
	Stores map[string]*store `json:"stores"`
}

// store is the known data about the stores of one path.
type store struct {
	Given number            `json:"given"` // the largest that a worktree gave out
	Tips  map[string]number `json:"tips"`  // the largest in a commit
}

// number is the number of an item, or 0 where there is none: an [item.ID] cannot be read
// from that.
type number int64

func (s *store) largest() item.ID {
	largest := s.Given
	for _, id := range s.Tips {
		largest = max(largest, id)
	}
	return min(item.ID(largest), plausible)
}

// Next returns the number for a new item, at least minimum, and notes that it is given
// out.
func (b *Book) Next(ctx context.Context, minimum item.ID) item.ID {
	next := minimum
	b.change(ctx, func(s *store) {
		next = max(minimum, s.largest()+1)
		s.Given = number(next)
	})
	return next
}

// Forget forgets the numbers that were given out if no ref has any. It is for a store that begins
// again.
func (b *Book) Forget(ctx context.Context) {
	entries, err := regular.ReadDir(filepath.Join(b.common, "worktrees"))
	if len(entries) > 0 || err != nil && !regular.Absent(err) {
		return // another worktree can have items
	}
	b.change(ctx, func(s *store) {
		given := s.Given
		if s.Given = 0; s.largest() > 0 {
			s.Given = given
		}
	})
}

// change calls do on what is known as of now, and keeps what it leaves.
func (b *Book) change(ctx context.Context, do func(*store)) {
	name := filepath.Join(b.common, filepath.FromSlash(FileName))
	if !ready(name) {
		return
	}
	waiting, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	lock := flock.New(name + ".lock")
	if locked, err := lock.TryLockContext(waiting, time.Millisecond); err != nil || !locked {
		return
	}
	defer func() { _ = lock.Unlock() }()
	known, unseen := read(name)
	s := known.Stores[b.prefix]
	if s == nil {
		s = &store{Tips: map[string]number{}}
		known.Stores[b.prefix] = s
		known.Dirs = nil
	}
	// A ref that cannot be read hides no number that is already known.
	_ = b.update(ctx, known, s)
	do(s)
	if unseen != nil {
		return // the numbers in the file stay taken
	}
	if data, err := json.Marshal(known); err == nil {
		replace(name, data)
	}
}

// ready reports whether the file and its lock can be used. Links are not followed: they
// could lead anywhere.
func ready(name string) bool {
	dir := filepath.Dir(name)
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return false
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return false
	}
	info, err := os.Lstat(name + ".lock")
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular()
}

const maxFile = 16 << 20

// read returns the content of the file; none if it is damaged. An error means that the file cannot be seen.
func read(name string) (*state, error) {
	var s state
	data, err := regular.Read(name, maxFile)
	if !regular.Unseen(err) {
		if err != nil || json.Unmarshal(data, &s) != nil {
			s = state{}
		}
		err = nil
	}
	if s.Stores == nil {
		s.Stores = map[string]*store{}
	}
	for path, one := range s.Stores {
		if one == nil {
			delete(s.Stores, path)
		} else if one.Tips == nil {
			one.Tips = map[string]number{}
		}
	}
	return &s, err
}

// replace writes the file whole. It does not wait for the disk: after a loss of power
// the refs are read again.
func replace(name string, data []byte) {
	temporary := name + ".new"
	_ = os.Remove(temporary)
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err == nil {
		_ = os.Rename(temporary, name)
	}
}

// update reads what has changed of the refs.
func (b *Book) update(ctx context.Context, known *state, s *store) error {
	if b.current(known) {
		return nil
	}
	at := time.Now() // not the store's clock: this is about the file system's
	dirs, packed := map[string]int64{}, b.packed()
	for _, name := range []string{"refs/heads", "refs/remotes", "reftable"} {
		b.walk(name, dirs)
	}
	if info, err := os.Lstat(filepath.Join(b.common, "refs")); err == nil {
		dirs["refs"] = info.ModTime().UnixNano() // one of them can come later
	}
	tips, err := b.tips(ctx)
	if err != nil {
		return err
	}
	if s.Tips, err = b.readTips(ctx, tips, s.Tips); err != nil {
		return err
	}
	known.Dirs, known.Packed, known.Read = dirs, packed, at.UnixNano()
	for _, other := range known.Stores {
		if other != s {
			other.Tips = map[string]number{} // read again when they are asked for
			known.Dirs = nil
		}
	}
	return nil
}

// settled is how old a change must be so that a later one is sure to show.
const settled = 2 * time.Second

// current reports whether no ref has changed.
func (b *Book) current(known *state) bool {
	if len(known.Dirs) == 0 || known.Packed != b.packed() {
		return false
	}
	for name, changed := range known.Dirs {
		info, err := os.Lstat(filepath.Join(b.common, filepath.FromSlash(name)))
		if err != nil || info.ModTime().UnixNano() != changed || known.Read-changed < int64(settled) {
			return false
		}
	}
	return true
}

func (b *Book) packed() string {
	info, err := os.Lstat(filepath.Join(b.common, "packed-refs"))
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano())
}

// walk finds the directories below one.
func (b *Book) walk(name string, dirs map[string]int64) {
	_ = filepath.WalkDir(filepath.Join(b.common, filepath.FromSlash(name)), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil //nolint:nilerr // a directory that is gone has no refs
		}
		rel, relErr := filepath.Rel(b.common, path)
		info, err := d.Info()
		if err == nil && relErr == nil {
			dirs[filepath.ToSlash(rel)] = info.ModTime().UnixNano()
		}
		return nil
	})
}

// tips returns the commits that branches and branches of remotes name.
func (b *Book) tips(ctx context.Context) (map[string]bool, error) {
	out, err := b.git.Feed(ctx, nil, "for-each-ref", "--format=%(objectname)", "refs/heads", "refs/remotes")
	tips := map[string]bool{}
	for hash := range strings.FieldsSeq(string(out)) {
		tips[hash] = true
	}
	return tips, err
}

// readTips returns the largest number in each commit. Those that are known are not read.
func (b *Book) readTips(ctx context.Context, tips map[string]bool, known map[string]number) (map[string]number, error) {
	found := map[string]number{}
	var unknown []string
	for tip := range tips {
		if id, ok := known[tip]; ok {
			found[tip] = id
		} else {
			unknown = append(unknown, tip)
		}
	}
	if len(unknown) == 0 {
		return found, nil
	}
	names := make([]string, 0, 2*len(unknown))
	for _, tip := range unknown {
		names = append(names, tip+":"+b.prefix+"items", tip+":"+b.prefix+"trash")
	}
	described, err := objects.Describe(ctx, b.git.Feed, names...)
	if err != nil {
		return nil, err
	}
	trees := map[string]number{}
	for _, o := range described {
		if o.Kind == "tree" {
			trees[o.Hash] = 0
		}
	}
	if err := b.readTrees(ctx, trees); err != nil {
		return nil, err
	}
	for i, o := range described {
		tip := unknown[i/2]
		found[tip] = max(found[tip], trees[o.Hash])
	}
	return found, nil
}

// treesAtOnce bounds what git prints at a time.
const treesAtOnce = 50

// readTrees finds the largest number among the names in each tree.
func (b *Book) readTrees(ctx context.Context, trees map[string]number) error {
	for batch := range slices.Chunk(slices.Collect(maps.Keys(trees)), treesAtOnce) {
		found, err := objects.Read(ctx, b.git.Feed, batch...)
		if err != nil {
			return err
		}
		for i, o := range found {
			if o.Kind != "tree" {
				return fmt.Errorf("read tree %s: git has none", batch[i])
			}
			trees[o.Hash] = number(largestName(o.Data, len(o.Hash)/2))
		}
	}
	return nil
}

// largestName returns the largest number in the names of a tree object: entries of a mode, a space,
// a name, a zero byte and the bytes of a hash.
func largestName(tree []byte, hashSize int) item.ID {
	var largest item.ID
	for {
		_, rest, ok := bytes.Cut(tree, []byte(" "))
		name, rest, ended := bytes.Cut(rest, []byte{0})
		if !ok || !ended || len(rest) < hashSize {
			return largest
		}
		if number, ok := strings.CutSuffix(string(name), ".md"); ok {
			if id, err := item.ParseID(number); err == nil && id <= plausible {
				largest = max(largest, id)
			}
		}
		tree = rest[hashSize:]
	}
}
