// Package reftable reads the refs of a git repository that are in tables, with the git program, and
// again only after a change. It requires git 2.45.
package reftable

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/copse-dev/copse/internal/git/program"
	"github.com/copse-dev/copse/internal/git/refstore"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/xec"
)

// List is the file that names the tables of a directory. Git replaces it with every change, and each
// table has a unique name.
const List = "tables.list"

// maxList limits it: a line each, of a few tables.
const maxList = 1 << 20

// Dir returns the directory of the tables in one of git's directories.
func Dir(gitDir string) string { return filepath.Join(gitDir, "reftable") }

// Used reports whether the refs of a repository are in tables. Git can convert a repository at any
// time.
func Used(commonDir string) bool {
	_, err := os.Lstat(Dir(commonDir))
	return !regular.Absent(err)
}

// Reader reads the refs of one worktree. It is safe for concurrent use.
type Reader struct {
	gitDir, commonDir string
	git               program.Git

	mu    sync.Mutex // guards git's answer for a state of the lists of tables
	read  bool
	state string
	head  refstore.Head
	names []string
}

// New returns the Reader of the worktree with these directories of git.
func New(gitDir, commonDir string, git program.Git) *Reader {
	return &Reader{gitDir: gitDir, commonDir: commonDir, git: git}
}

// Head returns the HEAD of the worktree.
func (t *Reader) Head(ctx context.Context) (refstore.Head, error) {
	head, _, err := t.load(ctx)
	return head, err
}

// Branches returns the names of all local branches, sorted by their bytes.
func (t *Reader) Branches(ctx context.Context) ([]string, error) {
	_, names, err := t.load(ctx)
	return slices.Clone(names), err
}

// HasBranch reports whether Branches would list the name.
func (t *Reader) HasBranch(ctx context.Context, name string) (bool, error) {
	_, names, err := t.load(ctx)
	_, found := slices.BinarySearch(names, name)
	return found, err
}

// Target returns the full name in a symbolic ref, "" if name is none.
func (t *Reader) Target(ctx context.Context, name string) (string, error) {
	out, err := t.git.Run(ctx, "symbolic-ref", "--quiet", name)
	if exit, ok := errors.AsType[*xec.ExitError](err); ok && exit.Code == 1 {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read ref %q: %w", name, err)
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// Hashes returns the hashes of refs by their full names. It omits refs that do not exist or are
// broken.
func (t *Reader) Hashes(ctx context.Context, refs []string) (map[string]string, error) {
	tips := make(map[string]string, len(refs))
	if len(refs) == 0 {
		return tips, nil
	}
	out, err := t.git.Run(ctx, append([]string{"for-each-ref", "--format=%(objectname) %(refname)"}, refs...)...)
	if err != nil {
		return nil, fmt.Errorf("read refs: %w", err)
	}
	wanted := make(map[string]bool, len(refs))
	for _, ref := range refs {
		wanted[ref] = true
	}
	for line := range strings.Lines(string(out)) {
		// A name that is a prefix of others lists those, too.
		if hash, ref, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok && wanted[ref] {
			tips[ref] = hash
		}
	}
	return tips, nil
}

// load returns HEAD and the branches, from git if the tables have changed.
func (t *Reader) load(ctx context.Context) (refstore.Head, []string, error) {
	state, err := t.lists()
	if err != nil {
		return refstore.Head{}, nil, fmt.Errorf("read reftable: %w", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.read && t.state == state {
		return t.head, t.names, nil
	}
	// One process returns everything, except a HEAD that points to no commit.
	out, err := t.git.Run(ctx, "for-each-ref", "--include-root-refs",
		"--format=%(refname)%00%(objectname)%00%(symref)", "HEAD", refstore.BranchPrefix)
	if err != nil {
		return refstore.Head{}, nil, fmt.Errorf("read reftable with git: %w", err)
	}
	head, names, found := parseRefs(string(out))
	if !found {
		target, err := t.Target(ctx, "HEAD")
		if err != nil {
			return refstore.Head{}, nil, fmt.Errorf("read HEAD: %w", err)
		}
		branch, ok := strings.CutPrefix(target, refstore.BranchPrefix)
		if !ok {
			return refstore.Head{}, nil, fmt.Errorf("read HEAD: %w: it names %q, which does not exist", refstore.ErrBroken, target)
		}
		head = refstore.Head{Branch: branch, Unborn: true}
	}
	t.read, t.state, t.head, t.names = true, state, head, names
	return head, names, nil
}

// lists returns the text of the lists of tables, which is unique to each state
// of the refs of this worktree.
func (t *Reader) lists() (string, error) {
	own, err := regular.Read(filepath.Join(Dir(t.gitDir), List), maxList)
	if err != nil {
		return "", err
	}
	if t.gitDir == t.commonDir {
		return string(own), nil
	}
	shared, err := regular.Read(filepath.Join(Dir(t.commonDir), List), maxList)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return string(own) + "\x00" + string(shared), err
}

// parseRefs reads lines of name, hash and target. HEAD is among them if it
// points to a commit.
func parseRefs(out string) (head refstore.Head, names []string, found bool) {
	names = []string{}
	for line := range strings.Lines(out) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\x00")
		if len(fields) != 3 {
			continue
		}
		if name, ok := strings.CutPrefix(fields[0], refstore.BranchPrefix); ok {
			names = append(names, name)
			continue
		}
		if fields[0] == "HEAD" {
			found = true
			head.Commit = fields[1]
			var onBranch bool
			head.Branch, onBranch = strings.CutPrefix(fields[2], refstore.BranchPrefix)
			if !onBranch || head.Branch == "" {
				head.Branch, head.Detached = "", true
			}
		}
	}
	slices.Sort(names)
	return head, names, found
}
