// Package objects reads many objects of a repository with one process of git.
//
// [Describe] returns the type and the size of objects, [Read] also returns their contents, and
// [ReadUpTo] those of small ones: others decide how large their objects are. An
// object that the repository does not have, under whatever name, is an answer and not an error.
// [Entries] reads the list of a tree.
package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode"
)

// Feed runs git with an input, and returns its output. The Feed of a program.Git is one.
type Feed func(ctx context.Context, input []byte, args ...string) ([]byte, error)

// Object is an object of git.
type Object struct {
	Hash string
	Kind string // "blob", "tree", "commit", or "tag"; "" if there is no such object
	Size int
	Data []byte // the content, from Read and ReadUpTo only
}

// Describe returns the objects with these names, in their order, without their contents.
func Describe(ctx context.Context, git Feed, names ...string) ([]Object, error) {
	return ask(ctx, git, "--batch-check", names)
}

// Read returns the objects with these names, in their order. The caller limits the output of git.
func Read(ctx context.Context, git Feed, names ...string) ([]Object, error) {
	return ask(ctx, git, "--batch", names)
}

// ReadUpTo returns the objects with these names, in their order, and the contents of those that have at
// most a number of bytes. git reports the sizes first, so a larger object is not read. The caller
// limits the output of git.
func ReadUpTo(ctx context.Context, git Feed, most int, names ...string) ([]Object, error) {
	described, err := Describe(ctx, git, names...)
	if err != nil {
		return nil, err
	}
	var wanted []string
	var index []int
	for i, o := range described {
		if o.Kind != "" && o.Size <= most {
			wanted, index = append(wanted, o.Hash), append(index, i)
		}
	}
	found, err := Read(ctx, git, wanted...)
	if err != nil {
		return nil, err
	}
	for i, o := range found {
		described[index[i]] = o
	}
	return described, nil
}

func ask(ctx context.Context, git Feed, how string, names []string) ([]Object, error) {
	if len(names) == 0 {
		return nil, nil
	}
	out, err := git(ctx, input(names), "cat-file", how)
	if err != nil {
		return nil, err
	}
	found := make([]Object, len(names))
	for i := range names {
		head, rest, ok := bytes.Cut(out, []byte("\n"))
		if !ok {
			return nil, errors.New("read objects: git returned too few answers")
		}
		o := parse(string(head))
		if how == "--batch" && o.Kind != "" {
			if o.Size >= len(rest) { // a line break follows the content
				return nil, fmt.Errorf("read object %s: git returned a part of it", o.Hash)
			}
			o.Data, rest = rest[:o.Size:o.Size], rest[o.Size+1:]
		}
		found[i], out = o, rest
	}
	if len(out) > 0 {
		return nil, errors.New("read objects: git returned too many answers")
	}
	return found, nil
}

// nothing is a name that no object can have.
const nothing = ".."

// input returns the names as git reads them. A name with a line break would be two, and one that
// begins with a colon would be a file of the index.
func input(names []string) []byte {
	var lines bytes.Buffer
	for _, name := range names {
		if name == "" || name[0] == ':' || strings.ContainsFunc(name, unicode.IsControl) {
			name = nothing
		}
		lines.WriteString(name + "\n")
	}
	return lines.Bytes()
}

// parse reads "HASH TYPE SIZE". Git answers with a word such as "missing" after the name if there is
// no such object.
func parse(head string) Object {
	fields := strings.Fields(head)
	if len(fields) != 3 || !IsHash(fields[0]) {
		return Object{}
	}
	size, err := strconv.Atoi(fields[2])
	if err != nil || size < 0 {
		return Object{}
	}
	return Object{Hash: fields[0], Kind: fields[1], Size: size}
}

// IsHash reports whether a text is the full name of an object.
func IsHash(text string) bool {
	const sha1, sha256 = 40, 64
	return (len(text) == sha1 || len(text) == sha256) && strings.Trim(text, "0123456789abcdef") == ""
}

// Entry is a file in a tree.
type Entry struct {
	Hash string
	Path string
	// Regular means that it is neither a link nor another repository.
	Regular bool
}

// Entries returns the files in the output of "git ls-tree -r -z".
func Entries(list []byte) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for line := range strings.SplitSeq(string(list), "\x00") {
			head, path, ok := strings.Cut(line, "\t")
			fields := strings.Fields(head) // mode, type, hash
			if !ok || len(fields) != 3 {
				continue
			}
			if !yield(Entry{Hash: fields[2], Path: path, Regular: strings.HasPrefix(fields[0], "100")}) {
				return
			}
		}
	}
}
