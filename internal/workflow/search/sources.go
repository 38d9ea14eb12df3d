package search

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/command"
	"github.com/copse-dev/copse/internal/command/library"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/corpus"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/project"
	"github.com/copse-dev/copse/internal/recipe"
	"github.com/copse-dev/copse/internal/remote/seen"
	"github.com/copse-dev/copse/internal/session"
)

// Options are the sources. A kind with a nil source is not searched.
type Options struct {
	Branches *session.Session
	Pulls    Seen
	Issues   Seen
	Items    Items
	Prompts  Library
	Recipes  Justfile
	Files    *project.Project
	Now      func() time.Time
}

// Seen is what a service answered with before.
type Seen interface {
	Seen(ctx context.Context) ([]seen.Entry, error)
}

// Items are the work items.
type Items interface {
	Config(ctx context.Context) (item.Config, error)
	Snapshot(ctx context.Context) (*item.Snapshot, error)
}

// Library has the registries of prompts.
type Library interface {
	All() ([]library.Agent, []error)
}

// Justfile has the recipes.
type Justfile interface {
	Recipes(ctx context.Context) ([]recipe.Recipe, error)
}

// New returns a searcher of the sources. Nothing is read yet.
func New(o Options) *Searcher {
	s := &Searcher{sources: map[Kind]source{}}
	if o.Branches != nil {
		s.sources[Branch] = branches{o.Branches}
	}
	if o.Pulls != nil {
		s.sources[PullRequest] = &services{kind: PullRequest, seen: o.Pulls, now: o.Now}
	}
	if o.Issues != nil {
		s.sources[Issue] = &services{kind: Issue, seen: o.Issues, now: o.Now}
	}
	if o.Items != nil {
		s.sources[Item] = items{o.Items}
	}
	if o.Prompts != nil {
		s.sources[Prompt] = &prompts{library: o.Prompts}
	}
	if o.Recipes != nil {
		s.sources[Recipe] = recipes{o.Recipes}
	}
	if o.Files != nil {
		s.sources[File] = newFiles(o.Files)
	}
	return s
}

// branches searches the local branches.
type branches struct{ session *session.Session }

func (b branches) search(ctx context.Context, q query) (found, error) {
	view := b.session.View()
	names, err := view.Branches(ctx)
	if f, ok := errors.AsType[*failure.Error](err); ok && f.Kind == failure.NoRepository {
		return found{}, notSetUpError{err}
	}
	if err != nil {
		return found{}, err
	}
	current := view.Current(ctx)
	var out found
	for _, name := range names {
		score := q.score(corpus.Fold(name), "")
		if score == 0 {
			continue
		}
		if score += Branch.prior(); !out.wants(score) {
			continue
		}
		hit := Hit{Kind: Branch, ID: name, score: score}
		if name == current {
			hit.State = "current"
		}
		out.add(hit)
	}
	return out, nil
}

// services searches what a service answered with before.
type services struct {
	kind Kind
	seen Seen
	now  func() time.Time

	mu     sync.Mutex
	failed error
	until  time.Time
}

// patience is how long a missing login is not looked up again: that can take a program.
const patience = 30 * time.Second

func (s *services) search(ctx context.Context, q query) (found, error) {
	entries, err := s.entries(ctx)
	if err != nil {
		return found{}, err
	}
	if len(entries) == 0 {
		return found{}, notSetUpError{failure.New(failure.NotFound, "None are cached yet", "copse searches those that a tool or command has shown before.")}
	}
	var out found
	for _, e := range entries {
		name := corpus.Fold(e.Title)
		other := corpus.Fold(strings.Join([]string{"#" + e.Key, e.Branch, e.Person, e.State}, " "))
		if s.kind == Issue {
			name = corpus.Fold(e.Key + " " + e.Title)
		}
		score := q.score(name, other)
		switch {
		case q.number == corpus.Fold(e.Key):
			score = isID
		case score == 0:
			continue
		case e.State == "closed" || e.State == "merged":
			score -= over
		}
		if score += s.kind.prior(); out.wants(score) {
			out.add(Hit{Kind: s.kind, ID: e.Key, Title: e.Title, State: e.State, Branch: e.Branch, Fork: e.Fork, AsOf: e.AsOf.UTC(), score: score})
		}
	}
	return out, nil
}

// entries returns the entries that exist. It does not look twice for missing ones.
func (s *services) entries(ctx context.Context) ([]seen.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil && s.now().Before(s.until) {
		return nil, s.failed
	}
	entries, err := s.seen.Seen(ctx)
	if err == nil || ctx.Err() != nil {
		s.failed = nil
		return entries, err
	}
	if f, ok := errors.AsType[*failure.Error](err); ok && slices.Contains([]failure.Kind{failure.NoCredentials, failure.NoRepository, failure.NotFound}, f.Kind) {
		err = notSetUpError{err}
	}
	s.failed, s.until = err, s.now().Add(patience)
	return nil, err
}

// items searches the work items of all iterations.
type items struct{ backend Items }

func (i items) search(ctx context.Context, q query) (found, error) {
	config, err := i.backend.Config(ctx)
	if errors.Is(err, storage.ErrNoProject) {
		return found{}, notSetUpError{failure.New(failure.NotFound, "There are none", "`copse item init` creates a store for them.")}
	}
	if err != nil {
		return found{}, err
	}
	snapshot, err := i.backend.Snapshot(ctx)
	if err != nil {
		return found{}, err
	}
	var out found
	add := func(it *item.Summary, score int) {
		if config.Done(it.Status) {
			score -= over
		}
		if score += Item.prior(); out.wants(score) {
			out.add(Hit{Kind: Item, ID: it.ID.String(), Title: it.Title, State: it.Status, score: score})
		}
	}
	numbered := item.ID(0)
	if n, err := strconv.ParseInt(q.number, 10, 64); err == nil {
		if it, err := snapshot.Find(item.ID(n)); err == nil {
			numbered = it.ID
			add(it, isID)
		}
	}
	for _, f := range fitting(snapshot, config, q) {
		if f.ID == numbered {
			continue
		}
		other := ""
		if f.beyond {
			other = q.whole // the words are there; where, does not matter
		}
		if score := q.score(corpus.Fold(f.Title), other); score > 0 {
			add(f.Summary, score)
		}
	}
	if n := len(snapshot.Warnings); n > 0 {
		out.notes = append(out.notes, strconv.Itoa(n)+" cannot be read; `copse item doctor` shows why")
	}
	return out, nil
}

// fit is an item that fits. Beyond says that a word is not in the title alone.
type fit struct {
	*item.Summary
	beyond bool
}

// fitting returns the items that have each word in their title, description, labels, or
// assignee, by number.
func fitting(snapshot *item.Snapshot, config item.Config, q query) []fit {
	all := snapshot.List(config, item.Filter{All: true})
	left := make([]fit, len(all))
	for i, it := range all {
		left[i].Summary = it
	}
	for _, word := range q.words {
		// Both are by number.
		hits := snapshot.Search(config, word, item.Filter{All: true})
		kept := left[:0]
		for _, f := range left {
			for len(hits) > 0 && hits[0].ID < f.ID {
				hits = hits[1:]
			}
			hit := len(hits) > 0 && hits[0].ID == f.ID
			if hit && hits[0].InDescription || tagged(f.Summary, word) {
				f.beyond = true
			} else if !hit {
				continue
			}
			kept = append(kept, f)
		}
		left = kept
	}
	return left
}

// tagged reports whether a label or the assignee of an item has a folded word.
func tagged(it *item.Summary, word string) bool {
	return strings.Contains(corpus.Fold(it.Assignee), word) ||
		slices.ContainsFunc(it.Labels, func(l string) bool { return strings.Contains(corpus.Fold(l), word) })
}

// prompts searches the prompts of all agents.
type prompts struct {
	library Library

	mu   sync.Mutex
	kept map[*library.Catalog][]prompt
}

// prompt is a command with its folded texts.
type prompt struct {
	id                command.ID
	title             string
	name, description string
}

func (p *prompts) search(_ context.Context, q query) (found, error) {
	var out found
	agents, errs := p.library.All()
	for _, err := range errs {
		out.notes = append(out.notes, err.Error())
	}
	if len(agents) == 0 && len(errs) == 0 {
		return found{}, notSetUpError{failure.New(failure.NotFound, "There is no registry", "`copse prompt init` creates one.")}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := map[*library.Catalog][]prompt{}
	for _, agent := range agents {
		all, known := p.kept[agent.Catalog]
		if !known {
			all = folded(agent.Catalog)
		}
		kept[agent.Catalog] = all
		shown := agent.Name
		if shown == library.DefaultAgent {
			shown = ""
		}
		for _, one := range all {
			score := q.score(one.name, one.description)
			if score == 0 {
				continue
			}
			if score += Prompt.prior(); out.wants(score) {
				out.add(Hit{Kind: Prompt, ID: one.id.String(), Command: one.id, Agent: shown, Title: one.title, score: score})
			}
		}
	}
	p.kept = kept
	return out, nil
}

func folded(catalog *library.Catalog) []prompt {
	all := make([]prompt, len(catalog.Commands))
	for i, c := range catalog.Commands {
		line := cleantext.Line(c.Description)
		all[i] = prompt{
			id: c.ID, title: line,
			name: corpus.Fold(c.String()), description: corpus.Fold(line),
		}
	}
	return all
}

// recipes searches the recipes of the justfile.
type recipes struct{ justfile Justfile }

func (r recipes) search(ctx context.Context, q query) (found, error) {
	all, err := r.justfile.Recipes(ctx)
	if _, missing := errors.AsType[recipe.MissingError](err); missing {
		return found{}, notSetUpError{err}
	}
	if err != nil {
		return found{}, err
	}
	var out found
	for _, one := range all {
		score := q.score(corpus.Fold(one.Name), corpus.Fold(strings.Join([]string{one.Doc, strings.Join(one.Aliases, " "), strings.Join(one.Groups, " ")}, " ")))
		if score == 0 {
			continue
		}
		if score += Recipe.prior(); out.wants(score) {
			out.add(Hit{Kind: Recipe, ID: one.Name, Title: one.Doc, score: score})
		}
	}
	return out, nil
}
