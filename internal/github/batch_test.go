package github_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/github"
	"github.com/copse-dev/copse/internal/github/githubtest"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/remote"
)

// brief words what was found of each branch.
func brief(found []fact.Fact[pullrequest.Status]) []string {
	var out []string
	for _, f := range found {
		s, ok := f.Get()
		if !ok {
			out = append(out, strings.TrimSpace(string(f.State)+" "+f.Reason))
			continue
		}
		threads := "unknown"
		if s.UnresolvedThreads != nil {
			threads = fmt.Sprint(len(s.UnresolvedThreads))
		}
		out = append(out, fmt.Sprintf("#%d %s merged=%t %s %s threads=%s", s.PullRequest.Number, s.PullRequest.State, s.PullRequest.Merged, s.Summary.ReviewDecision, s.Summary.Checks, threads))
	}
	return out
}

func stacked() []githubtest.PullRequest {
	return []githubtest.PullRequest{
		{Number: 1, Head: "a", State: "closed", Merged: true, SHA: strings.Repeat("1", 40)},
		{Number: 2, Head: "b", ReviewDecision: "approved", Threads: []githubtest.Thread{thread("f", 1), thread("f", 2)}, CheckRuns: []githubtest.CheckRun{{Name: "test", Conclusion: "failure"}}},
		{Number: 3, Head: "c", HeadRepo: "eve/app"},
		{Number: 4, Head: "d", Reviews: []githubtest.Review{{Author: "bob", State: "APPROVED"}}, Statuses: []githubtest.Status{{Context: "ci", State: "pending"}}},
		{Number: 5, Head: "old", State: "closed", Merged: true, SHA: strings.Repeat("2", 40)},
	}
}

func heads() []pullrequest.Head {
	return []pullrequest.Head{
		{Branch: "a", Commit: strings.Repeat("1", 40)}, {Branch: "b"}, {Branch: "c"}, {Branch: "renamed", Number: 4},
		{Branch: "old", Commit: strings.Repeat("3", 40)}, {Branch: "$(touch x)\"}"},
	}
}

// One request answers for all branches, and each is found in the cache by itself.
func TestOfBranches(t *testing.T) {
	t.Parallel()
	want := []string{
		"#1 closed merged=true none none threads=0", "#2 open merged=false approved failing threads=2", "none",
		"#4 open merged=false approved pending threads=0", "none", "none",
	}
	s := start(t, holding(stacked()...))
	o := options(t, s)
	client := github.New(o)
	got := client.OfBranches(t.Context(), repo, heads())
	if diff := cmp.Diff(want, brief(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if n := len(s.Requests()); n != 1 {
		t.Errorf("got %d requests", n)
	}
	backwards, kept := slices.Clone(heads()), slices.Clone(want)
	slices.Reverse(backwards)
	slices.Reverse(kept)
	cached := github.New(o).OfBranches(remote.WithCachedOnly(t.Context()), repo, append(backwards, pullrequest.Head{Branch: "never"}))
	if diff := cmp.Diff(append(kept, "unavailable "+fact.NotFetched), brief(cached)); diff != "" {
		t.Errorf("from the cache, -want +got:\n%s", diff)
	}
	numbered := github.New(o).OfBranches(remote.WithCachedOnly(t.Context()), repo, []pullrequest.Head{{Branch: "b", Number: 2}})
	if diff := cmp.Diff(want[1:2], brief(numbered)); diff != "" {
		t.Errorf("from the cache, by number, -want +got:\n%s", diff)
	}
	if cached[0].AsOf != got[0].AsOf || got[0].AsOf.IsZero() || len(s.Requests()) != 1 {
		t.Errorf("got %v and %v after %d requests", cached[0].AsOf, got[0].AsOf, len(s.Requests()))
	}
}

// A renamed repository answers to the name that the clone still has. Its pull requests are not taken
// for those of a fork.
func TestOfBranchesAfterRename(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"GraphQL": "#2 open merged=false approved failing threads=2", "REST": "#2 open merged=false none failing threads=unknown",
	} {
		f := holding(stacked()...)
		f.RESTOnly = name == "REST"
		f.Repositories[0].FormerNames = []string{"acme/old"}
		old := repo
		old.Owner, old.Name = "acme", "old"
		got := connect(t, start(t, f)).OfBranches(t.Context(), old, []pullrequest.Head{{Branch: "b"}, {Branch: "c"}})
		if diff := cmp.Diff([]string{want, "none"}, brief(got)); diff != "" {
			t.Errorf("%s, -want +got:\n%s", name, diff)
		}
	}
}

// A fork is named, unless it was deleted.
func TestFork(t *testing.T) {
	t.Parallel()
	gone := githubtest.PullRequest{Number: 4, HeadRepo: "eve/app", Override: map[string]any{"head": nil}}
	for name, rest := range map[string]bool{"GraphQL": false, "REST": true} {
		f := holding(append(stacked()[:3], gone)...)
		f.RESTOnly = rest
		client := connect(t, start(t, f))
		for n, want := range map[int]string{2: "", 3: "eve/app"} {
			got, err := client.PullRequest(t.Context(), repo, n)
			if err != nil || got.Fork != want {
				t.Errorf("%s, #%d: got %q, %v", name, n, got.Fork, err)
			}
		}
		if got, err := client.PullRequest(t.Context(), repo, 4); !rest && (err != nil || got.Fork != pullrequest.DeletedFork) {
			t.Errorf("%s: got %q, %v", name, got.Fork, err)
		}
	}
}

// Fifty branches are one request, and more are several.
func TestFiftyBranchesAreOneRequest(t *testing.T) {
	t.Parallel()
	var pulls []githubtest.PullRequest
	var many []pullrequest.Head
	for i := range 60 {
		name := fmt.Sprintf("branch-%d", i)
		pulls, many = append(pulls, githubtest.PullRequest{Number: i + 1, Head: name}), append(many, pullrequest.Head{Branch: name})
	}
	s := start(t, holding(pulls...))
	for n, requests := range map[int]int{50: 1, 60: 3} {
		got := connect(t, s).OfBranches(t.Context(), repo, many[:n])
		for i, f := range got {
			if f.Value.PullRequest.Number != i+1 {
				t.Errorf("branch %d: got %+v", i, f)
			}
		}
		if n == 60 {
			requests = 2
		}
		if sent := len(s.Requests()); len(got) != n || sent < requests || sent > 3 {
			t.Errorf("%d branches: got %d after %d requests", n, len(got), sent)
		}
	}
}

// A batch reads a hundred checks of each branch. GitHub's verdict on all of them decides.
func TestOfBranchesWithManyChecks(t *testing.T) {
	t.Parallel()
	var pulls []githubtest.PullRequest
	var heads []pullrequest.Head
	runs := []githubtest.CheckRun{{Conclusion: "success"}, {Conclusion: "failure"}, {Status: "queued"}}
	for i, last := range runs {
		last.Name = "last"
		pulls = append(pulls, githubtest.PullRequest{Number: i + 1, Head: fmt.Sprint(i), CheckRuns: append(manyRuns(150), last)})
		heads = append(heads, pullrequest.Head{Branch: fmt.Sprint(i)})
	}
	s := start(t, holding(pulls...))
	o := options(t, s)
	for name, ctx := range map[string]context.Context{"asked": t.Context(), "from the cache": remote.WithCachedOnly(t.Context())} {
		if name == "from the cache" {
			github.New(o).OfBranches(t.Context(), repo, heads)
		}
		for i, f := range github.New(o).OfBranches(ctx, repo, heads) {
			want := []string{"passing", "failing", "pending"}[i]
			got := f.Value
			if got.Summary.Checks != want || got.Summary.UnreadChecks != 51 || len(got.Checks) != 100 ||
				fmt.Sprint(got.Notes) != "[100 of 151 checks were read; GitHub reports their combined state as "+want+"]" {
				t.Errorf("%s, %s: got %d checks, %+v, %q", name, want, len(got.Checks), got.Summary, got.Notes)
			}
		}
	}
}

// Whatever part of the API fails, what is known is told and the rest is not taken for none.
func TestOfBranchesInParts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*githubtest.Fixture)
		want   []string
	}{
		"REST": {func(f *githubtest.Fixture) { f.RESTOnly = true }, []string{
			"none", "#2 open merged=false none failing threads=unknown", "none", "#4 open merged=false approved pending threads=unknown", "none", "none",
		}},
		"an older server": {func(f *githubtest.Fixture) { f.UnknownFields = []string{"mergeQueueEntry"} }, nil},
		"a server that takes too long": {func(f *githubtest.Fixture) {
			f.Faults = []githubtest.Fault{{Kind: githubtest.BadGateway, Path: "/graphql", Times: 1}}
		}, nil},
		"checks that are forbidden": {func(f *githubtest.Fixture) { f.ForbiddenFields = []string{"statusCheckRollup"} }, []string{
			"#1 closed merged=true none none threads=0", "#2 open merged=false approved unknown threads=2", "none",
			"#4 open merged=false approved unknown threads=0", "none", "none",
		}},
		"no GitHub": {func(f *githubtest.Fixture) { f.Faults = []githubtest.Fault{{Kind: githubtest.ServerError}} }, slices.Repeat([]string{"unavailable GitHub API error: \"Server Error\" (HTTP 500)"}, 6)},
		"a rate limit": {
			func(f *githubtest.Fixture) { f.Faults = []githubtest.Fault{{Kind: githubtest.RateLimit}} },
			slices.Repeat([]string{"unavailable GitHub API error: \"API rate limit exceeded for user ID 1.\" (HTTP 403)"}, 6),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := holding(stacked()...)
			tt.change(&f)
			if tt.want == nil {
				tt.want = []string{
					"#1 closed merged=true none none threads=0", "#2 open merged=false approved failing threads=2", "none",
					"#4 open merged=false approved pending threads=0", "none", "none",
				}
			}
			s := start(t, f)
			o := options(t, s)
			client := github.New(o)
			got := brief(client.OfBranches(t.Context(), repo, heads()))
			if name == "REST" && strings.HasPrefix(got[0], "#1") {
				got[0] = "none" // lists of open pull requests leave it out
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if name == "checks that are forbidden" {
				cached := brief(github.New(o).OfBranches(remote.WithCachedOnly(context.WithoutCancel(t.Context())), repo, heads()))
				if diff := cmp.Diff(tt.want, cached); diff != "" {
					t.Errorf("from the cache, -want +got:\n%s", diff)
				}
			}
		})
	}
}
