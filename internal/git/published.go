package git

import (
	"context"
	"strings"

	"github.com/copse-dev/copse/internal/git/refstore"
	"github.com/copse-dev/copse/internal/git/reftable"
)

const remotePrefix = "refs/remotes/"

// CommitsOf returns the commits of refs, given by their full names, by name. It omits refs that do
// not exist, or are broken.
func (r *Repo) CommitsOf(ctx context.Context, refs []string) (map[string]string, error) {
	return read(r, func() (map[string]string, error) {
		if reftable.Used(r.at.CommonDir) {
			return r.tables.Hashes(ctx, refs)
		}
		return r.files.Hashes(refs)
	})
}

// Published returns by branch the full names of the remote-tracking refs to which each branch may
// have been pushed, the likeliest first: its upstream if that has the same name, the branch of that
// name at the push remote, and its upstream under another name. They may not exist.
func (r *Repo) Published(ctx context.Context, branches []string) (map[string][]string, error) {
	cfg, err := r.config(ctx)
	if err != nil {
		return nil, err
	}
	wanted := make(map[string]string, 3*len(branches)+1)
	const pushDefault = "remote.pushdefault"
	wanted[pushDefault] = ""
	for _, branch := range branches {
		for _, name := range []string{".remote", ".merge", ".pushremote"} {
			wanted["branch."+branch+name] = ""
		}
	}
	for _, e := range cfg {
		if _, ok := wanted[e.Key]; ok {
			wanted[e.Key] = e.Value // the last one applies
		}
	}
	published := make(map[string][]string, len(branches))
	for _, branch := range branches {
		at := "branch." + branch
		published[branch] = refsOf(branch, wanted[at+".remote"], wanted[at+".merge"], wanted[at+".pushremote"], wanted[pushDefault])
	}
	return published, nil
}

// refsOf returns the refs of a branch with these settings.
func refsOf(branch, remote, merge, pushRemote, pushDefault string) []string {
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
	for _, at := range []string{pushRemote, pushDefault, remote, "origin"} {
		if at != "" && at != "." {
			add(at, branch)
			break
		}
	}
	if ok && upstream != branch {
		add(remote, upstream)
	}
	return refs
}
