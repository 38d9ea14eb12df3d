// Package pull implements every surface's operations on pull requests: reading one, with everything
// that decides whether it can be merged, and listing a repository's.
//
// Use [New]. Results are complete; a surface cuts them to its size. Errors are [failure.Error]s.
// Checks happen in this order: repository, remote, number, credentials, network.
package pull

import (
	"context"
	"errors"
	"slices"

	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/github"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/github/remoteurl"
	"github.com/copse-dev/copse/internal/github/rest"
	"github.com/copse-dev/copse/internal/remote"
	"github.com/copse-dev/copse/internal/remote/seen"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/session/service"
)

// Clients finds the client of a host.
type Clients interface {
	GitHub(ctx context.Context, host string) (*github.Client, error)
}

// Links knows the pull request of the branch that is checked out.
type Links interface {
	LinkedPullRequest(ctx context.Context) (int, error)
}

// Requests reads the pull requests of one session.
type Requests struct {
	session *session.Session
	links   Links
	clients Clients
}

// New returns the pull requests of a session's repository.
func New(s *session.Session, links Links, clients Clients) *Requests {
	return &Requests{session: s, links: links, clients: clients}
}

// Ref names a pull request.
type Ref struct {
	// Number is 0 for the pull request of the branch that is checked out.
	Number int
	// Repository is "owner/name", "" for the one that origin names.
	Repository string
}

// Get returns a pull request.
func (r *Requests) Get(ctx context.Context, ref Ref) (pullrequest.PullRequest, error) {
	client, repo, n, err := r.resolve(ctx, ref)
	if err != nil {
		return pullrequest.PullRequest{}, err
	}
	pr, err := client.PullRequest(ctx, repo, n)
	return pr, service.Explain(err)
}

// Status returns a pull request with its reviews, checks and unresolved review threads,
// and with logs the end of the logs of failing jobs.
func (r *Requests) Status(ctx context.Context, ref Ref, logs bool) (pullrequest.Status, error) {
	client, repo, n, err := r.resolve(ctx, ref)
	if err != nil {
		return pullrequest.Status{}, err
	}
	s, err := client.Status(ctx, repo, n)
	if err == nil && logs {
		client.Logs(ctx, repo, &s)
	}
	return s, service.Explain(err)
}

// Linked returns the status of pull request n of origin's repository, for views that combine
// several sources, cut by [Fit]. A failure is a fact, too.
//
// Under [remote.WithCachedOnly] this is GitHub's latest answer, which can be one about all branches
// of a stack: then it lacks what [github.Client.OfBranches] omits. branch is the one of the pull
// request, "" if it is unknown.
func (r *Requests) Linked(ctx context.Context, branch string, n uint32, w failure.Words) fact.Fact[pullrequest.Status] {
	s, err := r.Status(ctx, Ref{Number: int(n)}, false)
	if branch != "" && remote.FromCache(ctx) && (err == nil || errors.Is(err, remote.ErrNotCached)) {
		among := r.OfBranches(ctx, []pullrequest.Head{{Branch: branch, Number: int(n)}}, w)[0]
		if one, known := among.Get(); known && one.PullRequest.Number == int(n) && (err != nil || among.AsOf.After(s.AsOf)) {
			one.UnresolvedThreads = nil
			s, err = one, nil
		}
	}
	if err == nil {
		return fact.Known(Fit(secret.Of(ctx), s), "GitHub", s.AsOf)
	}
	if errors.Is(err, remote.ErrNotCached) {
		return fact.Unavailable[pullrequest.Status](fact.NotFetched, "")
	}
	e := failure.Of(err)
	return fact.Unavailable[pullrequest.Status](e.Message(w), e.Hint(w))
}

// Login returns the identity of the login for origin's repository, "" if there is none; see
// [github.Client.Identity].
func (r *Requests) Login(ctx context.Context) string {
	client, _, err := r.client(ctx)
	if err != nil {
		return ""
	}
	return client.Identity()
}

// client returns the client for origin's repository.
func (r *Requests) client(ctx context.Context) (*github.Client, remoteurl.Repo, error) {
	repo, err := r.Repository(ctx, "")
	if err != nil {
		return nil, remoteurl.Repo{}, err
	}
	client, err := r.clients.GitHub(ctx, repo.Host)
	return client, repo, err
}

// OfBranches returns the pull request of each branch of origin's repository, in their order; see
// [github.Client.OfBranches].
func (r *Requests) OfBranches(ctx context.Context, heads []pullrequest.Head, w failure.Words) []fact.Fact[pullrequest.Status] {
	client, repo, err := r.client(ctx)
	if err == nil {
		return client.OfBranches(ctx, repo, heads)
	}
	e := failure.Of(err)
	unasked := fact.Unavailable[pullrequest.Status](e.Message(w), e.Hint(w))
	if none, ok := errors.AsType[*AbsentError](err); ok {
		unasked = fact.Unavailable[pullrequest.Status](none.Reason, "")
		unasked.Absent = true
	}
	unasked.Unasked = true
	return slices.Repeat([]fact.Fact[pullrequest.Status]{unasked}, len(heads))
}

// List returns up to limit pull requests of a repository, newest first, from a place in
// the list on.
func (r *Requests) List(ctx context.Context, repo remoteurl.Repo, state pullrequest.State, from rest.Cursor, limit int) (rest.Page, error) {
	client, err := r.clients.GitHub(ctx, repo.Host)
	if err != nil {
		return rest.Page{}, err
	}
	page, err := client.PullRequests(ctx, repo, state, from, limit)
	return page, service.Explain(err)
}

// Seen returns the pull requests of origin's repository in GitHub's earlier answers, the latest
// answer first. It uses no network.
func (r *Requests) Seen(ctx context.Context) ([]seen.Entry, error) {
	client, repo, err := r.client(ctx)
	if err != nil {
		return nil, err
	}
	return client.Seen(repo), nil
}

const (
	// pageSize is the number of pull requests in one request.
	pageSize = 100
	// newest is the number of pull requests that Newest reads.
	newest = 300
)

// Newest returns the newest pull requests, whatever their state, newest first, without
// those that come from a branch of another repository.
func (r *Requests) Newest(ctx context.Context) ([]pullrequest.PullRequest, error) {
	repo, err := r.Repository(ctx, "")
	if err != nil {
		return nil, err
	}
	return r.newest(ctx, repo, pullrequest.All)
}

// Opened returns Newest for the open ones, with the repository that origin names.
func (r *Requests) Opened(ctx context.Context) (remoteurl.Repo, []pullrequest.PullRequest, error) {
	repo, err := r.Repository(ctx, "")
	if err != nil {
		return remoteurl.Repo{}, nil, err
	}
	found, err := r.newest(ctx, repo, pullrequest.Open)
	return repo, found, err
}

func (r *Requests) newest(ctx context.Context, repo remoteurl.Repo, state pullrequest.State) ([]pullrequest.PullRequest, error) {
	var found []pullrequest.PullRequest
	from := rest.Cursor{}
	for read := 0; read < newest; {
		page, err := r.List(ctx, repo, state, from, pageSize)
		if err != nil {
			return nil, err
		}
		read += len(page.PullRequests)
		for _, pr := range page.PullRequests {
			if pr.Fork == "" {
				found = append(found, pr)
			}
		}
		if page.Next == nil {
			break
		}
		from = *page.Next
	}
	return found, nil
}

// resolve finds repository, number and client, in this order.
func (r *Requests) resolve(ctx context.Context, ref Ref) (*github.Client, remoteurl.Repo, int, error) {
	repo, err := r.Repository(ctx, ref.Repository)
	if err != nil {
		return nil, remoteurl.Repo{}, 0, err
	}
	n := ref.Number
	if n == 0 {
		if n, err = r.links.LinkedPullRequest(ctx); err != nil {
			return nil, remoteurl.Repo{}, 0, err
		}
	}
	client, err := r.clients.GitHub(ctx, repo.Host)
	return client, repo, n, err
}

// Repository returns the repository "owner/name" on the host of origin or, where there
// is no GitHub origin, on the host of $GH_HOST, else on github.com. Without a name it is
// the one that origin names.
func (r *Requests) Repository(ctx context.Context, name string) (remoteurl.Repo, error) {
	if name == "" {
		return r.origin(ctx)
	}
	owner, repo, err := remoteurl.ParseFullName(name)
	if err != nil {
		return remoteurl.Repo{}, failure.New(failure.Invalid, `Argument "repository" must be owner/name, such as "cli/cli"`, "")
	}
	named := remoteurl.Repo{Host: "github.com", Owner: owner, Name: repo}
	if host := r.session.GitHubHost(); host != "" {
		named.Host = host
	}
	// Any failure means that there is no origin to take the host from.
	if origin, err := r.origin(ctx); err == nil {
		named.Host = origin.Host
	}
	return named, nil
}

// origin returns the repository on GitHub that the remote origin names.
func (r *Requests) origin(ctx context.Context) (remoteurl.Repo, error) {
	repo, err := r.session.Repo(ctx)
	if err != nil {
		return remoteurl.Repo{}, err
	}
	url, err := repo.RemoteURL(ctx, "origin")
	if errors.Is(err, git.ErrNoRemote) {
		return remoteurl.Repo{}, absent("No 'origin' remote found", "Add a GitHub remote named 'origin'.", "the repository has no remote named origin")
	}
	if err != nil {
		return remoteurl.Repo{}, session.Explain(err)
	}
	named, err := remoteurl.ParseRemote(url, func(host string) bool { return host == r.session.GitHubHost() })
	if err != nil {
		return remoteurl.Repo{}, absent(
			"Could not extract GitHub repo from remote URL: "+err.Error(), "Ensure the 'origin' remote points to a GitHub repository.", "origin is not a GitHub repository",
		)
	}
	return named, nil
}

// AbsentError means that origin is not a repository on GitHub. It matters only to a user who asked about
// GitHub.
type AbsentError struct {
	// Reason says what there is instead.
	Reason string
}

func (e *AbsentError) Error() string { return e.Reason }

// absent returns the error of a request about GitHub's repository where there is none.
func absent(what, do, reason string) error {
	return &failure.Error{Kind: failure.NotFound, What: failure.Text(what), Do: failure.Text(do), Err: &AbsentError{reason}}
}
