package github

import "net/http"

// Transport is what every request of the client goes through.
func (c *Client) Transport() http.RoundTripper { return c.http.Transport }
