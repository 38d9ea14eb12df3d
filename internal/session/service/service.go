// Package service provides the clients of GitHub and Jira for a session, with the user's logins.
//
// Use [New]. A client that was found is cached; missing credentials, and those that the service
// refused, are looked up again on the next call. Concurrent calls that need a client look it up
// once. Errors are [failure.Error]s; [Explain] converts an error of a service.
package service

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/credential"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/github"
	"github.com/copse-dev/copse/internal/github/remoteurl"
	"github.com/copse-dev/copse/internal/jira"
	"github.com/copse-dev/copse/internal/remote"
	"github.com/copse-dev/copse/internal/remote/seen"
	"github.com/copse-dev/copse/internal/settings"
)

// Options locate the clients and logins.
type Options struct {
	Finder credential.Finder
	Getenv func(string) string
	// User are the user's settings, which may name the Jira server.
	User *settings.File[settings.User]
	// CacheDir is the directory for answers, "" for none.
	CacheDir string
	// Secret reports whether a text contains a secret: no answer with one is cached.
	Secret func(text string) bool
	// Version is copse's version, sent to the services.
	Version string
	// Timeout limits a request; 0 is the default.
	Timeout time.Duration
}

// Services are the clients of one session. They are safe for concurrent use.
type Services struct {
	opts Options

	mu     sync.Mutex
	github map[string]*slot[github.Client] // by host
	jira   slot[jira.Client]
}

// New returns the services. It looks nothing up yet.
func New(o Options) *Services {
	return &Services{opts: o, github: map[string]*slot[github.Client]{}, jira: newSlot[jira.Client]()}
}

// slot holds one client. The goroutine that holds turn looks it up.
type slot[C any] struct {
	turn  chan struct{}
	found *C
	// refused means that the service refused the login of a client.
	refused atomic.Bool
}

func newSlot[C any]() slot[C] { return slot[C]{turn: make(chan struct{}, 1)} }

// get returns the client, which look finds if there is none yet, or its login was refused.
func (s *slot[C]) get(ctx context.Context, look func(context.Context) (*C, error)) (*C, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if again := s.refused.Swap(false); s.found != nil && !again {
		return s.found, nil
	}
	var err error
	s.found, err = look(ctx)
	return s.found, err
}

// GitHub returns the client for a host.
func (s *Services) GitHub(ctx context.Context, host string) (*github.Client, error) {
	s.mu.Lock()
	slot := s.github[host]
	if slot == nil {
		fresh := newSlot[github.Client]()
		slot = &fresh
		s.github[host] = slot
	}
	s.mu.Unlock()
	return slot.get(ctx, func(ctx context.Context) (*github.Client, error) {
		login, err := s.opts.Finder.GitHub(ctx, host)
		if _, missing := errors.AsType[*credential.MissingError](err); missing {
			return nil, &failure.Error{
				Kind: failure.NoCredentials, Err: err,
				What: failure.Text("GitHub credentials not found"),
				Do: func(w failure.Words) string {
					if w.Program != copse {
						return fmt.Sprintf("Add credentials for %s to `~/.netrc`. See `%s`.", host, w.Login)
					}
					if host != githubHost {
						// Anybody who writes a repository chooses its host.
						return fmt.Sprintf("The address of the repository names %s. If you trust this host, run `%s` or add credentials for it to `~/.netrc`. See `%s`.", host, cleantext.Command("gh", "auth", "login", "--hostname", host), w.Login)
					}
					return fmt.Sprintf("Run `gh auth login`, set $GH_TOKEN, or add credentials for %s to `~/.netrc`. See `%s`.", host, w.Login)
				},
			}
		}
		if err != nil {
			return nil, err
		}
		api, err := remoteurl.APIBase(host, s.apiOverride(host))
		if err != nil {
			return nil, failure.New(failure.Invalid, err.Error(), "Correct or unset $GITHUB_API_URL.")
		}
		return github.New(github.Options{
			API: api, Credential: login, Version: s.opts.Version, CacheDir: s.opts.CacheDir, Secret: s.opts.Secret, Timeout: s.opts.Timeout,
			Refused: func() { slot.refused.Store(true) },
		}), nil
	})
}

// copse is the program whose users have more logins than the netrc file. The other program keeps the
// hints of the original.
const copse = "copse"

// githubHost is the host of $GH_TOKEN.
const githubHost = "github.com"

// apiOverride returns $GITHUB_API_URL, which applies to the server that $GITHUB_SERVER_URL names,
// or else to github.com.
func (s *Services) apiOverride(host string) string {
	server := githubHost
	if u, err := url.Parse(s.opts.Getenv("GITHUB_SERVER_URL")); err == nil && u.Hostname() != "" {
		server = strings.ToLower(u.Hostname())
	}
	if host != server {
		return ""
	}
	return s.opts.Getenv("GITHUB_API_URL")
}

// Jira returns the client for the Jira that $JIRA_HOST or the user's settings name.
func (s *Services) Jira(ctx context.Context) (*jira.Client, error) {
	return s.jira.get(ctx, func(ctx context.Context) (*jira.Client, error) {
		missing := &failure.Error{
			Kind: failure.NoCredentials,
			What: failure.Text("Jira credentials not found"),
			Do: func(w failure.Words) string {
				if w.Program != copse {
					return fmt.Sprintf("Set $JIRA_HOST and add credentials to `~/.netrc`. See `%s`.", w.Login)
				}
				return fmt.Sprintf("Set $JIRA_HOST, and $JIRA_EMAIL with $JIRA_TOKEN, or $JIRA_PAT, or add credentials to `~/.netrc`. See `%s`.", w.Login)
			},
		}
		raw, err := JiraHost(s.opts.Getenv, s.opts.User)
		if err != nil {
			missing.Do = failure.Text("Correct your settings: " + err.Error())
			return nil, missing
		}
		if raw == "" {
			return nil, missing
		}
		host, err := jira.ParseHost(raw)
		if err != nil {
			missing.Do = failure.Text(err.Error())
			return nil, missing
		}
		login, err := s.opts.Finder.Jira(ctx, host.Machines(), host.Atlassian())
		if none, ok := errors.AsType[*credential.MissingError](err); ok {
			both := missing.Do
			missing.Do = func(w failure.Words) string {
				if w.Program != copse {
					return both(w)
				}
				if none.Half != "" {
					return fmt.Sprintf("%s: set it, too, or set $JIRA_PAT, or add credentials for %s to `~/.netrc`. See `%s`.", none.Half, host.Machines()[0], w.Login)
				}
				return fmt.Sprintf("Add credentials for %s to `~/.netrc`, or set $JIRA_PAT, or $JIRA_EMAIL and $JIRA_TOKEN. See `%s`.", host.Machines()[0], w.Login)
			}
			return nil, missing
		}
		if err != nil {
			return nil, err
		}
		identity := remote.Identity(host.URL(), login.Login, login.Secret)
		return jira.New(jira.Options{
			Host:       host,
			Credential: login,
			UserAgent:  "copse/" + s.opts.Version,
			Timeout:    s.opts.Timeout,
			Transport: remote.NewTransport(remote.Options{
				Allow:       host.Allow,
				CacheDir:    s.opts.CacheDir,
				Secret:      s.opts.Secret,
				Identity:    identity,
				Timeout:     s.opts.Timeout,
				KeepNoStore: true,
				Refused:     func() { s.jira.refused.Store(true) },
			}),
			Seen: seen.New(s.opts.CacheDir, identity, s.opts.Secret),
		}), nil
	})
}

// JiraHost returns the value of $JIRA_HOST or else of the user's settings; "" if neither is set.
func JiraHost(getenv func(string) string, user *settings.File[settings.User]) (string, error) {
	if host := strings.TrimSpace(getenv(jira.HostVariable)); host != "" {
		return host, nil
	}
	s, err := user.Get()
	return strings.TrimSpace(s.Jira.Host), err
}
