// Package reflog infers the parents of branches from git's reflogs: where a branch was created, and
// what it was last rebased onto. It is the last resort for branches without a recorded parent.
//
// A branch without a reflog, or whose reflog names a commit and no branch, has no parent here.
// Reflog entries expire after some months, and disappear with their branch.
package reflog

import (
	"context"
	"path/filepath"
	"strings"
	"sync"

	"github.com/copse-dev/copse/internal/branch/source"
	"github.com/copse-dev/copse/internal/git/history"
	"github.com/copse-dev/copse/internal/git/refstore"
	"github.com/copse-dev/copse/internal/git/reftable"
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
	if reftable.Used(r.CommonDir()) {
		return []string{reftable.Dir(r.CommonDir())}
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
	l := newLogs(newFiles(r.CommonDir(), trunk), trunk, names, remotes)
	if reftable.Used(r.CommonDir()) {
		if l.journal, err = readTables(ctx, r, trunk); err != nil {
			return source.Record{}, err
		}
	}
	record := source.Record{Inferred: true}
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
		if parent := l.parent(name); parent != name && source.Valid(parent) {
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
	// checkouts returns the checkouts in the reflogs of HEAD of all worktrees.
	checkouts() checkouts
}

// checkouts are the branches at HEAD before it changed to another branch at a commit. Of several, the
// first counts.
type checkouts map[checkout]string

type checkout struct{ to, commit string }

// add adds the checkout that the reason of an entry of a reflog describes, if it does.
func (c checkouts) add(commit, why string) {
	names, ok := strings.CutPrefix(why, "checkout: moving from ")
	from, to, both := strings.Cut(names, " to ")
	if at := (checkout{to, commit}); ok && both && c[at] == "" {
		c[at] = from
	}
}

// logs infer parents from the reflogs of one repository. They read each reflog once, however many
// branches there are.
type logs struct {
	journal
	trunk   string
	all     []string // the branches to examine
	remotes map[string]bool
	// renamed returns the branches that once had another name, by that name.
	renamed func() map[string][]string
}

func newLogs(from journal, trunk string, all, remotes []string) *logs {
	l := &logs{journal: from, trunk: trunk, all: all, remotes: make(map[string]bool, len(remotes))}
	for _, remote := range remotes {
		l.remotes[remote] = true
	}
	l.renamed = sync.OnceValue(l.oldNames)
	return l
}

// oldNames returns the branches by their earlier names.
func (l *logs) oldNames() map[string][]string {
	renamed := map[string][]string{}
	for _, name := range append([]string{l.trunk}, l.all...) {
		for _, old := range l.of(name).Names {
			if now := renamed[old]; len(now) == 0 || now[len(now)-1] != name {
				renamed[old] = append(now, name)
			}
		}
	}
	return renamed
}

// parent returns the branch on which another was created, or onto which it was rebased since, "" if
// unknown.
func (l *logs) parent(name string) string {
	log := l.of(name)
	for _, onto := range log.Onto {
		if !log.Held[onto] { // not a rebase within the branch
			return l.holder(name, onto)
		}
	}
	if from := l.branch(name, log.From); from != "" {
		return from
	}
	// The reflog of the branch has the branch's first name.
	was := name
	if n := len(log.Names); n > 0 {
		was = log.Names[n-1]
	}
	if from := l.branch(name, l.checkedOut(was, log.Commit)); from != "" {
		return from
	}
	if log.Commit == "" {
		return ""
	}
	return l.holder(name, log.Commit)
}

// holder returns the trunk if it had a commit as its tip, else the one branch that had it.
func (l *logs) holder(name, commit string) string {
	if _, held := l.of(l.trunk).Held[commit]; held || l.atRemote(commit) {
		return l.trunk
	}
	return history.Holder(name, commit, l.all, l.of)
}

// branch returns the branch that a text in a reflog means, "" if it means none: the branch of a
// remote means the local one, and a renamed branch its present name. It may be deleted.
func (l *logs) branch(name, from string) string {
	from = strings.TrimPrefix(from, refstore.BranchPrefix)
	switch {
	case from == "" || !source.Valid(from) || isCommit(from):
		return ""
	case from == l.trunk || l.exists(from):
		return from
	}
	if remote, short, ok := strings.Cut(from, "/"); ok && l.remotes[remote] {
		return short
	}
	for _, other := range l.renamed()[from] {
		if other != name {
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
	return l.checkouts()[checkout{name, commit}]
}
