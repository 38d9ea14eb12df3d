package workspace

import (
	"context"
	"errors"
	"fmt"

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
)

// Files returns the files of the project.
func (w *Workspace) Files() *project.Project {
	return project.New(w.Workspace(), func(ctx context.Context) (project.Repository, error) {
		repo, err := w.Session.Repo(ctx)
		if err != nil {
			return nil, err
		}
		return repo, nil
	})
}

// Containers returns the client of the container engine.
func (w *Workspace) Containers() *docker.Client {
	return docker.New(docker.Options{Getenv: w.env.Getenv, Home: w.env.Home(), GOOS: w.env.GOOS})
}

// Briefing returns the sections of the project's context. Only fresh ones ask the network.
func (w *Workspace) Briefing(items section.ItemStore, tasks *recipe.Justfile, files *project.Project) section.Sources {
	root, journal := w.Workspace(), w.journal()
	engine := w.Containers()
	repo := section.FindRepo(w.Session.Repo)
	return func(fresh bool) []briefing.Source {
		worktree := &section.Worktree{Find: repo}
		links := section.Links{
			Stack: w.stack, Fresh: fresh, Now: w.env.Now,
			PullRequest: w.Services.PullRequest, Issue: w.Services.Issue,
		}
		return []briefing.Source{
			section.Project(section.Place{Root: root, Repo: repo, Files: worktree, Origin: w.origin}),
			section.Stack(links),
			section.Items(items, func(ctx context.Context) string { return w.Session.View().Current(ctx) }),
			section.Git(worktree),
			section.Task(journal, w.env.Now),
			section.Containers(engine, root, w.env.Now),
			section.Recipes(tasks),
			section.Recent(repo, w.env.Now),
			section.Tree(files),
		}
	}
}

// origin is the repository on GitHub, "" if there is none.
func (w *Workspace) origin(ctx context.Context) string {
	origin, err := w.Pulls.Repository(ctx, "")
	if err != nil {
		return ""
	}
	return origin.Host + "/" + origin.String()
}

// stack returns the stack of the branch checked out, cut to the size of an answer, and
// a note of what was cut.
func (w *Workspace) stack(ctx context.Context) ([]branch.Entry, string, error) {
	head, err := w.Session.View().Head(ctx)
	switch {
	case errors.Is(err, git.ErrNotRepository):
		return nil, "", &briefing.Nothing{Why: "not a git repository"}
	case err != nil:
		return nil, "", errors.New(failure.Of(err).Message(w.Words))
	case head.Detached:
		return nil, "", &briefing.Nothing{Why: "no branch is checked out"}
	}
	entries, err := w.Branches.Stack(ctx, head.Branch)
	switch {
	case errors.Is(err, twig.ErrNoState):
		return nil, "", &briefing.Nothing{Why: "no .twig/state.json"}
	case err != nil:
		return nil, "", errors.New(failure.Of(err).Message(w.Words))
	}
	if n := page.Fit(entries, page.Size, page.DefaultBudget); n < len(entries) {
		return entries[:n], fmt.Sprintf("%d of %d", n, len(entries)), nil
	}
	return entries, "", nil
}
