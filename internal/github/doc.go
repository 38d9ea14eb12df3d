// Package github reads pull requests from GitHub and GitHub Enterprise.
//
// Use [ParseRemote] to learn which repository a git remote is, [APIBase] for
// where its API is, and [New] for a client. The client guarantees that
//
//   - it sends nothing but GET, and nothing to another host than its API's;
//   - every result says as of when GitHub confirmed it, and, under
//     remote.WithCachedOnly, is what was confirmed last, without any network;
//   - text from GitHub is one clean line: no control, escape or bidi characters;
//   - it never waits for a rate limit: it fails with an error that says how long
//     the wait would be.
//
// Errors of the service are of type *remote.Error.
//
// The client is our own on net/http rather than google/go-github: it needs
// five of GitHub's endpoints and eight fields of them, and a field that GitHub
// leaves null, or that an older Enterprise server spells otherwise, must not
// fail a call that does not need it.
package github
