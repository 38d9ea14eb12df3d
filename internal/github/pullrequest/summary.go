package pullrequest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/distinct"
)

// Values of Summary.Checks.
const (
	ChecksPassing = "passing"
	ChecksFailing = "failing"
	ChecksPending = "pending"
	ChecksNone    = "none"
	// ChecksUnknown means that not all checks could be read, that none of the others is failing or
	// pending, and that GitHub gave no verdict on all of them.
	ChecksUnknown = "unknown"
)

// Values of Summary.ReviewDecision.
const (
	Approved         = "approved"
	ChangesRequested = "changes_requested"
	ReviewRequired   = "review_required"
	ReviewNone       = "none"
)

// GitHub's verdicts on a merge.
const (
	mergeClean    = "clean"
	mergeHooks    = "has_hooks"
	mergeUnstable = "unstable"
	mergeBehind   = "behind"
	mergeBlocked  = "blocked"
	mergeDirty    = "dirty"
)

// maxNamed limits the names in one blocker.
const maxNamed = 5

// Summary summarizes reviews and checks.
type Summary struct {
	Checks  string   `json:"checks"`
	Failing []string `json:"failing"` // names of the failing checks, of those that were read
	// UnreadChecks is the number of checks that were not read, because there are too many. They are
	// part of Checks, but are neither listed nor named.
	UnreadChecks int `json:"unread_checks,omitempty"`
	// ReviewDecision is GitHub's own if there is one, or else computed from the reviews.
	ReviewDecision string `json:"review_decision"`
	// MergeState is GitHub's verdict on the merge; see PullRequest.MergeState.
	MergeState string `json:"merge_state,omitempty"`
	// Blockers explain GitHub's verdict and add nothing to it: they are empty if GitHub would merge
	// and all checks pass, and while GitHub does not know.
	Blockers []string `json:"blockers"`
}

// Evidence is the input of a summary.
type Evidence struct {
	PullRequest PullRequest
	Reviews     []Review // oldest first
	Checks      []Check
	// Complete means that these are all checks.
	Complete bool
	// Rollup is GitHub's verdict on all checks, as in Summary.Checks; empty if it is unknown. It
	// counts if Checks are not complete.
	Rollup string
	// Unread is the number of checks that were not read.
	Unread int
	// Threads are the unresolved threads.
	Threads []Thread
}

// Summarize computes the summary.
func Summarize(e Evidence) Summary {
	s := Summary{Failing: []string{}, Blockers: []string{}, MergeState: e.PullRequest.MergeState, UnreadChecks: e.Unread}
	pending := 0
	s.Failing = append(s.Failing, e.named(failing)...)
	for _, c := range e.Checks {
		if c.verdict() == pendingVerdict {
			pending++
		}
	}
	switch {
	case len(s.Failing) > 0 || e.failsUnread():
		s.Checks = ChecksFailing
	case pending > 0:
		s.Checks = ChecksPending
	case !e.Complete:
		s.Checks = cmp.Or(e.Rollup, ChecksUnknown)
	case len(e.Checks) > 0:
		s.Checks = ChecksPassing
	default:
		s.Checks = ChecksNone
	}
	votes := count(e.Reviews)
	s.ReviewDecision = votes.decision(e.PullRequest)
	s.Blockers = append(s.Blockers, e.blockers(votes)...)
	return s
}

// failsUnread reports whether checks that were not read are failing: GitHub reports failing checks,
// and none of those that were read is one.
func (e Evidence) failsUnread() bool {
	return !e.Complete && e.Rollup == ChecksFailing && len(e.named(failing)) == 0
}

// votes are the result of the effective reviews.
type votes struct {
	approvals int
	demanding []string // who requested changes, the latest first
}

func count(reviews []Review) votes {
	var v votes
	for _, i := range countingReviews(reviews) {
		switch reviews[i].State {
		case stateApproved:
			v.approvals++
		case stateChanges:
			v.demanding = append(v.demanding, reviews[i].Author)
		}
	}
	return v
}

func (v votes) decision(pr PullRequest) string {
	switch {
	case pr.Decision == "REVIEW_REQUIRED":
		return ReviewRequired
	case pr.Decision != "":
		return strings.ToLower(pr.Decision)
	case len(v.demanding) > 0:
		return ChangesRequested
	case v.approvals > 0:
		return Approved
	case !pr.Decided && len(pr.RequestedReviewers)+len(pr.RequestedTeams) > 0 && !pr.wouldMerge():
		return ReviewRequired
	}
	return ReviewNone
}

// wouldMerge reports whether GitHub would merge the pull request now.
func (p PullRequest) wouldMerge() bool {
	return p.MergeState == mergeClean || p.MergeState == mergeHooks || p.MergeState == mergeUnstable
}

// blockers explain GitHub's verdict.
func (e Evidence) blockers(v votes) []string {
	pr := e.PullRequest
	switch {
	case pr.Merged:
		return []string{"already merged"}
	case pr.State == string(Closed):
		return []string{"closed without being merged"}
	}
	var found []string
	block := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	if pr.Draft {
		block("it is a draft")
	}
	if pr.MergeState == mergeDirty || pr.Mergeable != nil && !*pr.Mergeable {
		block("it conflicts with %s", pr.Base)
	}
	switch pr.MergeState {
	case mergeBehind:
		block("it is behind %s and must be updated", pr.Base)
	case mergeUnstable:
		bad, open := e.named(failing), e.named(pendingVerdict)
		if len(bad) > 0 {
			block("%s failing, which no rule requires: %s", cleantext.Count(len(bad), "check"), named(bad))
		}
		if e.failsUnread() {
			block("checks that were not read are failing, which no rule requires")
		}
		if len(open) > 0 {
			block("%s pending, which no rule requires: %s", cleantext.Count(len(open), "check"), named(open))
		}
	case mergeBlocked:
		rules := e.unmet(v)
		found = append(found, rules...)
		if len(found) == 0 {
			block("%s", e.unexplained())
		}
	}
	return found
}

// unmet returns the rules of the base that are known to be unmet.
func (e Evidence) unmet(v votes) []string {
	pr := e.PullRequest
	var found []string
	block := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	if bad := e.required(failing); len(bad) > 0 {
		block("%s failing: %s", cleantext.Count(len(bad), "required check"), named(bad))
	}
	if open := e.required(pendingVerdict); len(open) > 0 {
		block("%s pending: %s", cleantext.Count(len(open), "required check"), named(open))
	}
	if absent := e.absent(); len(absent) > 0 {
		block("%s not reported yet: %s", cleantext.Count(len(absent), "required check"), named(absent))
	}
	asked := slices.Clone(pr.RequestedReviewers)
	for _, team := range pr.RequestedTeams {
		asked = append(asked, "team "+team)
	}
	demands := pr.Rules.Approvals > 0
	switch {
	case pr.Decision == stateChanges, !pr.Decided && demands && len(v.demanding) > 0:
		if len(v.demanding) > 0 {
			block("changes requested by %s", named(v.demanding))
		} else {
			block("changes requested")
		}
	case pr.Decision == "REVIEW_REQUIRED", !pr.Decided && v.approvals < pr.Rules.Approvals:
		text := pr.Rules.missing(v.approvals)
		if len(asked) > 0 {
			text += ", asked: " + named(asked)
		}
		block("%s", text)
	}
	if pr.Rules.Resolve && len(e.Threads) > 0 {
		block("%s, and %s requires them to be resolved", cleantext.Count(len(e.Threads), "unresolved review thread"), pr.Base)
	}
	return found
}

// missing describes the reviews that are missing, if there are some approvals. GitHub can ask for
// more than Approvals: the approval of a code owner, or of somebody who did not push last.
func (r Rules) missing(approvals int) string {
	text := "a review is required"
	switch {
	case approvals < r.Approvals:
		text = fmt.Sprintf("%d of %s", approvals, cleantext.Count(r.Approvals, "required approval"))
	case approvals > 0:
		text = "a further review is required"
	}
	if r.CodeOwners {
		text += ", code owners must approve"
	}
	return text
}

// Unexplained reports whether GitHub blocks the merge, and nothing here explains it. The rules of
// the base may.
func (e Evidence) Unexplained() bool {
	return e.PullRequest.MergeState == mergeBlocked && !e.PullRequest.Draft && len(e.unmet(count(e.Reviews))) == 0
}

// unexplained returns the blocker for a reason that GitHub does not give.
func (e Evidence) unexplained() string {
	p := e.PullRequest
	text := fmt.Sprintf("GitHub reports that the rules of %s block it, but not which ones", p.Base)
	demands := p.Rules.Other
	if p.Rules.CodeOwners {
		demands = append(slices.Clone(demands), "the approval of code owners")
	}
	if count(e.Reviews).approvals < p.Rules.Approvals {
		demands = append(slices.Clone(demands), cleantext.Count(p.Rules.Approvals, "approval"))
	}
	if len(demands) > 0 {
		text += "; they require " + named(demands)
	}
	if e.failsUnread() {
		text += "; checks that were not read are failing"
	}
	return text
}

// named returns the names of the checks with a verdict, each once.
func (e Evidence) named(v verdict) []string {
	var names distinct.List[string]
	for _, c := range e.Checks {
		if c.verdict() == v {
			names.Add(c.Name)
		}
	}
	return names.Values()
}

// required returns the names of the checks with a verdict that a rule requires.
func (e Evidence) required(v verdict) []string {
	rules := distinct.Of(e.PullRequest.Rules.Checks...)
	var names distinct.List[string]
	for _, c := range e.Checks {
		if c.verdict() == v && (c.Required || rules.Has(c.Name)) {
			names.Add(c.Name)
		}
	}
	return names.Values()
}

// absent returns the names of the required checks that have not been reported.
func (e Evidence) absent() []string {
	if !e.Complete {
		return nil
	}
	var reported distinct.List[string]
	for _, c := range e.Checks {
		reported.Add(c.Name)
	}
	var names []string
	for _, name := range e.PullRequest.Rules.Checks {
		if !reported.Has(name) {
			names = append(names, name)
		}
	}
	return names
}

func named(names []string) string {
	if more := len(names) - maxNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), more)
	}
	return strings.Join(names, ", ")
}

// verdict is the meaning of a check for the merge; the order is that of Status.
type verdict int

const (
	failing verdict = iota
	pendingVerdict
	passing
)

// Failing reports whether the check has ended and did not pass.
func (c Check) Failing() bool { return c.verdict() == failing }

// Passed reports whether the check has ended and does not prevent a merge.
func (c Check) Passed() bool { return c.verdict() == passing }

// verdict returns pending for a check that has not ended, for a run that GitHub gave up waiting for
// (stale), and for an unknown conclusion.
func (c Check) verdict() verdict {
	if c.Status != "completed" || c.Conclusion == nil {
		return pendingVerdict
	}
	switch *c.Conclusion {
	case "success", "neutral", "skipped":
		return passing
	case "failure", "error", "timed_out", "cancelled", "action_required", "startup_failure":
		return failing
	}
	return pendingVerdict
}

// States of effective reviews.
const (
	stateApproved  = "APPROVED"
	stateChanges   = "CHANGES_REQUESTED"
	stateDismissed = "DISMISSED"
)

// countingReviews returns, for each author, the index of the effective review, the latest first. A
// comment does not undo an approval; dismissing it does.
func countingReviews(reviews []Review) []int {
	latest := map[string]int{}
	for i, r := range reviews {
		j, seen := latest[r.Author]
		if !seen || decides(r) || !decides(reviews[j]) {
			latest[r.Author] = i
		}
	}
	counting := make([]int, 0, len(latest))
	for _, i := range latest {
		counting = append(counting, i)
	}
	slices.SortFunc(counting, func(a, b int) int { return b - a })
	return counting
}

func decides(r Review) bool {
	return r.State == stateApproved || r.State == stateChanges || r.State == stateDismissed
}
