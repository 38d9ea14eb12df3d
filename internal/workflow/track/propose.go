package track

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/copse-dev/copse/internal/branch/adopt"
	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/branch/twig/edit"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/git/history"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/session"
)

// Question says what to propose.
type Question struct {
	// Only are the branches to make proposals for; all of them if it is empty.
	Only []string
	// Offline looks for no pull requests.
	Offline bool

	// Recorded are the records of other tools about the branches, nil for none.
	Recorded *twig.State
	// Said are the parents that a person has named, by branch.
	Said map[string]string
}

// Answer contains the proposals.
type Answer struct {
	Proposals []adopt.Proposal
	// Unasked is the reason why copse did not look for pull requests, nil if it did.
	Unasked error
	// Notes name what copse did not examine.
	Notes []string
}

// maxSearched is the maximum number of branches whose changes copse searches for in a
// trunk, which starts git several times.
const maxSearched = 50

// Propose finds untracked data.
func (t *Tracker) Propose(ctx context.Context, q Question) (Answer, error) {
	state, err := t.State(ctx)
	if err != nil {
		return Answer{}, err
	}
	known := adopt.Known{State: state, Only: q.Only, Said: q.Said, Recorded: q.Recorded, Root: defaultRoot(state)}
	for _, r := range state.Roots {
		known.Roots = append(known.Roots, r.Branch)
	}
	if known.Root == "" {
		if known.Root, err = t.standard(ctx); err != nil {
			return Answer{}, err
		}
		known.Roots = append(known.Roots, known.Root)
	}
	if known.History, err = history.Unmerged(ctx, t.repo.Program(), known.Roots); err != nil {
		return Answer{}, session.Explain(err)
	}
	if aside := t.session.View().Aside(ctx); !slices.Contains(q.Only, aside) {
		delete(known.History.Tips, aside)
	}
	var a Answer
	known.Examined = adopt.Examined(known.History, slices.Concat(q.Only, slices.Sorted(maps.Keys(q.Said)), known.Roots))
	if left := len(known.History.Tips) - len(known.Examined); left > 0 && len(q.Only) == 0 {
		a.Notes = append(a.Notes, "copse examined only the branches with the newest commits, and left out "+cleantext.Count(left, "branch")+"; name a branch to examine it")
	}
	if known.Logs, known.Outside, err = t.remembered(ctx, known); err != nil {
		return Answer{}, session.Explain(err)
	}
	searched := 0
	known.Contained = func(branch string) bool {
		if searched++; searched > maxSearched {
			return false
		}
		ground, err := history.Contained(ctx, t.repo.Program(), known.History.Tips[branch], known.History.Tips[known.Root])
		return err == nil && ground != history.NotContained // what cannot be compared is not known to be merged
	}
	if !q.Offline {
		var pulls []pullrequest.PullRequest
		pulls, a.Unasked = t.pulls.Newest(ctx)
		known.PullRequests = bestLast(pulls)
	}
	a.Proposals = adopt.Propose(known)
	if searched > maxSearched {
		a.Notes = append(a.Notes, fmt.Sprintf("copse searched the trunk for the changes of %d branches only; a proposed parent can be merged already", maxSearched))
	}
	return a, nil
}

// remembered returns the reflogs of the examined branches, and which of the commits where they began
// no root has.
func (t *Tracker) remembered(ctx context.Context, k adopt.Known) (map[string]history.Log, map[string]bool, error) {
	read, err := history.Logs(ctx, t.repo.Program(), t.repo.CommonDir())
	if err != nil {
		return nil, nil, err
	}
	logs := make(map[string]history.Log, len(k.Examined))
	var began, roots []string
	trunks := distinct.Of(k.Roots...)
	for _, name := range k.Examined {
		log := read(name)
		logs[name] = log
		if began = append(began, log.Onto...); log.Commit != "" {
			began = append(began, log.Commit)
		}
		if trunks.Has(name) {
			roots = append(roots, name)
		}
	}
	outside, err := history.Outside(ctx, t.repo.Program(), began, roots)
	return logs, outside, err
}

// Track proposes untracked data of one branch and saves it: under the parent, if one is named.
func (t *Tracker) Track(ctx context.Context, name, parent string) (Answer, error) {
	q := Question{Only: []string{name}}
	if parent != "" {
		state, err := t.State(ctx)
		if err != nil {
			return Answer{}, err
		}
		now, declared := state.Parent(name)
		if declared && now != parent {
			return Answer{}, &StackedError{Branch: name, Parent: now}
		}
		if !declared {
			q.Said = map[string]string{name: parent}
		}
	}
	a, err := t.Propose(ctx, q)
	if err != nil {
		return a, err
	}
	if len(a.Proposals) == 0 && len(q.Said) > 0 { // a root, or gone from git
		a.Proposals = []adopt.Proposal{{Branch: name, Parent: &adopt.Fact{Value: parent, Evidence: adopt.Said}}}
	}
	_, err = t.Apply(ctx, a.Proposals)
	return a, err
}

// Apply saves proposals, and returns what it wrote: data that was declared in the meantime stays.
func (t *Tracker) Apply(ctx context.Context, found []adopt.Proposal) (written []adopt.Proposal, err error) {
	if len(found) == 0 {
		return nil, nil
	}
	_, err = t.Change(ctx, func(d *edit.Draft) error {
		written = nil
		for _, p := range found {
			one, err := apply(d, p)
			if err != nil {
				return err
			}
			if one.Parent != nil || one.Jira != nil || one.PR != nil {
				written = append(written, one)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return written, nil
}

// apply writes what of a proposal is not declared yet, and returns that.
func apply(d *edit.Draft, p adopt.Proposal) (written adopt.Proposal, err error) {
	written.Branch = p.Branch
	if p.Parent != nil && len(d.Parents(p.Branch)) == 0 {
		if err := d.Depend(p.Branch, p.Parent.Value); err != nil {
			return written, err
		}
		written.Parent = p.Parent
	}
	linked := d.Before().Branches[p.Branch]
	var add edit.Links
	if p.Jira != nil && linked.JiraIssue == "" {
		add.Jira, written.Jira = p.Jira.Value, p.Jira
	}
	if p.PR != nil && linked.GitHubPR == 0 {
		n, err := strconv.ParseUint(p.PR.Value, 10, 32)
		if err != nil {
			return written, fmt.Errorf("pull request of %q: %w", p.Branch, err)
		}
		add.PR, written.PR = uint32(n), p.PR
	}
	if add == (edit.Links{}) {
		return written, nil
	}
	return written, d.Link(p.Branch, add)
}

// bestLast orders pull requests so that an open one, then the newest one, counts.
func bestLast(pulls []pullrequest.PullRequest) []adopt.PullRequest {
	isOpen := func(pr pullrequest.PullRequest) bool { return pr.State == string(pullrequest.Open) }
	slices.SortStableFunc(pulls, func(a, b pullrequest.PullRequest) int {
		switch {
		case isOpen(a) == isOpen(b):
			return cmp.Compare(a.Number, b.Number)
		case isOpen(a):
			return 1
		}
		return -1
	})
	var all []adopt.PullRequest
	for _, pr := range pulls {
		all = append(all, adopt.PullRequest{
			Number: uint32(pr.Number), Head: pr.Head, Base: pr.Base, HeadCommit: pr.HeadSHA, Open: isOpen(pr), Merged: pr.Merged,
		})
	}
	return all
}
