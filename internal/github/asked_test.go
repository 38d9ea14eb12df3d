package github_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/github"
	"github.com/copse-dev/copse/internal/github/githubtest"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/github/remoteurl"
	"github.com/copse-dev/copse/internal/remote"
)

func thread(file string, line int, comments ...githubtest.Comment) githubtest.Thread {
	return githubtest.Thread{File: file, Line: line, Comments: comments}
}

// One request tells everything.
func TestStatusByGraphQL(t *testing.T) {
	t.Parallel()
	resolved := thread("a.go", 1, githubtest.Comment{Author: "bob", Body: "fixed?"})
	resolved.Resolved = true
	outdated := thread("gone.go", 7, githubtest.Comment{Body: "Why?", CreatedAt: "2026-10-01T00:00:00Z"})
	outdated.Outdated = true
	f := holding(githubtest.PullRequest{
		Number: 42, MergeableState: "blocked", ReviewDecision: "review_required", RequestedTeams: []string{"core"},
		Threads: []githubtest.Thread{
			resolved, outdated,
			thread("cmd/main.go", 12,
				githubtest.Comment{Author: "bob", Association: "OWNER", Body: "Close\x1b[1m it\r\nhere.", CreatedAt: "2026-10-02T00:00:00Z"},
				githubtest.Comment{Author: "ann", Body: "Why?", CreatedAt: "2026-10-05T00:00:00Z"}),
			thread("README.md", 0, githubtest.Comment{Author: "bob", Body: "A typo", CreatedAt: "2026-10-03T00:00:00Z"}),
		},
		CheckRuns: []githubtest.CheckRun{{Name: "lint", Conclusion: "failure", URL: "https://ci.example/1"}, {Name: "docs", Conclusion: "failure"}},
	})
	f.Repositories[0].Protection = &githubtest.Demands{Checks: []string{"lint", "sign"}, Approvals: 1, ResolveThreads: true, CodeOwners: true}
	s := start(t, f)
	got, err := connect(t, s).Status(t.Context(), repo, 42)
	if err != nil {
		t.Fatal(err)
	}
	const page = "https://github.com/acme/app/pull/42#discussion_r"
	threads := []pullrequest.Thread{
		{File: "cmd/main.go", Line: 12, Author: "bob", AuthorAssociation: "OWNER", Text: "Close it\nhere.", Replies: 1, UpdatedAt: "2026-10-05T00:00:00Z", URL: page + "201"},
		{File: "README.md", Author: "bob", AuthorAssociation: "MEMBER", Text: "A typo", UpdatedAt: "2026-10-03T00:00:00Z", URL: page + "301"},
		{File: "gone.go", Line: 7, Author: "ghost", AuthorAssociation: "MEMBER", Text: "Why?", Outdated: true, UpdatedAt: "2026-10-01T00:00:00Z", URL: page + "101"},
	}
	if diff := cmp.Diff(threads, got.UnresolvedThreads); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	want := pullrequest.Summary{
		Checks: "failing", Failing: []string{"docs", "lint"}, ReviewDecision: "review_required", MergeState: "blocked",
		Blockers: []string{
			"1 required check failing: lint", "1 required check not reported yet: sign", "0 of 1 required approval, code owners must approve, asked: team core",
			"3 unresolved review threads, and main requires them to be resolved",
		},
	}
	if diff := cmp.Diff(want, got.Summary); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if lint := got.Checks[1]; lint.URL != "https://ci.example/1" || !lint.Required || got.Checks[0].Required {
		t.Errorf("got checks %+v", got.Checks)
	}
	if n := len(s.Requests()); n != 1 || got.Notes != nil {
		t.Errorf("got %d requests, notes %q", n, got.Notes)
	}
}

func TestGraphQLReadsAllPages(t *testing.T) {
	t.Parallel()
	pr := githubtest.PullRequest{Number: 42, CheckRuns: manyRuns(150)}
	pr.CheckRuns[149].Conclusion = "failure"
	for i := range 230 {
		pr.Reviews = append(pr.Reviews, githubtest.Review{Author: fmt.Sprint("user", i), State: "COMMENTED"})
		pr.Threads = append(pr.Threads, thread(fmt.Sprint("file", i), 1, githubtest.Comment{Body: "x", CreatedAt: fmt.Sprintf("2026-01-01T00:%02d:%02dZ", i/60, i%60)}))
	}
	pr.Reviews[0].State = "CHANGES_REQUESTED"
	s := start(t, holding(pr))
	got, err := connect(t, s).Status(t.Context(), repo, 42)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Checks) != 150 || len(got.Reviews) != 230 || len(got.UnresolvedThreads) != 230 || got.Notes != nil {
		t.Errorf("got %d checks, %d reviews, %d threads, notes %q", len(got.Checks), len(got.Reviews), len(got.UnresolvedThreads), got.Notes)
	}
	if got.Checks[0].Name != "run 00149" || got.Summary.ReviewDecision != "changes_requested" || got.UnresolvedThreads[0].File != "file229" || got.Reviews[0].Author != "user229" {
		t.Errorf("got %+v, %+v", got.Checks[0], got.Summary)
	}
	if n := len(s.Requests()); n != 3 {
		t.Errorf("got %d requests, want 3", n)
	}
}

// Of checks that are not read, GitHub's verdict on all of them is reported.
func TestGraphQLDoesNotReadAHundredPages(t *testing.T) {
	t.Parallel()
	for want, last := range map[string]githubtest.CheckRun{
		"passing": {Conclusion: "skipped"}, "failing": {Conclusion: "timed_out"}, "pending": {Status: "in_progress"},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			last.Name = "last"
			s := start(t, holding(githubtest.PullRequest{Number: 42, MergeableState: "unstable", CheckRuns: append(manyRuns(1199), last)}))
			got, err := connect(t, s).Status(t.Context(), repo, 42)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Checks) != 1000 || got.Summary.Checks != want || got.Summary.UnreadChecks != 200 || len(s.Requests()) != 10 {
				t.Errorf("got %d checks, %+v, after %d requests", len(got.Checks), got.Summary, len(s.Requests()))
			}
			if diff := cmp.Diff([]string{"1000 of 1200 checks were read; GitHub reports their combined state as " + want}, got.Notes); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			blocked := []string{}
			if want == "failing" {
				blocked = []string{"checks that were not read are failing, which no rule requires"}
			}
			if diff := cmp.Diff(blocked, got.Summary.Blockers); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// What a token or a server does not allow costs no more than itself.
func TestGraphQLInParts(t *testing.T) {
	t.Parallel()
	pr := githubtest.PullRequest{
		Number: 42, RequestedTeams: []string{"core"}, RequestedReviewers: []string{"bob"}, QueuePosition: 1,
		Threads:   []githubtest.Thread{thread("a.go", 1, githubtest.Comment{Author: "bob", Body: "Why?"})},
		CheckRuns: []githubtest.CheckRun{{Name: "lint", Conclusion: "success"}},
	}
	for name, tt := range map[string]struct {
		change   func(*githubtest.Fixture)
		requests [2]int // of two calls
		checks   string
		threads  int // -1: unknown
		queue    bool
		notes    []string
	}{
		"everything": {func(*githubtest.Fixture) {}, [2]int{1, 2}, "passing", 1, true, nil},
		"no scope for teams": {func(f *githubtest.Fixture) { f.NoOrgScope = true }, [2]int{2, 3}, "passing", 1, true,
			[]string{"a team was requested for review; reading its name requires a token with the scope read:org"}},
		"an older server": {func(f *githubtest.Fixture) { f.UnknownFields = []string{"mergeQueueEntry"} }, [2]int{3, 4}, "passing", 1, false, nil},
		"both": {func(f *githubtest.Fixture) { f.UnknownFields, f.NoOrgScope = []string{"mergeQueueEntry"}, true }, [2]int{4, 5}, "passing", 1, false,
			[]string{"a team was requested for review; reading its name requires a token with the scope read:org"}},
		"no access to checks": {func(f *githubtest.Fixture) { f.ForbiddenFields = []string{"statusCheckRollup"} }, [2]int{1, 2}, "unknown", 1, true,
			[]string{"the checks are unknown: Resource not accessible by personal access token"}},
		"no access to threads": {func(f *githubtest.Fixture) { f.ForbiddenFields = []string{"reviewThreads"} }, [2]int{1, 2}, "passing", -1, true,
			[]string{"unresolved review threads are unknown: Resource not accessible by personal access token"}},
		"a server that knows another schema": {func(f *githubtest.Fixture) { f.UnknownFields = []string{"reviewDecision"} }, [2]int{8, 12}, "passing", -1, false,
			[]string{"unresolved review threads and the merge queue are unknown: GitHub's GraphQL API is not available (Field 'reviewDecision' doesn't exist on type 'PullRequest')"}},
		"no GraphQL": {func(f *githubtest.Fixture) { f.RESTOnly = true }, [2]int{5, 9}, "passing", -1, false, []string{noGraphQL}},
		"GraphQL is forbidden": {func(f *githubtest.Fixture) {
			f.Faults = []githubtest.Fault{{Kind: githubtest.Forbidden, Path: "/graphql"}}
		}, [2]int{5, 10}, "passing", -1, false, []string{strings.Replace(noGraphQL, "Not Found", `"Resource not accessible by personal access token"`, 1)}},
		"GraphQL is down": {func(f *githubtest.Fixture) {
			f.Faults = []githubtest.Fault{{Kind: githubtest.BadGateway, Path: "/graphql"}}
		}, [2]int{5, 10}, "passing", -1, false, []string{strings.Replace(noGraphQL, "Not Found", "returned a web page, not JSON", 1)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := holding(pr)
			tt.change(&f)
			s := start(t, f)
			o := options(t, s)
			c := github.New(o)
			for call, requests := range tt.requests {
				got, err := c.Status(t.Context(), repo, 42)
				if err != nil {
					t.Fatal(err)
				}
				if n := len(s.Requests()); n != requests {
					t.Errorf("call %d: got %d requests in all, want %d", call+1, n, requests)
				}
				if got.Summary.Checks != tt.checks || (got.UnresolvedThreads == nil) != (tt.threads < 0) || len(got.UnresolvedThreads) != max(tt.threads, 0) {
					t.Errorf("got checks %s, threads %v", got.Summary.Checks, got.UnresolvedThreads)
				}
				if (got.PullRequest.MergeQueue != nil) != tt.queue {
					t.Errorf("got queue %v", got.PullRequest.MergeQueue)
				}
				if diff := cmp.Diff(tt.notes, got.Notes); diff != "" {
					t.Errorf("notes: -want +got:\n%s", diff)
				}
			}
			// Another process finds in the cache what this one was told.
			cached, err := github.New(o).Status(remote.WithCachedOnly(t.Context()), repo, 42)
			if err != nil || cached.Summary.Checks != tt.checks || (cached.PullRequest.MergeQueue != nil) != tt.queue {
				t.Errorf("from the cache: got %+v, %v", cached.Summary, err)
			}
			if n := len(s.Requests()); n != tt.requests[1] {
				t.Errorf("the cache sent requests")
			}
		})
	}
}

func TestGraphQLKnowsWhatThereIsNot(t *testing.T) {
	t.Parallel()
	s := start(t, holding(githubtest.PullRequest{Number: 42}))
	c := connect(t, s)
	for want, ref := range map[string]struct {
		repo remoteurl.Repo
		n    int
	}{
		"GitHub API error: there is no pull request #43 in acme/app": {repo, 43},
		"GitHub API error: there is no repository acme/none":         {remoteurl.Repo{Owner: "acme", Name: "none"}, 42},
	} {
		_, err := c.PullRequest(t.Context(), ref.repo, ref.n)
		var e *remote.Error
		if !errors.As(err, &e) || e.Kind != remote.NotFound || err.Error() != want {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
	if n := len(s.Requests()); n != 2 {
		t.Errorf("got %d requests, want 2", n)
	}
}

// Where GitHub blocks a merge and nothing tells why, the rule sets of the base do.
func TestRulesExplainABlock(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		rest     bool
		rules    githubtest.Demands
		blockers []string
	}{
		"nothing is known": {rules: githubtest.Demands{}, blockers: []string{"GitHub reports that the rules of release/1 block it, but not which ones"}},
		"signatures":       {rules: githubtest.Demands{Other: []string{"required_signatures"}}, blockers: []string{"GitHub reports that the rules of release/1 block it, but not which ones; they require signed commits"}},
		"approvals":        {rules: githubtest.Demands{Approvals: 2}, blockers: []string{"GitHub reports that the rules of release/1 block it, but not which ones; they require 2 approvals"}},
		"threads":          {rules: githubtest.Demands{ResolveThreads: true}, blockers: []string{"1 unresolved review thread, and release/1 requires them to be resolved"}},
		"checks":           {rules: githubtest.Demands{Checks: []string{"sign"}}, blockers: []string{"1 required check not reported yet: sign"}},
		"checks by REST":   {rest: true, rules: githubtest.Demands{Checks: []string{"lint"}}, blockers: []string{"1 required check failing: lint"}},
		"a review by REST": {rest: true, rules: githubtest.Demands{Approvals: 2}, blockers: []string{"0 of 2 required approvals, asked: bob"}},
		"code owners by REST": {rest: true, rules: githubtest.Demands{CodeOwners: true}, blockers: []string{
			"GitHub reports that the rules of release/1 block it, but not which ones; they require the approval of code owners"}},
		"nothing by REST":    {rest: true, rules: githubtest.Demands{}, blockers: []string{"GitHub reports that the rules of release/1 block it, but not which ones"}},
		"a protected branch": {rest: true, rules: githubtest.Demands{Other: []string{"protection"}}, blockers: []string{"1 required check failing: docs"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := holding(githubtest.PullRequest{
				Number: 42, Base: "release/1", MergeableState: "blocked", RequestedReviewers: []string{"bob"},
				Threads:   []githubtest.Thread{thread("a.go", 1, githubtest.Comment{Body: "Why?"})},
				CheckRuns: []githubtest.CheckRun{{Name: "lint", Conclusion: "failure"}, {Name: "docs", Conclusion: "failure"}},
			})
			f.RESTOnly = tt.rest
			f.Repositories[0].Rules = &tt.rules
			if name == "a protected branch" {
				f.Repositories[0].Protection = &githubtest.Demands{Checks: []string{"docs"}}
			}
			got, err := connect(t, start(t, f)).Status(t.Context(), repo, 42)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.blockers, got.Summary.Blockers); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// The transport lets out the documents of this package and no other GraphQL: a write has
// the same method and address.
func TestOnlyOurQueriesLeave(t *testing.T) {
	t.Parallel()
	s := start(t, holding(githubtest.PullRequest{Number: 42}))
	transport := connect(t, s).Transport()
	try := func(method, at, query string, variables ...map[string]any) error {
		t.Helper()
		one := map[string]any{
			"owner": "acme", "name": "app", "number": 42, "core": true, "withReviews": true, "withThreads": true, "withChecks": true,
		}
		body, err := json.Marshal(map[string]any{"query": query, "variables": append(variables, one)[0]})
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, at, strings.NewReader(string(body)))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := transport.RoundTrip(req)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	documents := github.Documents()
	for _, d := range documents {
		if err := try(http.MethodPost, s.URL+"/graphql", d); err != nil {
			t.Errorf("a document of ours: %v", err)
		}
		if !strings.HasPrefix(d, "query(") || strings.Contains(d, "mutation") {
			t.Errorf("not a query: %.40s", d)
		}
	}
	ours := documents[0]
	branches := map[string]any{"owner": "acme", "name": "app", "h0": "a", "n1": 42}
	batch := github.BatchDocument(branches)
	if err := try(http.MethodPost, s.URL+"/graphql", batch, branches); err != nil || strings.Contains(batch, "mutation") {
		t.Errorf("a batch of ours: %v", err)
	}
	for name, err := range map[string]error{
		"a mutation":                       try(http.MethodPost, s.URL+"/graphql", `mutation{closePullRequest(input:{pullRequestId:"x"}){clientMutationId}}`),
		"ours and a suffix":                try(http.MethodPost, s.URL+"/graphql", ours+` mutation{x}`),
		"another host":                     try(http.MethodPost, "http://elsewhere.example/graphql", ours),
		"another path":                     try(http.MethodPost, s.URL+"/repos/acme/app/pulls", ours),
		"another method":                   try(http.MethodPut, s.URL+"/graphql", ours),
		"the Enterprise one":               try(http.MethodPost, s.URL+"/api/graphql", ours),
		"a batch and a suffix":             try(http.MethodPost, s.URL+"/graphql", batch+` mutation{x}`, branches),
		"a batch that asks for more":       try(http.MethodPost, s.URL+"/graphql", strings.Replace(batch, "isDraft", "isDraft body", 1), branches),
		"a batch that opens another field": try(http.MethodPost, s.URL+"/graphql", strings.Replace(batch, "{\nrepository(", "{\nviewer{login} repository(", 1), branches),
		"a batch for other branches":       try(http.MethodPost, s.URL+"/graphql", batch, map[string]any{"owner": "acme", "name": "app", "h0": "a"}),
		"a batch whose variables are text": try(http.MethodPost, s.URL+"/graphql", batch, map[string]any{"h0){x}mutation(": 1}),
	} {
		if !errors.Is(err, remote.ErrNotAllowed) {
			t.Errorf("%s: got error %v, want ErrNotAllowed", name, err)
		}
	}
	if n := len(s.Requests()); n != len(documents)+1 {
		t.Errorf("got %d requests, want %d", n, len(documents)+1)
	}
}
