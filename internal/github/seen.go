package github

import (
	"context"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/github/remoteurl"
	"github.com/copse-dev/copse/internal/remote"
	"github.com/copse-dev/copse/internal/remote/seen"
)

// Seen returns the pull requests of a repository in GitHub's earlier answers to any request, the
// latest answer first. It sends nothing.
func (c *Client) Seen(r remoteurl.Repo) []seen.Entry { return c.seen.All(listOf(r)) }

func listOf(r remoteurl.Repo) string { return strings.ToLower(r.String()) }

// note records pull requests for [Client.Seen].
func (c *Client) note(ctx context.Context, r remoteurl.Repo, pulls ...pullrequest.PullRequest) {
	if remote.FromCache(ctx) {
		return
	}
	entries := make([]seen.Entry, 0, len(pulls))
	for _, p := range pulls {
		e := seen.Entry{Key: strconv.Itoa(p.Number), Title: p.Title, State: p.State, Person: p.Author, Branch: p.Head, Fork: p.Fork, AsOf: p.AsOf}
		switch {
		case p.Merged:
			e.State = "merged"
		case p.Draft && p.State == "open":
			e.State = "draft"
		}
		entries = append(entries, e)
	}
	c.seen.Add(listOf(r), entries...)
}
