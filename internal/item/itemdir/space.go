package itemdir

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/item/ticfile"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
	"github.com/copse-dev/copse/internal/spread"
)

// Space is the maximum size of the files of all items of a store together, in bytes; 0 is 128 MiB. A
// snapshot of them stays in memory, and a repository can contain gigabytes in a few kilobytes of
// git's objects. An [Index] does not read a file that does not fit, so a program that writes one asks
// [Space.Check] first.
type Space int64

// defaultSpace is what a Space of 0 is.
const defaultSpace Space = 128 << 20

// Allows reports whether files that grow by more bytes can have a total of bytes then. Those that do
// not grow always can.
func (s Space) Allows(total, more int64) bool {
	return more <= 0 || total <= int64(cmp.Or(s, defaultSpace))
}

// MiB returns the space as a text.
func (s Space) MiB() string {
	return fmt.Sprintf("%.4g MiB", float64(cmp.Or(s, defaultSpace))/(1<<20))
}

// Check returns a [*storage.StoreError] if Allows does not allow it. The error names the largest
// files.
func (s Space) Check(total, more int64, files Sizes) error {
	if s.Allows(total, more) {
		return nil
	}
	next := "Shorten the text."
	if largest := files.largest(); len(largest) > 0 {
		next = "Delete or shorten the largest ones: " + strings.Join(largest, ", ") + "."
	}
	return &storage.StoreError{
		Problem: fmt.Sprintf("the items of the store would have %d bytes together, more than the %s allowed", total, s.MiB()),
		Next:    next,
	}
}

// Sizes are the sizes of the files that take space, by name.
type Sizes map[string]int64

// SizesIn returns the sizes of the files in a directory of root, without reading them.
func SizesIn(root *os.Root, dir string) (Sizes, error) {
	sizes := Sizes{}
	opened, err := regular.OpenDir(root, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return sizes, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open directory %q: %w", dir, rooted.WithoutPath(err))
	}
	names, err := opened.Readdirnames(-1)
	_ = opened.Close()
	if err != nil {
		return nil, fmt.Errorf("read directory %q: %w", dir, rooted.WithoutPath(err))
	}
	inside, err := regular.OpenRootIn(root, dir)
	if err != nil {
		return nil, fmt.Errorf("open directory %q: %w", dir, rooted.WithoutPath(err))
	}
	defer inside.Close()
	const share = 64 // files, to make another goroutine worth it
	found := spread.Collect(names, share, func(part []string) []int64 {
		each := make([]int64, len(part))
		for i, name := range part {
			each[i] = SizeOf(inside, name)
		}
		return each
	})
	for i, name := range names {
		if found[i] > 0 {
			sizes[name] = found[i]
		}
	}
	return sizes, nil
}

// SizeOf returns the space that a file of root takes: none if an [Index] does not read it.
func SizeOf(root *os.Root, name string) int64 {
	if !strings.HasSuffix(name, extension) {
		return 0
	}
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > ticfile.MaxSize {
		return 0
	}
	return info.Size()
}

// Total returns the sum.
func (s Sizes) Total() (total int64) {
	for _, size := range s {
		total += size
	}
	return total
}

// largest describes the three largest files, the largest first.
func (s Sizes) largest() []string {
	const most = 3
	names := slices.SortedFunc(maps.Keys(s), func(a, b string) int {
		return cmp.Or(cmp.Compare(s[b], s[a]), byNumber(a, b))
	})
	names = names[:min(most, len(names))]
	for i, name := range names {
		called := name
		if id, err := Number(name); err == nil {
			called = "#" + id.String()
		}
		names[i] = called + " (" + cleantext.Count(int(s[name]), "byte") + ")"
	}
	return names
}

// Total returns the size of the files that are in the snapshot; ok is false if others have no space.
func (x *Index) Total() (total int64, ok bool) { return x.total, x.noSpace == 0 }

// Watches reports whether an update need not look at all files.
func (x *Index) Watches() bool { return x.watcher != nil }
