package jira_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/credential"
	"github.com/copse-dev/copse/internal/jira"
	"github.com/copse-dev/copse/internal/jira/jiratest"
	"github.com/copse-dev/copse/internal/remote"
)

func TestIssue(t *testing.T) {
	t.Parallel()
	document := "## Steps\n\n1. open `/login`\n2. wait"
	wiki := "h2. Steps\n# open {{/login}}\n# wait"
	tests := map[string]struct {
		change      func(*jiratest.Fixture)
		cloud       bool
		path        string
		description string
		authorized  string
	}{
		"cloud":             {cloud: true, path: "/rest/api/3/issue/PROJ-1", description: document, authorized: "Basic "},
		"data center":       {path: "/rest/api/2/issue/PROJ-1", description: wiki, authorized: "Basic "},
		"access token":      {change: func(f *jiratest.Fixture) { f.Login = "" }, path: "/rest/api/2/issue/PROJ-1", description: wiki, authorized: "Bearer " + secret},
		"with context path": {change: func(f *jiratest.Fixture) { f.Path = "/tools/jira" }, path: "/rest/api/2/issue/PROJ-1", description: wiki, authorized: "Basic "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := fixture(t, tt.cloud)
			if tt.change != nil {
				tt.change(&f)
			}
			fake, client := jiraOf(t, f)
			got, err := client.Issue(t.Context(), " proj-1 ")
			if err != nil {
				t.Fatal(err)
			}
			want := jira.Issue{
				Key: "PROJ-1", Summary: "Login fails after reset", Description: tt.description,
				Status: "In Progress", Assignee: "Ada Lovelace", AsOf: asOf,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("issue (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"GET /rest/api/2/serverInfo", "GET " + tt.path}, paths(fake)); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			last := fake.Requests()[1]
			if last.Query != "fields=summary,description,status,assignee,issuetype,priority,parent,issuelinks,comment" {
				t.Errorf("query = %q", last.Query)
			}
			if got := last.Header.Get("Authorization"); !strings.HasPrefix(got, tt.authorized) {
				t.Errorf("Authorization = %q, want %q…", got, tt.authorized)
			}
			if got := last.Header.Get("User-Agent"); got != agent {
				t.Errorf("User-Agent = %q, want %q", got, agent)
			}
		})
	}
}

func TestIssueJSON(t *testing.T) {
	t.Parallel()
	got, err := json.Marshal([]jira.Issue{
		{Key: "P-1", Summary: "s", Description: "d", Status: "st", Assignee: "a", AsOf: asOf},
		{Key: "P-2"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"key":"P-1","summary":"s","description":"d","status":"st","assignee":"a"},{"key":"P-2","summary":"","status":""}]`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestIssueKeys(t *testing.T) {
	t.Parallel()
	fake, client := jiraOf(t, fixture(t, true))
	for _, key := range []string{
		"", "PROJ", "PROJ-", "-1", "_-1", "1ROJ-1", "PROJ-1a", "PROJ-1/../..", "PROJ-1?x=y", "PROJ-1#x", "PROJ-1\nx",
		"PRÖJ-1", "PROJ-١", "PROJ 1", "../PROJ-1", "PROJ-1,PROJ-2", "PROJ%2D1",
	} {
		_, err := client.Issue(t.Context(), key)
		var invalid *jira.InvalidError
		if !errors.As(err, &invalid) || invalid.Argument != "issue_key" {
			t.Errorf("Issue(%q): %v, want an InvalidError of issue_key", key, err)
		}
	}
	if got := fake.Requests(); len(got) != 0 {
		t.Errorf("%d requests were sent", len(got))
	}
}

func TestIssueLenient(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		body string
		want jira.Issue
	}{
		"nulls": {
			`{"key":"PROJ-1","fields":{"summary":null,"description":null,"status":null,"assignee":null}}`,
			jira.Issue{Key: "PROJ-1", AsOf: asOf},
		},
		"missing":          {`{"key":"PROJ-1","fields":{}}`, jira.Issue{Key: "PROJ-1", AsOf: asOf}},
		"no fields at all": {`{"key":"PROJ-1","fields":null}`, jira.Issue{Key: "PROJ-1", AsOf: asOf}},
		"other types": {
			`{"key":"PROJ-1","fields":{"summary":7,"description":[1],"status":"Done","assignee":["x"]}}`,
			jira.Issue{Key: "PROJ-1", AsOf: asOf},
		},
		"null inside": {
			`{"key":"PROJ-1","fields":{"summary":"s","status":{"name":null},"assignee":{"displayName":null,"name":"ada"}}}`,
			jira.Issue{Key: "PROJ-1", Summary: "s", Assignee: "ada", AsOf: asOf},
		},
		"text where a document should be": {
			`{"key":"PROJ-1","fields":{"description":"*plain*"}}`,
			jira.Issue{Key: "PROJ-1", Description: "*plain*", AsOf: asOf},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := clientOf(t, fixture(t, true), answer("Cloud", tt.body)).Issue(t.Context(), "PROJ-1")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestProductOnce lets many callers ask at once; the first one fails.
func TestProductOnce(t *testing.T) {
	t.Parallel()
	fake, client := jiraOf(t, fixture(t, false))
	fake.Break("/serverInfo", jiratest.Forbidden, 1)
	if _, err := client.Issue(t.Context(), "PROJ-1"); err == nil {
		t.Fatal("no error though the server's kind could not be found out")
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := client.Issue(t.Context(), "PROJ-1"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	asked := 0
	for _, p := range paths(fake) {
		if p == "GET /rest/api/2/serverInfo" {
			asked++
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times for the server's kind, want once in vain and once more", asked)
	}
}

// TestProductWait has a caller give up while another one's question hangs.
func TestProductWait(t *testing.T) {
	t.Parallel()
	fake := jiratest.New(fixture(t, false))
	t.Cleanup(fake.Close)
	fake.Break("/serverInfo", jiratest.Hang, 1)
	asked := make(chan struct{}, 9)
	client := clientOf(t, fixture(t, false), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		fake.ServeHTTP(w, r)
	}))
	first, cancelFirst := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := client.Issue(first, "PROJ-1")
		done <- err
	}()
	<-asked
	second, cancelSecond := context.WithCancel(t.Context())
	cancelSecond()
	if _, err := client.Issue(second, "PROJ-1"); !errors.Is(err, context.Canceled) {
		t.Errorf("the second caller got %v, want its own cancellation", err)
	}
	cancelFirst()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the first caller got %v, want its own cancellation", err)
	}
	if _, err := client.Issue(t.Context(), "PROJ-1"); err != nil {
		t.Errorf("the third caller got %v", err)
	}
}

// TestSiteIsNotAsked reaches the fake under the names of Cloud.
func TestSiteIsNotAsked(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{
		"acme.atlassian.net": "", "acme.jira.com": "", "acme.atlassian-us-gov-mod.net": "",
		"api.atlassian.com/ex/jira/11223344-a1b2": "/ex/jira/11223344-a1b2",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := fixture(t, true)
			f.Path = path
			fake := jiratest.New(f)
			t.Cleanup(fake.Close)
			server := httptest.NewServer(fake)
			t.Cleanup(server.Close)
			host := parseHost(t, name)
			client := jira.New(jira.Options{
				Host:       host,
				Credential: credential.Credential{Login: login, Secret: secret},
				Transport:  remote.NewTransport(remote.Options{Allow: host.Allow, Base: redial(server.Listener.Addr().String())}),
			})
			if _, err := client.Issue(t.Context(), "PROJ-1"); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"GET /rest/api/3/issue/PROJ-1"}, paths(fake)); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

// redial sends every request to one address, in clear.
type redial string

func (r redial) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.URL.Scheme, req.URL.Host = "http", string(r)
	return http.DefaultTransport.RoundTrip(req)
}

func TestCachedOnly(t *testing.T) {
	t.Parallel()
	fake := jiratest.New(fixture(t, false))
	t.Cleanup(fake.Close)
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	host := parseHost(t, server.URL)
	client := jira.New(jira.Options{
		Host:       host,
		Credential: credential.Credential{Login: login, Secret: secret},
		Transport:  remote.NewTransport(remote.Options{Allow: host.Allow, CacheDir: t.TempDir(), KeepNoStore: true}),
	})
	offline := remote.WithCachedOnly(t.Context())
	if _, err := client.Issue(offline, "PROJ-1"); !errors.Is(err, remote.ErrNotCached) {
		t.Fatalf("before: %v, want ErrNotCached", err)
	}
	want, err := client.Issue(t.Context(), "PROJ-1")
	if err != nil {
		t.Fatal(err)
	}
	server.Close()
	got, err := client.Issue(offline, "PROJ-1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := client.Search(offline, jira.Query{Project: "PROJ"}, 5, ""); !errors.Is(err, remote.ErrNotCached) {
		t.Errorf("a search: %v, want ErrNotCached", err)
	}
}
