// Package reflog infers the parents of branches from git's reflogs: where a branch was created, and
// what it was last rebased onto. It is the last resort for branches without a recorded parent.
//
// A branch without a reflog, or whose reflog names a commit and no branch, has no parent here.
// Reflog entries expire after some months, and disappear with their branch.
package reflog

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/branch/source"
	"github.com/copse-dev/copse/internal/git/history"
	"github.com/copse-dev/copse/internal/git/refstore"
)

// Name is the name of the source.
const Name = "reflog"

const (
	// maxBranches is the maximum number of branches to examine.
	maxBranches = 1000
	// maxWorktrees is the maximum number of worktrees whose HEAD reflogs are read.
	maxWorktrees = 200
)

// Reader reads the logs.
type Reader struct{}

// Name returns the name of the source.
func (Reader) Name() string { return Name }

// Files returns the reflogs of the examined branches. The reflog of HEAD changes with each commit
// and is left out: git writes it together with the branch's reflog.
func (Reader) Files(r source.Repo) []string {
	if inTables(r.CommonDir()) {
		return []string{tableDir(r.CommonDir())}
	}
	var files []string
	for _, name := range asked(r) {
		files = append(files, filepath.Join(r.CommonDir(), "logs", "refs", "heads", filepath.FromSlash(name)))
	}
	return files
}

func asked(r source.Repo) []string {
	names := r.Unrecorded()
	return names[:min(len(names), maxBranches)]
}

// Read infers the parents of the branches that no other source knows.
func (Reader) Read(ctx context.Context, r source.Repo) (source.Record, error) {
	names := asked(r)
	if len(names) == 0 {
		return source.Record{}, nil
	}
	trunk, err := r.DefaultBranch(ctx)
	if err != nil {
		return source.Record{}, err
	}
	remotes, err := r.Remotes(ctx)
	if err != nil {
		return source.Record{}, err
	}
	l := logs{journal: &files{dir: r.CommonDir(), trunk: trunk, known: map[string]history.Log{}}, trunk: trunk, remotes: remotes}
	if inTables(r.CommonDir()) {
		if l.journal, err = readTables(ctx, r, trunk); err != nil {
			return source.Record{}, err
		}
	}
	var record source.Record
	if source.Valid(trunk) {
		record.Trunks = []string{trunk}
	}
	if more := len(r.Unrecorded()) - len(names); more > 0 {
		record.Notes = append(record.Notes, "copse examines only the first 1000 branches without a record")
	}
	for _, name := range names {
		if ctx.Err() != nil {
			return record, ctx.Err()
		}
		if l.of(name).Damaged {
			record.Notes = append(record.Notes, "the log of "+name+" is damaged")
		}
		if parent := l.parent(name, names); parent != name && source.Valid(parent) {
			record.Edges = append(record.Edges, source.Edge{Child: name, Parent: parent})
		}
	}
	return record, nil
}

// journal gives access to the reflogs of one repository.
type journal interface {
	// of returns the reflog of a branch.
	of(branch string) history.Log
	// exists reports whether there is a local branch of a name, and isTag whether there is a tag.
	exists(branch string) bool
	isTag(name string) bool
	// atRemote reports whether the trunk of origin had a commit as its tip.
	atRemote(commit string) bool
	// checkouts returns the entries of the reflogs of HEAD of all worktrees.
	checkouts() []checkout
}

// checkout is an entry in a reflog of HEAD.
type checkout struct{ from, to, commit string }

// checkoutOf returns the checkout that the reason of an entry describes, false for another one.
func checkoutOf(commit, why string) (checkout, bool) {
	names, ok := strings.CutPrefix(why, "checkout: moving from ")
	from, to, both := strings.Cut(names, " to ")
	return checkout{from, to, commit}, ok && both
}

// logs infer parents from the reflogs of one repository.
type logs struct {
	journal
	trunk   string
	remotes []string
}

// parent returns the branch on which another was created, or onto which it was rebased since, "" if
// unknown.
func (l *logs) parent(name string, all []string) string {
	log := l.of(name)
	for _, onto := range log.Onto {
		if !log.Held[onto] { // not a rebase within the branch
			return l.holder(name, onto, all)
		}
	}
	if from := l.branch(name, log.From, all); from != "" {
		return from
	}
	// The reflog of the branch has the branch's first name.
	was := name
	if n := len(log.Names); n > 0 {
		was = log.Names[n-1]
	}
	if from := l.branch(name, l.checkedOut(was, log.Commit), all); from != "" {
		return from
	}
	if log.Commit == "" {
		return ""
	}
	return l.holder(name, log.Commit, all)
}

// holder returns the trunk if it had a commit as its tip, else the one branch that had it.
func (l *logs) holder(name, commit string, all []string) string {
	if _, held := l.of(l.trunk).Held[commit]; held || l.atRemote(commit) {
		return l.trunk
	}
	var found []string
	for _, other := range all {
		log := l.of(other)
		if _, held := log.Held[commit]; held && other != name && log.Commit != commit {
			found = append(found, other)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return ""
}

// branch returns the branch that a text in a reflog means, "" if it means none: the branch of a
// remote means the local one, and a renamed branch its present name. It may be deleted.
func (l *logs) branch(name, from string, all []string) string {
	from = strings.TrimPrefix(from, refstore.BranchPrefix)
	switch {
	case from == "" || !source.Valid(from) || isCommit(from):
		return ""
	case from == l.trunk || l.exists(from):
		return from
	}
	if remote, short, ok := strings.Cut(from, "/"); ok && slices.Contains(l.remotes, remote) {
		return short
	}
	for _, other := range append([]string{l.trunk}, all...) {
		if other != name && slices.Contains(l.of(other).Names, from) {
			return other
		}
	}
	if l.isTag(from) {
		return ""
	}
	return from
}

// isCommit reports whether a text is the name of a commit rather than that of a branch.
func isCommit(s string) bool {
	return len(s) >= 7 && len(s) <= 64 && strings.Trim(s, "0123456789abcdef") == ""
}

// checkedOut returns the branch at HEAD when another branch was created from HEAD.
func (l *logs) checkedOut(name, commit string) string {
	if commit == "" {
		return ""
	}
	for _, c := range l.checkouts() {
		if c.to == name && c.commit == commit {
			return c.from
		}
	}
	return ""
}
