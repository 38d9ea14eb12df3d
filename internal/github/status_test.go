package github_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/github/githubtest"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/remote"
)

func done(name, conclusion string) pullrequest.Check {
	return pullrequest.Check{Name: name, Status: "completed", Conclusion: &conclusion}
}

func review(author, state string) pullrequest.Review {
	return pullrequest.Review{Author: author, State: state}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	c := connect(t, start(t, holding(githubtest.PullRequest{
		Number: 42, Title: "Add login", Author: "ann", Mergeable: new(true), MergeableState: "unstable",
		Reviews: []githubtest.Review{
			{Author: "bob", State: "CHANGES_REQUESTED"},
			{Author: "cleo", State: "COMMENTED"},
			{Author: "", State: "COMMENTED"},
			{Author: "bob", State: "APPROVED"},
			{Author: "bob", State: "COMMENTED"},
			{Author: "cleo", State: "PENDING"},
		},
		CheckRuns: []githubtest.CheckRun{
			{Name: "unit", Conclusion: "success"},
			{Name: "docs", Conclusion: "skipped"},
			{Name: "e2e\x1b[1m", Status: "in_progress"},
			{Name: "lint", Conclusion: "failure"},
		},
		Statuses: []githubtest.Status{
			{Context: "ci/deploy", State: "pending"},
			{Context: "ci/build", State: "error"},
			{Context: "ci/cover", State: "success"},
		},
	})))
	got, err := c.Status(t.Context(), repo, 42)
	if err != nil {
		t.Fatal(err)
	}
	want := pullrequest.Status{
		PullRequest: got.PullRequest,
		Reviews: []pullrequest.Review{
			review("cleo", "PENDING"), review("bob", "APPROVED"), review("ghost", "COMMENTED"),
			review("bob", "COMMENTED"), review("cleo", "COMMENTED"), review("bob", "CHANGES_REQUESTED"),
		},
		Checks: []pullrequest.Check{
			done("ci/build", "error"), done("lint", "failure"),
			{Name: "ci/deploy", Status: "pending"}, {Name: "e2e", Status: "in_progress"},
			done("ci/cover", "success"), done("docs", "skipped"), done("unit", "success"),
		},
		Summary: pullrequest.Summary{
			Checks: "failing", Failing: []string{"ci/build", "lint"}, ReviewDecision: "approved",
			MergeState: "unstable",
			Blockers: []string{
				"2 checks failing, which no rule requires: ci/build, lint", "2 checks pending, which no rule requires: ci/deploy, e2e",
			},
		},
		UnresolvedThreads: []pullrequest.Thread{},
		AsOf:              time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got.PullRequest.Title != "Add login" {
		t.Errorf("got %+v", got.PullRequest)
	}
}

func TestStatusOfABarePullRequest(t *testing.T) {
	t.Parallel()
	got, err := connect(t, start(t, holding(githubtest.PullRequest{Number: 42}))).Status(t.Context(), repo, 42)
	if err != nil {
		t.Fatal(err)
	}
	if got.Reviews == nil || got.Checks == nil || got.Notes != nil || got.Summary.Checks != "none" || got.Summary.ReviewDecision != "none" {
		t.Errorf("got %+v", got)
	}
}

// noGraphQL is the note of a status that REST tells.
const noGraphQL = "unresolved review threads and the merge queue are unknown: GitHub's GraphQL API is not available (Not Found)"

func manyRuns(n int) []githubtest.CheckRun {
	var runs []githubtest.CheckRun
	for i := range n {
		runs = append(runs, githubtest.CheckRun{Name: fmt.Sprintf("run %05d", i), Conclusion: "success"})
	}
	return runs
}

func TestStatusReadsAllPages(t *testing.T) {
	t.Parallel()
	pr := githubtest.PullRequest{Number: 42, CheckRuns: manyRuns(250)}
	pr.CheckRuns[249].Conclusion = "failure"
	for i := range 120 {
		pr.Statuses = append(pr.Statuses, githubtest.Status{Context: fmt.Sprint("status ", i), State: "success"})
		pr.Reviews = append(pr.Reviews, githubtest.Review{Author: fmt.Sprint("user", i), State: "COMMENTED"})
	}
	pr.Reviews[119].State = "CHANGES_REQUESTED"
	got, err := connect(t, start(t, holding(pr))).Status(t.Context(), repo, 42)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Checks) != 370 || len(got.Reviews) != 120 || got.Notes != nil {
		t.Errorf("got %d checks, %d reviews, notes %q", len(got.Checks), len(got.Reviews), got.Notes)
	}
	if got.Checks[0].Name != "run 00249" || got.Summary.ReviewDecision != "changes_requested" {
		t.Errorf("got %+v, %+v", got.Checks[0], got.Summary)
	}
}

func TestStatusDoesNotReadAHundredPages(t *testing.T) {
	t.Parallel()
	pr := githubtest.PullRequest{Number: 42, CheckRuns: manyRuns(10_000)}
	for range 1150 {
		pr.Reviews = append(pr.Reviews, githubtest.Review{Author: "ann", State: "COMMENTED"})
	}
	pr.Reviews = append(pr.Reviews, githubtest.Review{Author: "bob", State: "APPROVED"})
	s := start(t, restOnly(holding(pr)))
	got, err := connect(t, s).Status(t.Context(), repo, 42)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Checks) != 1000 || got.Summary.Checks != "unknown" || got.Summary.ReviewDecision != "approved" {
		t.Errorf("got %d checks, summary %+v", len(got.Checks), got.Summary)
	}
	want := []string{
		noGraphQL,
		"only 10 of 12 pages of reviews were read, the first and the last ones",
		"only 10 of 100 pages of check runs were read, the first and the last ones",
	}
	if diff := cmp.Diff(want, got.Notes); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if n := len(s.Requests()); n != 23 {
		t.Errorf("got %d requests, want 23", n)
	}
}

func TestChecksOutOfReachAreUnknown(t *testing.T) {
	t.Parallel()
	f := holding(githubtest.PullRequest{
		Number: 42, Reviews: []githubtest.Review{{Author: "bob", State: "APPROVED"}},
		CheckRuns: []githubtest.CheckRun{{Name: "lint", Conclusion: "success"}},
		Statuses:  []githubtest.Status{{Context: "ci", State: "success"}},
	})
	f.Faults = []githubtest.Fault{{Kind: githubtest.Forbidden, Path: "/check-runs"}}
	f.RESTOnly = true
	got, err := connect(t, start(t, f)).Status(t.Context(), repo, 42)
	if err != nil {
		t.Fatal(err)
	}
	want := pullrequest.Summary{Checks: "unknown", Failing: []string{}, ReviewDecision: "approved", MergeState: "unknown", Blockers: []string{}}
	if diff := cmp.Diff(want, got.Summary); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if !slices.Equal(got.Notes, []string{noGraphQL, `the check runs are unknown: "Resource not accessible by personal access token"`}) || len(got.Checks) != 1 {
		t.Errorf("got notes %q, checks %v", got.Notes, got.Checks)
	}
}

func TestStatusFails(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind githubtest.Kind
		path string
		want remote.Kind
	}{
		{githubtest.NotFound, "/pulls/42", remote.NotFound},
		{githubtest.Unauthorized, "", remote.Refused},
		{githubtest.Forbidden, "/reviews", remote.Refused},
		{githubtest.RateLimit, "/check-runs", remote.RateLimited},
		{githubtest.SecondaryLimit, "/status", remote.RateLimited},
		{githubtest.Garbage, "/reviews", remote.Misdirected},
		{githubtest.WebPage, "/status", remote.Misdirected},
	} {
		t.Run(string(tt.kind)+tt.path, func(t *testing.T) {
			t.Parallel()
			f := restOnly(holding(githubtest.PullRequest{Number: 42}))
			f.Faults = []githubtest.Fault{{Kind: tt.kind, Path: tt.path}}
			got, err := connect(t, start(t, f)).Status(t.Context(), repo, 42)
			var e *remote.Error
			if !errors.As(err, &e) || e.Kind != tt.want {
				t.Errorf("got error %v", err)
			}
			if diff := cmp.Diff(pullrequest.Status{}, got); diff != "" {
				t.Errorf("got something beside the error:\n%s", diff)
			}
		})
	}
}

func TestStatusWithoutAHeadCommit(t *testing.T) {
	t.Parallel()
	c := connect(t, start(t, holding(githubtest.PullRequest{Number: 42, Override: map[string]any{"head": nil}})))
	if _, err := c.Status(t.Context(), repo, 42); err == nil || !strings.Contains(err.Error(), "head commit") {
		t.Errorf("got error %v", err)
	}
}

func TestStatusIsAsOldAsItsOldestPart(t *testing.T) {
	t.Parallel()
	s := start(t, restOnly(holding(githubtest.PullRequest{Number: 42})))
	c := connect(t, s)
	if _, err := c.Status(t.Context(), repo, 42); err != nil {
		t.Fatal(err)
	}
	update(t, s, func(f *githubtest.Fixture) { f.Date = "2026-11-03T10:00:00Z" })
	if _, err := c.PullRequest(t.Context(), repo, 42); err != nil {
		t.Fatal(err)
	}
	sent := len(s.Requests())
	got, err := c.Status(remote.WithCachedOnly(t.Context()), repo, 42)
	if err != nil {
		t.Fatal(err)
	}
	if got.AsOf.Day() != 2 || got.PullRequest.AsOf.Day() != 3 {
		t.Errorf("got status as of %v, pull request as of %v", got.AsOf, got.PullRequest.AsOf)
	}
	if len(s.Requests()) != sent {
		t.Error("something was sent")
	}
	if _, err := c.Status(remote.WithCachedOnly(t.Context()), repo, 43); !errors.Is(err, remote.ErrNotCached) {
		t.Errorf("got error %v, want ErrNotCached", err)
	}
}
