// Package source is what stack tools record about branches: the parent of each, the
// commit that it was stacked on, and its pull request.
//
// A [Reader] reads the record of one tool; each is a package below this one. [Merge]
// joins what several found, and twig's own state, into one [twig.State]. Readers never
// start the tools, whose commands for reading write as well, and they change nothing.
//
// A record is a file that a stranger may have put there. Readers bound what they read,
// and a reader that fails says so in a note, while the others still answer.
package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/copse-dev/copse/internal/git/program"
)

// Repo is the repository that records are read from.
type Repo interface {
	// CommonDir is git's directory, which all worktrees share.
	CommonDir() string
	// Root is the root of the worktree, "" for a bare repository.
	Root() string
	// Program runs git.
	Program() program.Git
	// DefaultBranch returns the branch that others start from, "" if there is none.
	DefaultBranch(ctx context.Context) (string, error)
	// Remotes returns the names of the remotes.
	Remotes(ctx context.Context) ([]string, error)
	// Unrecorded returns the branches whose parents no other record has, for readers that
	// infer parents. Other readers ignore it.
	Unrecorded() []string
}

// Edge says that a branch is stacked on another.
type Edge struct {
	Child, Parent string
	// BaseHash is the commit of Parent that Child was last stacked on, "" if the tool
	// records none.
	BaseHash string
	// PR is the number of Child's pull request, 0 if the tool records none.
	PR uint32
	// Stale is the recorded parent if git does not have it. Parent is then the next branch
	// below that exists. Readers leave it to [Merge].
	Stale string
}

// Twig is the source of the edges in twig's own state.
const Twig = "twig"

// Record is what one tool knows of a repository.
type Record struct {
	// Source is the tool's name.
	Source string
	Edges  []Edge
	// Trunks are the branches that stacks end at, the main one first.
	Trunks []string
	// Notes say what of the record cannot be used.
	Notes []string
}

// Reader reads the record of one tool.
type Reader interface {
	// Name returns the tool's name.
	Name() string
	// Files returns the files and directories that Read depends on. While none of them
	// changes, the record does not. A directory counts with all directories below it, and
	// the names in them.
	Files(Repo) []string
	// Read returns the record, an empty one where the tool is not used.
	Read(context.Context, Repo) (Record, error)
}

const (
	// MaxFile is how much of a record's file is read.
	MaxFile = 16 << 20
	// MaxEdges is how many edges, and how many trunks, of one record count.
	MaxEdges = 20_000
)

// JSON decodes a record's file. It refuses one with more values than any record has, because
// a few bytes such as "{}," become many in memory.
func JSON(data []byte, into any) error {
	const perBranch = 10
	if bytes.Count(data, []byte(",")) > perBranch*MaxEdges {
		return errors.New("it has too many values")
	}
	return json.Unmarshal(data, into)
}
