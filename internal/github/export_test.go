package github

import (
	"net/http"

	"github.com/copse-dev/copse/internal/github/graphql"
)

// Transport returns what every request of the client goes through.
func (c *Client) Transport() http.RoundTripper { return c.rest.HTTP.Transport }

// BatchDocument returns the text of the document with such variables.
func BatchDocument(variables map[string]any) string { return graphql.BatchDocument(variables, true) }

// Documents returns the texts of all GraphQL documents that are sent.
func Documents() []string {
	var all []string
	for _, s := range graphql.Shapes {
		all = append(all, graphql.Document(s))
	}
	return all
}
