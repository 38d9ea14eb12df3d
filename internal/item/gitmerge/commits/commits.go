// Package commits reads the commits of a repository that change the files of a store: what each does to
// the files, and who made it.
package commits

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/git/objects"
	"github.com/copse-dev/copse/internal/git/program"
	"github.com/copse-dev/copse/internal/lazyregexp"
)

// Log is the latest commits that change some files.
type Log struct {
	Changes []*Change // the latest first; a merge is in it once for each parent
	Whole   bool      // it has all commits
}

// Change is what a commit did to the files, beside one of its parents.
type Change struct {
	*Commit
	// Before and After are the objects of files that are gone, replaced, or new.
	Before, After []string
	replaced      map[string]string
}

// Commit is a commit of a log.
type Commit struct {
	Hash    string
	Parents []string
	// Author is the name, the address, the time, and the subject.
	Author string
	// At is when the author made it, Made when git made it, in seconds since 1970.
	At, Made int64
	// Named are the commits that its message names as originals.
	Named []string
	// Paths are the changed files, from the root of the worktree.
	Paths []string
}

// maker is what git prints of the maker of a commit, and its message. None of it contains a NUL.
const maker = "%an%x00%ae%x00%at%x00%s%x00%ct%x00%b%x00"

// makerFields is the number of fields of maker.
const makerFields = 6

// Read reads the latest commits up to head that change files in paths, which begin at the root of the
// worktree, without those that since contains. since can be "".
func Read(ctx context.Context, git program.Git, head, since string, limit int, paths []string, options ...string) (log Log, err error) {
	args := []string{"--literal-pathspecs", "log", "-z", "-m", "--raw", "--no-abbrev", "--full-history", "--no-renames", "--no-show-signature",
		"--format=%x00%H %P%x00" + maker, "--max-count=" + strconv.Itoa(limit), head}
	args = append(args, options...)
	if since != "" {
		args = append(args, "^"+since)
	}
	args = append(args, "--")
	out, err := git.Run(ctx, append(args, paths...)...)
	if err != nil {
		return Log{}, err
	}
	met := map[string]bool{}
	for words := strings.Split(strings.TrimRight(string(out), "\n"), "\x00"); len(words) > 0; {
		hashes := strings.Fields(strings.TrimPrefix(words[0], "\n"))
		if len(hashes) == 0 || !objects.IsHash(hashes[0]) || len(words) <= makerFields {
			words = words[1:]
			continue
		}
		met[hashes[0]] = true
		made, err := newCommit(hashes, words[1:])
		if err != nil {
			return Log{}, err
		}
		c := &Change{Commit: made, replaced: map[string]string{}}
		words = c.read(words[1+makerFields:])
		log.Changes = append(log.Changes, c)
	}
	log.Whole = len(met) < limit
	return log, nil
}

// Hashes returns the hash of the commit, and those of its parents.
func (c *Commit) Hashes() []string { return append([]string{c.Hash}, c.Parents...) }

// In returns the changed files in a directory.
func (c *Commit) In(directory string) []string {
	return slices.DeleteFunc(slices.Clone(c.Paths), func(path string) bool { return path != directory && !strings.HasPrefix(path, directory+"/") })
}

// Plain returns the commits that change files in a directory, the latest first, without merges.
func (log Log) Plain(directory string) []*Commit {
	var list []*Commit
	for _, c := range log.Changes {
		if len(c.Parents) < 2 && len(c.In(directory)) > 0 {
			list = append(list, c.Commit)
		}
	}
	return list
}

// newCommit returns the commit with a hash and parents, from the fields of maker.
func newCommit(hashes, fields []string) (*Commit, error) {
	at, atErr := strconv.ParseInt(fields[2], 10, 64)
	made, madeErr := strconv.ParseInt(fields[4], 10, 64)
	if err := errors.Join(atErr, madeErr); err != nil {
		return nil, fmt.Errorf("read the times of commit %s: %w", hashes[0], err)
	}
	return &Commit{
		Hash: hashes[0], Parents: hashes[1:], Author: strings.Join(fields[:4], "\x00"), At: at, Made: made, Named: namedOriginals(fields[5]),
	}, nil
}

// read reads the files of a change, and returns the words after them.
func (c *Change) read(words []string) []string {
	for ; len(words) > 0; words = words[1:] {
		word := strings.TrimPrefix(words[0], "\n")
		if word == "" {
			continue
		}
		fields := strings.Fields(word) // ":100644 100644 HASH HASH M"
		if !strings.HasPrefix(word, ":") || len(fields) != 5 || len(words) < 2 {
			break
		}
		if fields[4] != "A" {
			c.Before = append(c.Before, fields[2])
		}
		if fields[4] != "D" {
			c.After = append(c.After, fields[3])
			c.replaced[fields[2]] = fields[3]
		}
		c.Paths, words = append(c.Paths, words[1]), words[1:]
	}
	return words
}

var picked = lazyregexp.New(`(?m)^\(cherry picked from commit ([0-9a-f]{40}(?:[0-9a-f]{24})?)\)$`)

// namedOriginals returns the commits that a message names as "git cherry-pick -x" does.
func namedOriginals(message string) []string {
	var named []string
	for _, match := range picked.Get().FindAllStringSubmatch(message, -1) {
		named = append(named, match[1])
	}
	return named
}

// Loses reports whether an item is in none of the files afterward. created has the items of the
// files, by hash. A text that replaces an item and is none is not a loss: it can have the marks of a
// conflict.
func (c *Change) Loses(created map[string]string) bool {
	left := map[string]bool{"": true}
	for _, hash := range c.After {
		left[created[hash]] = true
	}
	return slices.ContainsFunc(c.Before, func(hash string) bool {
		by, replaced := c.replaced[hash]
		if _, isItem := created[by]; replaced && !isItem {
			return false
		}
		return !left[created[hash]]
	})
}
