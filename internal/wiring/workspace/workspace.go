// Package workspace makes what the workspace toolset and the commands about context and
// tasks need: the project's files, its recipes, and the sources of its context.
package workspace

import (
	"context"
	"errors"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/branch"
	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/briefing"
	"github.com/copse-dev/copse/internal/briefing/section"
	"github.com/copse-dev/copse/internal/docker"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/project"
	"github.com/copse-dev/copse/internal/recipe"
	"github.com/copse-dev/copse/internal/settings"
	"github.com/copse-dev/copse/internal/toolset/branches"
	"github.com/copse-dev/copse/internal/toolset/envelope"
	"github.com/copse-dev/copse/internal/wiring"
	"github.com/copse-dev/copse/internal/wiring/place"
	"github.com/copse-dev/copse/internal/wiring/where"
	"github.com/copse-dev/copse/internal/xec"
)

// OpenTasks makes the recipes of a place alone.
func OpenTasks(env app.Env, p where.Place) *recipe.Justfile {
	root := p.Workspace()
	return recipe.New(root, xec.Env(env.Environ), recipe.NewJournal(place.State(env, "tasks"), root), running(env))
}

// running says how recipes are run.
func running(env app.Env) recipe.Options {
	user := settings.OpenUser(place.Settings(env))
	return recipe.Options{
		Self: env.Self,
		PassCredentials: func() (bool, error) {
			s, err := user.Get()
			return s.Tasks.PassCredentials, err
		},
	}
}

// Workspace is a project with everything around it.
type Workspace struct {
	Files *project.Project
	Tasks *recipe.Justfile

	place   where.Place
	journal *recipe.Journal
	facts   *wiring.Sources
	items   section.ItemStore
	engine  *docker.Client
	env     app.Env
	without map[string]bool
}

// Open makes the workspace of a place, of what its other toolsets know. Nothing is read
// yet. Close it after use.
func Open(o wiring.Options, p where.Place, facts *wiring.Sources, items section.ItemStore) *Workspace {
	root := p.Workspace()
	journal := recipe.NewJournal(place.State(o.Env, "tasks"), root)
	w := &Workspace{
		Tasks: recipe.New(root, xec.Env(o.Env.Environ), journal, running(o.Env)),
		place: p, journal: journal, facts: facts, items: items, env: o.Env,
		engine:  docker.New(docker.Options{Getenv: o.Env.Getenv, Home: o.Env.Home(), GOOS: o.Env.GOOS}),
		without: map[string]bool{},
	}
	for _, name := range o.Disabled {
		w.without[name] = true
	}
	w.Files = project.New(root, func(ctx context.Context) (project.Repository, error) {
		repo, err := facts.Here.Workspace.Repo(ctx)
		if err != nil {
			return nil, err
		}
		return repo, nil
	})
	return w
}

// Close stops the tasks that run.
func (w *Workspace) Close() { w.Tasks.Close() }

// Sources are the sections of the project's context. Only fresh ones ask the network.
func (w *Workspace) Sources(fresh bool) []briefing.Source {
	root := w.place.Workspace()
	repo := section.FindRepo(w.facts.Here.Workspace.Repo)
	files := &section.Worktree{Find: repo}
	links := section.Links{Stack: w.stack, Fresh: fresh, Now: w.env.Now}
	if !w.without["github"] {
		links.PullRequest = w.facts.GitHub.Linked
	}
	if !w.without["jira"] {
		links.Issue = w.facts.Jira.Linked
	}
	return []briefing.Source{
		section.Project(section.Place{Root: root, Repo: repo, Files: files, Origin: w.origin}),
		section.Stack(links),
		section.Items(w.items),
		section.Git(files),
		section.Task(w.journal, w.env.Now),
		section.Containers(w.engine, root, w.env.Now),
		section.Recipes(w.Tasks),
		section.Recent(repo, w.env.Now),
		section.Tree(w.Files),
	}
}

// origin is the repository on GitHub, "" if there is none.
func (w *Workspace) origin(ctx context.Context) string {
	origin, err := w.facts.Here.GitHubRepository(ctx)
	if err != nil {
		return ""
	}
	return origin.Host + "/" + origin.String()
}

// stack is the stack of the branch checked out.
func (w *Workspace) stack(ctx context.Context) ([]branch.Entry, string, error) {
	head, err := w.facts.Here.Head(ctx)
	switch {
	case errors.Is(err, git.ErrNotRepository):
		return nil, "", &briefing.Nothing{Why: "not a git repository"}
	case err != nil:
		return nil, "", err
	case head.Detached:
		return nil, "", &briefing.Nothing{Why: "no branch is checked out"}
	}
	out, err := w.facts.Branches.GetBranchStack(ctx, branches.StackIn{})
	switch {
	case errors.Is(err, twig.ErrNoState):
		return nil, "", &briefing.Nothing{Why: "no .twig/state.json"}
	case err != nil:
		return nil, "", errors.New(envelope.Of(err).Message)
	}
	return out.Stack, out.Showing, nil
}
