// Package github reads pull requests from GitHub and GitHub Enterprise.
//
// Use [New] for a client. Package remoteurl finds the repository and the API of a git remote, and
// package pullrequest describes the results. The client guarantees that
//
//   - it only reads, and sends nothing to a host other than its API's;
//   - every result has the time when GitHub confirmed it, and, under
//     remote.WithCachedOnly, is the last confirmed result, without any network;
//   - text from GitHub is one clean line: no control, escape, or bidi characters;
//   - it never waits for a rate limit: it fails with an error that states how long
//     the wait would be.
//
// Errors of the service are of type *remote.Error.
//
// The client uses net/http rather than google/go-github: it needs
// five of GitHub's endpoints and eight of their fields. A field that is
// null, or that an older Enterprise server spells differently, must not
// fail a call that does not need it.
package github
