// Package demo creates the repository of the documentation and of the tests of answers: a small
// project with a branch stack, work items, prompts, and tasks, and with a fake GitHub and a fake
// Jira. All of it is the same each time.
package demo

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/copse"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/github/githubtest"
	"github.com/copse-dev/copse/internal/jira/jiratest"
)

// clock is the time in the demonstration, and at its services.
const clock = "2026-03-04T05:06:07Z"

// Demo is the repository with its surroundings.
type Demo struct {
	tb testing.TB
	// Dir is the worktree; Environ the environment of programs that run in it.
	Dir     string
	Environ []string
}

var files = map[string]string{
	"README.md": "# Shop\n\nA shop that takes orders.\n",
	"go.mod":    "module example.com/shop\n\ngo 1.26\n",
	"justfile":  "# Run the tests\ntest package='./...':\n  @echo ok {{package}}\n\n# Build and start the shop\nrun: test\n  @echo running\n",
	"main.go":   "package main\n\nfunc main() { println(\"shop\") }\n",

	"internal/login/login.go":      "// Package login knows who somebody is.\npackage login\n",
	"internal/login/login_test.go": "package login\n",
	".gitignore":                   "/bin/\n",
}

const github = `{"token": "demo", "date": "2026-03-04T05:04:07Z", "repositories": [{"name": "acme/shop", "protection": {"approvals": 2}, "pull_requests": [
  {"number": 42, "title": "Log in with a passkey", "author": "ada", "head": "feature/SHOP-7-login", "base": "main", "sha": "aaaa", "mergeable": true, "mergeable_state": "blocked",
   "created_at": "2026-03-01T09:00:00Z", "updated_at": "2026-03-03T10:00:00Z", "requested_reviewers": ["eve"], "review_decision": "review_required", "author_association": "MEMBER",
   "reviews": [{"author": "bob", "state": "APPROVED"}],
   "check_runs": [{"name": "build", "conclusion": "success"}, {"name": "lint", "conclusion": "success"}]},
  {"number": 43, "title": "Remember who logged in", "author": "ada", "head": "feature/SHOP-8-session", "base": "feature/SHOP-7-login", "sha": "bbbb", "mergeable": true, "mergeable_state": "unstable",
   "created_at": "2026-03-02T09:00:00Z", "updated_at": "2026-03-03T11:00:00Z", "author_association": "MEMBER",
   "threads": [{"file": "session.go", "line": 12, "comments": [{"author": "bob", "body": "A day is too long for a shared computer.", "created_at": "2026-03-03T10:30:00Z"}]}],
   "reviews": [{"author": "bob", "state": "CHANGES_REQUESTED"}],
   "check_runs": [{"name": "build", "conclusion": "success"}, {"name": "e2e", "conclusion": "failure", "url": "https://github.com/acme/shop/actions/runs/9/job/43"}]}
]}]}`

const jira = `{"cloud": true, "login": "ada@example.com", "secret": "demo", "me": "a1", "users": [{"name": "a1", "display_name": "Ada Lovelace"}],
 "issues": [
  {"key": "SHOP-7", "summary": "Log in with a passkey", "status": "In Review", "assignee": "a1", "updated": "2026-03-01T00:00:00Z",
   "document": {"type": "doc", "version": 1, "content": [{"type": "paragraph", "content": [{"type": "text", "text": "Customers forget passwords. Let them use a passkey."}]}]}},
  {"key": "SHOP-8", "summary": "Stay logged in", "status": "In Progress", "assignee": "a1", "type": "Story", "priority": "High", "updated": "2026-03-03T00:00:00Z",
   "comments": [{"author": "a1", "created": "2026-03-03T09:00:00.000+0000", "document": {"type": "doc", "version": 1, "content": [{"type": "paragraph", "content": [{"type": "text", "text": "Bob asks for an hour on shared computers."}]}]}}],
   "document": {"type": "doc", "version": 1, "content": [{"type": "paragraph", "content": [{"type": "text", "text": "A session lasts a day."}]}]}}
 ]}`

// New makes the repository. Its services end with the test. Each pair of texts is an old one
// and a new one in what GitHub and Jira say; the new one is part of a JSON string.
func New(tb testing.TB, said ...string) *Demo {
	tb.Helper()
	says := strings.NewReplacer(said...)
	g := gittest.New(tb)
	d := &Demo{tb: tb, Dir: filepath.Join(g.Home, "shop")}
	write(tb, filepath.Join(g.Home, ".netrc"), "machine github.com login ada password demo\nmachine 127.0.0.1 login ada@example.com password demo\n")
	for name, text := range files {
		write(tb, filepath.Join(d.Dir, name), text)
	}
	g.Run(d.Dir, "init", "-q", "-b", "main")
	g.Run(d.Dir, "remote", "add", "origin", "https://github.com/acme/shop.git")
	commit := func(message string) {
		g.Run(d.Dir, "add", "-A")
		g.Run(d.Dir, "commit", "-q", "--allow-empty", "-m", message)
	}
	commit("A shop")
	g.Run(d.Dir, "branch", "docs/api")
	g.Run(d.Dir, "checkout", "-q", "-b", "feature/SHOP-7-login")
	write(tb, filepath.Join(d.Dir, "internal/login/passkey.go"), "package login\n\n// Passkey is a key that opens.\ntype Passkey struct{ ID string }\n")
	commit("Log in with a passkey")
	g.Run(d.Dir, "checkout", "-q", "-b", "feature/SHOP-8-session")
	write(tb, filepath.Join(d.Dir, "internal/login/session.go"), "package login\n\n// Session lasts a day.\ntype Session struct{ User string }\n")
	commit("Remember who logged in")
	commit("Forget them after a day")

	d.Environ = g.Env.With("GITHUB_API_URL="+serveGitHub(tb, says.Replace(github)), "JIRA_HOST="+serveJira(tb, says.Replace(jira)),
		"XDG_CACHE_HOME="+filepath.Join(g.Home, "cache"), "XDG_STATE_HOME="+filepath.Join(g.Home, "state"), "TERM=xterm")
	for _, line := range [][]string{
		{"branch", "init"}, {"branch", "adopt", "--yes"}, {"repo", "add"},
		{"item", "init"}, {"prompt", "init"},
		{"item", "create", "Passkeys everywhere", "--type", "epic", "--priority", "high"},
		{"item", "create", "Session cookie", "--parent", "1", "--status", "in-progress", "--assignee", "ada", "--labels", "login,security"},
		{"item", "create", "Log out everywhere", "--parent", "1", "--depends-on", "2", "--labels", "login"},
		{"item", "create", "Explain passkeys in the help", "--parent", "1", "--priority", "low", "--labels", "docs"},
	} {
		d.Run(line...)
	}
	commit("Plan")
	write(tb, filepath.Join(d.Dir, "internal/login/session.go"), "package login\n\n// Session lasts a day, or until its user logs out.\ntype Session struct{ User string }\n")
	return d
}

// Env returns the environment of a run of copse that writes to stdout.
func (d *Demo) Env(args ...string) app.Env {
	now, err := time.Parse(time.RFC3339, clock)
	if err != nil {
		d.tb.Fatal(err)
	}
	return app.Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{},
		Environ: d.Environ, Dir: d.Dir, GOOS: runtime.GOOS, Now: func() time.Time { return now },
		Patience: 30, // the pictures show complete answers, also on a busy machine
	}
}

// Run runs copse, which must succeed, and returns its output.
func (d *Demo) Run(args ...string) string {
	d.tb.Helper()
	var stdout, stderr bytes.Buffer
	env := d.Env(args...)
	env.Stdout, env.Stderr = &stdout, &stderr
	if code := copse.Run(d.tb.Context(), env); code != app.OK {
		d.tb.Fatalf("copse %s ends with %d: %s", strings.Join(args, " "), code, stderr.String())
	}
	return stdout.String()
}

func write(tb testing.TB, path, text string) {
	tb.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

func serveGitHub(tb testing.TB, text string) string {
	fixture, err := githubtest.Load(strings.NewReader(text))
	if err != nil {
		tb.Fatal(err)
	}
	server, err := githubtest.Start(fixture)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(server.Close)
	return server.URL
}

func serveJira(tb testing.TB, text string) string {
	fixture, err := jiratest.Load(strings.NewReader(text))
	if err != nil {
		tb.Fatal(err)
	}
	tracker := jiratest.New(fixture)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", "Wed, 04 Mar 2026 05:04:07 GMT")
		tracker.ServeHTTP(w, r)
	}))
	tb.Cleanup(func() {
		tracker.Close()
		server.Close()
	})
	return server.URL
}
