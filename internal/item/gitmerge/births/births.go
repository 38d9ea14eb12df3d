// Package births finds out which of many commits already have an item under its number. It starts
// git a few times for each item, however many commits there are.
package births

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/git/objects"
	"github.com/copse-dev/copse/internal/git/program"
	"github.com/copse-dev/copse/internal/item/merge"
	"github.com/copse-dev/copse/internal/item/ticfile"
)

const (
	// maxPublished is the maximum number of remote branches that are examined, the latest ones.
	maxPublished = 1000
	// maxBirths is the maximum size of all texts of items that are read from them.
	maxBirths = 64 << 20
	// maxAtOnce is the size of texts that git is asked for at once.
	maxAtOnce = 8 << 20
)

// Finder looks for items in commits. It keeps what it read.
type Finder struct {
	git    program.Git
	prefix string
	read   Read
	known  map[string]string // when items were created, by the hash of their file
	size   int               // of these files
}

// Read returns the texts of objects, by any name.
type Read func(ctx context.Context, hashes map[string]string) (merge.Tree, error)

// New returns a finder for the store with a prefix, which ends with a slash.
func New(git program.Git, prefix string, read Read) *Finder {
	return &Finder{git: git, prefix: prefix, read: read, known: map[string]string{}}
}

// Published returns the commits of remote branches, at most a thousand.
func (f *Finder) Published(ctx context.Context) ([]string, error) {
	out, err := f.git.Run(ctx, "for-each-ref", "--sort=-committerdate", "--count="+strconv.Itoa(maxPublished), "--format=%(objectname)", "refs/remotes")
	if err != nil {
		return nil, fmt.Errorf("list the remote branches: %w", err)
	}
	commits := strings.Fields(string(out))
	slices.Sort(commits)
	return slices.Compact(commits), nil
}

// Rank returns how well known an item is under its number: 0 if the first commit has it, 1 if another
// one has it, else 2. A commit is "" if there is none.
func (f *Finder) Rank(ctx context.Context, commits []string, b merge.Birth) int {
	directories := []string{merge.ItemsDir, merge.TrashDir}
	var names []string
	for _, commit := range commits {
		for _, directory := range directories {
			names = append(names, fmt.Sprintf("%s:%s%s/%d.md", commit, f.prefix, directory, b.ID))
		}
	}
	files, err := objects.Describe(ctx, f.git.Feed, names...)
	if err != nil {
		return unpublished
	}
	for next := 0; next < len(files); {
		from := next
		next = f.learn(ctx, files, from)
		for i := from; i < next; i++ {
			if created, known := f.known[files[i].Hash]; known && created == b.Created {
				return min(i/len(directories), 1)
			}
		}
	}
	return unpublished
}

// Created returns when the items of files were created, by the hash of the file. It leaves out files
// that are not items, and those that are beyond the limits.
func (f *Finder) Created(ctx context.Context, hashes []string) (map[string]string, error) {
	files, err := objects.Describe(ctx, f.git.Feed, hashes...)
	if err != nil {
		return nil, fmt.Errorf("read the files of items from git: %w", err)
	}
	for next := 0; next < len(files); {
		next = f.learn(ctx, files, next)
	}
	created := map[string]string{}
	for hash, at := range f.known {
		if at != noBirth {
			created[hash] = at
		}
	}
	return created, nil
}

// unpublished is the rank of an item that nobody else knows.
const unpublished = 2

// learn reads when the items of some files were created, and returns the index of the first file
// that it did not examine.
func (f *Finder) learn(ctx context.Context, files []objects.Object, from int) (next int) {
	texts, size := map[string]string{}, 0
	for next = from; next < len(files) && (size == 0 || size+files[next].Size <= maxAtOnce); next++ {
		file := files[next]
		_, known := f.known[file.Hash]
		if known || file.Kind != "blob" || file.Size > ticfile.MaxSize || texts[file.Hash] != "" || f.size+file.Size > maxBirths {
			continue
		}
		texts[file.Hash] = file.Hash
		size += file.Size
		f.size += file.Size
	}
	read, err := f.read(ctx, texts)
	if err != nil {
		return next
	}
	for hash, text := range read {
		f.known[hash] = noBirth
		if it, err := ticfile.Read(text); err == nil {
			f.known[hash] = it.Created
		}
	}
	return next
}

// noBirth is a text that no item has as the time of its creation.
const noBirth = "\x00"
