package github

import (
	"fmt"
	"slices"
	"strings"
)

// Values of Summary.Checks.
const (
	ChecksPassing = "passing"
	ChecksFailing = "failing"
	ChecksPending = "pending"
	ChecksNone    = "none"
	// ChecksUnknown is for checks of which not all could be read, and none of
	// those that were is failing or pending.
	ChecksUnknown = "unknown"
)

// Values of Summary.ReviewDecision.
const (
	Approved         = "approved"
	ChangesRequested = "changes_requested"
	ReviewRequired   = "review_required"
	ReviewNone       = "none"
)

// maxNamed bounds the names in one blocker.
const maxNamed = 5

// Summary is what reviews and checks come to.
type Summary struct {
	Checks  string   `json:"checks"`
	Failing []string `json:"failing"` // names of the failing checks
	// ReviewDecision is drawn from the reviews: review_required says that
	// someone was asked for one, whether or not a rule demands it.
	ReviewDecision string `json:"review_decision"`
	// Blockers say what keeps it from being merged, as far as GitHub tells.
	Blockers []string `json:"blockers"`
}

// Summarize draws the summary from a pull request, its reviews, the oldest
// first, and its checks. complete says that these are all checks.
func Summarize(pr PullRequest, reviews []Review, checks []Check, complete bool) Summary {
	s := Summary{Failing: []string{}, Blockers: []string{}}
	pending := 0
	for _, c := range checks {
		switch c.verdict() {
		case failing:
			if !slices.Contains(s.Failing, c.Name) {
				s.Failing = append(s.Failing, c.Name)
			}
		case pendingVerdict:
			pending++
		}
	}
	switch {
	case len(s.Failing) > 0:
		s.Checks = ChecksFailing
	case pending > 0:
		s.Checks = ChecksPending
	case !complete:
		s.Checks = ChecksUnknown
	case len(checks) > 0:
		s.Checks = ChecksPassing
	default:
		s.Checks = ChecksNone
	}

	var demanding []string
	approvals := 0
	for _, i := range countingReviews(reviews) {
		switch reviews[i].State {
		case stateApproved:
			approvals++
		case stateChanges:
			demanding = append(demanding, reviews[i].Author)
		}
	}
	switch {
	case len(demanding) > 0:
		s.ReviewDecision = ChangesRequested
	case approvals > 0:
		s.ReviewDecision = Approved
	case len(pr.Requested) > 0:
		s.ReviewDecision = ReviewRequired
	default:
		s.ReviewDecision = ReviewNone
	}

	block := func(format string, args ...any) { s.Blockers = append(s.Blockers, fmt.Sprintf(format, args...)) }
	switch {
	case pr.Merged:
		block("already merged")
		return s
	case pr.State == string(Closed):
		block("closed without being merged")
		return s
	}
	if pr.Draft {
		block("it is a draft")
	}
	if pr.Mergeable != nil && !*pr.Mergeable {
		block("it conflicts with %s", pr.Base)
	}
	if pr.MergeState == "behind" {
		block("it is behind %s and must be brought up to date", pr.Base)
	}
	if n := len(s.Failing); n > 0 {
		block("%s failing: %s", count(n, "check"), named(s.Failing))
	}
	if pending > 0 {
		block("%s pending", count(pending, "check"))
	}
	switch s.ReviewDecision {
	case ChangesRequested:
		block("changes requested by %s", named(demanding))
	case ReviewRequired:
		block("waiting for the review of %s", named(pr.Requested))
	}
	if pr.MergeState == "blocked" && len(s.Blockers) == 0 {
		block("the protection rules of %s are not met", pr.Base)
	}
	return s
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func named(names []string) string {
	if more := len(names) - maxNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), more)
	}
	return strings.Join(names, ", ")
}

// verdict is what a check says about merging; the order is that of Status.
type verdict int

const (
	failing verdict = iota
	pendingVerdict
	passing
)

// verdict is pending for what has not come to an end, for a run that GitHub
// gave up waiting for (stale), and for a conclusion that is not known here.
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

// States of a review that count.
const (
	stateApproved  = "APPROVED"
	stateChanges   = "CHANGES_REQUESTED"
	stateDismissed = "DISMISSED"
)

// countingReviews returns, for each author, the index of the review that
// counts, the latest first. A comment does not undo an approval; dismissing it
// does.
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
