// Package cachedfile caches a parsed file until the file changes.
//
// Create a [File] for every file that is read often and seldom
// changes: a state, a registry, a configuration. [New] takes a path, [NewIn] a name
// in a directory that limits access. A File guarantees that
//
//   - [File.Get] answers for the content of the file at the time of the call, even
//     after an edit that kept size and modification time, and after one in the
//     same tick of the file system's clock as the last read;
//   - a call that finds the file unchanged costs one stat, and the parse
//     function runs once for one content, however many callers wait for it;
//   - an error of the parse function remains, unchanged, until the file changes;
//     an operation that failed in the file system is tried again each time;
//   - only regular files are opened, so a named pipe or a device with the file's
//     name is an error and never hangs;
//   - no error text names the file: the caller knows a better name than the
//     path of this machine. errors.Is works with the errors of io/fs.
//
// Two limits remain. If the system keeps no change time (Windows), an edit
// that keeps the size and sets the modification time back is not detected. A read
// can see half of an in-place rewrite by another program; that answer
// lasts until the next call.
package cachedfile

import (
	"hash/maphash"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/copse-dev/copse/internal/regular"
)

// window is how long after its last change a file is read again on each call, because its times
// cannot be trusted yet. A later edit could still fall into the same tick of the file system's
// clock: two seconds on FAT, one on HFS+, plus the lag of that clock behind ours.
const window = 3 * time.Second

// File is one file, parsed to a T. It is safe for concurrent use.
type File[T any] struct {
	path   string
	limit  int64
	parse  func([]byte) (T, error)
	window time.Duration
	now    func() time.Time
	stat   func(path string) (fs.FileInfo, error)
	open   func(path string) (*os.File, error)
	seed   maphash.Seed

	kept    atomic.Pointer[snapshot[T]]
	reading sync.Mutex // one reader of the file, and thus one parse, at a time
}

// snapshot is the result of parsing one content of the file.
type snapshot[T any] struct {
	sig     Signature
	settled bool   // sig alone detects a later change
	sum     uint64 // of the content, keyed with File.seed
	value   T
	err     error
}

// New returns the File at path. It reads nothing yet, and path need not exist. A file of more than
// limit bytes is a [*TooLargeError].
//
// The parse function must depend on its argument alone. It may keep the bytes. Every caller of Get
// receives its value and must not change it.
func New[T any](path string, limit int64, parse func([]byte) (T, error)) *File[T] {
	return &File[T]{
		path:   path,
		limit:  limit,
		parse:  parse,
		window: window,
		now:    time.Now,
		stat:   os.Stat,
		open:   open,
		seed:   maphash.MakeSeed(),
	}
}

// open does not wait for a writer if path has become a named pipe.
func open(path string) (*os.File, error) { return os.OpenFile(path, regular.Flags, 0) }

// Directory is a directory in which a File is found by its name. Stat follows links as Open does, and
// neither waits for the other end of a named pipe.
type Directory interface {
	Stat(name string) (fs.FileInfo, error)
	Open(name string) (*os.File, error)
}

// NewIn returns New for the file with that name in a directory. The directory limits access: every
// stat and every opening goes through it.
func NewIn[T any](directory Directory, name string, limit int64, parse func([]byte) (T, error)) *File[T] {
	f := New(name, limit, parse)
	f.stat, f.open = directory.Stat, directory.Open
	return f
}

// Get returns the parsed content of the file. The error is the one of the parse function,
// [*NotRegularError], [*TooLargeError], or the file system's error without the path; a missing file
// is fs.ErrNotExist.
func (f *File[T]) Get() (T, error) {
	if s := f.kept.Load(); f.current(s) {
		return s.value, s.err
	}
	f.reading.Lock()
	defer f.reading.Unlock()
	s := f.kept.Load()
	if f.current(s) { // another caller has read it in the meantime
		return s.value, s.err
	}
	s, err := f.load(s)
	f.kept.Store(s)
	if err != nil {
		var none T
		return none, err
	}
	return s.value, s.err
}

// current reports whether s is known, by one stat, to match the current content.
func (f *File[T]) current(s *snapshot[T]) bool {
	if s == nil || !s.settled {
		return false
	}
	info, err := f.stat(f.path)
	return err == nil && SignatureOf(info) == s.sig
}

// load reads the file and parses it, unless it has the content of old.
func (f *File[T]) load(old *snapshot[T]) (*snapshot[T], error) {
	c, err := f.read()
	if err != nil {
		return nil, err
	}
	s := &snapshot[T]{
		sig:     c.sig,
		settled: c.sig.newest().Add(f.window).Before(c.read),
		sum:     maphash.Bytes(f.seed, c.bytes),
	}
	if old != nil && old.sig.Size == s.sig.Size && old.sum == s.sum {
		s.value, s.err = old.value, old.err
	} else {
		s.value, s.err = f.parse(c.bytes)
	}
	return s, nil
}
