package sidebranch

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // git's own names of objects
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/git/objects"
)

// Tree is files: contents by name, relative and with slashes.
type Tree map[string]string

// Read returns the relevant files of a commit. No commit has none. A file with more than most bytes is an
// error, before any content is read.
func (b *Branch) Read(ctx context.Context, c Commit, counts func(name string) bool, most int) (Tree, error) {
	if c == "" {
		return Tree{}, nil
	}
	names, err := b.list(ctx, c)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(names, func(name, _ string) bool { return !counts(name) })
	unknown, err := b.measure(ctx, names)
	if err != nil {
		return nil, err
	}
	size := 0
	for name, blob := range names {
		length := unknown[blob] + len(b.blobs[blob])
		if length > most {
			return nil, fmt.Errorf("read commit %s: %q has %d bytes; the limit is %d", c, name, length, most)
		}
		// Any number of names can have the same content.
		if size += length; size > maxOutput {
			return nil, fmt.Errorf("read commit %s: its files have more than %d MiB together; remove the largest ones from the branch", c, maxOutput>>20)
		}
	}
	if err := b.load(ctx, unknown); err != nil {
		return nil, err
	}
	tree := make(Tree, len(names))
	for name, blob := range names {
		tree[name] = b.blobs[blob]
	}
	return tree, nil
}

// Differences returns how many files differ between two commits.
func (b *Branch) Differences(ctx context.Context, a, c Commit, counts func(name string) bool) (int, error) {
	var lists [2]map[string]string
	for i, commit := range []Commit{a, c} {
		if commit == "" {
			continue
		}
		var err error
		if lists[i], err = b.list(ctx, commit); err != nil {
			return 0, err
		}
	}
	n := 0
	for name, blob := range lists[1] {
		if lists[0][name] != blob && counts(name) {
			n++
		}
	}
	for name := range lists[0] {
		if lists[1][name] == "" && counts(name) {
			n++
		}
	}
	return n, nil
}

// Changes returns how many of the relevant files differ from a commit, without writing them.
func (b *Branch) Changes(ctx context.Context, c Commit, files Tree, counts func(name string) bool) (int, error) {
	names := map[string]string{}
	if c != "" {
		var err error
		if names, err = b.list(ctx, c); err != nil {
			return 0, err
		}
	}
	n := 0
	for name, text := range files {
		if counts(name) && names[name] != b.hash(text) {
			n++
		}
	}
	for name := range names {
		if _, here := files[name]; !here && counts(name) {
			n++
		}
	}
	return n, nil
}

// list returns the hashes of a commit's regular files by name.
func (b *Branch) list(ctx context.Context, c Commit) (map[string]string, error) {
	out, err := b.run(ctx, limits{time: localTime, output: maxList}, nil, []string{"ls-tree", "-r", "-z", "--full-tree", string(c)}, side{})
	if err != nil {
		return nil, fmt.Errorf("list commit %s: %w", c, err)
	}
	if n := bytes.Count(out, []byte{0}); n > maxFiles {
		return nil, fmt.Errorf("list commit %s: it has %d files, and a branch can have at most %d", c, n, maxFiles)
	}
	names := map[string]string{}
	for e := range objects.Entries(out) {
		if e.Regular && filepath.IsLocal(filepath.FromSlash(e.Path)) { // links and submodules are not ours
			names[e.Path] = e.Hash
		}
	}
	return names, nil
}

// measure returns the sizes of the contents that are not cached yet, by their hashes.
func (b *Branch) measure(ctx context.Context, names map[string]string) (map[string]int, error) {
	sizes := map[string]int{}
	for _, blob := range names {
		if _, known := b.blobs[blob]; !known {
			sizes[blob] = 0
		}
	}
	wanted := slices.Sorted(maps.Keys(sizes))
	found, err := objects.Describe(ctx, b.git, wanted...)
	if err != nil {
		return nil, fmt.Errorf("read the files of the branch: %w", err)
	}
	for i, o := range found {
		if o.Kind != "blob" || o.Hash != wanted[i] {
			return nil, fmt.Errorf("read object %s of the branch: it is missing or damaged", wanted[i])
		}
		sizes[o.Hash] = o.Size
	}
	return sizes, nil
}

// load reads contents of known sizes, a part of them at a time: git's output and the cache are in
// memory together.
func (b *Branch) load(ctx context.Context, sizes map[string]int) error {
	const atOnce = 32 << 20
	wanted := slices.Sorted(maps.Keys(sizes))
	for len(wanted) > 0 {
		n, size := 0, 0
		for n < len(wanted) && (n == 0 || size+sizes[wanted[n]] <= atOnce) {
			size += sizes[wanted[n]]
			n++
		}
		found, err := objects.Read(ctx, b.git, wanted[:n]...)
		if err != nil {
			return fmt.Errorf("read the files of the branch: %w", err)
		}
		for i, o := range found {
			if o.Kind != "blob" || o.Hash != wanted[i] {
				return fmt.Errorf("read object %s of the branch: it is missing or damaged", wanted[i])
			}
			b.blobs[o.Hash] = string(o.Data)
		}
		wanted = wanted[n:]
	}
	return nil
}

// Commit writes files as a commit on parents. If a single parent has the same files, it returns
// that parent.
func (b *Branch) Commit(ctx context.Context, files Tree, message string, parents ...Commit) (Commit, error) {
	if err := b.repo.Writable(b.ref); err != nil {
		return "", err
	}
	known := map[string]bool{}
	for _, parent := range parents {
		names, err := b.list(ctx, parent)
		if err != nil {
			return "", err
		}
		same := len(names) == len(files)
		for name, blob := range names {
			known[blob] = true
			text, ok := files[name]
			same = same && ok && b.hash(text) == blob
		}
		if same && len(parents) == 1 {
			return parent, nil
		}
	}
	index, err := b.write(ctx, files, known)
	if err != nil {
		return "", fmt.Errorf("write objects: %w", err)
	}
	if err := os.Remove(filepath.Join(b.own.Path, "index")); err != nil && !os.IsNotExist(err) {
		return "", fmt.Errorf("write objects: %w", err)
	}
	if _, err := b.git(ctx, index, "update-index", "-z", "--index-info"); err != nil {
		return "", fmt.Errorf("write objects: %w", err)
	}
	tree, err := b.git(ctx, nil, "write-tree")
	if err != nil {
		return "", fmt.Errorf("write objects: %w", err)
	}
	b.identity(ctx)
	args := []string{"commit-tree", strings.TrimSpace(string(tree)), "-F", "-"}
	for _, parent := range parents {
		args = append(args, "-p", string(parent))
	}
	out, err := b.git(ctx, []byte(message+"\n"), args...)
	if err != nil {
		return "", fmt.Errorf("write a commit: %w", err)
	}
	return Commit(strings.TrimSpace(string(out))), nil
}

// write writes the contents that no parent has, and returns all files as entries of an index.
func (b *Branch) write(ctx context.Context, files Tree, known map[string]bool) ([]byte, error) {
	dir := filepath.Join(b.own.Path, "files")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var index, paths bytes.Buffer
	for i, name := range slices.Sorted(maps.Keys(files)) {
		blob := b.hash(files[name])
		b.blobs[blob] = files[name]
		fmt.Fprintf(&index, "100644 %s\t%s\x00", blob, name)
		if known[blob] {
			continue
		}
		known[blob] = true
		path := filepath.Join(dir, strconv.Itoa(i))
		if err := os.WriteFile(path, []byte(files[name]), 0o600); err != nil {
			return nil, err
		}
		fmt.Fprintln(&paths, path)
	}
	if paths.Len() > 0 {
		if _, err := b.git(ctx, paths.Bytes(), "hash-object", "-w", "--no-filters", "--stdin-paths"); err != nil {
			return nil, err
		}
	}
	return index.Bytes(), nil
}

// hash returns git's name for a content.
func (b *Branch) hash(text string) string {
	var h hash.Hash
	if b.repo.ObjectFormat() == "sha256" {
		h = sha256.New()
	} else {
		h = sha1.New() //nolint:gosec // as above
	}
	fmt.Fprintf(h, "blob %d\x00%s", len(text), text)
	return hex.EncodeToString(h.Sum(nil))
}
