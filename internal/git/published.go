package git

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/copse-dev/copse/internal/git/refstore"
)

const remotePrefix = "refs/remotes/"

// CommitsOf returns the commits of refs, given by their full names, by name. It omits refs that do
// not exist, or are broken.
func (r *Repo) CommitsOf(ctx context.Context, refs []string) (map[string]string, error) {
	return read(r, func() (map[string]string, error) {
		if r.usesTable() {
			return r.tableCommits(ctx, refs)
		}
		tips := make(map[string]string, len(refs))
		for _, ref := range refs {
			found, err := r.files.Resolve(ref)
			if err != nil && !errors.Is(err, refstore.ErrBroken) {
				return nil, err
			}
			if err == nil && found.Hash != "" {
				tips[ref] = found.Hash
			}
		}
		return tips, nil
	})
}

// tableCommits implements CommitsOf for refs in tables.
func (r *Repo) tableCommits(ctx context.Context, refs []string) (map[string]string, error) {
	tips := make(map[string]string, len(refs))
	if len(refs) == 0 {
		return tips, nil
	}
	out, err := r.program.Run(ctx, append([]string{"for-each-ref", "--format=%(objectname) %(refname)"}, refs...)...)
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

// Published returns the full names of the remote-tracking refs to which a branch may have been
// pushed, the likeliest first: its upstream if that has the same name, the branch of that name at
// the push remote, and its upstream under another name. They may not exist.
func (r *Repo) Published(ctx context.Context, branch string) ([]string, error) {
	cfg, err := r.config(ctx)
	if err != nil {
		return nil, err
	}
	value := func(key string) string {
		last := ""
		for _, e := range cfg {
			if e.Key == key {
				last = e.Value
			}
		}
		return last
	}
	remote, merge := value("branch."+branch+".remote"), value("branch."+branch+".merge")
	var refs []string
	add := func(remote, name string) {
		if remote != "" && remote != "." && refstore.ValidName(remotePrefix+remote+"/"+name) {
			refs = append(refs, remotePrefix+remote+"/"+name)
		}
	}
	upstream, ok := strings.CutPrefix(merge, refstore.BranchPrefix)
	if ok && upstream == branch {
		add(remote, branch)
	}
	for _, at := range []string{value("branch." + branch + ".pushremote"), value("remote.pushdefault"), remote, "origin"} {
		if at != "" && at != "." {
			add(at, branch)
			break
		}
	}
	if ok && upstream != branch {
		add(remote, upstream)
	}
	return refs, nil
}
