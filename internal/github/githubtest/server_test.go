package githubtest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/github/githubtest"
)

const fixture = `{
  "token": "t0ken",
  "date": "2026-11-02T10:00:00Z",
  "repositories": [{
    "name": "acme/app",
    "former_names": ["acme/old"],
    "pull_requests": [
      {"number": 1, "author": "ann", "reviews": [{"author": "bob", "state": "APPROVED"}, {"state": "PENDING"}]},
      {"number": 2, "body": "text", "override": {"draft": null}},
      {"number": 3, "state": "closed", "merged": true, "sha": "abc", "statuses": [{"context": "ci", "state": "failure"}]}
    ]
  }],
  "faults": [{"kind": "server_error", "path": "/pulls/2", "times": 1}]
}`

func start(t *testing.T, text string) *githubtest.Server {
	t.Helper()
	f, err := githubtest.Load(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := githubtest.Start(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// get follows no redirect.
func get(t *testing.T, s *githubtest.Server, path string, header ...string) (*http.Response, map[string]any, []map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer t0ken")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	var list []map[string]any
	if json.Unmarshal(b, &object) != nil {
		json.Unmarshal(b, &list)
	}
	return resp, object, list
}

func TestPullRequestFields(t *testing.T) {
	t.Parallel()
	s := start(t, fixture)
	resp, o, _ := get(t, s, "/repos/ACME/app/pulls/1")
	if resp.StatusCode != 200 || o["body"] != nil || o["user"].(map[string]any)["login"] != "ann" || o["merged"] != false {
		t.Errorf("got %d %v", resp.StatusCode, o)
	}
	for _, name := range []string{"mergeable", "merged_at", "closed_at", "head", "base", "requested_reviewers", "_links", "html_url"} {
		if _, ok := o[name]; !ok {
			t.Errorf("no %s", name)
		}
	}
	if resp, _, _ := get(t, s, "/repos/acme/app/pulls/2"); resp.StatusCode != 500 {
		t.Errorf("the fault is not met: %d", resp.StatusCode)
	}
	if _, o, _ = get(t, s, "/repos/acme/app/pulls/2"); o["user"] != nil || o["draft"] != nil || o["body"] != "text" {
		t.Errorf("got %v", o)
	}
	if _, o, _ := get(t, s, "/repos/acme/app/commits/abc/status"); o["state"] != "failure" || o["total_count"] != 1.0 {
		t.Errorf("got %v", o)
	}
	_, _, list := get(t, s, "/repos/acme/app/pulls/1/reviews")
	if _, submitted := list[1]["submitted_at"]; submitted || list[1]["user"] != nil || list[0]["submitted_at"] == nil {
		t.Errorf("got %v", list)
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	s := start(t, fixture)
	for query, want := range map[string]string{
		"":                              "",
		"?per_page=1":                   `<U?page=2&per_page=1>; rel="next", <U?page=2&per_page=1>; rel="last"`,
		"?per_page=1&state=all&page=2":  `<U?page=1&per_page=1&state=all>; rel="prev", <U?page=3&per_page=1&state=all>; rel="next", <U?page=3&per_page=1&state=all>; rel="last", <U?page=1&per_page=1&state=all>; rel="first"`,
		"?per_page=1&page=2":            `<U?page=1&per_page=1>; rel="prev", <U?page=1&per_page=1>; rel="first"`,
		"?per_page=1&page=9&state=open": `<U?page=2&per_page=1&state=open>; rel="prev", <U?page=1&per_page=1&state=open>; rel="first"`,
	} {
		resp, _, _ := get(t, s, "/repos/acme/app/pulls"+query)
		got := strings.ReplaceAll(resp.Header.Get("Link"), s.URL+"/repos/acme/app/pulls", "U")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", query, diff)
		}
	}
	if resp, o, _ := get(t, s, "/repos/acme/app/pulls?state=merged"); resp.StatusCode != 422 || o["message"] != "Validation Failed" {
		t.Errorf("got %d %v", resp.StatusCode, o)
	}
}

func TestConditionalRequestsAreFree(t *testing.T) {
	t.Parallel()
	s := start(t, fixture)
	first, _, _ := get(t, s, "/repos/acme/app/pulls/1")
	second, _, _ := get(t, s, "/repos/acme/app/pulls/1", "If-None-Match", first.Header.Get("Etag"))
	third, _, _ := get(t, s, "/repos/acme/app/pulls/1", "If-None-Match", `"other"`)
	got := []string{}
	for _, r := range []*http.Response{first, second, third} {
		got = append(got, r.Status+" "+r.Header.Get("X-RateLimit-Remaining")+" "+r.Header.Get("X-RateLimit-Reset")+" "+r.Header.Get("Date"))
	}
	want := []string{
		"200 OK 5000 1793617200 Mon, 02 Nov 2026 10:00:00 GMT",
		"304 Not Modified 4999 1793617200 Mon, 02 Nov 2026 10:00:00 GMT",
		"200 OK 4999 1793617200 Mon, 02 Nov 2026 10:00:00 GMT",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if r := s.Requests()[1]; r.Status != 304 || r.IfNoneMatch != first.Header.Get("Etag") || r.Method != "GET" || r.URI != "/repos/acme/app/pulls/1" {
		t.Errorf("got %+v", r)
	}
}

func TestAuthentication(t *testing.T) {
	t.Parallel()
	s := start(t, fixture)
	for header, want := range map[string]string{
		"Bearer t0ken": "", "token t0ken": "", "Basic bWU6dDBrZW4=": "",
		"": "Requires authentication", "Bearer wrong": "Bad credentials", "Basic bWU6d3Jvbmc=": "Bad credentials", "t0ken": "Bad credentials",
	} {
		resp, o, _ := get(t, s, "/repos/acme/app/pulls/1", "Authorization", header)
		if want == "" && resp.StatusCode != 200 || want != "" && (resp.StatusCode != 401 || o["message"] != want || o["status"] != "401") {
			t.Errorf("%q: got %d %v", header, resp.StatusCode, o["message"])
		}
	}
}

func TestUnknownThings(t *testing.T) {
	t.Parallel()
	s := start(t, fixture)
	for path, want := range map[string]int{
		"/repos/acme/none/pulls": 404, "/repos/acme/app/pulls/9": 404, "/repos/acme/app/pulls/9/reviews": 404, "/user": 404,
		"/repos/acme/app/commits/fff/check-runs": 422, "/repos/acme/app/commits/fff/status": 404,
		"/repos/acme/old/pulls/1?x=y": 301, "/repositories/1000/pulls/1": 200, "/api/v3/repos/acme/app/pulls/1": 200,
	} {
		resp, o, _ := get(t, s, path)
		if resp.StatusCode != want || want != 200 && o["message"] == nil {
			t.Errorf("%s: got %d %v", path, resp.StatusCode, o)
		}
		if want == 301 && resp.Header.Get("Location") != s.URL+"/repositories/1000/pulls/1?x=y" {
			t.Errorf("%s: leads to %s", path, resp.Header.Get("Location"))
		}
	}
	resp, err := http.Post(s.URL+"/repos/acme/app/pulls", "application/json", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 401 || s.Requests()[len(s.Requests())-1].Method != "POST" {
		t.Errorf("got %d", resp.StatusCode)
	}
}

func TestLoadRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"tokn": ""}`:                                               "tokn",
		`{"faults": [{"kind": "explode"}]}`:                          "explode",
		`{"repositories": [{"name": "acme"}]}`:                       "owner/name",
		`{"repositories": [{"name": "a/b", "pull_requests": [{}]}]}`: "number",
		`{"date": "yesterday"}`:                                      "date",
	} {
		if _, err := githubtest.Load(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v", text, err)
		}
	}
}
