package jira_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/credential"
	"github.com/copse-dev/copse/internal/jira"
	"github.com/copse-dev/copse/internal/jira/jiratest"
	"github.com/copse-dev/copse/internal/remote"
)

// check holds err against what is wanted, and looks for secrets in it.
func check(t *testing.T, err error, kind remote.Kind, status int, detail string) {
	t.Helper()
	var e *remote.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a *remote.Error", err)
	}
	if e.Service != "Jira" || e.Kind != kind || e.Status != status || e.Credential != source {
		t.Errorf("got service %q, kind %d, status %d, credential %q; want Jira, %d, %d, %q", e.Service, e.Kind, e.Status, e.Credential, kind, status, source)
	}
	if !strings.Contains(e.Detail, detail) {
		t.Errorf("detail = %q, want it to have %q", e.Detail, detail)
	}
	if text := fmt.Sprintf("%v %+v", err, *e); strings.Contains(text, "secret") || strings.Contains(text, secret) {
		t.Errorf("the error shows a secret: %s", text)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		what   jiratest.Failure
		kind   remote.Kind
		status int
		detail string
	}{
		"truncated":    {jiratest.Truncate, remote.Failed, 0, "was interrupted"},
		"html":         {jiratest.HTML, remote.Misdirected, 0, "web page"},
		"503":          {jiratest.Unavailable, remote.Failed, 503, "web page"},
		"500":          {jiratest.Internal, remote.Failed, 500, "Internal server error"},
		"rate limited": {jiratest.RateLimited, remote.RateLimited, 429, "Rate limit exceeded."},
		"captcha":      {jiratest.Captcha, remote.Refused, 403, "CAPTCHA"},
		"forbidden":    {jiratest.Forbidden, remote.Refused, 403, "You do not have permission"},
		"gone":         {jiratest.Gone, remote.Failed, 410, "no longer has the requested API"},
		"redirect":     {jiratest.Redirect, remote.Misdirected, 302, "redirects to https://login.example.com, which is a login page"},
	}
	for name, tt := range tests {
		for _, cloud := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/cloud=%t", name, cloud), func(t *testing.T) {
				t.Parallel()
				fake, client := jiraOf(t, fixture(t, cloud))
				for _, path := range []string{"/serverInfo", "/issue/PROJ-1"} {
					fake.Break(path, tt.what, 2) // a GET may be tried twice
					_, err := client.Issue(t.Context(), "PROJ-1")
					check(t, err, tt.kind, tt.status, tt.detail)
					fake.Break(path, tt.what, -1)
					drain(t, client)
				}
				path := "/search"
				if cloud {
					path = "/search/jql"
				}
				fake.Break(path, tt.what, 1)
				_, err := client.Search(t.Context(), jira.Query{Project: "PROJ"}, 5, "")
				check(t, err, tt.kind, tt.status, tt.detail)
				if e := (*remote.Error)(nil); errors.As(err, &e) && tt.kind == remote.RateLimited && e.RetryAfter != jiratest.RetryAfter {
					t.Errorf("RetryAfter = %v, want %v", e.RetryAfter, jiratest.RetryAfter)
				}
			})
		}
	}
}

// drain asks until nothing is broken.
func drain(t *testing.T, client *jira.Client) {
	t.Helper()
	for range 5 {
		if _, err := client.Issue(t.Context(), "PROJ-1"); err == nil {
			return
		}
	}
	t.Fatal("still broken")
}

func TestHang(t *testing.T) {
	t.Parallel()
	fake := jiratest.New(fixture(t, true))
	t.Cleanup(fake.Close)
	fake.Break("/issue/PROJ-1", jiratest.Hang, 1)
	ctx, cancel := context.WithCancel(t.Context())
	client := clientOf(t, fixture(t, true), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "PROJ-1") {
			cancel()
		}
		fake.ServeHTTP(w, r)
	}))
	_, err := client.Issue(ctx, "PROJ-1")
	check(t, err, remote.Failed, 0, "canceled")
}

func TestNotFound(t *testing.T) {
	t.Parallel()
	for _, cloud := range []bool{true, false} {
		_, client := jiraOf(t, fixture(t, cloud))
		_, err := client.Issue(t.Context(), "PROJ-99")
		check(t, err, remote.NotFound, 404, "xist")
		_, err = client.Search(t.Context(), jira.Query{Project: "NOPE", Status: "Nowhere"}, 5, "")
		check(t, err, remote.NotFound, 400, "The value 'NOPE' does not exist for the field 'project'.; The value 'Nowhere' does not exist for the field 'status'.")
	}
}

// TestWrongCredentials is about the answers to someone whose token expired: Cloud
// gives an empty list and a 404, as if there were nothing.
func TestWrongCredentials(t *testing.T) {
	t.Parallel()
	for _, cloud := range []bool{true, false} {
		t.Run(fmt.Sprintf("cloud=%t", cloud), func(t *testing.T) {
			t.Parallel()
			fake := jiratest.New(fixture(t, cloud))
			t.Cleanup(fake.Close)
			f := fixture(t, cloud)
			f.Secret = "old-" + secret
			client := clientOf(t, f, fake)
			wantIssue, wantSearch := 401, 401
			if cloud {
				wantIssue, wantSearch = 200, 200 // of the server's kind
			}
			_, err := client.Issue(t.Context(), "PROJ-1")
			check(t, err, remote.Refused, wantIssue, "not accepted")
			_, err = client.Search(t.Context(), jira.Query{Project: "PROJ"}, 5, "")
			check(t, err, remote.Refused, wantSearch, "not accepted")
		})
	}
	t.Run("cloud site", func(t *testing.T) {
		t.Parallel()
		server := jiratest.New(fixture(t, true))
		t.Cleanup(server.Close)
		host := parseHost(t, "acme.atlassian.net")
		client := jira.New(jira.Options{
			Host:       host,
			Credential: credential.Credential{Login: login, Secret: "old", Source: source},
			Transport:  remote.NewTransport(remote.Options{Allow: host.Allow, Base: inProcess{server}}),
		})
		_, err := client.Issue(t.Context(), "PROJ-1")
		check(t, err, remote.Refused, 404, "not accepted")
		_, err = client.Search(t.Context(), jira.Query{Project: "PROJ"}, 5, "")
		check(t, err, remote.Refused, 200, "not accepted")
	})
}

// TestUnauthorized is about a 401 that says nothing, as from a proxy.
func TestUnauthorized(t *testing.T) {
	t.Parallel()
	client := clientOf(t, fixture(t, false), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
	}))
	_, err := client.Issue(t.Context(), "PROJ-1")
	check(t, err, remote.Refused, 401, "the login or token was not accepted")
}

func TestNoJiraThere(t *testing.T) {
	t.Parallel()
	f := fixture(t, false)
	fake := jiratest.New(f)
	t.Cleanup(fake.Close)
	f.Path = "/jira"
	_, err := clientOf(t, f, fake).Issue(t.Context(), "PROJ-1")
	check(t, err, remote.Misdirected, 404, "there is no Jira at http://127.0.0.1:")
	check(t, err, remote.Misdirected, 404, "check $JIRA_HOST")
}

func TestNotAnIssue(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{}`, `null`, `{"key":null}`} {
		_, err := clientOf(t, fixture(t, true), answer("Cloud", body)).Issue(t.Context(), "PROJ-1")
		check(t, err, remote.Failed, 200, "not an issue")
	}
	for _, body := range []string{`[]`, `"x"`, `{"key":1}`, ``} {
		_, err := clientOf(t, fixture(t, true), answer("Cloud", body)).Issue(t.Context(), "PROJ-1")
		check(t, err, remote.Misdirected, 0, "not the JSON")
	}
	for _, body := range []string{`{}`, `{"issues":{}}`, `{"issues":[1]}`, `null`} {
		_, err := clientOf(t, fixture(t, true), answer("Cloud", body)).Search(t.Context(), jira.Query{Project: "P"}, 5, "")
		check(t, err, remote.Failed, 200, "not a list of issues")
	}
}
