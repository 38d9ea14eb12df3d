package jira_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/credential"
	"github.com/copse-dev/copse/internal/jira"
	"github.com/copse-dev/copse/internal/jira/jiratest"
	"github.com/copse-dev/copse/internal/remote"
)

const (
	login  = "ada@example.com"
	secret = "s3cret-token"
	source = "~/.netrc machine jira.example.com"
	agent  = "copse/1.2.3"
)

var asOf = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// fixture returns testdata/fixture.json as Cloud or as Data Center.
func fixture(t testing.TB, cloud bool) jiratest.Fixture {
	t.Helper()
	f, err := os.Open("testdata/fixture.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fix, err := jiratest.Load(f)
	if err != nil {
		t.Fatal(err)
	}
	fix.Cloud, fix.Login, fix.Secret = cloud, login, secret
	return fix
}

// jiraOf serves a fixture over HTTP and gives the server and a client of it.
func jiraOf(t testing.TB, f jiratest.Fixture) (*jiratest.Server, *jira.Client) {
	t.Helper()
	fake := jiratest.New(f)
	t.Cleanup(fake.Close)
	return fake, clientOf(t, f, fake)
}

// clientOf gives a client that believes handler to be the Jira of f.
func clientOf(t testing.TB, f jiratest.Fixture, handler http.Handler) *jira.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", asOf.Format(http.TimeFormat))
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	host := parseHost(t, server.URL+f.Path)
	return jira.New(jira.Options{
		Host:       host,
		Credential: credential.Credential{Login: f.Login, Secret: f.Secret, Source: source},
		Transport:  remote.NewTransport(remote.Options{Allow: host.Allow}),
		UserAgent:  agent,
	})
}

func parseHost(t testing.TB, raw string) jira.Host {
	t.Helper()
	host, err := jira.ParseHost(raw)
	if err != nil {
		t.Fatal(err)
	}
	return host
}

// answer returns a server that says body to everything but the question for its kind.
func answer(deployment, body string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/rest/api/2/serverInfo", func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte(`{"deploymentType":"` + deployment + `"}`))
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(body))
	})
	return mux
}

// paths returns those a server was asked for.
func paths(fake *jiratest.Server) []string {
	var out []string
	for _, r := range fake.Requests() {
		out = append(out, r.Method+" "+r.Path)
	}
	return out
}
