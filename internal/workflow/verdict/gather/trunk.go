package gather

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/workflow/verdict"
	"github.com/copse-dev/copse/internal/workflow/verdict/relation"
)

// Trunk describes a trunk, as far as it is known without a service.
type Trunk struct {
	// Branch has the distance from the remote branch, and the worktree.
	verdict.Branch
	// Fetched is the time of the last fetch into the repository, zero if that is unknown.
	Fetched time.Time
}

// trunk describes the trunk of this name.
func (v *Verdicts) trunk(ctx context.Context, repo *git.Repo, name, current string) (Trunk, error) {
	only := shape{branches: []verdict.Branch{{Branch: name, Current: name == current}}}
	t, err := relation.Read(ctx, repo, only.trunk, only.branches)
	if err != nil {
		return Trunk{}, err
	}
	var g errgroup.Group
	g.Go(func() error { return v.known.Compare(ctx, repo, t, only.searches) })
	g.Go(func() error { return v.hold(ctx, repo, only) })
	if err := g.Wait(); err != nil {
		return Trunk{}, err
	}
	return Trunk{only.branches[0], repo.Fetched()}, nil
}

// lag returns a note about a trunk that lacks commits of its remote branch, as of the last fetch,
// "" if it does not.
func (v *Verdicts) lag(ctx context.Context, repo *git.Repo, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	only := []verdict.Branch{{Branch: name}}
	t, err := relation.Read(ctx, repo, "", only)
	if err != nil {
		return "", err
	}
	if _, commit, ok := t.Published(name); !ok || commit == t.Commit(name) {
		return "", nil
	}
	if err := v.known.Compare(ctx, repo, t, 0); err != nil {
		return "", err
	}
	switch b := only[0]; b.Unpulled {
	case 0:
		return "", nil
	default:
		return fmt.Sprintf("%s is %s behind %s", name, cleantext.Count(b.Unpulled, "commit"), b.Remote), nil
	}
}
