package github_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/github"
	"github.com/copse-dev/copse/internal/github/githubtest"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/github/rest"
	"github.com/copse-dev/copse/internal/test/poison"
)

// No field of GitHub's answers brings control or invisible characters into a result.
func TestEveryFieldIsClean(t *testing.T) {
	t.Parallel()
	everything := githubtest.PullRequest{
		Number: 42, Title: "Add login", Body: new("What"), Author: "ann", Base: "main", Head: "login", SHA: strings.Repeat("1", 40),
		Mergeable: new(false), MergeableState: "blocked", Labels: []string{"bug"}, Association: "MEMBER", ReviewDecision: "changes_requested",
		AutoMerge: "squash", QueuePosition: 1, RequestedReviewers: []string{"bob"}, RequestedTeams: []string{"core"},
		Reviews:   []githubtest.Review{{Author: "bob", State: "CHANGES_REQUESTED"}, {Author: "cleo", State: "APPROVED"}},
		CheckRuns: []githubtest.CheckRun{{Name: "test", Conclusion: "failure", URL: "https://example.com/1"}, {Name: "lint", Status: "in_progress"}},
		Statuses:  []githubtest.Status{{Context: "ci", State: "pending", URL: "https://example.com/2"}, {Context: "cd", State: "failure"}},
		Threads: []githubtest.Thread{{File: "a.go", Line: 3, Comments: []githubtest.Comment{
			{Author: "bob", Association: "MEMBER", Body: "Why?", CreatedAt: "2026-10-01T10:00:00Z"}, {Author: "ann", Body: "So.", CreatedAt: "2026-10-02T10:00:00Z"},
		}}},
	}
	unexplained := everything
	unexplained.Number, unexplained.Head, unexplained.ReviewDecision, unexplained.Reviews, unexplained.Mergeable = 43, "logout", "", nil, nil
	unexplained.CheckRuns, unexplained.Statuses, unexplained.Threads = nil, nil, nil
	for _, restOnly := range []bool{false, true} {
		fixture := holding(everything, unexplained)
		fixture.RESTOnly = restOnly
		fixture.Repositories[0].Protection = &githubtest.Demands{Checks: []string{"build"}, Approvals: 1, ResolveThreads: true}
		fixture.Repositories[0].Rules = &githubtest.Demands{Checks: []string{"deploy"}, Approvals: 2, Other: []string{"required_signatures"}}
		server := start(t, fixture)
		options := options(t, server)
		options.CacheDir = ""
		poison.EachField(t, server, func(base http.RoundTripper) []any {
			options.Base = base
			client := github.New(options)
			var results []any
			add := func(result any, err error) {
				if err != nil {
					result = err.Error()
				}
				results = append(results, result)
			}
			for _, n := range []int{42, 43} {
				pr, err := client.PullRequest(t.Context(), repo, n)
				add(pr, err)
				status, err := client.Status(t.Context(), repo, n)
				add(status, err)
			}
			list, err := client.PullRequests(t.Context(), repo, pullrequest.All, rest.Cursor{}, 10)
			add(list, err)
			for _, found := range client.OfBranches(t.Context(), repo, []pullrequest.Head{{Branch: "login"}, {Branch: "logout"}}) {
				add(found, nil)
			}
			return results
		})
	}
}
