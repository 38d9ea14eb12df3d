// Package fakes provides a GitHub and a Jira for testscripts: commands that start a fake server for
// the rest of a script and point the environment to it. Their clocks stand still, so that tests can
// compare answers.
package fakes

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/copse-dev/copse/internal/github/githubtest"
	"github.com/copse-dev/copse/internal/jira/jiratest"
)

// Date is the time on the clocks of the servers.
const Date = "2026-03-04T05:06:07Z"

// GitHub is the command "github FIXTURE": it starts a fake GitHub with the JSON
// of a githubtest.Fixture and sets GITHUB_API_URL.
func GitHub(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: github fixture.json")
	}
	fixture, err := load(ts.MkAbs(args[0]))
	ts.Check(err)
	server, err := githubtest.Start(fixture)
	ts.Check(err)
	ts.Defer(server.Close)
	ts.Setenv("GITHUB_API_URL", server.URL)
	if last, ok := ts.Value(Key{}).(*Last); ok {
		last.server = server
	}
}

func load(path string) (githubtest.Fixture, error) {
	file, err := os.Open(path)
	if err != nil {
		return githubtest.Fixture{}, err
	}
	defer file.Close()
	fixture, err := githubtest.Load(file)
	if fixture.Date == "" {
		fixture.Date = Date
	}
	return fixture, err
}

// Change makes the last fake GitHub of a script hold another fixture.
func Change(ts *testscript.TestScript, path string) error {
	last, ok := ts.Value(Key{}).(*Last)
	if !ok || last.server == nil {
		return errors.New("there is no GitHub to change")
	}
	fixture, err := load(ts.MkAbs(path))
	if err != nil {
		return err
	}
	return last.server.Update(func(f *githubtest.Fixture) { *f = fixture })
}

// Key is that of a script's value for a [Last].
type Key struct{}

// Last is the last fake that a script started.
type Last struct{ server *githubtest.Server }

// Requests is the command "requests": it prints the requests that the last fake GitHub got,
// with their answers, sorted.
func Requests(ts *testscript.TestScript, neg bool, args []string) {
	last, ok := ts.Value(Key{}).(*Last)
	if neg || len(args) != 0 || !ok || last.server == nil {
		ts.Fatalf("usage: requests, after github")
	}
	var lines []string
	for _, r := range last.server.Requests() {
		lines = append(lines, fmt.Sprintln(r.Method, r.URI, r.Status))
	}
	slices.Sort(lines) // some are sent at the same time
	fmt.Fprint(ts.Stdout(), strings.Join(lines, ""))
}

// failures are the names in scripts for the failures of a Jira.
var failures = map[string]jiratest.Failure{
	"hang": jiratest.Hang, "truncate": jiratest.Truncate, "html": jiratest.HTML, "unavailable": jiratest.Unavailable,
	"internal": jiratest.Internal, "rate-limited": jiratest.RateLimited, "captcha": jiratest.Captcha,
	"forbidden": jiratest.Forbidden, "gone": jiratest.Gone, "redirect": jiratest.Redirect, "echo": jiratest.Echo,
}

// Jira is the command "jira FIXTURE [PATH=FAILURE...]": it starts a fake Jira
// with the JSON of a jiratest.Fixture and sets JIRA_HOST. Each further argument
// breaks the requests whose path ends in PATH.
func Jira(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: jira fixture.json [path=failure...]")
	}
	file, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer file.Close()
	fixture, err := jiratest.Load(file)
	ts.Check(err)
	jira := jiratest.New(fixture)
	for _, arg := range args[1:] {
		path, name, _ := strings.Cut(arg, "=")
		failure, ok := failures[name]
		if !ok {
			ts.Fatalf("unknown failure %q", name)
		}
		jira.Break(path, failure, 1<<30)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", "Wed, 04 Mar 2026 05:06:07 GMT")
		jira.ServeHTTP(w, r)
	}))
	ts.Defer(func() {
		jira.Close()
		server.Close()
	})
	ts.Setenv("JIRA_HOST", server.URL)
}
