// Package search implements "copse search", which finds things of all kinds.
package search

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/wiring/full"
	"github.com/copse-dev/copse/internal/workflow/search"
)

// found is the JSON of the command.
type found struct {
	Hits []search.Hit `json:"hits"`
	// Total is the number of hits, including those that are not shown.
	Total  int                 `json:"total"`
	Counts map[search.Kind]int `json:"counts"`
	Notes  []string            `json:"notes,omitempty"`
}

const (
	usualLimit = 20
	maxLimit   = search.MaxHits
)

// Command returns "copse search".
func Command(env app.Env) *cobra.Command {
	var (
		repo   string
		kinds  []string
		limit  int
		asJSON bool
	)
	known := make([]string, len(search.Kinds()))
	for i, k := range search.Kinds() {
		known[i] = string(k)
	}
	cmd := &cobra.Command{
		Use:   "search WORD...",
		Short: "Find branches, pull requests, issues, items, prompts, recipes, and files",
		Long: `Find branches, pull requests, Jira issues, work items, prompts, recipes of the justfile, and
files by a few words, best match first.

Each word must occur, in any case, even inside other words, in the name or title, in the
description, labels, or assignee of an item, in the description of a prompt, or in the
directory of a file. A number finds the pull request and the item with that number.

The command uses no network. It finds pull requests and issues that GitHub and Jira returned
before, to you or to your assistants.

In a pipe, each line has kind, name, title, state, and age, separated by tabs.`,
		Example: `  copse search session cookie
  copse search --kind file,item login
  copse search 42 --json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return app.UsageError("name at least one word to search for")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 1 || limit > maxLimit {
				return app.UsageError(fmt.Sprintf("invalid value %d for --limit: use 1 to %d", limit, maxLimit))
			}
			request := search.Request{Query: strings.Join(args, " "), Words: output.Words()}
			for _, k := range kinds {
				request.Kinds = append(request.Kinds, search.Kind(k))
			}
			ws := full.Find(cmd.Context(), env, repo)
			ws.Warn()
			store, tasks := ws.Items(), ws.Tasks()
			result, err := ws.Search(store, tasks, ws.Files()).Search(cmd.Context(), request)
			tasks.Close()
			if err = errors.Join(err, store.Close()); err != nil {
				if f, ok := errors.AsType[*failure.Error](err); ok && f.Kind == failure.Invalid {
					return app.UsageError(output.Explain(f).Error())
				}
				return output.Explain(err)
			}
			return show(env, result, limit, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVar(&repo, "repo", "", "the `path` of the repository (default: the one that contains the current directory)")
	f.StringSliceVar(&kinds, "kind", nil, "find only these `kinds`, separated by commas: "+strings.Join(known, ", "))
	f.IntVar(&limit, "limit", usualLimit, "show at most this `number` of hits")
	output.JSONFlag[found](cmd, &asJSON)
	if err := cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(known, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag is defined above
	}
	return cmd
}

// show prints the hits. Notes about missing hits go to stderr.
func show(env app.Env, r search.Result, limit int, asJSON bool) error {
	hits := r.Hits[:min(limit, len(r.Hits))]
	if asJSON {
		return output.New(env).JSON(found{Hits: append([]search.Hit{}, hits...), Total: r.Total, Counts: r.Counts, Notes: r.Notes})
	}
	var rows [][]string
	for _, h := range hits {
		name := h.ID
		switch h.Kind {
		case search.PullRequest, search.Item:
			name = "#" + h.ID
		case search.Prompt:
			if h.Agent != "" {
				name += " (" + h.Agent + ")"
			}
		case search.Branch, search.Issue, search.Recipe, search.File:
		}
		age := ""
		if !h.AsOf.IsZero() {
			age = fact.Age(h.AsOf, env.Now())
		}
		rows = append(rows, []string{strings.ReplaceAll(string(h.Kind), "_", " "), name, h.Title, h.State, age})
	}
	err := output.New(env).Table([]output.Column{
		{Name: "kind"}, {Name: "name", Handle: true}, {Name: "title", Flexible: true}, {Name: "state"}, {Name: "as of"},
	}, rows)
	if r.Total > len(hits) {
		env.Notef("%d of %d; --limit shows more, and more words find fewer", len(hits), r.Total)
	}
	if len(hits) == 0 {
		env.Note("note: nothing matches; use fewer words, or parts of them")
	}
	for _, note := range r.Notes {
		env.Note("note: " + note)
	}
	return err
}
