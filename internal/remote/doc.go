// Package remote is the way to services on the network that are read and never
// written to: the HTTP transport that GitHub's and Jira's clients share, and
// the error that both return.
//
// Use [NewTransport] for the one http.RoundTripper of a client. It guarantees
// that
//
//   - nothing leaves but what Options.Allow lets out, redirects included, and
//     credentials go to no other origin than the request was made for;
//   - a request, with its second try and its body, ends within Options.Timeout;
//   - a GET that broke off before an answer, or got a 5xx, is tried once more;
//   - an answer 200 to a GET is kept on disk with its validator, is confirmed
//     by the service each time it is served again, and [AsOf] tells when it was;
//   - no credential is ever written to disk, and no answer that was kept for one
//     is served to another.
//
// [WithCachedOnly] asks for stored answers, without any network. That includes the
// answers to a POST that its client handed to [Transport.Keep].
//
// A client calls [TransportError] for an error of its http.Client,
// [CheckResponse] for every answer, and [ReadJSON] for a successful one; what
// they return is an [*Error], except that [ErrNotCached] and [ErrNotAllowed]
// stay themselves.
package remote
