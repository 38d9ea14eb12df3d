package jira_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/jira"
)

func TestParseHost(t *testing.T) {
	t.Parallel()
	tests := []struct {
		raw      string
		url      string
		machines []string
	}{
		{"acme.atlassian.net", "https://acme.atlassian.net", []string{"acme.atlassian.net", "atlassian.net"}},
		{"  acme.atlassian.net\n", "https://acme.atlassian.net", []string{"acme.atlassian.net", "atlassian.net"}},
		{"ACME.Atlassian.NET", "https://acme.atlassian.net", []string{"acme.atlassian.net", "atlassian.net"}},
		{"https://acme.atlassian.net/", "https://acme.atlassian.net", []string{"acme.atlassian.net", "atlassian.net"}},
		{"https://acme.atlassian.net/jira/software/projects/X?issue=1#a", "https://acme.atlassian.net", []string{"acme.atlassian.net", "atlassian.net"}},
		{"http://jira.example.com", "http://jira.example.com", []string{"jira.example.com"}},
		{"HTTP://jira.example.com", "http://jira.example.com", []string{"jira.example.com"}},
		{"http:/jira.example.com", "https://jira.example.com", []string{"jira.example.com"}},
		{"https:/jira.example.com", "https://jira.example.com", []string{"jira.example.com"}},
		{"https:///jira.example.com", "https://jira.example.com", []string{"jira.example.com"}},
		{"//jira.example.com", "https://jira.example.com", []string{"jira.example.com"}},
		{"jira.example.com:8443", "https://jira.example.com:8443", []string{"jira.example.com:8443", "jira.example.com"}},
		{"jira.example.com:443", "https://jira.example.com", []string{"jira.example.com"}},
		{"http://jira.example.com:80/", "http://jira.example.com", []string{"jira.example.com"}},
		{"http://jira.example.com:443", "http://jira.example.com:443", []string{"jira.example.com:443", "jira.example.com"}},
		{"http://localhost:8080/jira/", "http://localhost:8080/jira", []string{"localhost:8080/jira", "localhost:8080", "localhost"}},
		{"example.com/jira//", "https://example.com/jira", []string{"example.com/jira", "example.com"}},
		{"example.com/a/../jira", "https://example.com/jira", []string{"example.com/jira", "example.com"}},
		{"http://[::1]:8080", "http://[::1]:8080", []string{"[::1]:8080", "::1"}},
		{"10.0.0.1", "https://10.0.0.1", []string{"10.0.0.1"}},
		{"jira", "https://jira", []string{"jira"}},
		{"api.atlassian.com/ex/jira/1122-ab", "https://api.atlassian.com/ex/jira/1122-ab", []string{"api.atlassian.com/ex/jira/1122-ab", "api.atlassian.com", "atlassian.net"}},
		{"atlassian.net", "https://atlassian.net", []string{"atlassian.net"}},
		// Credentials for the cloud do not go in the clear, and to no other domain.
		{"http://acme.atlassian.net", "http://acme.atlassian.net", []string{"acme.atlassian.net"}},
		{"acme.atlassian.net.evil.example/x", "https://acme.atlassian.net.evil.example/x", []string{"acme.atlassian.net.evil.example/x", "acme.atlassian.net.evil.example"}},
		{"evil-atlassian.net/x", "https://evil-atlassian.net/x", []string{"evil-atlassian.net/x", "evil-atlassian.net"}},
	}
	for _, tt := range tests {
		t.Run(tt.raw, func(t *testing.T) {
			t.Parallel()
			got := parseHost(t, tt.raw)
			if got.URL() != tt.url {
				t.Errorf("URL = %s, want %s", got.URL(), tt.url)
			}
			if diff := cmp.Diff(tt.machines, got.Machines()); diff != "" {
				t.Errorf("machines (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseHostRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ raw, message string }{
		{"", "is empty"},
		{" \t", "is empty"},
		{"ftp://jira.example.com", "has the scheme ftp://"},
		{"file:///etc/passwd", "has the scheme file://"},
		{"https://ada:hunter2@jira.example.com", "contains a user name or password"},
		{"ada@jira.example.com", "contains a user name or password"},
		{"https://", "has no valid host name"},
		{"https://:8080", "has no valid host name"},
		{"...", "has no valid host name"},
		{"a,b", "has no valid host name"},
		{`jira"x`, "has no valid host name"},
		{"jira.example.com:99999", "has no valid host name"},
		{"jira.example.com:x", "is not an address"},
		{"jira example", "is not an address"},
		{"jira.example.com/x?token=hunter2", "is the URL of a page"},
		{"jira.example.com/#x", "is the URL of a page"},
		{"jira.example.com/a%2fb", "is the URL of a page"},
		{"jira.example.com/a b", "is the URL of a page"},
		{"ada:hunter2 @jira", "is not an address"},
	}
	for _, tt := range tests {
		t.Run(tt.raw, func(t *testing.T) {
			t.Parallel()
			_, err := jira.ParseHost(tt.raw)
			var invalid *jira.InvalidError
			if !errors.As(err, &invalid) || invalid.Argument != "JIRA_HOST" {
				t.Fatalf("got %v, want an InvalidError of JIRA_HOST", err)
			}
			if !strings.HasPrefix(invalid.Message, tt.message) {
				t.Errorf("message = %q, want %q…", invalid.Message, tt.message)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the message has the password: %v", err)
			}
		})
	}
}

// FuzzParseHost: what is accepted is an address like the ones a person would
// write, means itself, and lets out what the client asks of it.
func FuzzParseHost(f *testing.F) {
	for _, s := range []string{"acme.atlassian.net", "http://x:80/j/", "https:/x", "[::1]:9", "x/..//%2e", "ftp://x", "a@b", "ä.example/ß", "x.jira.com./y", "http:////", "X:0443"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		h, err := jira.ParseHost(raw)
		if err != nil {
			if _, ok := errors.AsType[*jira.InvalidError](err); !ok {
				t.Fatalf("%v is no InvalidError", err)
			}
			return
		}
		u, err := url.Parse(h.URL())
		if err != nil {
			t.Fatalf("%q: %v", h.URL(), err)
		}
		if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.HasSuffix(h.URL(), "/") {
			t.Fatalf("%q became %q", raw, h.URL())
		}
		if again, err := jira.ParseHost(h.URL()); err != nil || again != h {
			t.Fatalf("%q became %q and then %q (%v)", raw, h.URL(), again.URL(), err)
		}
		if m := h.Machines(); len(m) == 0 || slices.Contains(m, "") || slices.Contains(m, "atlassian.net") && !h.Atlassian() {
			t.Fatalf("%q has the machines %q", raw, m)
		}
		req, err := http.NewRequest(http.MethodGet, h.URL()+"/rest/api/2/serverInfo", nil)
		if err != nil || !h.Allow(req) {
			t.Fatalf("%q does not let out its own request (%v)", raw, err)
		}
	})
}

func TestAllow(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"https://acme.atlassian.net", "http://jira.example.com:8080/tools/jira", "https://api.atlassian.com/ex/jira/11-22"} {
		host := parseHost(t, base)
		allowed := []string{
			"GET /rest/api/3/issue/PROJ-1", "GET /rest/api/2/issue/PROJ-1", "GET /rest/api/3/issue/PROJ-1?fields=summary", "GET /rest/api/3/issue/A-1",
			"GET /rest/api/2/issue/PROJ-1/comment", "GET /rest/api/3/issue/PROJ-1/comment?orderBy=-created",
			"GET /rest/api/2/serverInfo", "POST /rest/api/3/search/jql", "POST /rest/api/2/search",
		}
		for _, a := range allowed {
			method, path, _ := strings.Cut(a, " ")
			if !host.Allow(request(t, method, base+path)) {
				t.Errorf("%s %s%s is not let out", method, base, path)
			}
			// No other method goes to the same place.
			for _, other := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE", "get", "post", "LINK", ""} {
				if other != method && host.Allow(&http.Request{Method: other, URL: mustURL(t, base+path), Header: http.Header{}}) {
					t.Errorf("%q %s%s is let out", other, base, path)
				}
			}
			for _, elsewhere := range []string{
				"https://evil.example" + path, "https://acme.atlassian.net.evil.example" + path, "https://acme.atlassian.net:8443" + path,
				"http://acme.atlassian.net" + path, "https://jira.example.com:8080/tools/jira" + path, "http://jira.example.com" + path,
				"http://jira.example.com:8080" + path, "http://jira.example.com:8080/tools/jira2" + path, "http://jira.example.com:8080/tools/jira/x" + path,
				"https://user:pass@acme.atlassian.net" + path, "https://api.atlassian.com" + path, "https://api.atlassian.com/ex/jira/11-23" + path,
				strings.ToUpper(base) + path, base + "/" + path, base + "/." + path,
			} {
				if host.Allow(request(t, method, elsewhere)) {
					t.Errorf("%s: %s %s is let out", base, method, elsewhere)
				}
			}
			override := request(t, method, base+path)
			override.Header.Set("X-HTTP-Method-Override", "DELETE")
			if host.Allow(override) {
				t.Errorf("%s %s%s is let out with another method in a header", method, base, path)
			}
			otherHost := request(t, method, base+path)
			otherHost.Host = "evil.example"
			if host.Allow(otherHost) {
				t.Errorf("%s %s%s is let out with another Host header", method, base, path)
			}
			opaque := request(t, method, base+path)
			opaque.URL.Opaque = "//evil.example/rest/api/2/issue"
			if host.Allow(opaque) {
				t.Errorf("%s %s%s is let out with an opaque URL", method, base, path)
			}
		}
		for _, method := range []string{"GET", "POST", "PUT", "DELETE", "PATCH"} {
			for _, path := range []string{
				"", "/", "/rest/api/2/issue", "/rest/api/3/issue", "/rest/api/3/issue/", "/rest/api/2/issue/bulk", "/rest/api/2/issue/10000",
				"/rest/api/3/issue/PROJ-1/", "/rest/api/3/issue/PROJ-1/comment/1", "/rest/api/3/issue/PROJ-1/comment/comment", "/rest/api/3/issue//comment", "/rest/api/3/issue/PROJ-1/transitions", "/rest/api/3/issue/../issue/PROJ-1",
				"/rest/api/3/issue/PROJ-1%2Fcomment", "/rest/api/3/issue/PROJ%2D1", "/rest/api/3/issue/PROJ-1%00", "/rest/api/3/issue/PROJ-1;x",
				"/rest/api/3/search", "/rest/api/3/search/", "/rest/api/3/search/jql/", "/rest/api/3/search/jql/../issue", "/rest/api/3/search/jql/..%2F..%2Fissue",
				"/rest/api/3/search//jql", "/rest/api/3/search%2Fjql", "/rest/api/3/search/jql%2e", "/rest/api/3/search/jql;a=b", "/rest/api/3/search/JQL",
				"/rest/api/3/search/jql2", "/rest/api/2/search/jql", "/rest/api/2/search/../issue", "/rest/api/2/searches", "/rest/api/latest/search",
				"//rest/api/2/search", "/x/../rest/api/2/search", "/./rest/api/2/search", "/rest/api/2/serverInfo/", "/rest/api/3/serverInfo", "/rest/api/2/myself",
				"/rest/agile/1.0/board", "/rest/auth/1/session", "/browse/PROJ-1",
			} {
				if u, err := url.Parse(base + path); err == nil && host.Allow(&http.Request{Method: method, URL: u, Header: http.Header{}}) {
					t.Errorf("%s %s%s is let out", method, base, path)
				}
			}
		}
	}
	var zero jira.Host
	if zero.Allow(request(t, http.MethodGet, "http://x/rest/api/2/serverInfo")) {
		t.Error("no host at all lets a request out")
	}
}

func request(t *testing.T, method, target string) *http.Request {
	t.Helper()
	return &http.Request{Method: method, URL: mustURL(t, target), Header: http.Header{}}
}

func mustURL(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(fmt.Errorf("parse %q: %w", raw, err))
	}
	return u
}
