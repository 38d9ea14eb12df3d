package project

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/copse-dev/copse/internal/cleantext"
)

// Type is the type of a directory's entry.
type Type string

// The types. Other is a pipe, a socket, or a device.
const (
	File      Type = "file"
	Directory Type = "directory"
	Symlink   Type = "symlink"
	Other     Type = "other"
)

// Entry is an entry of a directory.
type Entry struct {
	Name string
	// Path is relative to the project.
	Path string
	Type Type
}

// Listing is the content of a directory.
type Listing struct {
	// Entries are breadth first: those of the directory, then those of its subdirectories. In each
	// directory, subdirectories come first, and then names decide.
	Entries []Entry
	// Total is the number of entries, and More means that there are more, which were not counted.
	Total int
	More  bool
	// LeftOut is the number of tracked files that a sparse checkout leaves out, and one of Warnings
	// names.
	LeftOut int
	// Warnings are about entries that the listing may lack or show by mistake.
	Warnings []string
}

// Range limits a listing.
type Range struct {
	// Depth is the number of levels of directories; 1 is only the directory itself.
	Depth int
	// Max is the maximum number of entries.
	Max int
	// Few means that the entries beyond Max need not be counted.
	Few bool
}

// maxWalked is the maximum number of counted entries.
const maxWalked = 200_000

// List lists a directory, without what git ignores. The errors are those of Read.
func (p *Project) List(ctx context.Context, asked string, r Range) (Listing, error) {
	f, name, err := p.find(ctx, asked)
	if err != nil {
		return Listing{}, err
	}
	real, err := p.real(ctx, f, asked, name)
	if err != nil {
		return Listing{}, p.missing(ctx, name, err)
	}
	entries, err := f.entries(real)
	if err != nil {
		return Listing{}, explain(asked, err)
	}
	flt, warnings := p.newFilter(ctx, f)
	leftOut, names := absent(flt.leftOut, real, entries)
	if leftOut > 0 {
		warnings = append(warnings, names)
	}
	start := flt.at(real, entries)
	switch {
	case areGits(entries):
		warnings = append(warnings, "this is a git directory; only the files in it that the project's git tracks are listed")
	case start.hidden:
		warnings = append(warnings, fmt.Sprintf("git ignores this directory; only its tracked files are listed (%s in all)", cleantext.Count(len(entries), "entry")))
	}
	w := walk{ctx: ctx, filter: flt, max: r.Max, countLimit: maxWalked, listing: Listing{Entries: []Entry{}, LeftOut: leftOut, Warnings: warnings}}
	if r.Few {
		w.countLimit = r.Max
	}
	w.add(level{shown: name, real: real, rules: start}, entries)
	for depth := 1; depth < r.Depth && len(w.next) > 0; depth++ {
		if err := w.deeper(); err != nil {
			return Listing{}, err
		}
	}
	if w.closed > 0 {
		w.listing.Warnings = append(w.listing.Warnings, cleantext.Count(w.closed, "directory")+" cannot be read")
	}
	w.listing.Warnings = append(w.listing.Warnings, flt.warnings()...)
	return w.listing, nil
}

// walk goes through directories level by level.
type walk struct {
	ctx        context.Context
	filter     *filter
	max        int
	countLimit int // how many entries are counted
	listing    Listing
	next       []level // the directories of the last level
	closed     int     // number of unreadable directories
}

// level is a directory to be listed.
type level struct {
	shown string // the prefix of its entries' paths
	real  string
	rules rules
}

// add lists the entries of a directory.
func (w *walk) add(in level, entries []fs.DirEntry) {
	kept := entries[:0]
	for _, e := range entries {
		if w.filter.shows(in.rules, in.real, e) {
			kept = append(kept, e)
		}
	}
	// They are sorted by name, and stay so.
	slices.SortStableFunc(kept, func(a, b fs.DirEntry) int { return cmp.Compare(rank(a), rank(b)) })
	w.listing.Total += len(kept)
	w.listing.Entries = slices.Grow(w.listing.Entries, min(len(kept), w.max-len(w.listing.Entries)))
	for _, e := range kept {
		shown := join(in.shown, e.Name())
		if len(w.listing.Entries) < w.max {
			w.listing.Entries = append(w.listing.Entries, Entry{Name: e.Name(), Path: shown, Type: typeOf(e)})
		}
		if e.IsDir() {
			w.next = append(w.next, level{shown: shown, real: join(in.real, e.Name()), rules: in.rules})
		}
	}
}

func rank(e fs.DirEntry) int {
	if e.IsDir() {
		return 0
	}
	return 1
}

func typeOf(e fs.DirEntry) Type {
	switch mode := e.Type(); {
	case mode.IsDir():
		return Directory
	case mode.IsRegular():
		return File
	case mode&fs.ModeSymlink != 0:
		return Symlink
	}
	return Other
}

// deeper lists the directories of the last level.
func (w *walk) deeper() error {
	directories := w.next
	w.next = nil
	for part := range slices.Chunk(directories, ahead) {
		if w.ctx.Err() != nil {
			return context.Cause(w.ctx)
		}
		if w.listing.Total >= w.countLimit {
			w.listing.More = true
			w.next = nil
			return nil
		}
		for i, found := range w.read(part) {
			in := part[i]
			if found.err != nil {
				if !errors.Is(found.err, fs.ErrNotExist) { // it was removed in the meantime
					w.closed++
				}
				continue
			}
			in.rules = w.filter.with(in.rules.below(path.Base(in.real)), in.real, found.entries)
			w.add(in, found.entries)
			part[i] = level{} // the rules of a large tree are not cached
		}
	}
	return nil
}

// ahead is the number of directories to read before they are listed.
const ahead = 64

// content is the content of a directory, or the reason why it is unknown.
type content struct {
	entries []fs.DirEntry
	err     error
}

// read reads several directories at a time: a walk mostly waits for the system.
func (w *walk) read(directories []level) []content {
	found := make([]content, len(directories))
	var next atomic.Int64
	var readers sync.WaitGroup
	for range min(len(directories), runtime.GOMAXPROCS(0)) {
		readers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(directories)); i = next.Add(1) - 1 {
				found[i].entries, found[i].err = w.filter.directory.ReadDir(directories[i].real)
			}
		})
	}
	readers.Wait()
	return found
}
