// Package conflicts finds the branches and worktrees in flight that conflict with each other or
// with the trunk, including uncommitted changes.
//
// In flight are
//
//   - the worktrees, with their uncommitted changes;
//   - the local branches whose last commit is at most 30 days old, and those of a stack.
//
// Branches that the trunk already contains are not in flight. The trunk is the branch on which
// others start, or its counterpart at origin if that is ahead.
//
// Two sides conflict in a file if git cannot merge their versions of it. A report has each of these
// conflicts once, with the sides that cause it. A side inherits a conflict if a commit that it
// contains has the same one: in the same file, between the same two versions.
//
//   - Conflicts that a side inherits from its merge base with the trunk are omitted. They are conflicts of
//     the other side with the trunk, and both sides of the remaining ones have changed the file
//     since they left the trunk.
//   - Conflicts that a side inherits from another side are listed with that one, and
//     [Conflict.Above] names those that inherit it.
//
// A branch that changes the file again has another version of it, and a conflict of its own.
//
// Use [New]. [Radar.Report] tries the merges; package git/trial describes how, and why this
// writes nothing to the repository. It caches results by the merged commits, in
// the user's cache directory, so a repeated call tries only what changed. Package
// git/uncommitted remembers the changed files of each worktree.
package conflicts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/trial"
	"github.com/copse-dev/copse/internal/git/uncommitted"
	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/workflow/conflicts/collision"
	"github.com/copse-dev/copse/internal/workflow/conflicts/listing"
	"github.com/copse-dev/copse/internal/workflow/conflicts/results"
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
	// Limit is the time limit of a report; 0 is a minute.
	Limit time.Duration
	// Patience multiplies how long Soon waits; 0 is 1.
	Patience int
}

// Radar finds conflicts in one repository. It is safe for concurrent use.
type Radar struct {
	o           Options
	uncommitted *uncommitted.Finder

	turn chan struct{} // has room for one report at a time, as the next one profits

	opening sync.Mutex
	repos   map[string]*git.Repo // of worktrees, by root
	cache   *results.Cache       // see opened
	lister  listing.Lister
}

// New returns the radar of the repository of o.Branches.
func New(o Options) *Radar {
	return &Radar{o: o, turn: make(chan struct{}, 1), uncommitted: uncommitted.New(o.Trees, o.Now), repos: make(map[string]*git.Repo)}
}

// Request selects conflicts.
type Request struct {
	// Branches are those whose conflicts are wanted; none means all in flight. A named branch is
	// compared however old it is.
	Branches []string
	// Current selects the conflicts of the worktree of the session.
	Current bool

	// soon means that what is not known within a short time is left out.
	soon bool
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
	Conflicts []collision.Conflict
	// Notes name what was not compared.
	Notes []string
}

// reportTime is the time limit of a report.
const reportTime = time.Minute

// Report tries the merges that r selects. Git takes minutes and much memory for trees that somebody made for
// that, so a report has a time limit. Its notes say if it was reached.
func (r *Radar) Report(ctx context.Context, q Request) (Report, error) {
	if !r.begin(ctx) {
		return Report{}, ctx.Err()
	}
	defer r.end()
	limit := cmp.Or(r.o.Limit, reportTime)
	limited, cancel := context.WithTimeoutCause(ctx, limit, errMoment)
	defer cancel()
	found, err := r.look(limited, q, true)
	if !errors.Is(context.Cause(limited), errMoment) {
		return found, err
	}
	slow := fmt.Sprintf("git took longer than %s to compare the branches", limit)
	if err != nil {
		return Report{}, errors.New(slow)
	}
	found.Notes = append(found.Notes, slow)
	return found, nil
}

// begin waits until no other call tries merges, but not longer than ctx, and reports whether the caller
// has the turn. The caller then ends it.
func (r *Radar) begin(ctx context.Context) bool {
	select {
	case r.turn <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (r *Radar) end() { <-r.turn }

// look returns Report. The caller says whether it has the turn; merges are tried only with it.
func (r *Radar) look(ctx context.Context, q Request, turn bool) (Report, error) {
	g, err := r.survey(ctx, q, turn)
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

// survey begins a survey. The caller says whether it has the turn.
func (r *Radar) survey(ctx context.Context, q Request, turn bool) (*survey, error) {
	repo, err := r.o.Branches.Session().Repo(ctx)
	if err != nil {
		return nil, err
	}
	g := &survey{Radar: r, repo: repo, request: q, mine: turn, results: r.opened(repo.CommonDir()), fresh: results.New()}
	g.known = g.results.Load()
	if boundary := repo.Boundary(); len(boundary) > 0 {
		g.shallow = " " + results.Digest(string(boundary))
	}
	return g, nil
}

// report finds the work in flight, and tries the unknown merges.
func (g *survey) report(ctx context.Context) (Report, error) {
	// Results from before an error, or before the time limit, are stored, too. A caller with only a
	// moment may have left by then.
	defer func() {
		if g.mine && (!g.request.soon || ctx.Err() == nil || errors.Is(context.Cause(ctx), errMoment)) {
			g.save()
		}
	}()
	if err := g.find(ctx); err != nil {
		return Report{}, err
	}
	attributes, err := trial.AttributesOf(ctx, g.repo)
	if err != nil {
		return Report{}, err
	}
	g.ways = results.Digest(attributes)
	pairs := g.pairs()
	if g.mine {
		if err := g.try(ctx, pairs, attributes); err != nil && !errors.Is(context.Cause(ctx), errMoment) {
			return Report{}, err
		}
	}
	// What sides inherit can be known without the turn.
	if _, err := g.withBases(ctx, pairs); err != nil && !errors.Is(context.Cause(ctx), errMoment) {
		return Report{}, err
	}
	return g.describe(ctx, pairs), nil
}

// describe describes the results of pairs.
func (g *survey) describe(ctx context.Context, pairs []pair) Report {
	out := Report{Trunk: g.trunk.name, Conflicts: []collision.Conflict{}, Notes: g.notes}
	clients := map[string][]string{}
	if g.o.Clients != nil {
		clients = g.o.Clients(ctx)
	}
	compared, apart := map[*side]bool{g.trunk: true}, 0
	var found []collision.Collision[*side]
	for _, p := range pairs {
		m, known := g.merge(p)
		if known && len(m.Files) > 0 {
			m.Files, known = g.own(p, m.Files)
		}
		switch {
		case !known:
			out.NotCompared++
			continue
		case m.Reason == results.Unrelated && g.shallow != "":
			apart++
			out.NotCompared++
		case !m.Definite():
			out.NotCompared++
			out.Notes = append(out.Notes, fmt.Sprintf("%s and %s could not be compared: %q", foreign.Mention(p.A.name), foreign.Mention(p.B.name), m.Reason))
		default:
			compared[p.A], compared[p.B] = true, true
		}
		if len(m.Files) > 0 {
			found = append(found, collision.Collision[*side]{Pair: collision.Pair[*side](p), Files: m.Files})
		}
	}
	out.Conflicts = g.fold(ctx, found, clients)
	out.Compared = len(compared) - 1
	if apart > 0 {
		out.Notes = append(out.Notes, cleantext.Count(apart, "pair")+" of branches could not be compared: the history of this shallow clone has no common commit of them; run `git fetch --unshallow`")
	}
	return out
}

// described returns a side as a conflict shows it.
func (s *side) described(clients map[string][]string) collision.Side {
	return collision.Side{Name: s.name, Root: s.root, Changes: s.changes(), Current: s.current, Clients: clients[s.root]}
}
