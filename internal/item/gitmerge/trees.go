package gitmerge

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

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
		if name, stored := r.stored(fields[0], path); stored && err == nil && stage < len(s) {
			s[stage][name] = fields[1]
		}
	}
	return s, nil
}

// stored returns the name in the store of a regular file that is merged.
func (r *Repo) stored(mode, path string) (name string, ok bool) {
	name, ok = strings.CutPrefix(path, r.prefix)
	return name, ok && strings.HasPrefix(mode, "100") && IsStored(name)
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
	if !isHash(hash) {
		var err error
		if hash, err = r.commit(ctx, commit); hash == "" || err != nil {
			return nil, err
		}
	}
	out, err := r.git.Program().Run(ctx, "--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", hash, "--", r.prefix)
	if err != nil {
		return nil, err
	}
	objects := blobs{}
	for line := range strings.SplitSeq(string(out), "\x00") {
		info, path, ok := strings.Cut(line, "\t")
		fields := strings.Fields(info)
		if !ok || len(fields) != 3 {
			continue
		}
		if name, stored := r.stored(fields[0], path); stored {
			objects[name] = fields[2]
		}
	}
	return r.read(ctx, objects)
}

// read reads objects.
func (r *Repo) read(ctx context.Context, objects blobs) (merge.Tree, error) {
	tree := merge.Tree{}
	names := make([]string, 0, len(objects))
	var input bytes.Buffer
	for name, object := range objects {
		names = append(names, name)
		fmt.Fprintln(&input, object)
	}
	if len(names) == 0 {
		return tree, nil
	}
	out, err := r.git.Program().Feed(ctx, input.Bytes(), "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	answers := bufio.NewReader(bytes.NewReader(out))
	for _, name := range names {
		header, err := answers.ReadString('\n')
		fields := strings.Fields(header)
		if err != nil || len(fields) != 3 {
			return nil, fmt.Errorf("read %s from git: object %s is missing", name, objects[name])
		}
		size, err := strconv.Atoi(fields[2])
		if err != nil {
			return nil, fmt.Errorf("read %s from git: %w", name, err)
		}
		text := make([]byte, size+1) // with a line break behind it
		if _, err := io.ReadFull(answers, text); err != nil {
			return nil, fmt.Errorf("read %s from git: %w", name, err)
		}
		if size > ticfile.MaxSize {
			return nil, fmt.Errorf("read %s from git: it has %d bytes; the limit is %d", name, size, ticfile.MaxSize)
		}
		tree[name] = string(text[:size])
	}
	return tree, nil
}
