package branch_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/branch"
	"github.com/copse-dev/copse/internal/branch/twig"
)

func TestStack(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		repo  repo
		start string
		want  string
	}{
		{"example", shop, "feature/login-tests", `[` +
			`{"branch":"feature/login-tests","jira_issue":"PROJ-102","parent_branch":"feature/login"},` +
			`{"branch":"feature/login","jira_issue":"PROJ-101","pr_number":42,"parent_branch":"main","created_at":"2026-11-20T23:28:36+00:00"},` +
			`{"branch":"main"}]`},
		{"first parent", shop, "feature/payments", `[{"branch":"feature/payments","pr_number":43,"parent_branch":"main"},{"branch":"main"}]`},
		{"no parent", shop, "stray", `[{"branch":"stray"}]`},
		{"ends at a root that has a parent",
			repo{local: "a develop main", roots: "*main develop", deps: "a<develop develop<main"}, "a",
			`[{"branch":"a","parent_branch":"develop"},{"branch":"develop","parent_branch":"main"}]`},
		{"ends at a missing branch",
			repo{local: "a main", roots: "*main", deps: "a<gone gone<main"}, "a",
			`[{"branch":"a","parent_branch":"gone"},{"branch":"gone","parent_branch":"main","missing":true}]`},
		{"begins at a missing branch",
			repo{local: "a main", roots: "*main", deps: "a<gone gone<main"}, "gone",
			`[{"branch":"gone","parent_branch":"main","missing":true}]`},
		{"begins at a linked branch that is gone",
			repo{local: "main", links: map[string]twig.Branch{"gone": {GitHubPR: 7}}}, "gone",
			`[{"branch":"gone","pr_number":7,"missing":true}]`},
		{"ends at a cycle", repo{local: "a b c", deps: "a<b b<c c<b"}, "a",
			`[{"branch":"a","parent_branch":"b"},{"branch":"b","parent_branch":"c"},{"branch":"c","parent_branch":"b"}]`},
		{"its own parent", repo{local: "a", deps: "a<a"}, "a", `[{"branch":"a","parent_branch":"a"}]`},
		{"branch without a commit", repo{current: "main"}, "main", `[{"branch":"main"}]`},
		{"branch without a commit, on another", repo{local: "main", current: "new", deps: "new<main"}, "new",
			`[{"branch":"new","parent_branch":"main"},{"branch":"main"}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			stack, err := branch.Stack(tt.repo.state(), tt.repo.refs().Has, tt.start)
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(stack)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestStackOfAnUnknownBranch(t *testing.T) {
	t.Parallel()
	for _, start := range []string{"feature", ""} {
		_, err := branch.Stack(shop.state(), shop.refs().Has, start)
		if _, ok := errors.AsType[*branch.NotFoundError](err); !ok {
			t.Errorf("%q: %v, want a NotFoundError", start, err)
		}
	}
}

func TestNearestNames(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, asked, local string
		want               []string
	}{
		{"case", "MAIN", "main maine", []string{"main", "maine"}},
		{"slip", "develpo", "develop main", []string{"develop"}},
		{"part", "login", "feature/login feature/login-tests main", []string{"feature/login", "feature/login-tests"}},
		{"whole", "origin/main", "main topic", []string{"main"}},
		{"at most five", "fix", "fix-1 fix-2 fix-3 fix-4 fix-5 fix-6", []string{"fix-1", "fix-2", "fix-3", "fix-4", "fix-5"}},
		{"nothing like it", "unrelated", "main develop", nil},
		{"letters beyond ASCII", "größe", "grösse gröse main", []string{"gröse", "grösse"}},
		{"three letters are a part", "api", "feature/api-client feature/login", []string{"feature/api-client"}},
		{"three letters are the whole", "feature/api", "api main", []string{"api"}},
		{"two letters are no part", "ap", "feature/api-client", nil},
		{"short names are no parts", "feature/a", "a fe main", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			unknown := branch.NotFound(new(twig.State), repo{local: tt.local}.refs(), tt.asked)
			if diff := cmp.Diff(tt.want, unknown.Nearest); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
