package jira_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/jira"
	"github.com/copse-dev/copse/internal/jira/jiratest"
)

// detailed returns a fixture whose issue A-1 has everything, and n comments.
func detailed(t *testing.T, cloud bool, n int) jiratest.Fixture {
	t.Helper()
	f := fixture(t, cloud)
	issue := jiratest.Issue{
		Key: "A-1", Summary: "Log in", Status: "Open", Type: "Story", Priority: "High", Parent: "A-2",
		Links: []jiratest.Link{
			{Type: "Blocks", Forward: "blocks", Reverse: "is blocked by", Outward: "A-3"},
			{Type: "Blocks", Forward: "blocks", Reverse: "is blocked by", Inward: "B-9"},
		},
	}
	for i := range n {
		text := fmt.Sprintf("comment %d\x1b[1m", i)
		document, err := json.Marshal(map[string]any{"type": "doc", "version": 1, "content": []any{
			map[string]any{"type": "paragraph", "content": []any{map[string]any{"type": "text", "text": text}}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		issue.Comments = append(issue.Comments, jiratest.Comment{
			Author: f.Users[0].Name, Wiki: text, Document: document, Created: fmt.Sprintf("2026-03-%02dT00:00:00.000+0000", i+1),
		})
	}
	f.Issues = append(f.Issues, issue, jiratest.Issue{Key: "A-2", Summary: "Accounts", Status: "In Progress"}, jiratest.Issue{Key: "A-3", Summary: "Ship", Status: "Done"})
	return f
}

func TestIssueInDetail(t *testing.T) {
	t.Parallel()
	for _, cloud := range []bool{true, false} {
		for _, n := range []int{0, 2, 25} {
			t.Run(fmt.Sprintf("cloud %t, %d comments", cloud, n), func(t *testing.T) {
				t.Parallel()
				f := detailed(t, cloud, n)
				fake, client := jiraOf(t, f)
				got, err := client.Issue(t.Context(), "a-1")
				if err != nil {
					t.Fatal(err)
				}
				want := jira.Issue{
					Key: "A-1", Summary: "Log in", Status: "Open", Type: "Story", Priority: "High", AsOf: asOf,
					Parent: &jira.Ref{Key: "A-2", Summary: "Accounts", Status: "In Progress"},
					Links: []jira.Link{
						{Relation: "blocks", Ref: jira.Ref{Key: "A-3", Summary: "Ship", Status: "Done"}},
						{Relation: "is blocked by", Ref: jira.Ref{Key: "B-9", Status: "Open"}},
					},
				}
				for i := n - 1; i >= max(n-20, 0); i-- {
					want.Comments = append(want.Comments, jira.Comment{
						Author: f.Users[0].DisplayName, CreatedAt: fmt.Sprintf("2026-03-%02dT00:00:00.000+0000", i+1), Text: fmt.Sprintf("comment %d", i),
					})
				}
				requests := 2
				if n > 20 {
					want.TotalComments, requests = n, 3
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
				if asked := paths(fake); len(asked) != requests {
					t.Errorf("got requests %q", asked)
				}
			})
		}
	}
}

func TestCommentsOutOfReach(t *testing.T) {
	t.Parallel()
	fake, client := jiraOf(t, detailed(t, true, 25))
	fake.Break("/comment", jiratest.Forbidden, 1)
	got, err := client.Issue(t.Context(), "A-1")
	if err != nil {
		t.Fatal(err)
	}
	if got.Comments != nil || got.TotalComments != 25 || len(got.Notes) != 1 || !strings.HasPrefix(got.Notes[0], "the last comments could not be read: Jira API error: ") {
		t.Errorf("got %+v", got)
	}
}

// A list has none of it, and what has a shape other than documented reads as empty.
func TestIssueDetailsAreOptional(t *testing.T) {
	t.Parallel()
	_, client := jiraOf(t, detailed(t, true, 3))
	page, err := client.Search(t.Context(), jira.Query{Project: "A"}, 5, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, issue := range page.Issues {
		if issue.Type != "" || issue.Links != nil || issue.Comments != nil {
			t.Errorf("got %+v", issue)
		}
	}
	odd := `{"key": "A-1", "fields": {"issuetype": 1, "priority": [], "parent": "x", "issuelinks": {"a": 1}, "comment": [{"body": 1}]}}`
	host := answer("Cloud", odd)
	got, err := clientOf(t, jiratest.Fixture{}, host).Issue(t.Context(), "A-1")
	if err != nil || cmp.Diff(jira.Issue{Key: "A-1", AsOf: asOf}, got) != "" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// No name of an issue is longer than a name can be, and a note counts what a long description lacks.
func TestLongFields(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 40_000)
	f := detailed(t, false, 1)
	f.Users[0].DisplayName = long
	issue := &f.Issues[len(f.Issues)-3]
	issue.Wiki, issue.Type, issue.Priority, issue.Links[0].Forward = long, long, long, long
	f.Issues[len(f.Issues)-2].Summary = long
	_, client := jiraOf(t, f)
	got, err := client.Issue(t.Context(), "A-1")
	if err != nil {
		t.Fatal(err)
	}
	for what, name := range map[string]string{
		"type": got.Type, "priority": got.Priority, "relation": got.Links[0].Relation, "parent": got.Parent.Summary, "author": got.Comments[0].Author,
	} {
		if n := len([]rune(name)); n != 300 {
			t.Errorf("the %s has %d characters", what, n)
		}
	}
	const note = "the description is cut; it has 7234 more characters"
	if n := len([]rune(got.Description)); n != 32_767 || len(got.Notes) != 1 || got.Notes[0] != note {
		t.Errorf("the description has %d characters; notes %q", n, got.Notes)
	}
}
