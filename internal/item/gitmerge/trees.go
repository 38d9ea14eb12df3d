package gitmerge

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/git/objects"
	"github.com/copse-dev/copse/internal/item/merge"
	"github.com/copse-dev/copse/internal/item/ticfile"
)

// blobs are the objects of a tree, by the name of the file in the store.
type blobs map[string]string

// stages are the entries of the index that are of the store: by stage, 0 for what is
// merged.
type stages [4]blobs

// stages asks git what the index has.
func (r *Repo) stages(ctx context.Context) (stages, error) {
	s := stages{{}, {}, {}, {}}
	out, err := r.git.Program().Run(ctx, "--literal-pathspecs", "ls-files", "-z", "--stage", "--", r.prefix)
	if err != nil {
		return s, err
	}
	for line := range strings.SplitSeq(string(out), "\x00") {
		info, path, ok := strings.Cut(line, "\t")
		fields := strings.Fields(info)
		if !ok || len(fields) != 3 {
			continue
		}
		stage, err := strconv.Atoi(fields[2])
		if name, stored := r.stored(strings.HasPrefix(fields[0], "100"), path); stored && err == nil && stage < len(s) {
			s[stage][name] = fields[1]
		}
	}
	return s, nil
}

// stored returns the name in the store of a regular file that is merged.
func (r *Repo) stored(regular bool, path string) (name string, ok bool) {
	name, ok = strings.CutPrefix(path, r.prefix)
	return name, ok && regular && IsStored(name)
}

func (s stages) unmerged() []string {
	var names []string
	for _, stage := range s[1:] {
		for name := range stage {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// left returns what git has put together; our version of what it could not merge.
func (s stages) left() blobs { return s.tree(2) }

// tree returns the index with one stage of the unmerged files.
func (s stages) tree(stage int) blobs {
	tree := blobs{}
	for _, part := range []blobs{s[0], s[stage]} {
		maps.Copy(tree, part)
	}
	return tree
}

// name returns a text that differs between states of the index.
func (s stages) name() string {
	var b strings.Builder
	for _, name := range s.unmerged() {
		b.WriteString(s[1][name] + s[2][name] + s[3][name])
	}
	return b.String()
}

// tree reads the store in a commit. A commit without one, or none, has no files.
func (r *Repo) tree(ctx context.Context, commit string) (merge.Tree, error) {
	hash := commit
	if !objects.IsHash(hash) {
		var err error
		if hash, err = r.commit(ctx, commit); hash == "" || err != nil {
			return nil, err
		}
	}
	out, err := r.git.Program().Run(ctx, "--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", hash, "--", r.prefix)
	if err != nil {
		return nil, err
	}
	found := blobs{}
	for e := range objects.Entries(out) {
		if name, ok := r.stored(e.Regular, e.Path); ok {
			found[name] = e.Hash
		}
	}
	return r.read(ctx, found)
}

// read reads objects. One that is too large for an item is an error, before any content is read.
func (r *Repo) read(ctx context.Context, from blobs) (merge.Tree, error) {
	names, hashes := from.sorted()
	described, err := objects.Describe(ctx, r.git.Program().Feed, hashes...)
	if err != nil {
		return nil, err
	}
	for i, o := range described {
		if o.Size > ticfile.MaxSize {
			return nil, fmt.Errorf("read %s from git: it has %d bytes; the limit is %d", names[i], o.Size, ticfile.MaxSize)
		}
	}
	return r.contents(ctx, from)
}

// contents reads objects that are known to be small.
func (r *Repo) contents(ctx context.Context, from blobs) (merge.Tree, error) {
	names, hashes := from.sorted()
	found, err := objects.Read(ctx, r.git.Program().Feed, hashes...)
	if err != nil {
		return nil, err
	}
	tree := merge.Tree{}
	for i, o := range found {
		if o.Kind == "" {
			return nil, fmt.Errorf("read %s from git: object %s is missing", names[i], hashes[i])
		}
		tree[names[i]] = string(o.Data)
	}
	return tree, nil
}

// sorted returns the names and the hashes of objects in one order.
func (b blobs) sorted() (names, hashes []string) {
	names = slices.Sorted(maps.Keys(b))
	for _, name := range names {
		hashes = append(hashes, b[name])
	}
	return names, hashes
}
