// Package index reads git's index: the files that git tracks.
//
// [Parse] reads the bytes of the file in versions 2 to 4, as gitformat-index(5) describes them, and
// keeps only the paths. An index that refers to another file (a split index), or omits tracked
// files (a sparse index), is [ErrNeedsGit]: the caller runs "git ls-files -z -t" and creates the
// [Paths] with [FromList].
package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

var (
	// ErrNeedsGit reports that only the git program can list the tracked files.
	ErrNeedsGit = errors.New("an index that only the git program can read")
	// ErrBroken reports that the text is not an index, or a damaged one.
	ErrBroken = errors.New("the index is damaged")
)

// Paths are the tracked files, relative to the root of the worktree and with
// slashes. The zero value has none. It is immutable.
type Paths struct {
	sorted  []string
	links   []string
	skipped []string
}

// Skipped returns the files that git keeps out of the worktree, as a sparse checkout demands.
func (p Paths) Skipped() Paths { return Paths{sorted: p.skipped} }

// Links returns the submodules among the files, if the source is an index: a list of files does not
// contain this information. The caller must not change it.
func (p Paths) Links() []string { return p.links }

// All returns the files, sorted by bytes. The caller must not change it.
func (p Paths) All() []string { return p.sorted }

// Len returns the number of files.
func (p Paths) Len() int { return len(p.sorted) }

// Same reports whether p and other are the same list, and not two lists from separate reads.
func (p Paths) Same(other Paths) bool {
	return len(p.sorted) == len(other.sorted) && (len(p.sorted) == 0 || &p.sorted[0] == &other.sorted[0])
}

// Has reports whether a file is tracked; a submodule and a symbolic link count as one.
func (p Paths) Has(path string) bool {
	_, found := slices.BinarySearch(p.sorted, path)
	return found
}

// HasBelow reports whether a file below a directory is tracked, or the directory itself, as a
// submodule is.
func (p Paths) HasBelow(directory string) bool {
	at, found := slices.BinarySearch(p.sorted, directory)
	if found {
		return true
	}
	below := directory + "/"
	// Names that sort between the directory and its content also begin with its name.
	if at < len(p.sorted) && p.sorted[at] < below {
		at, _ = slices.BinarySearch(p.sorted, below)
	}
	return at < len(p.sorted) && strings.HasPrefix(p.sorted[at], below)
}

// Below returns the files below a directory. The root is ".".
func (p Paths) Below(directory string) []string {
	if directory == "." {
		return p.sorted
	}
	below := directory + "/"
	from, _ := slices.BinarySearch(p.sorted, below)
	to := from
	for to < len(p.sorted) && strings.HasPrefix(p.sorted[to], below) {
		to++
	}
	return p.sorted[from:to]
}

// FromList reads the output of "git ls-files -z -t": a letter and a space before each path. The
// letter of a file that git keeps out of the worktree is S.
func FromList(list []byte) Paths {
	text := string(list)
	var paths, skipped []string
	for line := range strings.SplitSeq(text, "\x00") {
		tag, path, found := strings.Cut(line, " ")
		if !found {
			continue
		}
		paths = append(paths, path)
		if tag == "S" {
			skipped = append(skipped, path)
		}
	}
	slices.Sort(paths)
	slices.Sort(skipped)
	return Paths{sorted: slices.Compact(paths), skipped: skipped}
}

const (
	headerSize = 12
	statSize   = 40 // of an entry, before the name of its object
	modeOffset = 24

	extendedFlag = 0x4000
	skipFlag     = 0x4000 // of the extended flags
	// maxName is the maximum length of a name, as in git, and maxNames that of all names. Names of
	// version 4 share their beginnings, so a small file can contain very long ones.
	maxName  = 4096
	maxNames = 64 << 20

	modeDir  = 0o040000
	modeLink = 0o160000
)

// Parse reads an index whose objects have names of hashSize bytes. It does not verify the checksum
// at the end: git replaces the file as a whole.
func Parse(data []byte, hashSize int) (Paths, error) {
	if len(data) < headerSize+hashSize || !bytes.HasPrefix(data, []byte("DIRC")) {
		return Paths{}, ErrBroken
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 {
		return Paths{}, fmt.Errorf("%w: version %d", ErrNeedsGit, version)
	}
	if uint64(count)*uint64(statSize+hashSize) > uint64(len(data)) {
		return Paths{}, ErrBroken
	}
	r := reader{rest: data[headerSize : len(data)-hashSize], hashSize: hashSize, version: version}
	ends := make([]int, 0, count) // of the names in r.names
	var links, skipped []string
	for range count {
		link := len(r.rest) >= statSize && binary.BigEndian.Uint32(r.rest[modeOffset:]) == modeLink
		if err := r.entry(); err != nil {
			return Paths{}, err
		}
		ends = append(ends, len(r.names))
		if link {
			links = append(links, string(r.names[len(r.names)-r.previous:]))
		}
		if r.skip {
			skipped = append(skipped, string(r.names[len(r.names)-r.previous:]))
		}
	}
	if err := r.extensions(); err != nil {
		return Paths{}, err
	}
	text, start := string(r.names), 0
	paths := make([]string, 0, count)
	for _, end := range ends {
		// A conflicted file has several entries.
		if name := text[start:end]; len(paths) == 0 || paths[len(paths)-1] != name {
			paths = append(paths, name)
		}
		start = end
	}
	if !slices.IsSorted(paths) {
		return Paths{}, ErrBroken
	}
	return Paths{sorted: paths, links: links, skipped: skipped}, nil
}

type reader struct {
	rest     []byte
	hashSize int
	version  uint32
	names    []byte // all of them, one after the other
	previous int    // how long the last one is
	skip     bool   // the last one is not in the worktree
}

func (r *reader) entry() error {
	size := statSize + r.hashSize + 2
	if len(r.rest) < size {
		return ErrBroken
	}
	if binary.BigEndian.Uint32(r.rest[modeOffset:]) == modeDir {
		return fmt.Errorf("%w: it is sparse", ErrNeedsGit)
	}
	extended := r.version >= 3 && binary.BigEndian.Uint16(r.rest[size-2:])&extendedFlag != 0
	if extended {
		size += 2
	}
	if len(r.rest) < size {
		return ErrBroken
	}
	r.skip = extended && binary.BigEndian.Uint16(r.rest[size-2:])&skipFlag != 0
	name := r.rest[size:]
	if r.version == 4 {
		return r.compressed(name)
	}
	end := bytes.IndexByte(name, 0)
	if end < 0 {
		return ErrBroken
	}
	r.names, r.previous = append(r.names, name[:end]...), end
	// Zeros fill up to a multiple of eight, at least one.
	padded := (size + end + 8) &^ 7
	if len(r.rest) < padded {
		return ErrBroken
	}
	r.rest = r.rest[padded:]
	return nil
}

// compressed reads a name of version 4: how many bytes to remove from the end of the previous one,
// and what to append.
func (r *reader) compressed(text []byte) error {
	strip, used := offset(text)
	end := bytes.IndexByte(text[used:], 0)
	if used == 0 || end < 0 || strip > r.previous {
		return ErrBroken
	}
	if kept := r.previous - strip; kept+end > maxName {
		return fmt.Errorf("%w: a name has more than %d bytes", ErrBroken, maxName)
	} else if len(r.names)+kept+end > maxNames {
		return fmt.Errorf("%w: its names have more than %d bytes", ErrBroken, maxNames)
	}
	last := r.names[len(r.names)-r.previous:]
	before := len(r.names)
	r.names = append(append(r.names, last[:len(last)-strip]...), text[used:used+end]...)
	r.previous = len(r.names) - before
	r.rest = text[used+end+1:]
	return nil
}

// offset reads a number of git's variable width; used is 0 if there is none.
func offset(text []byte) (value, used int) {
	for i, c := range text {
		if i > 4 {
			break
		}
		if i > 0 {
			value = (value + 1) << 7
		}
		value |= int(c & 0x7f)
		if c&0x80 == 0 {
			return value, i + 1
		}
	}
	return 0, 0
}

// extensions looks for those that affect which files are tracked. Their names begin with a small
// letter.
func (r *reader) extensions() error {
	for len(r.rest) >= 8 {
		name, size := r.rest[:4], binary.BigEndian.Uint32(r.rest[4:])
		if name[0] < 'A' || name[0] > 'Z' {
			return fmt.Errorf("%w: it has the extension %q", ErrNeedsGit, name)
		}
		if uint64(size) > uint64(len(r.rest)-8) {
			return ErrBroken
		}
		r.rest = r.rest[8+size:]
	}
	return nil
}
