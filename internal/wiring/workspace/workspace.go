// Package workspace makes what the workspace toolset and the commands about context and
// tasks need: the project's files, its recipes, and the sources of its context.
package workspace

import (
	"context"
	"errors"
	"fmt"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/branch"
	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/briefing"
	"github.com/copse-dev/copse/internal/briefing/section"
	"github.com/copse-dev/copse/internal/docker"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/page"
	"github.com/copse-dev/copse/internal/project"
	"github.com/copse-dev/copse/internal/recipe"
	"github.com/copse-dev/copse/internal/settings"
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
}

// Open makes the workspace of a place, of what its other toolsets know. Nothing is read
// yet. Close it after use.
func Open(o wiring.Options, p where.Place, facts *wiring.Sources, items section.ItemStore) *Workspace {
	root := p.Workspace()
	journal := recipe.NewJournal(place.State(o.Env, "tasks"), root)
	w := &Workspace{
		Tasks: recipe.New(root, xec.Env(o.Env.Environ), journal, running(o.Env)),
		place: p, journal: journal, facts: facts, items: items, env: o.Env,
		engine: docker.New(docker.Options{Getenv: o.Env.Getenv, Home: o.Env.Home(), GOOS: o.Env.GOOS}),
	}
	w.Files = project.New(root, func(ctx context.Context) (project.Repository, error) {
		repo, err := facts.Session.Repo(ctx)
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
	repo := section.FindRepo(w.facts.Session.Repo)
	files := &section.Worktree{Find: repo}
	links := section.Links{
		Stack: w.stack, Fresh: fresh, Now: w.env.Now,
		PullRequest: w.facts.Services.PullRequest, Issue: w.facts.Services.Issue,
	}
	return []briefing.Source{
		section.Project(section.Place{Root: root, Repo: repo, Files: files, Origin: w.origin}),
		section.Stack(links),
		section.Items(w.items, w.branch),
		section.Git(files),
		section.Task(w.journal, w.env.Now),
		section.Containers(w.engine, root, w.env.Now),
		section.Recipes(w.Tasks),
		section.Recent(repo, w.env.Now),
		section.Tree(w.Files),
	}
}

// branch is the branch checked out, "" if there is none.
func (w *Workspace) branch(ctx context.Context) string {
	head, err := w.facts.Session.View().Head(ctx)
	if err != nil {
		return ""
	}
	return head.Branch
}

// origin is the repository on GitHub, "" if there is none.
func (w *Workspace) origin(ctx context.Context) string {
	origin, err := w.facts.Pulls.Repository(ctx, "")
	if err != nil {
		return ""
	}
	return origin.Host + "/" + origin.String()
}

// stack returns the stack of the branch checked out, cut to the size of an answer, and
// a note of what was cut.
func (w *Workspace) stack(ctx context.Context) ([]branch.Entry, string, error) {
	head, err := w.facts.Session.View().Head(ctx)
	switch {
	case errors.Is(err, git.ErrNotRepository):
		return nil, "", &briefing.Nothing{Why: "not a git repository"}
	case err != nil:
		return nil, "", errors.New(failure.Of(err).Message(w.facts.Words))
	case head.Detached:
		return nil, "", &briefing.Nothing{Why: "no branch is checked out"}
	}
	entries, err := w.facts.Branches.Stack(ctx, head.Branch)
	switch {
	case errors.Is(err, twig.ErrNoState):
		return nil, "", &briefing.Nothing{Why: "no .twig/state.json"}
	case err != nil:
		return nil, "", errors.New(failure.Of(err).Message(w.facts.Words))
	}
	if n := page.Fit(entries, page.Size, page.DefaultBudget); n < len(entries) {
		return entries[:n], fmt.Sprintf("%d of %d", n, len(entries)), nil
	}
	return entries, "", nil
}
