// Package section has the sections of a project's briefing: where it stands in git,
// what it is linked to, who works on what, what ran last, what is broken, what can be
// run, and what there is.
//
// Each function makes a [briefing.Source] of the little that it needs. The sources are
// read afresh each time; GitHub and Jira answer with what the caller's context lets
// them: with [remote.WithCachedOnly] the network is left alone.
package section

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/briefing"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/remote"
)

// Names are the sections by priority.
func Names() []string {
	return []string{"project", "stack", "items", "git", "task", "containers", "recipes", "recent", "tree"}
}

// limit is how long a source may take that asks nobody far away.
const limit = time.Second

// FreshLimit is how long one may take that asks the network.
const FreshLimit = 10 * time.Second

func source(name, title string, look func(context.Context) (briefing.Body, error)) briefing.Source {
	return briefing.Source{Name: name, Title: title, Limit: limit, Look: look}
}

// FindRepo finds the repository of the project. The error can be git.ErrNotRepository.
type FindRepo func(context.Context) (*git.Repo, error)

// repo finds the repository for a section that is nothing without.
func (find FindRepo) repo(ctx context.Context) (*git.Repo, error) {
	repo, err := find(ctx)
	if errors.Is(err, git.ErrNotRepository) {
		return nil, &briefing.Nothing{Why: "not a git repository"}
	}
	return repo, err
}

// Worktree is the state of the files, which several sections need and one asks for. It
// is for one briefing.
type Worktree struct {
	Find FindRepo

	once    sync.Once
	status  git.Status
	changes []git.Change
	err     error
}

// look asks git once. Whoever comes later waits, or gives up when its time is over.
func (w *Worktree) look(ctx context.Context) (git.Status, []git.Change, error) {
	w.once.Do(func() {
		repo, err := w.Find.repo(ctx)
		if err != nil {
			w.err = err
			return
		}
		w.status, w.changes, w.err = repo.Changes(ctx)
	})
	return w.status, w.changes, w.err
}

// Place is what the project section says of a project.
type Place struct {
	Root  string
	Repo  FindRepo
	Files *Worktree
	// Origin is the repository on GitHub, "" if there is none.
	Origin func(context.Context) string
}

// maxWorktrees is how many other worktrees are named.
const maxWorktrees = 8

// Project tells where the project is, and which branch is checked out.
func Project(p Place) briefing.Source {
	return source("project", "Project", func(ctx context.Context) (briefing.Body, error) {
		body := briefing.Body{Head: []foreign.Line{foreign.Own("Root: ").Name(p.Root)}}
		repo, err := p.Repo(ctx)
		if errors.Is(err, git.ErrNotRepository) {
			body.Head = append(body.Head, foreign.Own("Not a git repository."))
			return body, nil
		}
		if err != nil {
			return body, err
		}
		head, err := repo.Head(ctx)
		if head.Branch == "" && err != nil {
			return body, err
		}
		at := foreign.Own("Branch: ").Name(head.Branch)
		switch {
		case head.Detached:
			at = foreign.Own("Detached at ").Name(short(head.Commit))
		case head.Unborn:
			at = at.Own(", no commit yet")
		}
		if repo.Bare() {
			body.Head = append(body.Head, at.Own(" (a bare repository)"))
			return body, nil
		}
		status, _, statusErr := p.Files.look(ctx)
		if statusErr == nil && !head.Detached {
			at = at.Add(upstream(status))
		}
		body.Head = append(body.Head, at)
		if origin := p.Origin(ctx); origin != "" {
			body.Head = append(body.Head, foreign.Own("GitHub: ").Name(origin))
		}
		// The list is a nicety; without it the rest still stands.
		if list, err := repo.Worktrees(ctx); err == nil {
			body.Head = append(body.Head, others(list, p.Root)...)
		}
		return body, statusErr
	})
}

func upstream(st git.Status) foreign.Line {
	var l foreign.Line
	switch {
	case st.Upstream == "":
		return l.Own(", no upstream")
	case st.UpstreamGone:
		return l.Own(", upstream ").Name(st.Upstream).Own(" is gone")
	case st.Ahead == 0 && st.Behind == 0:
		return l.Own(", level with ").Name(st.Upstream)
	case st.Behind == 0:
		return l.Own(", ").Int(st.Ahead).Own(" ahead of ").Name(st.Upstream)
	case st.Ahead == 0:
		return l.Own(", ").Int(st.Behind).Own(" behind ").Name(st.Upstream)
	}
	return l.Own(", ").Int(st.Ahead).Own(" ahead of ").Name(st.Upstream).Own(" and ").Int(st.Behind).Own(" behind")
}

// others is a line that names the other worktrees, none if there are none.
func others(list []git.Worktree, root string) []foreign.Line {
	var names []foreign.Line
	more := 0
	for _, w := range list {
		switch {
		case w.Path == root || w.Bare || w.Prunable:
			continue
		case len(names) == maxWorktrees:
			more++
			continue
		}
		on := foreign.Name(w.Branch)
		if w.Detached {
			on = foreign.Own("detached at ").Name(short(w.Head))
		}
		names = append(names, foreign.Name(w.Path).Own(" (").Add(on).Own(")"))
	}
	if len(names) == 0 {
		return nil
	}
	line := foreign.Own("Other worktrees: ").Add(foreign.Join(names, ", "))
	if more > 0 {
		line = line.Own(" and ").Int(more).Own(" more")
	}
	return []foreign.Line{line}
}

func short(hash string) string { return hash[:min(len(hash), 8)] }

// Network returns the context for sources that may ask the network if fresh, and must
// not otherwise.
func Network(ctx context.Context, fresh bool) context.Context {
	if fresh {
		return ctx
	}
	return remote.WithCachedOnly(ctx)
}

// Choose returns the sources with these names, in their own order; all if there are no
// names.
func Choose(sources []briefing.Source, names []string) []briefing.Source {
	if len(names) == 0 {
		return sources
	}
	var chosen []briefing.Source
	for _, s := range sources {
		if slices.Contains(names, s.Name) {
			chosen = append(chosen, s)
		}
	}
	return chosen
}
