package github

import "net/http"

// Transport returns what every request of the client goes through.
func (c *Client) Transport() http.RoundTripper { return c.http.Transport }

// BatchDocument returns the text of the document with such variables.
func BatchDocument(variables map[string]any) string { return batchDocument(variables, true) }

// Documents returns the texts of all GraphQL documents that are sent.
func Documents() []string {
	var all []string
	for _, s := range shapes {
		all = append(all, document(s))
	}
	return all
}
