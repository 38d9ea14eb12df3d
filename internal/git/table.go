package git

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

	"github.com/copse-dev/copse/internal/git/refstore"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/xec"
)

// tableList is the file that names the tables of a reftable. Git replaces it with every change, and
// each table has a unique name.
const tableList = "tables.list"

// maxTableList limits it: a line each, of a few tables.
const maxTableList = 1 << 20

func (r *Repo) tableDir(gitDir string) string { return filepath.Join(gitDir, "reftable") }

// usesTable reports whether refs are in the reftable format, which requires git 2.45 for reading.
func (r *Repo) usesTable() bool {
	_, err := os.Lstat(r.tableDir(r.at.CommonDir))
	return err == nil
}

// tableRefs is the git program's answer for a state of the lists of tables.
type tableRefs struct {
	mu    sync.Mutex
	read  bool
	lists string
	head  Head
	names []string
}

// tableReader reads refs with the git program.
type tableReader struct{ r *Repo }

func (t tableReader) head(ctx context.Context) (Head, error) {
	head, _, err := t.load(ctx)
	return head, err
}

func (t tableReader) branches(ctx context.Context) ([]string, error) {
	_, names, err := t.load(ctx)
	return slices.Clone(names), err
}

func (t tableReader) hasBranch(ctx context.Context, name string) (bool, error) {
	_, names, err := t.load(ctx)
	_, found := slices.BinarySearch(names, name)
	return found, err
}

func (t tableReader) target(ctx context.Context, name string) (string, error) {
	out, err := t.r.program.Run(ctx, "symbolic-ref", "--quiet", name)
	if exit, ok := errors.AsType[*xec.ExitError](err); ok && exit.Code == 1 {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read ref %q: %w", name, err)
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// load returns HEAD and the branches, from git if the tables have changed.
func (t tableReader) load(ctx context.Context) (Head, []string, error) {
	lists, err := t.lists()
	if err != nil {
		return Head{}, nil, fmt.Errorf("read reftable: %w", err)
	}
	kept := &t.r.table
	kept.mu.Lock()
	defer kept.mu.Unlock()
	if kept.read && kept.lists == lists {
		return kept.head, kept.names, nil
	}
	// One process returns everything, except a HEAD that points to no commit.
	out, err := t.r.program.Run(ctx, "for-each-ref", "--include-root-refs",
		"--format=%(refname)%00%(objectname)%00%(symref)", "HEAD", refstore.BranchPrefix)
	if err != nil {
		return Head{}, nil, fmt.Errorf("read reftable with git: %w", err)
	}
	head, names, found := parseRefs(string(out))
	if !found {
		target, err := t.target(ctx, "HEAD")
		if err != nil {
			return Head{}, nil, fmt.Errorf("read HEAD: %w", err)
		}
		branch, ok := strings.CutPrefix(target, refstore.BranchPrefix)
		if !ok {
			return Head{}, nil, fmt.Errorf("read HEAD: %w: it names %q, which does not exist", refstore.ErrBroken, target)
		}
		head = Head{Branch: branch, Unborn: true}
	}
	kept.read, kept.lists, kept.head, kept.names = true, lists, head, names
	return head, names, nil
}

// lists returns the text of the lists of tables, which is unique to each state
// of the refs of this worktree.
func (t tableReader) lists() (string, error) {
	own, err := regular.Read(filepath.Join(t.r.tableDir(t.r.at.GitDir), tableList), maxTableList)
	if err != nil {
		return "", err
	}
	if t.r.at.GitDir == t.r.at.CommonDir {
		return string(own), nil
	}
	shared, err := regular.Read(filepath.Join(t.r.tableDir(t.r.at.CommonDir), tableList), maxTableList)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return string(own) + "\x00" + string(shared), err
}

// parseRefs reads lines of name, hash and target. HEAD is among them if it
// points to a commit.
func parseRefs(out string) (head Head, names []string, found bool) {
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
