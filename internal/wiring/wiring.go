// Package wiring makes the branches, github and jira toolsets out of an
// environment: it is where configuration meets the packages that need it. The
// read-only program and copse share it, so it must not import anything that
// writes what they read.
//
// Use [New], then [Sources.Toolsets]. Nothing is opened or looked up before a
// tool needs it; a client that was found is kept, credentials that are missing
// are looked up again on the next call.
package wiring

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/credential"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/repolist"
	"github.com/copse-dev/copse/internal/settings"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/branches"
	"github.com/copse-dev/copse/internal/toolset/github"
	"github.com/copse-dev/copse/internal/toolset/here"
	"github.com/copse-dev/copse/internal/toolset/jira"
	"github.com/copse-dev/copse/internal/wiring/place"
	"github.com/copse-dev/copse/internal/workspace"
	"github.com/copse-dev/copse/internal/xec"
)

// Options say for which place the toolsets are made.
type Options struct {
	// Program is the name that messages give the server.
	Program string
	Env     app.Env
	// Repo is the folder to look for the repository in; "" is Env.Dir.
	Repo string
	// Disabled names toolsets that are not served: nothing is asked of their
	// services by the others either.
	Disabled []string
	// Timeout bounds a request to a service; 0 is the default.
	Timeout time.Duration
}

// Sources are the toolsets' sources, shared by all of them.
type Sources struct {
	Here     *here.Here
	Branches *branches.Tools
	GitHub   *github.Tools
	Jira     *jira.Tools
}

// New makes the sources.
func New(o Options) *Sources {
	start := cmp.Or(o.Repo, o.Env.Dir)
	if !filepath.IsAbs(start) {
		start = filepath.Join(o.Env.Dir, start)
	}
	at := &here.Here{
		Program:    o.Program,
		Init:       hints(o.Program).init,
		GitHubHost: strings.ToLower(o.Env.Getenv("GH_HOST")),
		Workspace:  workspace.New(start, git.Options{Env: o.Env.Environ, Named: o.Repo != ""}),
	}
	services := &clients{
		finder:  Finder(o.Env),
		help:    hints(o.Program).credentials,
		getenv:  o.Env.Getenv,
		user:    settings.OpenUser(place.Settings(o.Env)),
		cache:   cacheDir(o.Env),
		timeout: o.Timeout,
	}
	s := &Sources{Here: at, GitHub: github.New(at, services), Jira: jira.New(at, services)}
	opts := branches.Options{Repositories: repolist.New(o.Env.GOOS, o.Env.Getenv, o.Env.Home())}
	if !slices.Contains(o.Disabled, "github") {
		opts.PullRequest = s.GitHub.Linked
	}
	if !slices.Contains(o.Disabled, "jira") {
		opts.Issue = s.Jira.Linked
	}
	s.Branches = branches.New(at, opts)
	return s
}

// advice is the commands that messages send a person to.
type advice struct{ init, credentials string }

// hints are the commands of the program twig for its own server, and ours for the others.
func hints(program string) advice {
	if program == "twig-mcp" {
		return advice{init: "twig init", credentials: "twig auth --help"}
	}
	return advice{init: "copse branch init", credentials: "copse mcp doctor --online"}
}

// Finder finds the logins that a user has.
func Finder(env app.Env) credential.Finder {
	return credential.Finder{Getenv: env.Getenv, Home: env.Home(), GOOS: env.GOOS, GHToken: ghToken(env.Environ)}
}

// Toolsets are the three toolsets, in the order of the documentation.
func (s *Sources) Toolsets() []toolset.Toolset {
	return []toolset.Toolset{s.Branches.Toolset(), s.GitHub.Toolset(), s.Jira.Toolset()}
}

// ghToken asks the gh program for the token it is logged in with.
func ghToken(environ []string) func(context.Context, string) (string, error) {
	// gh would hand out these variables instead of its own login.
	env := xec.Env(environ).Without("GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
	return func(ctx context.Context, host string) (string, error) {
		res, err := xec.Run(ctx, xec.Command{
			Name: "gh",
			Args: []string{"auth", "token", "--hostname", host},
			Env:  env.With("GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1"),
		})
		if errors.Is(err, xec.ErrNotInstalled) {
			return "", credential.ErrNotInstalled
		}
		return string(res.Stdout), err
	}
}

// cacheDir is where answers of services are kept, "" if the environment names
// no place for them.
func cacheDir(env app.Env) string {
	join := func(base string, parts ...string) string {
		if !filepath.IsAbs(base) {
			return ""
		}
		return filepath.Join(append([]string{base}, parts...)...)
	}
	switch env.GOOS {
	case "windows":
		return join(env.Getenv("LOCALAPPDATA"), "copse", "cache", "http")
	case "darwin":
		return join(env.Home(), "Library", "Caches", "copse", "http")
	}
	if dir := join(env.Getenv("XDG_CACHE_HOME"), "copse", "http"); dir != "" {
		return dir
	}
	return join(env.Home(), ".cache", "copse", "http")
}
