// Package wiring creates the sources of facts about branches, pull requests, and issues from an
// environment: it is where configuration meets the packages that need it. The read-only program and
// copse share it, so it must not import a package that writes the data that they read.
//
// Use [New]. It opens or looks up nothing before it is needed.
package wiring

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/git/ownpath"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/credential"
	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gitconfig"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/jira"
	"github.com/copse-dev/copse/internal/repolist"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/session/service"
	"github.com/copse-dev/copse/internal/settings"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/branches"
	"github.com/copse-dev/copse/internal/toolset/envelope"
	githubtools "github.com/copse-dev/copse/internal/toolset/github"
	jiratools "github.com/copse-dev/copse/internal/toolset/jira"
	"github.com/copse-dev/copse/internal/workflow/issue"
	"github.com/copse-dev/copse/internal/workflow/pull"
	"github.com/copse-dev/copse/internal/workflow/stack"
	"github.com/copse-dev/copse/internal/xec"
)

// Options select the workspace of the sources.
type Options struct {
	// Program is the name of the server in messages.
	Program string
	Env     app.Env
	// Repo is the directory where the search for the repository starts; "" is Env.Dir.
	Repo string
	// Found means that Repo is the root of a worktree that was found, not a directory that
	// the user named.
	Found bool
	// Disabled names toolsets that are not served: the others do not query their services either.
	Disabled []string
	// ReadOnly means that tools that change something are not served.
	ReadOnly bool
	// Timeout limits a request to a service; 0 is the default.
	Timeout time.Duration
	// Recorded replaces a missing state; nil is nothing.
	Recorded stack.Recorded
}

// Sources are a program's data about one workspace.
type Sources struct {
	Session  *session.Session
	Branches *stack.Branches
	Pulls    *pull.Requests
	Issues   *issue.Issues
	// Services find what is linked to a branch; disabled ones are left out.
	Services stack.Services
	// Words are the program's names for the things in its messages.
	Words failure.Words

	opts Options
}

// New returns the sources.
func New(o Options) *Sources {
	start := cmp.Or(o.Repo, o.Env.Dir)
	if !filepath.IsAbs(start) {
		start = filepath.Join(o.Env.Dir, start)
	}
	user := settings.OpenUser(o.Env.SettingsFile())
	at := session.New(session.Options{
		Aside: func() string {
			s, err := user.Get()
			if err != nil {
				return settings.DefaultItemsBranch // the command that shows the settings reports it
			}
			return s.Items.ItemsBranch()
		},
		Dir: start, GitHubHost: strings.ToLower(o.Env.Getenv("GH_HOST")),
		Git: git.Options{Env: o.Env.Environ, Self: o.Env.Self, Named: o.Repo != "" && !o.Found, Configured: func(c gitconfig.Config) { logins(c, o.Env.Secrets.AddLogin) }},
	})
	logins(parameters(o.Env.Getenv("GIT_CONFIG_PARAMETERS")), o.Env.Secrets.AddLogin)
	o.Env.Secrets.Follow(following(filepath.Join(o.Env.ConfigDir(), "tokens"), o.Env.Secrets.Add))
	o.Env.Secrets.Later(func(known *secret.Set) {
		if s, err := user.Get(); err == nil {
			for _, address := range s.Items.Database {
				secret.InURL(address, known.AddLogin)
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if repo, err := at.Repo(ctx); err == nil {
			_, _ = repo.Remotes(ctx) // unreadable values are unknown
		}
	})
	services := service.New(service.Options{
		Finder:   Finder(o.Env, start),
		Getenv:   o.Env.Getenv,
		User:     user,
		CacheDir: o.Env.CacheDir(),
		Secret:   o.Env.Secrets.In,
		Version:  app.Version(),
		Timeout:  o.Timeout,
	})
	branches := stack.New(at, o.Recorded)
	s := &Sources{
		Session: at, Branches: branches, Words: words(o.Program), opts: o,
		Pulls: pull.New(at, branches, services), Issues: issue.New(branches, services),
	}
	if !slices.Contains(o.Disabled, "github") {
		s.Services.PullRequest = func(ctx context.Context, branch string, n uint32) fact.Fact[pullrequest.Status] {
			return s.Pulls.Linked(ctx, branch, n, s.Words)
		}
	}
	if !slices.Contains(o.Disabled, "jira") {
		s.Services.Issue = func(ctx context.Context, key string) fact.Fact[jira.Issue] {
			return s.Issues.Linked(ctx, key, s.Words)
		}
	}
	return s
}

// ReadOnlyToolsets returns the toolsets that only read, which are all that twig-mcp serves, in the
// order of the documentation and without those that are disabled.
func (s *Sources) ReadOnlyToolsets() []toolset.Toolset {
	form, env := envelope.Form{Words: s.Words}, s.opts.Env
	return toolset.Without([]toolset.Toolset{
		branches.New(s.Branches, branches.Options{
			Form: form, Services: s.Services, Repositories: repolist.New(env.GOOS, env.Getenv, env.Home()),
		}).Toolset(),
		githubtools.New(form, s.Pulls).Toolset(),
		jiratools.New(form, s.Issues).Toolset(),
	}, s.opts.Disabled)
}

// WithoutLogin returns the served services that certainly have no login. It checks only variables
// and files.
func (s *Sources) WithoutLogin() []string {
	env, finder := s.opts.Env, Finder(s.opts.Env) // it starts no program
	var missing []string
	if !slices.Contains(s.opts.Disabled, "github") && finder.NoGitHub() {
		missing = append(missing, "GitHub")
	}
	if !slices.Contains(s.opts.Disabled, "jira") {
		host, err := service.JiraHost(env.Getenv, settings.OpenUser(env.SettingsFile()))
		if err == nil && host == "" || finder.NoJira() {
			missing = append(missing, "Jira")
		}
	}
	return missing
}

// words returns the tools of a server, and the commands of the program twig for its own server,
// ours for the others.
func words(program string) failure.Words {
	w := failure.Words{Program: program, Track: "copse branch init", Login: "copse mcp doctor --online", Branches: "list_branches"}
	if program == "twig-mcp" {
		w.Track, w.Login = "twig init", "twig auth --help"
	}
	return w
}

// Finder finds the logins that a user has. A program in the projects of the directories does not count.
func Finder(env app.Env, dirs ...string) credential.Finder {
	return credential.Finder{Getenv: env.Getenv, Home: env.Home(), GOOS: env.GOOS, GHToken: ghToken(env.Environ, dirs...), Found: env.Secrets.AddLogin}
}

// ghToken gets the token of the gh program's login. A program in the projects of dirs does not count.
func ghToken(environ []string, dirs ...string) func(context.Context, string) (string, error) {
	// gh would return these variables instead of its own login.
	env := xec.Env(environ).Without("GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
	return func(ctx context.Context, host string) (string, error) {
		res, err := xec.Run(ctx, xec.Command{
			Name: "gh",
			Args: []string{"auth", "token", "--hostname", host},
			Env:  ownpath.Without(env, dirs...).With("GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1"),
		})
		if errors.Is(err, xec.ErrNotInstalled) {
			return "", credential.ErrNotInstalled
		}
		return string(res.Stdout), err
	}
}
