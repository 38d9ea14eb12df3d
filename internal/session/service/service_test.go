package service_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/copse-dev/copse/internal/credential"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/github"
	"github.com/copse-dev/copse/internal/github/remoteurl"
	"github.com/copse-dev/copse/internal/remote"
	"github.com/copse-dev/copse/internal/session/service"
	"github.com/copse-dev/copse/internal/settings"
)

// services returns services whose only login is that of the program gh.
func services(gh func(context.Context, string) (string, error)) *service.Services {
	return service.New(service.Options{
		Finder: credential.Finder{Getenv: func(string) string { return "" }, GOOS: "linux", GHToken: gh},
		Getenv: func(string) string { return "" }, User: settings.OpenUser(""),
	})
}

// Calls that need a client at the same time look its login up once, and get one client.
func TestOneLookup(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := services(func(context.Context, string) (string, error) {
		asked.Add(1)
		return "a-login-of-gh", nil
	})
	clients := make([]*github.Client, 50)
	var calls sync.WaitGroup
	for i := range clients {
		calls.Go(func() {
			client, err := s.GitHub(t.Context(), "github.com")
			if err != nil {
				t.Error(err)
			}
			clients[i] = client
		})
	}
	calls.Wait()
	for _, c := range clients {
		if c == nil || c != clients[0] {
			t.Fatal("calls have different clients")
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("gh was asked %d times", n)
	}
}

// A login that is missing is looked up again; another call does not wait for a slow lookup longer
// than its own limit.
func TestLookupAgain(t *testing.T) {
	t.Parallel()
	token := ""
	s := services(func(context.Context, string) (string, error) {
		if token == "" {
			return "", credential.ErrNotInstalled
		}
		return token, nil
	})
	if _, err := s.GitHub(t.Context(), "github.com"); failure.Of(err).Kind != failure.NoCredentials {
		t.Errorf("without a login: %v", err)
	}
	token = "a-login-of-gh"
	if _, err := s.GitHub(t.Context(), "github.com"); err != nil {
		t.Errorf("with a login: %v", err)
	}

	started, end := make(chan struct{}), make(chan struct{})
	slow := services(func(context.Context, string) (string, error) {
		close(started)
		<-end
		return token, nil
	})
	var first sync.WaitGroup
	first.Go(func() { _, _ = slow.GitHub(context.WithoutCancel(t.Context()), "github.com") })
	<-started
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := slow.GitHub(ctx, "github.com"); err == nil {
		t.Error("a canceled call has a client")
	}
	close(end)
	first.Wait()
}

// After GitHub has refused a login, the next call looks it up again, and each later one has the same
// client.
func TestRenewedLogin(t *testing.T) {
	t.Parallel()
	github := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer new-token-of-gh" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		fmt.Fprint(w, "{}")
	}))
	defer github.Close()
	token, asked := "old-token-of-gh", 0
	s := service.New(service.Options{
		Finder: credential.Finder{Getenv: func(string) string { return "" }, GOOS: "linux", GHToken: func(context.Context, string) (string, error) {
			asked++
			return token, nil
		}},
		Getenv: func(name string) string { return map[string]string{"GITHUB_API_URL": github.URL}[name] }, User: settings.OpenUser(""),
	})
	ask := func() error {
		client, err := s.GitHub(t.Context(), "github.com")
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.PullRequest(t.Context(), remoteurl.Repo{Host: "github.com", Owner: "ada", Name: "app"}, 1)
		return err
	}
	refused := func(err error) bool {
		e, ok := errors.AsType[*remote.Error](err)
		return ok && e.Status == http.StatusUnauthorized
	}
	if err := ask(); !refused(err) {
		t.Fatalf("with the old token: %v", err)
	}
	token = "new-token-of-gh"
	for range 2 {
		if err := ask(); refused(err) {
			t.Errorf("with the new token: %v", err)
		}
	}
	if asked != 2 {
		t.Errorf("the login was looked up %d times", asked)
	}
}

func TestNoJira(t *testing.T) {
	t.Parallel()
	_, err := services(nil).Jira(t.Context())
	e := failure.Of(err)
	for program, want := range map[string]string{
		"twig-mcp": "Set $JIRA_HOST and add credentials to `~/.netrc`. See `LOGIN`.",
		"copse":    "Set $JIRA_HOST, and $JIRA_EMAIL with $JIRA_TOKEN, or $JIRA_PAT, or add credentials to `~/.netrc`. See `LOGIN`.",
	} {
		if got := e.Hint(failure.Words{Program: program, Login: "LOGIN"}); e.Kind != failure.NoCredentials || got != want {
			t.Errorf("%s: got %v, %q", program, err, got)
		}
	}
}

// Of half a login, the next step names the other half.
func TestHalfOfJira(t *testing.T) {
	t.Parallel()
	for set, unset := range map[string]string{"JIRA_EMAIL": "JIRA_TOKEN", "JIRA_TOKEN": "JIRA_EMAIL"} {
		getenv := func(name string) string {
			return map[string]string{"JIRA_HOST": "acme.atlassian.net", set: "ada@example.com"}[name]
		}
		s := service.New(service.Options{Finder: credential.Finder{Getenv: getenv, GOOS: "linux"}, Getenv: getenv, User: settings.OpenUser("")})
		_, err := s.Jira(t.Context())
		got := failure.Of(err).Hint(failure.Words{Program: "copse", Login: "LOGIN"})
		if want := "$" + set + " is set, but $" + unset + " is not: set it, too, or set $JIRA_PAT, or add"; !strings.HasPrefix(got, want) {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
}

// A repository chooses its host, so the next step says so before it proposes a login there.
func TestHostOfRepository(t *testing.T) {
	t.Parallel()
	s := services(func(context.Context, string) (string, error) { return "", credential.ErrNotInstalled })
	for host, want := range map[string]string{
		"github.com":          "Run `gh auth login`, set $GH_TOKEN, or",
		"github.evil.example": "The address of the repository names github.evil.example. If you trust this host, run `gh auth login --hostname github.evil.example`",
	} {
		_, err := s.GitHub(t.Context(), host)
		problem, ok := errors.AsType[*failure.Error](err)
		if !ok || !strings.HasPrefix(problem.Hint(failure.Words{Program: "copse"}), want) {
			t.Errorf("%s: %v", host, err)
		}
	}
}
