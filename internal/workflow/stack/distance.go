package stack

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/copse-dev/copse/internal/git/history"
	"github.com/copse-dev/copse/internal/session"
)

// Distance contains the number of commits that only a branch has, and of those that only Base has.
type Distance struct {
	Base   string `json:"base"`
	Ahead  int    `json:"ahead"`
	Behind int    `json:"behind"`
}

// Standing is the distance of a branch from its parent and its trunk. Each is nil if there is none,
// or if git does not have it. A trunk that is the parent is given as the parent.
type Standing struct {
	Parent, Trunk *Distance
}

// Standing returns how far a branch is from its parent and from the trunk, which is the
// root of its stack, or the repository's default branch.
func (b *Branches) Standing(ctx context.Context, name string) (Standing, error) {
	v := b.session.View()
	repo, err := v.Repo(ctx)
	if err != nil {
		return Standing{}, err
	}
	parent, trunk, err := b.bases(ctx, v, name)
	if err != nil {
		return Standing{}, err
	}
	var out Standing
	both, comparing := errgroup.WithContext(ctx)
	for base, to := range map[string]**Distance{parent: &out.Parent, trunk: &out.Trunk} {
		if base == "" {
			continue
		}
		both.Go(func() error {
			ahead, behind, err := history.Distance(comparing, repo.Program(), name, base)
			if err == nil {
				*to = &Distance{Base: base, Ahead: ahead, Behind: behind}
			}
			return err
		})
	}
	if err := both.Wait(); err != nil {
		return Standing{}, session.Explain(err)
	}
	return out, nil
}

// bases returns the parent and the trunk of a branch, "" for what git does not have. The
// trunk is "" where it is the parent.
func (b *Branches) bases(ctx context.Context, v *session.View, name string) (parent, trunk string, err error) {
	if exists, err := v.HasBranch(ctx, name); err != nil || !exists {
		return "", "", err
	}
	if trunk, err = v.Default(ctx); err != nil {
		return "", "", err
	}
	if state, err := b.stateAround(ctx, v, name); err == nil {
		if state.IsRoot(name) {
			return "", "", nil
		}
		parent, _ = state.Parent(name)
		met := map[string]bool{name: true}
		for at, more := parent, parent != ""; more && !met[at]; at, more = state.Parent(at) {
			met[at] = true
			if state.IsRoot(at) {
				trunk = at
				break
			}
		}
	}
	if parent == name {
		parent = ""
	}
	if parent != "" {
		if exists, err := v.HasBranch(ctx, parent); err != nil {
			return "", "", err
		} else if !exists {
			parent = ""
		}
	}
	if trunk == name || trunk == parent {
		trunk = ""
	}
	return parent, trunk, nil
}
