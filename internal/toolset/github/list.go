package github

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/github/rest"
	"github.com/copse-dev/copse/internal/page"
	"github.com/copse-dev/copse/internal/toolset"
)

// ListIn selects pull requests.
type ListIn struct {
	State      string `json:"state,omitempty" enum:"open,closed,all"`
	Repository string `json:"repository,omitempty"`
	Limit      *int   `json:"limit,omitempty" min:"1" max:"100" default:"30"`
	Cursor     string `json:"cursor,omitempty"`
}

// ListOut is a page of pull requests.
type ListOut struct {
	PullRequests []Row     `json:"pull_requests"`
	Showing      string    `json:"showing,omitempty"`
	NextCursor   string    `json:"next_cursor,omitempty"`
	AsOf         time.Time `json:"as_of"`
}

// Row is a pull request in a list. GitHub's lists do not contain whether it is mergeable;
// get_pull_request does.
type Row struct {
	Number    int    `json:"number"`
	Title     string `json:"title"`
	State     string `json:"state"`
	Merged    bool   `json:"merged,omitempty"`
	Author    string `json:"author"`
	Base      string `json:"base"`
	Head      string `json:"head"`
	Fork      string `json:"fork,omitempty"`
	Draft     bool   `json:"draft"`
	CreatedAt string `json:"created_at,omitempty"`
	UpdatedAt string `json:"updated_at,omitempty"`
}

func rowOf(pr pullrequest.PullRequest) Row {
	return Row{
		Number: pr.Number, Title: pr.Title, State: pr.State, Merged: pr.Merged, Author: pr.Author, Base: pr.Base, Head: pr.Head, Fork: pr.Fork,
		Draft: pr.Draft, CreatedAt: pr.CreatedAt, UpdatedAt: pr.UpdatedAt,
	}
}

var listLimits = page.Limits{Default: 30, Max: 100}

// ListPullRequests reads a page of a repository's pull requests, newest first.
func (t *Tools) ListPullRequests(ctx context.Context, in ListIn) (ListOut, error) {
	state, err := pullrequest.ParseState(in.State)
	if err != nil {
		return ListOut{}, &toolset.ArgumentError{Name: "state", Message: err.Error()}
	}
	repo, err := t.requests.Repository(ctx, in.Repository)
	if err != nil {
		return ListOut{}, err
	}
	window, err := listLimits.Open(page.Request{Limit: in.Limit, Cursor: in.Cursor},
		strings.Join([]string{"list_pull_requests", repo.Host, repo.String(), string(state)}, "\n"))
	if err != nil {
		return ListOut{}, &toolset.ArgumentError{Message: err.Error()}
	}
	from, err := parsePosition(window.After)
	if err != nil {
		return ListOut{}, err
	}
	found, err := t.requests.List(ctx, repo, state, from, window.Limit)
	if err != nil {
		return ListOut{}, err
	}
	out := ListOut{PullRequests: make([]Row, len(found.PullRequests)), AsOf: found.AsOf}
	for i, pr := range found.PullRequests {
		out.PullRequests[i] = rowOf(pr)
	}
	next := found.Next
	if n := page.Fit(out.PullRequests, page.Size, page.DefaultBudget); n < len(out.PullRequests) {
		out.PullRequests = out.PullRequests[:n]
		next = &rest.Cursor{After: found.PullRequests[n-1].Number, Offset: from.Offset + n}
	}
	if next != nil {
		out.NextCursor = window.Cursor(position(*next))
		out.Showing = page.Page[Row]{Items: out.PullRequests, Next: out.NextCursor}.Showing()
	}
	return out, nil
}

// position returns a position in the list in the form of a cursor.
func position(c rest.Cursor) string { return fmt.Sprintf("%d %d", c.After, c.Offset) }

func parsePosition(s string) (rest.Cursor, error) {
	var c rest.Cursor
	if s == "" {
		return c, nil
	}
	if _, err := fmt.Sscanf(s, "%d %d", &c.After, &c.Offset); err != nil || c.After < 1 || c.Offset < 0 {
		return c, &toolset.ArgumentError{Name: "cursor", Message: "cursor is damaged; call again without cursor"}
	}
	return c, nil
}
