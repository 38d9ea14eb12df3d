package github_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/github"
)

func done(name, conclusion string) github.Check {
	return github.Check{Name: name, Status: "completed", Conclusion: &conclusion}
}

func review(author, state string) github.Review { return github.Review{Author: author, State: state} }

func TestSummarize(t *testing.T) {
	t.Parallel()
	open := github.PullRequest{State: "open", Base: "main"}
	with := func(change func(*github.PullRequest)) github.PullRequest {
		pr := open
		change(&pr)
		return pr
	}
	type want struct {
		checks, review    string
		failing, blockers []string
	}
	for _, tt := range []struct {
		name       string
		pr         github.PullRequest
		reviews    []github.Review
		checks     []github.Check
		incomplete bool
		want       want
	}{
		{name: "nothing", pr: open, want: want{checks: "none", review: "none"}},
		{name: "nothing known", pr: open, incomplete: true, want: want{checks: "unknown", review: "none"}},

		{name: "success", pr: open, checks: []github.Check{done("a", "success")}, want: want{checks: "passing", review: "none"}},
		{name: "neutral and skipped pass", pr: open, checks: []github.Check{done("a", "neutral"), done("b", "skipped")}, want: want{checks: "passing", review: "none"}},
		{name: "success, but not all known", pr: open, checks: []github.Check{done("a", "success")}, incomplete: true, want: want{checks: "unknown", review: "none"}},
		{name: "each way to fail", pr: open,
			checks: []github.Check{done("a", "failure"), done("b", "timed_out"), done("c", "cancelled"), done("d", "action_required"), done("e", "startup_failure"), done("f", "error"), done("ok", "success")},
			want:   want{checks: "failing", review: "none", failing: []string{"a", "b", "c", "d", "e", "f"}, blockers: []string{"6 checks failing: a, b, c, d, e and 1 more"}}},
		{name: "as many failing as are named", pr: open,
			checks: []github.Check{done("a", "failure"), done("b", "failure"), done("c", "failure"), done("d", "failure"), done("e", "failure")},
			want:   want{checks: "failing", review: "none", failing: []string{"a", "b", "c", "d", "e"}, blockers: []string{"5 checks failing: a, b, c, d, e"}}},
		{name: "failing, though not all known", pr: open, checks: []github.Check{done("a", "failure")}, incomplete: true,
			want: want{checks: "failing", review: "none", failing: []string{"a"}, blockers: []string{"1 check failing: a"}}},
		{name: "one name failing twice", pr: open, checks: []github.Check{done("a", "failure"), done("a", "failure")},
			want: want{checks: "failing", review: "none", failing: []string{"a"}, blockers: []string{"1 check failing: a"}}},
		{name: "pending", pr: open,
			checks: []github.Check{{Name: "a", Status: "queued"}, {Name: "b", Status: "in_progress"}, done("c", "stale"), {Name: "d", Status: "completed"}, done("e", "new_in_2031"), done("f", "success")},
			want:   want{checks: "pending", review: "none", blockers: []string{"5 checks pending"}}},
		{name: "pending with an early conclusion", pr: open, checks: []github.Check{{Name: "a", Status: "in_progress", Conclusion: new("success")}},
			want: want{checks: "pending", review: "none", blockers: []string{"1 check pending"}}},
		{name: "failing and pending", pr: open, checks: []github.Check{done("a", "failure"), {Name: "b", Status: "queued"}},
			want: want{checks: "failing", review: "none", failing: []string{"a"}, blockers: []string{"1 check failing: a", "1 check pending"}}},

		{name: "approved", pr: open, reviews: []github.Review{review("ann", "APPROVED")}, want: want{checks: "none", review: "approved"}},
		{name: "a comment does not undo an approval", pr: open, reviews: []github.Review{review("ann", "APPROVED"), review("ann", "COMMENTED")}, want: want{checks: "none", review: "approved"}},
		{name: "nor does an unfinished review", pr: open, reviews: []github.Review{review("ann", "APPROVED"), review("ann", "PENDING")}, want: want{checks: "none", review: "approved"}},
		{name: "dismissing does", pr: open, reviews: []github.Review{review("ann", "DISMISSED"), review("ann", "COMMENTED")}, want: want{checks: "none", review: "none"}},
		{name: "dismissing the later one does", pr: open, reviews: []github.Review{review("ann", "APPROVED"), review("ann", "DISMISSED")}, want: want{checks: "none", review: "none"}},
		{name: "changes requested", pr: open, reviews: []github.Review{review("ann", "APPROVED"), review("bob", "CHANGES_REQUESTED"), review("bob", "COMMENTED")},
			want: want{checks: "none", review: "changes_requested", blockers: []string{"changes requested by bob"}}},
		{name: "changes made", pr: open, reviews: []github.Review{review("bob", "CHANGES_REQUESTED"), review("bob", "APPROVED")}, want: want{checks: "none", review: "approved"}},
		{name: "changes requested by two, the latest first", pr: open, reviews: []github.Review{review("ann", "CHANGES_REQUESTED"), review("bob", "CHANGES_REQUESTED")},
			want: want{checks: "none", review: "changes_requested", blockers: []string{"changes requested by bob, ann"}}},
		{name: "only comments", pr: open, reviews: []github.Review{review("ann", "COMMENTED"), review("ghost", "PENDING")}, want: want{checks: "none", review: "none"}},
		{name: "review requested", pr: with(func(p *github.PullRequest) { p.Requested = []string{"ann", "team core"} }),
			want: want{checks: "none", review: "review_required", blockers: []string{"waiting for the review of ann, team core"}}},
		{name: "requested of one, approved by another", pr: with(func(p *github.PullRequest) { p.Requested = []string{"ann"} }), reviews: []github.Review{review("bob", "APPROVED")},
			want: want{checks: "none", review: "approved"}},

		{name: "draft", pr: with(func(p *github.PullRequest) { p.Draft = true }), want: want{checks: "none", review: "none", blockers: []string{"it is a draft"}}},
		{name: "conflicts", pr: with(func(p *github.PullRequest) { p.Mergeable = new(false) }), want: want{checks: "none", review: "none", blockers: []string{"it conflicts with main"}}},
		{name: "mergeable", pr: with(func(p *github.PullRequest) { p.Mergeable, p.MergeState = new(true), "clean" }), want: want{checks: "none", review: "none"}},
		{name: "behind", pr: with(func(p *github.PullRequest) { p.MergeState = "behind" }), want: want{checks: "none", review: "none", blockers: []string{"it is behind main and must be brought up to date"}}},
		{name: "blocked for no visible reason", pr: with(func(p *github.PullRequest) { p.MergeState = "blocked" }), reviews: []github.Review{review("ann", "APPROVED")},
			want: want{checks: "none", review: "approved", blockers: []string{"the protection rules of main are not met"}}},
		{name: "blocked for a visible reason", pr: with(func(p *github.PullRequest) { p.MergeState, p.Draft = "blocked", true }), want: want{checks: "none", review: "none", blockers: []string{"it is a draft"}}},
		{name: "merged", pr: with(func(p *github.PullRequest) { p.State, p.Merged, p.Draft = "closed", true, true }), checks: []github.Check{done("a", "failure")},
			want: want{checks: "failing", review: "none", failing: []string{"a"}, blockers: []string{"already merged"}}},
		{name: "closed", pr: with(func(p *github.PullRequest) { p.State, p.Mergeable = "closed", new(false) }), reviews: []github.Review{review("ann", "CHANGES_REQUESTED")},
			want: want{checks: "none", review: "changes_requested", blockers: []string{"closed without being merged"}}},
		{name: "all at once, in a fixed order",
			pr:      with(func(p *github.PullRequest) { p.Draft, p.Mergeable, p.MergeState = true, new(false), "dirty" }),
			reviews: []github.Review{review("ann", "CHANGES_REQUESTED")},
			checks:  []github.Check{done("lint", "failure"), done("test", "failure"), {Name: "e2e", Status: "queued"}},
			want: want{checks: "failing", review: "changes_requested", failing: []string{"lint", "test"}, blockers: []string{
				"it is a draft", "it conflicts with main", "2 checks failing: lint, test", "1 check pending", "changes requested by ann"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := github.Summary{
				Checks: tt.want.checks, ReviewDecision: tt.want.review,
				Failing: append([]string{}, tt.want.failing...), Blockers: append([]string{}, tt.want.blockers...),
			}
			if diff := cmp.Diff(want, github.Summarize(tt.pr, tt.reviews, tt.checks, !tt.incomplete)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
