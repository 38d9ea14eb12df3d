package wiring

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/credential"
	gh "github.com/copse-dev/copse/internal/github"
	"github.com/copse-dev/copse/internal/jira"
	"github.com/copse-dev/copse/internal/remote"
	"github.com/copse-dev/copse/internal/settings"
	"github.com/copse-dev/copse/internal/toolset/envelope"
	toolgithub "github.com/copse-dev/copse/internal/toolset/github"
	tooljira "github.com/copse-dev/copse/internal/toolset/jira"
)

// clients finds and keeps the clients of services.
type clients struct {
	finder  credential.Finder
	help    string // the command that tells about credentials
	getenv  func(string) string
	user    *settings.File[settings.User]
	cache   string
	timeout time.Duration

	mu     sync.Mutex
	github map[string]*gh.Client // by host
	jira   *jira.Client
}

var (
	_ toolgithub.Clients = (*clients)(nil)
	_ tooljira.Clients   = (*clients)(nil)
)

// GitHub is the client for a host.
func (c *clients) GitHub(ctx context.Context, host string) (toolgithub.Client, error) {
	c.mu.Lock()
	found := c.github[host]
	c.mu.Unlock()
	if found != nil {
		return found, nil
	}
	// Not under the lock: the search may ask another program.
	login, err := c.finder.GitHub(ctx, host)
	if _, missing := errors.AsType[*credential.MissingError](err); missing {
		return nil, &envelope.Error{
			Code:    envelope.CredentialsMissing,
			Message: "GitHub credentials not found",
			Hint:    fmt.Sprintf("Add credentials for %s to `~/.netrc`. See `%s`.", host, c.help),
		}
	}
	if err != nil {
		return nil, err
	}
	api, err := gh.APIBase(host, c.apiOverride(host))
	if err != nil {
		return nil, &envelope.Error{
			Code: envelope.InvalidParams, Message: err.Error(), Hint: "Correct or unset $GITHUB_API_URL.",
		}
	}
	client := gh.New(gh.Options{
		API: api, Credential: login, Version: app.Version(), CacheDir: c.cache, Timeout: c.timeout,
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.github == nil {
		c.github = make(map[string]*gh.Client)
	}
	c.github[host] = client
	return client, nil
}

// apiOverride is $GITHUB_API_URL, which speaks of the server that
// $GITHUB_SERVER_URL names, else of github.com.
func (c *clients) apiOverride(host string) string {
	server := "github.com"
	if u, err := url.Parse(c.getenv("GITHUB_SERVER_URL")); err == nil && u.Hostname() != "" {
		server = strings.ToLower(u.Hostname())
	}
	if host != server {
		return ""
	}
	return c.getenv("GITHUB_API_URL")
}

// Jira is the client for the Jira that $JIRA_HOST or the user's settings name.
func (c *clients) Jira(ctx context.Context) (tooljira.Client, error) {
	c.mu.Lock()
	found := c.jira
	c.mu.Unlock()
	if found != nil {
		return found, nil
	}
	missing := &envelope.Error{
		Code:    envelope.CredentialsMissing,
		Message: "Jira credentials not found",
		Hint:    fmt.Sprintf("Set $JIRA_HOST and add credentials to `~/.netrc`. See `%s`.", c.help),
	}
	raw, err := JiraHost(c.getenv, c.user)
	if err != nil {
		missing.Hint = "Correct your settings: " + err.Error()
		return nil, missing
	}
	if raw == "" {
		return nil, missing
	}
	host, err := jira.ParseHost(raw)
	if err != nil {
		missing.Hint = err.Error()
		return nil, missing
	}
	login, err := c.finder.Jira(ctx, host.Machines())
	if _, none := errors.AsType[*credential.MissingError](err); none {
		return nil, missing
	}
	if err != nil {
		return nil, err
	}
	client := jira.New(jira.Options{
		Host:       host,
		Credential: login,
		UserAgent:  "copse/" + app.Version(),
		Transport: remote.NewTransport(remote.Options{
			Allow:       host.Allow,
			CacheDir:    c.cache,
			Identity:    remote.Identity(host.URL(), login.Login, login.Secret),
			Timeout:     c.timeout,
			KeepNoStore: true,
		}),
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.jira = client
	return client, nil
}

// JiraHost returns what $JIRA_HOST or else the user's settings say; "" if neither does.
func JiraHost(getenv func(string) string, user *settings.File[settings.User]) (string, error) {
	if host := strings.TrimSpace(getenv(jira.HostVariable)); host != "" {
		return host, nil
	}
	s, err := user.Get()
	return strings.TrimSpace(s.Jira.Host), err
}
