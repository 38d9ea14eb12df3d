package relation

import (
	"context"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/refstore"
	"github.com/copse-dev/copse/internal/workflow/verdict"
)

const remotePrefix = "refs/remotes/"

// Tips are the commits of branches with the same trunk, and of their remote branches.
type Tips struct {
	trunk     string
	branches  []verdict.Branch
	commits   map[string]string // by full name of the ref
	published map[string]string // ref by branch, "" for none
	// remote means that the repository has one to push to.
	remote bool
}

// Commit returns the commit of a branch, of a parent, or of the trunk; "" for none.
func (t Tips) Commit(branch string) string { return t.commits[refstore.BranchPrefix+branch] }

// Published returns the name of the remote branch to which a branch was pushed, without that of the
// remote, and its commit as of the last fetch or push. It reports whether there is one.
func (t Tips) Published(branch string) (name, commit string, ok bool) {
	ref := t.published[branch]
	if ref == "" {
		return "", "", false
	}
	return shortOf(ref), t.commits[ref], true
}

// Read returns the commits of branches, of their parents, and of their trunk, which is "" for none.
// [Known.Compare] fills in these branches.
func Read(ctx context.Context, repo *git.Repo, trunk string, branches []verdict.Branch) (Tips, error) {
	var refs []string
	if trunk != "" {
		refs = append(refs, refstore.BranchPrefix+trunk)
	}
	names := make([]string, len(branches))
	for i, b := range branches {
		names[i] = b.Branch
	}
	candidates, err := repo.Published(ctx, names)
	if err != nil {
		return Tips{}, err
	}
	for _, b := range branches {
		// A branch that was created from the trunk's upstream has not been pushed there.
		candidates[b.Branch] = slices.DeleteFunc(candidates[b.Branch], func(ref string) bool {
			name := shortOf(ref)
			return name != b.Branch && (name == trunk || name == b.Parent)
		})
		refs = append(append(refs, refstore.BranchPrefix+b.Branch), candidates[b.Branch]...)
		if b.Parent != "" {
			refs = append(refs, refstore.BranchPrefix+b.Parent)
		}
	}
	slices.Sort(refs)
	commits, err := repo.CommitsOf(ctx, slices.Compact(refs))
	if err != nil {
		return Tips{}, err
	}
	remotes, err := repo.Remotes(ctx)
	if err != nil {
		return Tips{}, err
	}
	out := Tips{trunk: trunk, branches: branches, commits: commits, published: make(map[string]string, len(branches)), remote: len(remotes) > 0}
	for branch, refs := range candidates {
		for _, ref := range refs {
			if commits[ref] != "" {
				out.published[branch] = ref
				break
			}
		}
	}
	return out, nil
}

// shortOf returns the name of a remote-tracking branch without that of its remote.
func shortOf(ref string) string {
	_, name, _ := strings.Cut(strings.TrimPrefix(ref, remotePrefix), "/")
	return name
}
