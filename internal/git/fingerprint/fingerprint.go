// Package fingerprint reports whether the files of a worktree can have changed, by their metadata:
// sizes, times, and identities. It reads no content and starts no program.
//
// Two equal fingerprints of a worktree mean that its files are the same, if the first one was
// settled: its newest change was long enough ago to have a different time from a later change.
// Different fingerprints prove nothing: the caller then asks git again.
package fingerprint

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/regular"
)

// Files are the files of a fingerprint.
type Files struct {
	// Root is the root of the worktree.
	Root string
	// Tracked and Untracked are files in it, with slashes. Tracked is sorted.
	Tracked, Untracked []string
	// Beside are directories that have none of these, and whose own entries count.
	Beside []string
	// Others are absolute paths of files that decide which files are tracked or ignored.
	Others []string
	// State is any other input, such as the checked-out commit.
	State string
	// At is when the caller began to read the files.
	At time.Time
}

// Print is a fingerprint.
type Print struct {
	Sum string
	// Settled means that a later change gives another fingerprint.
	Settled bool
	// Linked means that a file has another name somewhere, by which it can be changed.
	Linked bool `json:"-"`
}

// window is the time after a change during which another change may leave no trace.
const window = 3 * time.Second

// every is the number of files between two checks of the context.
const every = 1000

// Of returns the fingerprint of files. The error is that of ctx, or reports that the root cannot be
// read.
func Of(ctx context.Context, f Files) (Print, error) {
	root, err := openRoot(f.Root)
	if err != nil {
		return Print{}, err
	}
	defer root.close()
	p := newPrinter()
	p.around(f)
	for i, names := range [][]string{f.Directories(), f.Tracked, f.Untracked} {
		p.number(int64(i))
		for n, name := range names {
			if n%every == 0 && ctx.Err() != nil {
				return Print{}, ctx.Err()
			}
			p.add(root.stat(name))
		}
	}
	return Print{Sum: p.text(), Settled: time.Unix(0, p.newest).Add(window).Before(f.At), Linked: p.linked}, nil
}

// Around returns the fingerprint of everything except the files below the root: of Others, of State, and
// of which directory the root is. For those who know that nothing below it changed.
func (f Files) Around() string {
	p := newPrinter()
	p.around(f)
	info, err := os.Lstat(f.Root)
	if err == nil {
		root := cachedfile.SignatureOf(info)
		p.number(int64(root.Device)) //nolint:gosec // bits
		p.number(int64(root.Inode))  //nolint:gosec // bits
	}
	return p.text()
}

// Directories returns those that the files are in, each after its parent; the root is ".".
// A directory changes when a file in it is made, removed or replaced.
func (f Files) Directories() []string {
	return sorted(append(directories(f.Tracked, f.Untracked), f.Beside...))
}

// stat is the metadata of a file; zero for one that does not exist.
type stat struct {
	size, modified, changed int64
	inode                   uint64
	mode                    uint32
	directory               bool
	linked                  bool // a file with several names
}

type printer struct {
	sum    hash.Hash
	buffer []byte
	newest int64
	linked bool
}

func newPrinter() *printer { return &printer{sum: sha256.New()} }

// around adds everything that is not below the root.
func (p *printer) around(f Files) {
	p.number(int64(len(f.State)))
	p.buffer = append(p.buffer, f.State...)
	for _, name := range f.Others {
		info, err := os.Stat(name)
		if err != nil {
			p.add(stat{})
			continue
		}
		p.add(stat{size: info.Size(), modified: info.ModTime().UnixNano(), mode: uint32(info.Mode())})
	}
}

func (p *printer) add(s stat) {
	p.newest = max(p.newest, s.modified, s.changed)
	p.linked = p.linked || s.linked
	if s.directory {
		// Only the names in it matter.
		s.size = 0
	}
	for _, n := range []int64{s.size, s.modified, s.changed, int64(s.inode), int64(s.mode)} { //nolint:gosec // bits
		p.buffer = binary.LittleEndian.AppendUint64(p.buffer, uint64(n)) //nolint:gosec // bits
	}
	const full = 32 << 10
	if len(p.buffer) > full {
		p.flush()
	}
}

func (p *printer) number(n int64) { p.add(stat{size: n}) }

// text returns the fingerprint.
func (p *printer) text() string {
	p.flush()
	return hex.EncodeToString(p.sum.Sum(nil))
}

func (p *printer) flush() {
	p.sum.Write(p.buffer)
	p.buffer = p.buffer[:0]
}

// directories returns those that files are in, the root among them.
func directories(lists ...[]string) []string {
	dirs := []string{"."}
	for _, names := range lists {
		last := ""
		for _, name := range names {
			dir := path.Dir(name)
			if dir == last {
				continue
			}
			last = dir
			for ; dir != "."; dir = path.Dir(dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	return sorted(dirs)
}

func sorted(dirs []string) []string {
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// Beside returns the directories of a worktree that have no tracked file but lie next to one. They
// reveal new files in them. The error says that one of the directories with tracked files cannot be read.
func Beside(root string, tracked []string) ([]string, error) {
	dirs := directories(tracked)
	var found []string
	for _, dir := range dirs {
		below, err := Subdirectories(root, dir)
		if err != nil {
			return nil, err
		}
		for _, name := range below {
			if _, known := slices.BinarySearch(dirs, name); !known {
				found = append(found, name)
			}
		}
	}
	return found, nil
}

// Subdirectories returns the directories in one below root, as paths below root; none if there is no
// such directory.
func Subdirectories(root, dir string) ([]string, error) {
	list, err := regular.ReadDir(filepath.Join(root, filepath.FromSlash(dir)))
	if regular.Unseen(err) {
		return nil, err
	}
	var found []string
	for _, e := range list {
		if e.Type() == fs.ModeDir && e.Name() != ".git" {
			found = append(found, path.Join(dir, e.Name()))
		}
	}
	return found, nil
}
