package issue_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/jira"
	"github.com/copse-dev/copse/internal/page"
	"github.com/copse-dev/copse/internal/workflow/issue"
)

func TestFit(t *testing.T) {
	t.Parallel()
	full := jira.Issue{Key: "A-1"}
	for i := range 100 {
		full.Links = append(full.Links, jira.Link{Relation: "blocks", Ref: jira.Ref{Key: fmt.Sprint("A-", i), Summary: strings.Repeat("s", 100)}})
		full.Comments = append(full.Comments, jira.Comment{Author: "ada", Text: strings.Repeat("words \"and\" words\n", 500)})
	}
	for name, description := range map[string]string{"short": "Why", "long": strings.Repeat("d", 20_000)} {
		whole := full
		whole.Description = description
		got := issue.Fit(nil, whole)
		if got.Description != description {
			t.Errorf("%s: the description was cut", name)
		}
		if size := page.Size(got) - page.Size(description); size > 10<<10 || size < 1500 {
			t.Errorf("%s: got %d bytes beside the description", name, size)
		}
		if len(got.Comments) == 0 || got.TotalComments != 100 || got.Comments[0].TruncatedBytes == 0 || !strings.Contains(fmt.Sprint(got.Notes), "of 100 links") {
			t.Errorf("%s: got %d comments of %d, notes %q", name, len(got.Comments), got.TotalComments, got.Notes)
		}
	}
	if full.Comments[0].TruncatedBytes != 0 {
		t.Error("the issue was changed")
	}
	small := jira.Issue{Key: "A-1", Comments: full.Comments[:1], Links: full.Links[:1]}
	if got := issue.Fit(nil, small); got.Notes != nil || got.TotalComments != 0 || got.Comments[0].Text != small.Comments[0].Text && len(small.Comments[0].Text) < 8000 {
		t.Errorf("got %+v", got)
	}
}
