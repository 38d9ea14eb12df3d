// Package source models the records of stack tools about branches: the parent of each, the commit
// that it was stacked on, and its pull request.
//
// A [Reader] reads the record of one tool; each is a package below this one. [Merge] joins several
// records, and twig's own state, into one [twig.State]. Readers never start the tools, because even
// the tools' commands that display data write files, and readers change nothing.
//
// A stranger may have written a record. Readers limit what they read, and a failing reader reports
// it in a note, while the others still work.
package source

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"

	"github.com/copse-dev/copse/internal/git/program"
	"github.com/copse-dev/copse/internal/jsonfile"
)

// Repo is the repository that records are read from.
type Repo interface {
	// CommonDir is git's directory, which all worktrees share.
	CommonDir() string
	// GitDir is git's directory for this worktree, which is CommonDir in the main one.
	GitDir() string
	// Root is the root of the worktree, "" for a bare repository.
	Root() string
	// NoRefs reports that git certainly has no ref with the given full name, or that begins with it
	// if it ends with a slash. It is cheaper than to ask git.
	NoRefs(name string) bool
	// Program runs git.
	Program() program.Git
	// DefaultBranch returns the branch on which others start, "" if there is none.
	DefaultBranch(ctx context.Context) (string, error)
	// Remotes returns the names of the remotes.
	Remotes(ctx context.Context) ([]string, error)
	// RemoteURL returns the URL of a remote, with an error if there is none.
	RemoteURL(ctx context.Context, name string) (string, error)
	// Unrecorded returns the branches whose parents no other record has, for readers that
	// infer parents. Other readers ignore it.
	Unrecorded() []string
}

// Edge means that a branch is stacked on another.
type Edge struct {
	Child, Parent string
	// BaseHash is the commit of Parent on which Child was last stacked, "" if the tool records
	// none.
	BaseHash string
	// PR is the number of Child's pull request, 0 if the tool records none.
	PR uint32
	// Stale is the recorded parent if git does not have it. Parent is then the next existing branch
	// below. Only [Merge] sets it.
	Stale string
}

// Twig is the source of the edges in twig's own state.
const Twig = "twig"

// Record is the data of one tool about a repository.
type Record struct {
	// Source is the tool's name.
	Source string
	Edges  []Edge
	// Trunks are the branches that stacks end at, the main one first.
	Trunks []string
	// Notes name unusable parts of the record.
	Notes []string
	// Inferred means that no tool recorded this: the reader guesses.
	Inferred bool
}

// Reader reads the record of one tool.
type Reader interface {
	// Name returns the tool's name.
	Name() string
	// Files returns the files and directories that Read depends on. While none of them changes, the
	// record does not change. A directory includes all directories below it, and the names in them;
	// [NamesIn] does not.
	Files(Repo) []string
	// Read returns the record, an empty one if the tool is not in use.
	Read(context.Context, Repo) (Record, error)
}

const (
	// MaxFile is the maximum size of a record's file.
	MaxFile = 16 << 20
	// MaxEdges is the maximum number of edges, and of trunks, in one record.
	MaxEdges = 20_000
)

// JSON decodes a record's file. It refuses a file with more values than a real record has, because
// a few bytes such as "{}," take much memory.
func JSON(data []byte, into any) error {
	const perBranch = 15
	if jsonfile.Measure(data).Values > perBranch*MaxEdges {
		return errors.New("it has too many values")
	}
	return json.Unmarshal(data, into)
}

// NamesIn returns what [Reader.Files] has for the names in a directory, without the directories below.
func NamesIn(dir string) string { return dir + namesIn }

// IsNamesIn reports whether a path is one that NamesIn returned.
func IsNamesIn(path string) bool { return strings.HasSuffix(path, namesIn) }

const namesIn = string(filepath.Separator) + "."
