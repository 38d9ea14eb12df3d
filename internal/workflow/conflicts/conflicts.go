// Package conflicts finds the branches and worktrees in flight that conflict with each other or
// with the trunk, including uncommitted changes.
//
// In flight are
//
//   - the worktrees, with their uncommitted changes;
//   - the local branches whose last commit is at most 30 days old, and those of a stack.
//
// Branches that the trunk already contains are not in flight. The trunk is the branch on which
// others
// start, or its counterpart at origin if that is ahead.
//
// Use [New]. [Radar.Report] tries the merges; package git/trial describes how, and why this
// writes nothing to the repository. It caches results by the merged commits, in
// the user's cache directory, so a repeated call tries only what changed. Package
// git/uncommitted remembers the changed files of each worktree.
package conflicts

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/trial"
	"github.com/copse-dev/copse/internal/git/uncommitted"
	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/workflow/stack"
)

// Options configure a Radar.
type Options struct {
	Branches *stack.Branches
	// CacheDir is the directory of the results; "" for none.
	CacheDir string
	Git      git.Options
	Now      func() time.Time
	// Trees observe changes, for a program that looks more than once; nil for nobody.
	Trees uncommitted.Trees
	// Clients returns the names of the clients that work in each worktree, by its root;
	// nil for nobody.
	Clients func(ctx context.Context) map[string][]string
}

// Radar finds conflicts in one repository. It is safe for concurrent use.
type Radar struct {
	o           Options
	uncommitted *uncommitted.Finder

	mu    sync.Mutex // one report at a time, as the next one profits
	cache *cache

	opening sync.Mutex
	repos   map[string]*git.Repo // of worktrees, by root
	read    *cache               // see reader
}

// New returns the radar of the repository of o.Branches.
func New(o Options) *Radar {
	return &Radar{o: o, uncommitted: uncommitted.New(o.Trees, o.Now), repos: make(map[string]*git.Repo)}
}

// Request selects conflicts.
type Request struct {
	// Branches are those whose conflicts are wanted; none means all in flight. A named branch is
	// compared however old it is.
	Branches []string
	// Current selects the conflicts of the worktree of the session.
	Current bool
}

// Report contains the conflicts of the work in flight.
type Report struct {
	// Trunk is the branch that the others are compared with, "" if there is none.
	Trunk string
	// Compared is the number of branches and worktrees that git compared with another one, without the
	// trunk.
	Compared int
	// NotCompared is the number of pairs that git could not compare. Notes say why.
	NotCompared int
	// Conflicts are those with the trunk first, each group by name.
	Conflicts []Conflict
	// Notes name what was not compared.
	Notes []string
}

// Conflict is a pair of branches that cannot be merged without a person.
type Conflict struct {
	// Branches are the two; one of the trunk comes last. A worktree without a branch has
	// the name of its directory and "(detached HEAD)".
	Branches []string `json:"branches"`
	Files    []string `json:"files"`
	// MoreFiles is the number of files that [Conflict.Brief] omits.
	MoreFiles int `json:"more_files,omitempty"`
	// Kinds describes the conflicts of files that are not modified in both.
	Kinds map[string]string `json:"kinds,omitempty"`
	// Holders are the worktrees where the branches are checked out.
	Holders []Holder `json:"holders,omitempty"`
}

// Holder is a worktree that has one of the branches.
type Holder struct {
	Branch   string `json:"branch"`
	Worktree string `json:"worktree"`
	// Uncommitted is the number of uncommitted changes there, as "git status" lists them.
	Uncommitted int      `json:"uncommitted,omitempty"`
	Clients     []string `json:"clients,omitempty"`

	// Current means that it is the worktree of the session.
	Current bool `json:"-"`
}

// maxFiles is the number of named files of a brief conflict.
const maxFiles = 30

// Brief returns the conflict with at most 30 named files.
func (c Conflict) Brief() Conflict {
	if len(c.Files) <= maxFiles {
		return c
	}
	c.Files, c.MoreFiles = c.Files[:maxFiles:maxFiles], c.MoreFiles+len(c.Files)-maxFiles
	named := make(map[string]string)
	for _, file := range c.Files {
		if kind := c.Kinds[file]; kind != "" {
			named[file] = kind
		}
	}
	c.Kinds = named
	return c
}

// Report tries the merges that r selects.
func (r *Radar) Report(ctx context.Context, q Request) (Report, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.look(ctx, q)
}

// look returns Report for a caller that holds the lock.
func (r *Radar) look(ctx context.Context, q Request) (Report, error) {
	g, err := r.survey(ctx, q)
	if err != nil {
		return Report{}, err
	}
	report, err := g.report(ctx)
	if errors.Is(err, trial.ErrTooOld) {
		return Report{}, &failure.Error{
			Kind: failure.Invalid, Err: err,
			What: failure.Text("Looking for conflicts requires git 2.39 or later"), Do: failure.Text("Install a later version of git."),
		}
	}
	return report, session.Explain(err)
}

// survey begins a survey. The caller holds the lock.
func (r *Radar) survey(ctx context.Context, q Request) (*survey, error) {
	repo, err := r.o.Branches.Session().Repo(ctx)
	if err != nil {
		return nil, err
	}
	if r.cache == nil {
		r.cache = openCache(r.o.CacheDir, repo.CommonDir(), r.o.Now)
	}
	g := &survey{Radar: r, repo: repo, request: q, known: r.cache.load(), fresh: newKept()}
	if boundary := repo.Boundary(); len(boundary) > 0 {
		g.shallow = " " + digest(string(boundary))
	}
	return g, nil
}

// report finds the work in flight, and tries the unknown merges.
func (g *survey) report(ctx context.Context) (Report, error) {
	// Results from before an error, or before the time limit, are stored, too. A caller with only a
	// moment may have left by then.
	defer func() {
		if !g.request.Current || ctx.Err() == nil || errors.Is(context.Cause(ctx), errMoment) {
			g.cache.save(g.known, g.fresh)
		}
	}()
	if err := g.find(ctx); err != nil {
		return Report{}, err
	}
	pairs := g.pairs()
	if err := g.try(ctx, pairs); err != nil {
		return Report{}, err
	}
	out := g.results(ctx, pairs)
	if !g.request.Current && len(g.request.Branches) == 0 {
		g.fresh.Last = &lastReport{At: g.o.Now(), Conflicts: []Conflict{}}
		for _, c := range out.Conflicts {
			g.fresh.Last.Conflicts = append(g.fresh.Last.Conflicts, c.Brief())
		}
	}
	return out, nil
}

// results describes the results of pairs.
func (g *survey) results(ctx context.Context, pairs []pair) Report {
	out := Report{Trunk: g.trunk.name, Conflicts: []Conflict{}, Notes: g.notes}
	clients := map[string][]string{}
	if g.o.Clients != nil {
		clients = g.o.Clients(ctx)
	}
	compared, apart := map[*side]bool{g.trunk: true}, 0
	for _, p := range pairs {
		m, _ := g.merge(p)
		switch {
		case m.Reason == unrelated && g.shallow != "":
			apart++
			out.NotCompared++
		case !m.definite():
			out.NotCompared++
			out.Notes = append(out.Notes, fmt.Sprintf("%s and %s could not be compared: %s", p.a.name, p.b.name, m.Reason))
		default:
			compared[p.a], compared[p.b] = true, true
		}
		if len(m.Files) > 0 {
			out.Conflicts = append(out.Conflicts, conflict(p, m.Files, clients))
		}
	}
	out.Compared = len(compared) - 1
	if apart > 0 {
		out.Notes = append(out.Notes, cleantext.Count(apart, "pair")+" of branches could not be compared: the history of this shallow clone has no common commit of them; run `git fetch --unshallow`")
	}
	return out
}

// conflict describes a merge that is not clean.
func conflict(p pair, files []trial.File, clients map[string][]string) Conflict {
	c := Conflict{Branches: []string{p.a.name, p.b.name}, Files: []string{}}
	for _, f := range files {
		c.Files = append(c.Files, f.Path)
		if f.Kind == trial.Modified {
			continue
		}
		if c.Kinds == nil {
			c.Kinds = make(map[string]string)
		}
		switch f.Kind {
		case trial.DeletedA:
			c.Kinds[f.Path] = "deleted in " + p.a.name
		case trial.DeletedB:
			c.Kinds[f.Path] = "deleted in " + p.b.name
		default:
			c.Kinds[f.Path] = string(f.Kind)
		}
	}
	for _, s := range []*side{p.a, p.b} {
		if s.root != "" {
			c.Holders = append(c.Holders, Holder{
				Branch: s.name, Worktree: s.root, Uncommitted: s.changes(), Clients: clients[s.root], Current: s.current,
			})
		}
	}
	return c
}
