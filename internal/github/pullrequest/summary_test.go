package pullrequest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/github/pullrequest"
)

func done(name, conclusion string) pullrequest.Check {
	return pullrequest.Check{Name: name, Status: "completed", Conclusion: &conclusion}
}

func review(author, state string) pullrequest.Review {
	return pullrequest.Review{Author: author, State: state}
}

func required(c pullrequest.Check) pullrequest.Check {
	c.Required = true
	return c
}

func TestSummarize(t *testing.T) {
	t.Parallel()
	open := pullrequest.PullRequest{State: "open", Base: "main"}
	blocked := open
	blocked.MergeState, blocked.Decided = "blocked", true
	with := func(change func(*pullrequest.PullRequest)) pullrequest.PullRequest {
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
		pr         pullrequest.PullRequest
		reviews    []pullrequest.Review
		checks     []pullrequest.Check
		incomplete bool
		threads    int // that are not resolved
		want       want
	}{
		{name: "nothing", pr: open, want: want{checks: "none", review: "none"}},
		{name: "nothing known", pr: open, incomplete: true, want: want{checks: "unknown", review: "none"}},

		{name: "success", pr: open, checks: []pullrequest.Check{done("a", "success")}, want: want{checks: "passing", review: "none"}},
		{name: "neutral and skipped pass", pr: open, checks: []pullrequest.Check{done("a", "neutral"), done("b", "skipped")}, want: want{checks: "passing", review: "none"}},
		{name: "success, but not all known", pr: open, checks: []pullrequest.Check{done("a", "success")}, incomplete: true, want: want{checks: "unknown", review: "none"}},
		{name: "each way to fail", pr: open,
			checks: []pullrequest.Check{done("a", "failure"), done("b", "timed_out"), done("c", "cancelled"), done("d", "action_required"), done("e", "startup_failure"), done("f", "error"), done("ok", "success")},
			want:   want{checks: "failing", review: "none", failing: []string{"a", "b", "c", "d", "e", "f"}}},
		{name: "as many failing as are named", pr: open,
			checks: []pullrequest.Check{done("a", "failure"), done("b", "failure"), done("c", "failure"), done("d", "failure"), done("e", "failure")},
			want:   want{checks: "failing", review: "none", failing: []string{"a", "b", "c", "d", "e"}}},
		{name: "blocked by as many as are named", pr: blocked,
			checks: []pullrequest.Check{required(done("a", "failure")), required(done("b", "failure")), required(done("c", "failure")), required(done("d", "failure")), required(done("e", "failure"))},
			want:   want{checks: "failing", review: "none", failing: []string{"a", "b", "c", "d", "e"}, blockers: []string{"5 required checks failing: a, b, c, d, e"}}},
		{name: "blocked by one more", pr: blocked,
			checks: []pullrequest.Check{required(done("a", "failure")), required(done("b", "failure")), required(done("c", "failure")), required(done("d", "failure")), required(done("e", "failure")), required(done("f", "failure"))},
			want:   want{checks: "failing", review: "none", failing: []string{"a", "b", "c", "d", "e", "f"}, blockers: []string{"6 required checks failing: a, b, c, d, e and 1 more"}}},
		{name: "failing, though not all known", pr: open, checks: []pullrequest.Check{done("a", "failure")}, incomplete: true,
			want: want{checks: "failing", review: "none", failing: []string{"a"}}},
		{name: "one name failing twice", pr: open, checks: []pullrequest.Check{done("a", "failure"), done("a", "failure")},
			want: want{checks: "failing", review: "none", failing: []string{"a"}}},
		{name: "pending", pr: open,
			checks: []pullrequest.Check{{Name: "a", Status: "queued"}, {Name: "b", Status: "in_progress"}, done("c", "stale"), {Name: "d", Status: "completed"}, done("e", "new_in_2031"), done("f", "success")},
			want:   want{checks: "pending", review: "none"}},
		{name: "pending with an early conclusion", pr: open, checks: []pullrequest.Check{{Name: "a", Status: "in_progress", Conclusion: new("success")}},
			want: want{checks: "pending", review: "none"}},
		{name: "failing and pending", pr: open, checks: []pullrequest.Check{done("a", "failure"), {Name: "b", Status: "queued"}},
			want: want{checks: "failing", review: "none", failing: []string{"a"}}},

		{name: "approved", pr: open, reviews: []pullrequest.Review{review("ann", "APPROVED")}, want: want{checks: "none", review: "approved"}},
		{name: "a comment does not undo an approval", pr: open, reviews: []pullrequest.Review{review("ann", "APPROVED"), review("ann", "COMMENTED")}, want: want{checks: "none", review: "approved"}},
		{name: "nor does an unfinished review", pr: open, reviews: []pullrequest.Review{review("ann", "APPROVED"), review("ann", "PENDING")}, want: want{checks: "none", review: "approved"}},
		{name: "dismissing does", pr: open, reviews: []pullrequest.Review{review("ann", "DISMISSED"), review("ann", "COMMENTED")}, want: want{checks: "none", review: "none"}},
		{name: "dismissing the later one does", pr: open, reviews: []pullrequest.Review{review("ann", "APPROVED"), review("ann", "DISMISSED")}, want: want{checks: "none", review: "none"}},
		{name: "changes requested", pr: open, reviews: []pullrequest.Review{review("ann", "APPROVED"), review("bob", "CHANGES_REQUESTED"), review("bob", "COMMENTED")},
			want: want{checks: "none", review: "changes_requested"}},
		{name: "changes made", pr: open, reviews: []pullrequest.Review{review("bob", "CHANGES_REQUESTED"), review("bob", "APPROVED")}, want: want{checks: "none", review: "approved"}},
		{name: "changes requested by two, the latest first", pr: open, reviews: []pullrequest.Review{review("ann", "CHANGES_REQUESTED"), review("bob", "CHANGES_REQUESTED")},
			want: want{checks: "none", review: "changes_requested"}},
		{name: "only comments", pr: open, reviews: []pullrequest.Review{review("ann", "COMMENTED"), review("ghost", "PENDING")}, want: want{checks: "none", review: "none"}},
		{name: "review requested", pr: with(func(p *pullrequest.PullRequest) { p.RequestedReviewers = []string{"ann"} }), want: want{checks: "none", review: "review_required"}},
		{name: "review requested, but GitHub would merge", pr: with(func(p *pullrequest.PullRequest) { p.MergeState, p.RequestedReviewers = "clean", []string{"ann"} }),
			want: want{checks: "none", review: "none"}},
		{name: "review requested, but no rule demands one", pr: with(func(p *pullrequest.PullRequest) { p.Decided, p.RequestedTeams = true, []string{"core"} }),
			want: want{checks: "none", review: "none"}},
		{name: "requested of one, approved by another", pr: with(func(p *pullrequest.PullRequest) { p.RequestedReviewers = []string{"ann"} }), reviews: []pullrequest.Review{review("bob", "APPROVED")},
			want: want{checks: "none", review: "approved"}},
		{name: "GitHub's decision counts", pr: with(func(p *pullrequest.PullRequest) { p.Decided, p.Decision = true, "REVIEW_REQUIRED" }), reviews: []pullrequest.Review{review("bob", "APPROVED")},
			want: want{checks: "none", review: "review_required"}},

		{name: "draft", pr: with(func(p *pullrequest.PullRequest) { p.Draft = true }), want: want{checks: "none", review: "none", blockers: []string{"it is a draft"}}},
		{name: "conflicts", pr: with(func(p *pullrequest.PullRequest) { p.Mergeable = new(false) }), want: want{checks: "none", review: "none", blockers: []string{"it conflicts with main"}}},
		{name: "mergeable", pr: with(func(p *pullrequest.PullRequest) { p.Mergeable, p.MergeState = new(true), "clean" }), want: want{checks: "none", review: "none"}},
		{name: "behind", pr: with(func(p *pullrequest.PullRequest) { p.MergeState = "behind" }), want: want{checks: "none", review: "none", blockers: []string{"it is behind main and must be updated"}}},
		{name: "clean, whatever the checks and the reviews", pr: with(func(p *pullrequest.PullRequest) { p.MergeState, p.RequestedReviewers = "clean", []string{"octocat"} }),
			reviews: []pullrequest.Review{review("ann", "CHANGES_REQUESTED")}, checks: []pullrequest.Check{done("a", "failure"), {Name: "b", Status: "queued"}}, threads: 2,
			want: want{checks: "failing", review: "changes_requested", failing: []string{"a"}}},
		{name: "not known yet", pr: with(func(p *pullrequest.PullRequest) { p.MergeState, p.RequestedReviewers = "unknown", []string{"octocat"} }),
			checks: []pullrequest.Check{done("a", "failure")}, want: want{checks: "failing", review: "review_required", failing: []string{"a"}}},
		{name: "unstable", pr: with(func(p *pullrequest.PullRequest) { p.MergeState = "unstable" }), checks: []pullrequest.Check{done("a", "failure"), {Name: "b", Status: "queued"}},
			want: want{checks: "failing", review: "none", failing: []string{"a"}, blockers: []string{
				"1 check failing, which no rule requires: a", "1 check pending, which no rule requires: b"}}},
		{name: "blocked for a reason that GitHub does not give", pr: blocked, reviews: []pullrequest.Review{review("ann", "APPROVED")}, checks: []pullrequest.Check{done("a", "failure")}, threads: 1,
			want: want{checks: "failing", review: "approved", failing: []string{"a"}, blockers: []string{"GitHub reports that the rules of main block it, but not which ones"}}},
		{name: "blocked, by a demand that nobody can check", pr: func() pullrequest.PullRequest { p := blocked; p.Rules.Other = []string{"signed commits"}; return p }(),
			want: want{checks: "none", review: "none", blockers: []string{"GitHub reports that the rules of main block it, but not which ones; they require signed commits"}}},
		{name: "blocked by required checks", pr: func() pullrequest.PullRequest { p := blocked; p.Rules.Checks = []string{"c", "d"}; return p }(),
			checks: []pullrequest.Check{required(done("a", "failure")), done("b", "failure"), {Name: "c", Status: "queued"}},
			want: want{checks: "failing", review: "none", failing: []string{"a", "b"}, blockers: []string{
				"1 required check failing: a", "1 required check pending: c", "1 required check not reported yet: d"}}},
		{name: "blocked by reviews", pr: func() pullrequest.PullRequest {
			p := blocked
			p.Decision, p.Rules.Approvals, p.RequestedReviewers, p.RequestedTeams = "REVIEW_REQUIRED", 2, []string{"bob"}, []string{"core"}
			return p
		}(), reviews: []pullrequest.Review{review("ann", "APPROVED")},
			want: want{checks: "none", review: "review_required", blockers: []string{"1 of 2 required approvals, asked: bob, team core"}}},
		{name: "blocked by a review of unknown number", pr: func() pullrequest.PullRequest { p := blocked; p.Decision = "REVIEW_REQUIRED"; return p }(),
			want: want{checks: "none", review: "review_required", blockers: []string{"a review is required"}}},
		{name: "blocked by a review of code owners", pr: func() pullrequest.PullRequest {
			p := blocked
			p.Decision, p.Rules.Approvals, p.Rules.CodeOwners, p.RequestedTeams = "REVIEW_REQUIRED", 1, true, []string{"core"}
			return p
		}(), reviews: []pullrequest.Review{review("ann", "APPROVED")},
			want: want{checks: "none", review: "review_required", blockers: []string{"a further review is required, code owners must approve, asked: team core"}}},
		{name: "blocked by a rule set, after an approval", pr: func() pullrequest.PullRequest { p := blocked; p.Decision = "REVIEW_REQUIRED"; return p }(),
			reviews: []pullrequest.Review{review("ann", "APPROVED")},
			want:    want{checks: "none", review: "review_required", blockers: []string{"a further review is required"}}},
		{name: "blocked by requested changes", pr: func() pullrequest.PullRequest { p := blocked; p.Decision = "CHANGES_REQUESTED"; return p }(),
			reviews: []pullrequest.Review{review("ann", "CHANGES_REQUESTED"), review("bob", "CHANGES_REQUESTED")},
			want:    want{checks: "none", review: "changes_requested", blockers: []string{"changes requested by bob, ann"}}},
		{name: "blocked by threads", pr: func() pullrequest.PullRequest { p := blocked; p.Rules.Resolve = true; return p }(), threads: 3,
			want: want{checks: "none", review: "none", blockers: []string{"3 unresolved review threads, and main requires them to be resolved"}}},
		{name: "blocked, as REST tells it", pr: func() pullrequest.PullRequest { p := blocked; p.Decided, p.Rules.Approvals = false, 1; return p }(),
			reviews: []pullrequest.Review{review("ann", "CHANGES_REQUESTED")},
			want:    want{checks: "none", review: "changes_requested", blockers: []string{"changes requested by ann"}}},
		{name: "blocked for a visible reason", pr: with(func(p *pullrequest.PullRequest) { p.MergeState, p.Draft = "blocked", true }), want: want{checks: "none", review: "none", blockers: []string{"it is a draft"}}},
		{name: "merged", pr: with(func(p *pullrequest.PullRequest) { p.State, p.Merged, p.Draft = "closed", true, true }), checks: []pullrequest.Check{done("a", "failure")},
			want: want{checks: "failing", review: "none", failing: []string{"a"}, blockers: []string{"already merged"}}},
		{name: "closed", pr: with(func(p *pullrequest.PullRequest) { p.State, p.Mergeable = "closed", new(false) }), reviews: []pullrequest.Review{review("ann", "CHANGES_REQUESTED")},
			want: want{checks: "none", review: "changes_requested", blockers: []string{"closed without being merged"}}},
		{name: "all at once, in a fixed order",
			pr: func() pullrequest.PullRequest {
				p := blocked
				p.Draft, p.Mergeable, p.Decision, p.Rules.Resolve = true, new(false), "CHANGES_REQUESTED", true
				return p
			}(),
			reviews: []pullrequest.Review{review("ann", "CHANGES_REQUESTED")}, threads: 1,
			checks: []pullrequest.Check{required(done("lint", "failure")), required(done("test", "failure")), required(pullrequest.Check{Name: "e2e", Status: "queued"})},
			want: want{checks: "failing", review: "changes_requested", failing: []string{"lint", "test"}, blockers: []string{
				"it is a draft", "it conflicts with main", "2 required checks failing: lint, test", "1 required check pending: e2e", "changes requested by ann",
				"1 unresolved review thread, and main requires them to be resolved"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := pullrequest.Summary{
				Checks: tt.want.checks, ReviewDecision: tt.want.review,
				MergeState: tt.pr.MergeState,
				Failing:    append([]string{}, tt.want.failing...), Blockers: append([]string{}, tt.want.blockers...),
			}
			if diff := cmp.Diff(want, pullrequest.Summarize(pullrequest.Evidence{
				PullRequest: tt.pr, Reviews: tt.reviews, Checks: tt.checks, Complete: !tt.incomplete, Threads: make([]pullrequest.Thread, tt.threads),
			})); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
