// Package remote accesses services on the network that are read and never
// written: it provides the HTTP transport that GitHub's and Jira's clients share, and
// the error that both return.
//
// Use [NewTransport] for the one http.RoundTripper of a client. It guarantees
// that
//
//   - only requests that Options.Allow allows are sent, including redirects, and
//     credentials go to no origin other than that of the request;
//   - a request, with its second try and its body, ends within Options.Timeout;
//   - a GET that was interrupted before an answer, or got a 5xx, is tried once more;
//   - an answer 200 to a GET is cached on disk with its validator, the service
//     confirms it each time it is served again, and [AsOf] returns the time of that;
//   - no credential is ever written to disk, and no answer that was cached for one
//     is served to another.
//
// [WithCachedOnly] requests cached answers, without any network. That includes the
// answers to a POST that its client passed to [Transport.Keep].
//
// A client calls [TransportError] for an error of its http.Client,
// [CheckResponse] for every answer, and [ReadJSON] for a successful one; they
// return an [*Error], except that [ErrNotCached] and [ErrNotAllowed]
// remain unchanged.
package remote
