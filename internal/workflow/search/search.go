// Package search finds branches, pull requests, Jira issues, work items, prompts, recipes, and
// files by a few words, and ranks the hits in one list.
//
// Use [New] over the sources, and [Searcher.Search]. A thing matches if its name or a text that
// belongs to it contains each word, in any case: the directory of a file, the description of an
// item. Names count more than the rest, and the beginnings of words more than their middles.
//
// The search uses no network: it finds pull requests and issues in earlier answers of GitHub and
// Jira. It reads again only what has changed since the last search.
package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/command"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/item/corpus"
	"github.com/copse-dev/copse/internal/workflow/pull"
)

// Kind is a kind of things.
type Kind string

// The kinds.
const (
	Branch      Kind = "branch"
	PullRequest Kind = "pull_request"
	Issue       Kind = "issue"
	Item        Kind = "item"
	Prompt      Kind = "prompt"
	Recipe      Kind = "recipe"
	File        Kind = "file"
)

// Kinds returns all kinds. Of things that fit a query as well, those of an earlier kind come
// first.
func Kinds() []Kind {
	return []Kind{Branch, PullRequest, Item, Issue, Prompt, Recipe, File}
}

// Plural returns the name of several things of the kind.
func (k Kind) Plural() string {
	switch k {
	case Branch:
		return "branches"
	case PullRequest:
		return "pull requests"
	}
	return string(k) + "s"
}

// Hit is a match.
type Hit struct {
	Kind Kind `json:"kind"`
	// ID identifies it within its kind: the name of a branch or a recipe, the number of a pull
	// request or an item, the key of an issue, the three words of a prompt, the path of a file.
	ID string `json:"id"`
	// Agent is the owner of the prompt, if not the default one.
	Agent string `json:"agent,omitempty"`
	Title string `json:"title,omitempty"`
	State string `json:"state,omitempty"`
	// Branch is what a pull request merges.
	Branch string `json:"branch,omitempty"`
	// Fork is the owner/name of the fork that Branch is in; empty if it is in the repository.
	Fork string `json:"fork,omitempty"`
	// AsOf is when a service confirmed this.
	AsOf time.Time `json:"as_of,omitzero"`

	// Command is the command of a prompt.
	Command command.ID `json:"-"`

	score int
}

// clean removes characters that could control a terminal. A path remains readable, in the form in
// which package foreign shows names.
func (h *Hit) clean() {
	h.Title, h.State = cleantext.Line(h.Title), cleantext.Line(h.State)
	if h.Kind == File && foreign.Hidden(h.ID) {
		h.ID = foreign.Spell(h.ID)
	}
}

// maxTitle is the number of characters of a brief title.
const maxTitle = 160

// Brief returns the hit with the beginning of its title.
func (h Hit) Brief() Hit {
	h.Title = cleantext.Cut(h.Title, maxTitle)
	return h
}

// Key returns a text by which hits are ordered as they are ranked, different for each.
func (h Hit) Key() string {
	return fmt.Sprintf("%05d%d%s\x00%s", maxScore-h.score, slices.Index(Kinds(), h.Kind), h.rank(), h.Agent)
}

const maxScore = 99_999

// Result is what was found.
type Result struct {
	// Hits are the best first, at most [MaxHits] of each kind.
	Hits []Hit
	// Total is the number of matches, and Counts that of each kind.
	Total  int
	Counts map[Kind]int
	// Notes name the kinds that could not be searched, or not in full, and why.
	Notes []string
}

// MaxHits is how many hits of each kind are returned.
const MaxHits = 1000

// Request is what to search for.
type Request struct {
	Query string
	// Kinds restricts the search; none means all served kinds.
	Kinds []Kind
	// Words are what the surface calls things in notes.
	Words failure.Words
}

// The limits of a query.
const (
	maxQuery = 200
	maxWords = 8
)

// Searcher searches one workspace. It is safe for concurrent use.
type Searcher struct {
	sources map[Kind]source
}

// source has the things of one kind. What it finds is ranked by the caller.
type source interface {
	search(ctx context.Context, q query) (found, error)
}

// found is what a source has.
type found struct {
	best
	notes []string
}

// notSetUpError reports that a kind has no store yet.
type notSetUpError struct{ error }

func (e notSetUpError) Unwrap() error { return e.error }

// Kinds returns the kinds that are searched.
func (s *Searcher) Kinds() []Kind {
	return slices.DeleteFunc(Kinds(), func(k Kind) bool { return s.sources[k] == nil })
}

// Search returns the matches of a query. An error is a [failure.Error] about the request: a kind
// that cannot be searched is a note.
func (s *Searcher) Search(ctx context.Context, r Request) (Result, error) {
	q, err := parse(r.Query)
	if err != nil {
		return Result{}, err
	}
	kinds, err := s.chosen(r.Kinds)
	if err != nil {
		return Result{}, err
	}
	all := make([]found, len(kinds))
	errs := make([]error, len(kinds))
	var group sync.WaitGroup
	for i, kind := range kinds {
		group.Go(func() { all[i], errs[i] = s.sources[kind].search(ctx, q) })
	}
	group.Wait()
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	out := Result{Counts: map[Kind]int{}}
	var unset []string
	for i, kind := range kinds {
		all[i].cut(MaxHits)
		out.Hits = append(out.Hits, all[i].hits...)
		out.Total += all[i].total
		if all[i].total > 0 {
			out.Counts[kind] = all[i].total
		}
		for _, note := range all[i].notes {
			out.Notes = append(out.Notes, kind.Plural()+": "+note)
		}
		_, absent := errors.AsType[*pull.AbsentError](errs[i])
		if errs[i] == nil || absent && len(r.Kinds) == 0 {
			continue // nobody asked about GitHub
		}
		note := kind.Plural() + ": " + explain(errs[i], r.Words)
		if _, missing := errors.AsType[notSetUpError](errs[i]); missing {
			unset = append(unset, note)
		} else {
			out.Notes = append(out.Notes, note)
		}
	}
	// A missing justfile is mentioned only if the user searches for a recipe, or finds nothing.
	if len(r.Kinds) > 0 || out.Total == 0 {
		out.Notes = append(out.Notes, unset...)
	}
	slices.SortFunc(out.Hits, compare)
	for i := range out.Hits {
		out.Hits[i].clean()
	}
	return out, nil
}

// chosen returns the kinds to search.
func (s *Searcher) chosen(asked []Kind) ([]Kind, error) {
	served := s.Kinds()
	if len(asked) == 0 {
		return served, nil
	}
	for _, k := range asked {
		if !slices.Contains(served, k) {
			names := make([]string, len(served))
			for i, one := range served {
				names[i] = string(one)
			}
			return nil, failure.New(failure.Invalid, fmt.Sprintf("The kind %q is not searched here", k), "Use "+strings.Join(names, ", ")+".")
		}
	}
	return slices.DeleteFunc(served, func(k Kind) bool { return !slices.Contains(asked, k) }), nil
}

// explain returns an error in the words of a surface.
func explain(err error, words failure.Words) string {
	e, ok := errors.AsType[*failure.Error](err)
	if !ok {
		return err.Error()
	}
	text := strings.TrimSuffix(e.Message(words), ".")
	if hint := e.Hint(words); hint != "" {
		text += ". " + hint
	}
	return text
}

// query is the words to look for, folded.
type query struct {
	words []string
	whole string
	// number is the query if it can be a number or a key, without the sign of one.
	number string
}

// parse reads a query.
func parse(text string) (query, error) {
	if len(text) > maxQuery {
		return query{}, failure.New(failure.Invalid, fmt.Sprintf("The query has more than %d bytes", maxQuery), "Use a few words.")
	}
	words := strings.Fields(corpus.Fold(strings.ToValidUTF8(text, "")))
	if len(words) == 0 {
		return query{}, failure.New(failure.Invalid, "The query is empty", "Use a few words, a number such as 42, or a part of a name.")
	}
	if len(words) > maxWords {
		return query{}, failure.New(failure.Invalid, fmt.Sprintf("The query has more than %d words", maxWords), "Use the rarest of them.")
	}
	q := query{words: words, whole: strings.Join(words, " ")}
	if len(words) == 1 {
		q.number = strings.TrimPrefix(words[0], "#")
	}
	return q, nil
}

// compare orders hits: the best first, then by kind, number, and name.
func compare(a, b Hit) int {
	return cmp.Or(
		cmp.Compare(b.score, a.score),
		cmp.Compare(slices.Index(Kinds(), a.Kind), slices.Index(Kinds(), b.Kind)),
		strings.Compare(a.rank(), b.rank()), strings.Compare(a.Agent, b.Agent),
	)
}

// rank returns a text that orders hits of a kind: those of items and pull requests by their numbers.
func (h Hit) rank() string {
	if h.Kind == Item || h.Kind == PullRequest {
		return fmt.Sprintf("%06s", h.ID)
	}
	return h.ID
}

// best is the best hits of one kind.
type best struct {
	hits  []Hit
	total int
	worst int // hits below it are not kept
}

// wants counts a hit with this score, and reports whether it is among the best.
func (b *best) wants(score int) bool {
	b.total++
	return score > b.worst
}

// add keeps a hit that is wanted.
func (b *best) add(h Hit) {
	b.hits = append(b.hits, h)
	if len(b.hits) >= 2*MaxHits {
		b.cut(MaxHits)
		b.worst = b.hits[MaxHits-1].score
	}
}

// cut keeps the first n.
func (b *best) cut(n int) {
	slices.SortFunc(b.hits, compare)
	b.hits = b.hits[:min(n, len(b.hits))]
}
