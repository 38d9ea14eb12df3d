// Package remote is the way to services on the network that are read and never
// written to: the HTTP transport that GitHub's and Jira's clients share, and
// the error that both return.
//
// Use [NewTransport] for the one http.RoundTripper of a client. It guarantees
// that nothing leaves but what its Allow function lets out, that a GET is
// answered from disk when the service says it has not changed, that a request
// ends in time, and that a broken connection or a 5xx is tried once more.
package remote
