package issue

import (
	"fmt"

	"github.com/copse-dev/copse/internal/jira"
	"github.com/copse-dev/copse/internal/page"
	"github.com/copse-dev/copse/internal/secret"
)

const (
	// minExtras is the minimum size of links and comments next to a long description, in bytes.
	minExtras = 2 << 10
	// commentSize is what a comment takes beside its text, and shortText what of its
	// text is shown even if there are many.
	commentSize, shortText = 120, 200
)

// Fit returns an issue with its complete description, and as many links and comments as fit the
// budget of an answer. Notes describe what was cut.
func Fit(known *secret.Set, i jira.Issue) jira.Issue {
	rest := i
	rest.Links, rest.Comments = nil, nil
	budget := max(page.DefaultBudget-page.Size(rest), minExtras)
	i.Notes = append([]string(nil), i.Notes...)

	each := page.Share([]int{page.Sizes(i.Links), page.Sizes(i.Comments)}, budget)
	if n := page.Fit(i.Links, page.Size, each); n < len(i.Links) {
		i.Notes = append(i.Notes, fmt.Sprintf("showing %d of %d links", n, len(i.Links)))
		i.Links = i.Links[:n]
	}
	total := max(i.TotalComments, len(i.Comments))
	if page.Sizes(i.Comments) > each {
		text := max(each/len(i.Comments)-commentSize, shortText)
		cut := make([]jira.Comment, len(i.Comments))
		for n, c := range i.Comments {
			c.Text, c.TruncatedBytes = page.Head(known, c.Text, text)
			cut[n] = c
		}
		i.Comments = cut[:page.Fit(cut, page.Size, each)]
	}
	if len(i.Comments) < total {
		i.TotalComments = total
	}
	return i
}
