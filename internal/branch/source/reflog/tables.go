package reflog

import (
	"context"
	"fmt"
	"strings"

	"github.com/copse-dev/copse/internal/branch/source"
	"github.com/copse-dev/copse/internal/git/history"
	"github.com/copse-dev/copse/internal/git/refstore"
)

// tables are the reflogs of a repository whose refs are in tables, which git reads.
type tables struct {
	logs   func(branch string) history.Log
	refs   map[string]bool // the full names of branches and tags
	remote map[string]bool // the commits that the trunk of origin had as its tip
	heads  checkouts
}

const tagPrefix = "refs/tags/"

// readTables reads all reflogs with three processes.
func readTables(ctx context.Context, r source.Repo, trunk string) (*tables, error) {
	git := r.Program()
	logs, err := history.Logs(ctx, git, r.CommonDir())
	if err != nil {
		return nil, err
	}
	out, err := git.Run(ctx, "for-each-ref", "--format=%(refname)", refstore.BranchPrefix, tagPrefix)
	if err != nil {
		return nil, fmt.Errorf("read the names of branches and tags: %w", err)
	}
	t := &tables{logs: logs, refs: make(map[string]bool), remote: make(map[string]bool), heads: make(checkouts)}
	for name := range strings.Lines(string(out)) {
		t.refs[strings.TrimSuffix(name, "\n")] = true
	}
	const mainHead = "main-worktree/HEAD"
	origin := "refs/remotes/origin/" + trunk
	asked := []string{mainHead, origin}
	for _, name := range linked(r.CommonDir()) {
		asked = append(asked, "worktrees/"+name+"/HEAD")
	}
	entries, err := history.Entries(ctx, git, asked...)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Ref == origin {
			t.remote[e.Commit] = true
		} else {
			t.heads.add(e.Commit, e.Why)
		}
	}
	return t, nil
}

func (t *tables) of(branch string) history.Log { return t.logs(branch) }

func (t *tables) exists(branch string) bool { return t.refs[refstore.BranchPrefix+branch] }

func (t *tables) isTag(name string) bool { return t.refs[tagPrefix+name] }

func (t *tables) atRemote(commit string) bool { return t.remote[commit] }

func (t *tables) checkouts() checkouts { return t.heads }
