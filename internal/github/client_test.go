package github_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/credential"
	"github.com/copse-dev/copse/internal/github"
	"github.com/copse-dev/copse/internal/github/githubtest"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/github/remoteurl"
	"github.com/copse-dev/copse/internal/github/rest"
	"github.com/copse-dev/copse/internal/remote"
)

const token = "ghp_0123456789abcdef"

var repo = remoteurl.Repo{Host: "github.com", Owner: "acme", Name: "app"}

// holding returns a fixture with one repository, the token and a fixed date.
func holding(pulls ...githubtest.PullRequest) githubtest.Fixture {
	return githubtest.Fixture{
		Token:        token,
		Date:         "2026-11-02T10:00:00Z",
		Repositories: []githubtest.Repository{{Name: "acme/app", PullRequests: pulls}},
	}
}

// restOnly returns the fixture without a GraphQL API.
func restOnly(f githubtest.Fixture) githubtest.Fixture {
	f.RESTOnly = true
	return f
}

func start(t *testing.T, f githubtest.Fixture) *githubtest.Server {
	t.Helper()
	s, err := githubtest.Start(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func update(t *testing.T, s *githubtest.Server, change func(*githubtest.Fixture)) {
	t.Helper()
	if err := s.Update(change); err != nil {
		t.Fatal(err)
	}
}

// options for a client of s; a test may change them.
func options(t *testing.T, s *githubtest.Server) github.Options {
	t.Helper()
	api, err := remoteurl.APIBase("github.com", s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return github.Options{
		API:        api,
		Credential: credential.Credential{Login: "me", Secret: token, Source: "~/.netrc machine github.com"},
		Version:    "1.2.3",
		CacheDir:   t.TempDir(),
	}
}

func connect(t *testing.T, s *githubtest.Server) *github.Client {
	t.Helper()
	return github.New(options(t, s))
}

func TestPullRequest(t *testing.T) {
	t.Parallel()
	s := start(t, holding(
		githubtest.PullRequest{
			Number: 42, Title: "Add login\x1b[31m \u202eform\n", Author: "ann", Base: "main", Head: "feature/login", SHA: "abc",
			Mergeable: new(true), MergeableState: "clean", CreatedAt: "2026-10-01T10:00:00Z", UpdatedAt: "2026-10-02T10:00:00Z",
			RequestedReviewers: []string{"bob", "dependabot[bot]"}, RequestedTeams: []string{"core"}, Labels: []string{"bug", "ui"},
			Association: "MEMBER", AutoMerge: "squash", QueuePosition: 3, Body: new("What\nwhy\x1b[31m \u202e"),
		},
		githubtest.PullRequest{Number: 43, State: "closed", Merged: true, Draft: true},
		githubtest.PullRequest{Number: 44, Override: map[string]any{
			"user": nil, "body": nil, "draft": nil, "mergeable": nil, "head": nil, "base": nil, "title": nil, "merged": nil,
			"requested_reviewers": nil, "requested_teams": nil, "mergeable_state": nil, "updated_at": nil, "labels": "of another type",
		}},
	))
	asOf := time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)
	const page = "https://github.com/acme/app/pull/"
	for n, want := range map[int]pullrequest.PullRequest{
		42: {
			Number: 42, Title: "Add login form ", URL: page + "42", Body: "What\nwhy ", AuthorAssociation: "MEMBER", State: "open", Author: "ann", Base: "main", Head: "feature/login",
			Mergeable: new(true), CreatedAt: "2026-10-01T10:00:00Z", UpdatedAt: "2026-10-02T10:00:00Z", AsOf: asOf, HeadSHA: "abc", MergeState: "clean",
			RequestedReviewers: []string{"bob", "dependabot[bot]"}, RequestedTeams: []string{"core"}, Labels: []string{"bug", "ui"},
			AutoMerge: &pullrequest.AutoMerge{Method: "squash", EnabledBy: "ann", EnabledAt: "2026-10-02T10:00:00Z"}, MergeQueue: &pullrequest.QueueEntry{State: "queued", Position: 3},
		},
		43: {
			Number: 43, Title: "Pull request 43", URL: page + "43", AuthorAssociation: "CONTRIBUTOR", State: "closed", Author: "ghost", Base: "main", Head: "branch-43", Draft: true, Merged: true,
			CreatedAt: "2026-01-02T19:00:00Z", UpdatedAt: "2026-01-02T19:00:00Z", AsOf: asOf, HeadSHA: "000000000000000000000000000000000000002b", MergeState: "unknown",
		},
		44: {Number: 44, URL: page + "44", State: "open", AuthorAssociation: "CONTRIBUTOR", Author: "ghost", CreatedAt: "2026-01-02T20:00:00Z", AsOf: asOf},
	} {
		for _, rest := range []bool{false, true} {
			update(t, s, func(f *githubtest.Fixture) { f.RESTOnly = rest })
			want := want
			want.Decided = !rest
			if rest {
				// REST does not know these.
				want.MergeQueue = nil
				want.Notes = []string{"the merge queue is unknown: GitHub's GraphQL API is not available (Not Found)"}
				if want.AutoMerge != nil {
					want.AutoMerge = &pullrequest.AutoMerge{Method: "squash", EnabledBy: "ann"}
				}
			}
			got, err := connect(t, s).PullRequest(t.Context(), repo, n)
			if err != nil {
				t.Errorf("%d: %v", n, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%d, REST only: %t: -want +got:\n%s", n, rest, diff)
			}
		}
	}
	for _, r := range s.Requests() {
		if r.Authorization != "Bearer "+token || r.Accept != "application/vnd.github+json" || r.APIVersion != "2022-11-28" || r.UserAgent != "copse/1.2.3" {
			t.Errorf("got request %+v", r)
		}
	}
}

func TestJSONNames(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal(pullrequest.Status{
		PullRequest: pullrequest.PullRequest{Number: 1, HeadSHA: "x", Merged: true},
		Reviews:     []pullrequest.Review{{}}, Checks: []pullrequest.Check{{}},
		Summary: pullrequest.Summarize(pullrequest.Evidence{Complete: true}),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"pull_request":{"number":1,"title":"","state":"","merged":true,"author":"","base":"","head":"","draft":false,"mergeable":null,"created_at":"","updated_at":""},` +
		`"reviews":[{"author":"","state":""}],"checks":[{"name":"","status":"","conclusion":null}],` +
		`"summary":{"checks":"none","failing":[],"review_decision":"none","blockers":[]}}`
	if string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	from := "~/.netrc machine github.com"
	for kind, want := range map[githubtest.Kind]remote.Error{
		githubtest.Unauthorized:       {Kind: remote.Refused, Status: 401, Detail: `"Bad credentials"`, Credential: from},
		githubtest.Forbidden:          {Kind: remote.Refused, Status: 403, Detail: `"Resource not accessible by personal access token"`, Credential: from},
		githubtest.NotFound:           {Kind: remote.NotFound, Status: 404, Detail: "Not Found", Credential: from},
		githubtest.Unprocessable:      {Status: 422, Detail: `"Validation Failed; state: invalid"`, Credential: from},
		githubtest.RateLimit:          {Kind: remote.RateLimited, Status: 403, RetryAfter: time.Hour, Detail: `"API rate limit exceeded for user ID 1."`, Credential: from},
		githubtest.SecondaryLimit:     {Kind: remote.RateLimited, Status: 403, RetryAfter: time.Minute, Detail: `"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."`, Credential: from},
		githubtest.SecondaryLimitBare: {Kind: remote.RateLimited, Status: 403, RetryAfter: time.Minute, Detail: `"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."`, Credential: from},
		githubtest.TooMany:            {Kind: remote.RateLimited, Status: 429, RetryAfter: time.Minute, Detail: `"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."`, Credential: from},
		githubtest.ServerError:        {Status: 500, Detail: `"Server Error"`, Credential: from},
		githubtest.BadGateway:         {Status: 502, Detail: "returned a web page, not JSON", Credential: from},
		githubtest.WebPage:            {Kind: remote.Misdirected, Detail: "returned a web page, not JSON"},
		githubtest.Garbage:            {Kind: remote.Misdirected, Detail: "returned something that is not the JSON it documents"},
		githubtest.EmptyObject:        {Detail: "returned something that is not pull request 42"},
		githubtest.Truncate:           {Detail: "the connection to the service was interrupted"},
		githubtest.Hang:               {Detail: "no answer in time (100ms) from HOST"},
		githubtest.HangBody:           {Detail: "no answer in time (100ms) from the service"},
		githubtest.Reset:              {Detail: "the connection to HOST was interrupted"},
		githubtest.Redirect:           {},
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			f := holding(githubtest.PullRequest{Number: 42})
			f.Faults = []githubtest.Fault{{Kind: kind, Location: "https://elsewhere.example/x"}}
			s := start(t, f)
			o := options(t, s)
			if kind == githubtest.Hang || kind == githubtest.HangBody {
				o.Timeout = 100 * time.Millisecond
			}
			_, err := github.New(o).PullRequest(t.Context(), repo, 42)
			if kind == githubtest.Redirect {
				if !errors.Is(err, remote.ErrNotAllowed) {
					t.Errorf("got error %v, want ErrNotAllowed", err)
				}
				return
			}
			var e *remote.Error
			if !errors.As(err, &e) {
				t.Fatalf("got error %v", err)
			}
			got := *e
			got.Err = nil
			want.Service = "GitHub"
			want.Detail = strings.Replace(want.Detail, "HOST", strings.TrimPrefix(s.URL, "http://"), 1)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if !strings.HasPrefix(err.Error(), "GitHub API error: ") || strings.Contains(err.Error(), token) {
				t.Errorf("got text %q", err)
			}
		})
	}
}

func TestWrongToken(t *testing.T) {
	t.Parallel()
	s := start(t, holding(githubtest.PullRequest{Number: 42}))
	for secret, want := range map[string]string{"": `"Requires authentication"`, "wrong": `"Bad credentials"`} {
		o := options(t, s)
		o.Credential.Secret = secret
		_, err := github.New(o).PullRequest(t.Context(), repo, 42)
		var e *remote.Error
		if !errors.As(err, &e) || e.Kind != remote.Refused || e.Detail != want {
			t.Errorf("%q: got error %v", secret, err)
		}
	}
}

func TestASecondTryHealsABreak(t *testing.T) {
	t.Parallel()
	for _, kind := range []githubtest.Kind{githubtest.ServerError, githubtest.BadGateway, githubtest.Reset} {
		f := holding(githubtest.PullRequest{Number: 42})
		f.Faults = []githubtest.Fault{{Kind: kind, Times: 1}}
		s := start(t, f)
		if _, err := connect(t, s).PullRequest(t.Context(), repo, 42); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if n := len(s.Requests()); n != 2 {
			t.Errorf("%s: got %d requests, want 2", kind, n)
		}
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	f := holding(githubtest.PullRequest{Number: 42})
	f.Faults = []githubtest.Fault{{Kind: githubtest.HangBody}}
	s := start(t, f)
	o := options(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	o.Base = roundTrip(func(r *http.Request) (*http.Response, error) {
		defer cancel() // when the head of the answer is there
		return http.DefaultTransport.RoundTrip(r)
	})
	if _, err := github.New(o).PullRequest(ctx, repo, 42); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestCacheIsSharedAndConfirmed(t *testing.T) {
	t.Parallel()
	for _, rest := range []bool{false, true} {
		t.Run(fmt.Sprintf("REST only %t", rest), func(t *testing.T) {
			t.Parallel()
			testCache(t, rest)
		})
	}
}

func testCache(t *testing.T, rest bool) {
	f := holding(githubtest.PullRequest{Number: 42, Title: "old"})
	f.RESTOnly = rest
	s := start(t, f)
	o := options(t, s)
	read := func(ctx context.Context, title, asOf string) {
		t.Helper()
		// A client of its own each time, as another process would have.
		pr, err := github.New(o).PullRequest(ctx, repo, 42)
		if err != nil || pr.Title != title || pr.AsOf.Format(time.RFC3339) != asOf {
			t.Errorf("got %q as of %v, %v; want %q as of %s", pr.Title, pr.AsOf, err, title, asOf)
		}
	}
	cached := remote.WithCachedOnly(t.Context())

	read(t.Context(), "old", "2026-11-02T10:00:00Z")
	update(t, s, func(f *githubtest.Fixture) { f.Date = "2026-11-02T11:00:00Z" })
	read(t.Context(), "old", "2026-11-02T11:00:00Z")
	update(t, s, func(f *githubtest.Fixture) {
		f.Date = "2026-11-02T12:00:00Z"
		f.Repositories[0].PullRequests[0].Title = "new"
	})
	read(cached, "old", "2026-11-02T11:00:00Z")
	read(t.Context(), "new", "2026-11-02T12:00:00Z")
	update(t, s, func(f *githubtest.Fixture) { f.Faults = []githubtest.Fault{{Kind: githubtest.Forbidden}} })
	if _, err := github.New(o).PullRequest(t.Context(), repo, 42); err == nil {
		t.Error("the kept answer hides a refusal")
	}
	read(cached, "new", "2026-11-02T12:00:00Z")

	var status []int
	for _, r := range s.Requests() {
		status = append(status, r.Status)
	}
	want := []int{200, 200, 200, 403, 403} // the last one asks by REST
	if rest {
		want = []int{404, 200, 404, 304, 404, 200, 403, 403}
	}
	if diff := cmp.Diff(want, status); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}

	o.Credential.Secret += "x"
	if _, err := github.New(o).PullRequest(cached, repo, 42); !errors.Is(err, remote.ErrNotCached) {
		t.Errorf("another credential: got error %v, want ErrNotCached", err)
	}
}

func TestTokenIsNotOnDisk(t *testing.T) {
	t.Parallel()
	s := start(t, holding(githubtest.PullRequest{Number: 42, SHA: "abc"}))
	o := options(t, s)
	for _, rest := range []bool{false, true} {
		update(t, s, func(f *githubtest.Fixture) { f.RESTOnly = rest })
		if _, err := github.New(o).Status(t.Context(), repo, 42); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(o.CacheDir, "*"))
	if err != nil || len(files) != 6 {
		t.Fatalf("got files %v, %v", files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), token) || strings.Contains(f, token) {
			t.Errorf("the token is in %s", f)
		}
	}
}

// What GitHub answered with can be searched without asking again, whatever the question was,
// and by the same login alone.
func TestSeen(t *testing.T) {
	t.Parallel()
	s := start(t, holding(githubtest.PullRequest{Number: 42, Title: "Log in", Author: "ada", Head: "feature/login", SHA: "abc"}))
	for name, ask := range map[string]func(c *github.Client) error{
		"one":    func(c *github.Client) error { _, err := c.PullRequest(t.Context(), repo, 42); return err },
		"status": func(c *github.Client) error { _, err := c.Status(t.Context(), repo, 42); return err },
		"list": func(c *github.Client) error {
			_, err := c.PullRequests(t.Context(), repo, pullrequest.Open, rest.Cursor{}, 30)
			return err
		},
		"branches": func(c *github.Client) error {
			_, known := c.OfBranches(t.Context(), repo, []pullrequest.Head{{Branch: "feature/login"}})[0].Get()
			if !known {
				return errors.New("nothing is known of the branch")
			}
			return nil
		},
	} {
		o := options(t, s)
		o.CacheDir = t.TempDir()
		if err := ask(github.New(o)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got := github.New(o).Seen(repo)
		if len(got) != 1 || got[0].Key != "42" || got[0].Title != "Log in" || got[0].State != "open" || got[0].Branch != "feature/login" || got[0].AsOf.IsZero() {
			t.Errorf("%s: %+v", name, got)
		}
		o.Credential.Secret += "x"
		if got := github.New(o).Seen(repo); len(got) > 0 {
			t.Errorf("%s: another login has %+v", name, got)
		}
	}
}

func TestRenamedRepositoryIsFollowed(t *testing.T) {
	t.Parallel()
	f := holding(githubtest.PullRequest{Number: 42})
	f.Repositories[0].FormerNames = []string{"acme/old"}
	c := connect(t, start(t, f))
	if _, err := c.Status(t.Context(), remoteurl.Repo{Owner: "acme", Name: "old"}, 42); err != nil {
		t.Error(err)
	}
	if p, err := c.PullRequests(t.Context(), remoteurl.Repo{Owner: "acme", Name: "old"}, pullrequest.Open, rest.Cursor{}, 30); err != nil || len(p.PullRequests) != 1 {
		t.Errorf("got %v, %v", p, err)
	}
}

func TestEnterprisePath(t *testing.T) {
	t.Parallel()
	s := start(t, holding(githubtest.PullRequest{Number: 42}))
	o := options(t, s)
	api, err := url.Parse(s.URL + "/api/v3")
	if err != nil {
		t.Fatal(err)
	}
	o.API = api
	if _, err := github.New(o).PullRequest(t.Context(), repo, 42); err != nil {
		t.Error(err)
	}
	if _, err := github.New(o).PullRequests(t.Context(), repo, pullrequest.All, rest.Cursor{}, 1); err != nil {
		t.Error(err)
	}
	if got := s.Requests()[0].URI; got != "/api/graphql" {
		t.Errorf("got %s", got)
	}
	if got := s.Requests()[1].URI; !strings.HasPrefix(got, "/api/v3/repos/acme/app/pulls?") {
		t.Errorf("got %s", got)
	}
}

// TestOnlyReadsLeave runs every method of the client against every answer
// that could lead it astray and looks at all that leaves it.
func TestOnlyReadsLeave(t *testing.T) {
	t.Parallel()
	f := holding(githubtest.PullRequest{Number: 42, SHA: "abc"})
	s := start(t, f)
	elsewhere := start(t, githubtest.Fixture{})
	o := options(t, s)
	var mu sync.Mutex
	var sent []*http.Request
	o.Base = roundTrip(func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		sent = append(sent, r)
		mu.Unlock()
		return http.DefaultTransport.RoundTrip(r)
	})
	c := github.New(o)
	for _, location := range []string{"", elsewhere.URL + "/repos/acme/app/pulls/42", "//elsewhere.example/", "https://" + strings.TrimPrefix(s.URL, "http://") + "/"} {
		update(t, s, func(f *githubtest.Fixture) {
			f.Faults = nil
			if location != "" {
				f.Faults = []githubtest.Fault{{Kind: githubtest.Redirect, Location: location}}
			}
		})
		_, err1 := c.PullRequest(t.Context(), repo, 42)
		_, err2 := c.PullRequests(t.Context(), repo, pullrequest.All, rest.Cursor{}, 1)
		_, err3 := c.Status(t.Context(), repo, 42)
		for _, err := range []error{err1, err2, err3} {
			if location == "" && err != nil || location != "" && !errors.Is(err, remote.ErrNotAllowed) {
				t.Errorf("redirect to %q: got error %v", location, err)
			}
		}
	}
	if len(sent) < 8 {
		t.Errorf("only %d requests were seen", len(sent))
	}
	for _, r := range sent {
		read := r.Method == http.MethodGet && r.Body == nil || r.Method == http.MethodPost && r.URL.Path == "/graphql"
		if !read || "http://"+r.URL.Host != s.URL {
			t.Errorf("sent %s %s", r.Method, r.URL)
		}
	}
	if got := elsewhere.Requests(); len(got) != 0 {
		t.Errorf("elsewhere got %v", got)
	}
}

// TestTheTransportLetsOnlyReadsOut goes past the methods of the client, to the
// transport that it was made with.
func TestTheTransportLetsOnlyReadsOut(t *testing.T) {
	t.Parallel()
	s := start(t, holding(githubtest.PullRequest{Number: 42}))
	api, err := url.Parse(s.URL + "/api/v3")
	if err != nil {
		t.Fatal(err)
	}
	o := options(t, s)
	o.API = api
	transport := github.New(o).Transport()
	try := func(method, url string, body io.Reader) error {
		req, err := http.NewRequestWithContext(t.Context(), method, url, body)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := transport.RoundTrip(req)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	path := s.URL + "/api/v3/repos/acme/app/pulls/42"
	for _, method := range []string{"HEAD", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "OPTIONS", "TRACE", "QUERY", "get"} {
		if err := try(method, path, nil); !errors.Is(err, remote.ErrNotAllowed) {
			t.Errorf("%s: got error %v", method, err)
		}
	}
	if err := try("GET", path, strings.NewReader("body")); !errors.Is(err, remote.ErrNotAllowed) {
		t.Errorf("GET with a body: got error %v", err)
	}
	if err := try("GET", s.URL+"/elsewhere", nil); !errors.Is(err, remote.ErrNotAllowed) {
		t.Errorf("GET outside the API: got error %v", err)
	}
	if got := s.Requests(); len(got) != 0 {
		t.Errorf("the server got %v", got)
	}
	if err := try("GET", path, nil); err != nil {
		t.Errorf("GET: %v", err)
	}
}
