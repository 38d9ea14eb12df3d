package jiratest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/jira/jiratest"
)

const fixture = `{
  "login": "ada", "secret": "t", "me": "u1",
  "users": [{"name": "u1", "display_name": "Ada"}],
  "issues": [
    {"key": "P-1", "summary": "one", "status": "Done", "assignee": "u1", "wiki": "*w*",
     "document": {"type": "doc"}, "updated": "2026-01-02T03:04:05Z"},
    {"key": "P-2", "summary": "two", "status": "To Do", "updated": "2026-01-01T00:00:00Z"}
  ]
}`

// serve gives the address of the fixture's Jira.
func serve(t *testing.T, change func(*jiratest.Fixture)) (*jiratest.Server, string) {
	t.Helper()
	f, err := jiratest.Load(strings.NewReader(fixture))
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&f)
	}
	fake := jiratest.New(f)
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	t.Cleanup(fake.Close)
	return fake, server.URL + f.Path
}

func cloud(f *jiratest.Fixture) { f.Cloud = true }

// ask makes a request and gives the answer's status and body. Without a secret
// it has no credentials.
func ask(t *testing.T, method, url, secret, body string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if secret != "" {
		req.SetBasicAuth("ada", secret)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(b)
}

const search = `{"jql":"project = \"P\" ORDER BY updated DESC","maxResults":1,"fields":["summary"]`

func TestAnswers(t *testing.T) {
	t.Parallel()
	token := func(p *jiratest.Fixture) { p.Login = "" }
	tests := map[string]struct {
		change       func(*jiratest.Fixture)
		method, path string
		secret, body string
		status       int
		has, reason  string // in the body, in X-Seraph-LoginReason
		kind         string
	}{
		"cloud issue":                   {change: cloud, method: "GET", path: "/rest/api/3/issue/p-1", secret: "t", status: 200, has: `"description":{"type":"doc"}`},
		"cloud issue as wiki":           {change: cloud, method: "GET", path: "/rest/api/2/issue/P-1", secret: "t", status: 200, has: `"description":"*w*"`},
		"data center issue":             {method: "GET", path: "/rest/api/2/issue/P-1?fields=description", secret: "t", status: 200, has: `"fields":{"description":"*w*"}`, reason: "OK"},
		"data center has no version 3":  {method: "GET", path: "/rest/api/3/issue/P-1", secret: "t", status: 404, has: "null for uri"},
		"cloud path that is none":       {change: cloud, method: "GET", path: "/rest/api/3/nothing", secret: "t", status: 404, kind: "text/html;charset=UTF-8"},
		"cloud issue for no one":        {change: cloud, method: "GET", path: "/rest/api/3/issue/P-1", status: 404, has: "Issue does not exist or you do not have permission to see it."},
		"cloud issue, wrong token":      {change: cloud, method: "GET", path: "/rest/api/3/issue/P-1", secret: "x", status: 404, reason: "AUTHENTICATED_FAILED"},
		"data center, no one":           {method: "GET", path: "/rest/api/2/issue/P-1", status: 401, has: "Login Required"},
		"data center, wrong":            {method: "GET", path: "/rest/api/2/issue/P-1", secret: "x", status: 401, reason: "AUTHENTICATED_FAILED", kind: "text/html;charset=UTF-8"},
		"token needs Bearer":            {change: token, method: "GET", path: "/rest/api/2/issue/P-1", secret: "t", status: 401},
		"no such issue":                 {method: "GET", path: "/rest/api/2/issue/P-9", secret: "t", status: 404, has: `"errorMessages":["Issue Does Not Exist"]`},
		"info":                          {method: "GET", path: "/rest/api/2/serverInfo", status: 200, has: `"deploymentType":"Server"`},
		"info of cloud":                 {change: cloud, method: "GET", path: "/rest/api/2/serverInfo", status: 200, has: `"deploymentType":"Cloud"`},
		"cloud search":                  {change: cloud, method: "POST", path: "/rest/api/3/search/jql", secret: "t", body: search + `}`, status: 200, has: `"isLast":false`},
		"cloud search for no one":       {change: cloud, method: "POST", path: "/rest/api/3/search/jql", body: search + `}`, status: 200, has: `"issues":[]`},
		"cloud search with startAt":     {change: cloud, method: "POST", path: "/rest/api/3/search/jql", secret: "t", body: search + `,"startAt":0}`, status: 400, has: "Invalid request payload"},
		"cloud search with a bad token": {change: cloud, method: "POST", path: "/rest/api/3/search/jql", secret: "t", body: search + `,"nextPageToken":"x"}`, status: 400, has: "Invalid request payload"},
		"cloud's former search":         {change: cloud, method: "POST", path: "/rest/api/3/search", secret: "t", body: search + `}`, status: 410, has: "has been removed"},
		"data center search":            {method: "POST", path: "/rest/api/2/search", secret: "t", body: search + `,"startAt":1}`, status: 200, has: `"total":2`},
		"search without a body":         {method: "POST", path: "/rest/api/2/search", secret: "t", status: 400, has: "errorMessages"},
		"other JQL":                     {method: "POST", path: "/rest/api/2/search", secret: "t", body: `{"jql":"text ~ x"}`, status: 400, has: "Error in the JQL Query"},
		"unknown values":                {method: "POST", path: "/rest/api/2/search", secret: "t", body: `{"jql":"project = \"P\" AND assignee = \"Eve\" ORDER BY updated DESC"}`, status: 400, has: "The value 'Eve' does not exist for the field 'assignee'."},
		"context path":                  {change: func(f *jiratest.Fixture) { f.Path = "/jira" }, method: "GET", path: "/rest/api/2/issue/P-1", secret: "t", status: 200, has: "P-1"},
		"nothing else is there":         {method: "PUT", path: "/rest/api/2/issue/P-1", secret: "t", status: 404},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, base := serve(t, tt.change)
			resp, body := ask(t, tt.method, base+tt.path, tt.secret, tt.body)
			if resp.StatusCode != tt.status || !strings.Contains(body, tt.has) {
				t.Errorf("got %d %s, want %d with %q", resp.StatusCode, body, tt.status, tt.has)
			}
			if got := resp.Header.Get("X-Seraph-LoginReason"); tt.reason != "" && got != tt.reason {
				t.Errorf("X-Seraph-LoginReason = %q, want %q", got, tt.reason)
			}
			if got := resp.Header.Get("Content-Type"); tt.kind != "" && got != tt.kind {
				t.Errorf("Content-Type = %q, want %q", got, tt.kind)
			}
		})
	}
}

// TestTokenPages walks Cloud's pages by hand.
func TestTokenPages(t *testing.T) {
	t.Parallel()
	_, base := serve(t, cloud)
	var got []string
	rest := "}"
	for range 3 {
		_, body := ask(t, "POST", base+"/rest/api/3/search/jql", "t", search+rest)
		var page struct {
			Issues        []struct{ Key string }
			NextPageToken string
			IsLast        bool
			Total         *int
		}
		if err := json.Unmarshal([]byte(body), &page); err != nil {
			t.Fatal(err)
		}
		if page.Total != nil || page.IsLast != (page.NextPageToken == "") {
			t.Errorf("odd page: %s", body)
		}
		for _, i := range page.Issues {
			got = append(got, i.Key)
		}
		if page.IsLast {
			break
		}
		rest = `,"nextPageToken":"` + page.NextPageToken + `"}`
	}
	if diff := cmp.Diff([]string{"P-1", "P-2"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBreak(t *testing.T) {
	t.Parallel()
	fake, base := serve(t, nil)
	fake.Break("/issue/P-1", jiratest.RateLimited, 1)
	fake.Break("", jiratest.Internal, 1)
	for _, want := range []int{429, 500, 200} {
		resp, _ := ask(t, "GET", base+"/rest/api/2/issue/P-1", "t", "")
		if resp.StatusCode != want {
			t.Errorf("got %d, want %d", resp.StatusCode, want)
		}
		if got := resp.Header.Get("Retry-After"); want == 429 && got != "37" {
			t.Errorf("Retry-After = %q", got)
		}
	}
	if got := len(fake.Requests()); got != 3 {
		t.Errorf("%d requests recorded, want 3", got)
	}
}

// TestCloseEndsHanging: the test server could not stop otherwise.
func TestCloseEndsHanging(t *testing.T) {
	t.Parallel()
	f, err := jiratest.Load(strings.NewReader(fixture))
	if err != nil {
		t.Fatal(err)
	}
	fake := jiratest.New(f)
	fake.Break("", jiratest.Hang, 1)
	began := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(began)
		fake.ServeHTTP(w, r)
	}))
	defer server.Close()
	done := make(chan error)
	go func() {
		resp, err := http.Post(server.URL, "", nil)
		if err == nil {
			resp.Body.Close()
		}
		done <- err
	}()
	<-began
	fake.Close()
	if err := <-done; err == nil {
		t.Error("the request that hung was answered")
	}
}

func TestParseJQL(t *testing.T) {
	t.Parallel()
	s := func(s string) *string { return &s }
	good := map[string]jiratest.JQL{
		`project = "P" ORDER BY updated DESC`:                                                {Project: "P"},
		`project = "P" AND status = "In \"x\" \\ y" ORDER BY updated DESC`:                   {Project: "P", Status: s(`In "x" \ y`)},
		`project = "P" AND assignee = currentUser() ORDER BY updated DESC`:                   {Project: "P", CurrentUser: true},
		`project = "P" AND status = "" AND assignee = "currentUser()" ORDER BY updated DESC`: {Project: "P", Status: s(""), Assignee: s("currentUser()")},
		`project = "\t\n\r\'\ \u00e4" ORDER BY updated DESC`:                                 {Project: "\t\n\r' ä"},
	}
	for jql, want := range good {
		got, err := jiratest.ParseJQL(jql)
		if err != nil {
			t.Errorf("%s: %v", jql, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", jql, diff)
		}
	}
	for _, jql := range []string{
		``, `project = P ORDER BY updated DESC`, `project = "P"`, `project = "P" ORDER BY created`, `project = "P ORDER BY updated DESC`,
		`project = "P" OR project = "Q" ORDER BY updated DESC`, `project = "\x" ORDER BY updated DESC`, `project = "\u00" ORDER BY updated DESC`,
		`project = "P\`, "project = \"a\nb\" ORDER BY updated DESC", `status = "P" ORDER BY updated DESC`, ` project = "P" ORDER BY updated DESC`,
		`project = "P" AND assignee = me ORDER BY updated DESC`, `project = "P" ORDER BY updated DESC `,
	} {
		if got, err := jiratest.ParseJQL(jql); err == nil {
			t.Errorf("%q was read as %+v", jql, got)
		} else if !strings.HasPrefix(err.Error(), "Error in the JQL Query: ") {
			t.Errorf("%q: %v is not said as Jira says it", jql, err)
		}
	}
}

func TestLoadRefusesUnknown(t *testing.T) {
	t.Parallel()
	if _, err := jiratest.Load(strings.NewReader(`{"isues": []}`)); err == nil {
		t.Error("a misspelt member was accepted")
	}
}
