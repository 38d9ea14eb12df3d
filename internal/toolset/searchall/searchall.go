// Package searchall provides the tool search_all of the toolset "workspace": it finds things of all
// kinds, and names the tool that opens each of them.
package searchall

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/page"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/plain"
	"github.com/copse-dev/copse/internal/workflow/search"
)

// Searcher finds things.
type Searcher interface {
	Search(ctx context.Context, r search.Request) (search.Result, error)
}

// In is what to look for.
type In struct {
	Query  string        `json:"query"`
	Kinds  []search.Kind `json:"kinds,omitempty" enum:"branch,pull_request,issue,item,prompt,recipe,file"`
	Limit  *int          `json:"limit,omitempty" min:"1" max:"100" default:"20"`
	Cursor string        `json:"cursor,omitempty"`
}

// Hit is a match.
type Hit struct {
	search.Hit
	Open Open `json:"open"`
}

// Open is the call that shows or runs a thing.
type Open struct {
	Tool      string    `json:"tool"`
	Arguments Arguments `json:"arguments"`
}

// Arguments are those of the tool.
type Arguments struct {
	Branch   string `json:"branch,omitempty"`
	PRNumber int    `json:"pr_number,omitempty"`
	IssueKey string `json:"issue_key,omitempty"`
	ID       int64  `json:"id,omitempty"`
	C1       string `json:"c1,omitempty"`
	C2       string `json:"c2,omitempty"`
	C3       string `json:"c3,omitempty"`
	Agent    string `json:"agent,omitempty"`
	TaskName string `json:"task_name,omitempty"`
	Path     string `json:"path,omitempty"`
}

var limits = page.Limits{Default: 20, Max: 100}

// budget is how many bytes the hits of a page take.
const budget = 8 << 10

// Tool returns the tool. The words are those of notes.
func Tool(words failure.Words, s Searcher) toolset.Tool {
	return plain.Rows(plain.Style{}, "hits", "", toolset.Spec{
		Name: "search_all", Hints: toolset.Hints{ReadOnly: true, Idempotent: true},
		Description: "Find anything by words, best first: branches, PRs, and Jira issues seen before, items, prompts, recipes, file names. open is the call for a hit.",
	}, func(ctx context.Context, in In) (plain.List[Hit], error) { return find(ctx, words, s, in) })
}

func find(ctx context.Context, words failure.Words, s Searcher, in In) (plain.List[Hit], error) {
	var none plain.List[Hit]
	kinds := make([]string, len(in.Kinds))
	for i, k := range in.Kinds {
		kinds[i] = string(k)
	}
	window, err := limits.Open(page.Request{Limit: in.Limit, Cursor: in.Cursor}, strings.Join(append([]string{"search_all", in.Query}, kinds...), "\x00"))
	if err != nil {
		return none, &toolset.ArgumentError{Message: err.Error()}
	}
	found, err := s.Search(ctx, search.Request{Query: in.Query, Kinds: in.Kinds, Words: words})
	if f, ok := errors.AsType[*failure.Error](err); ok {
		return none, &toolset.ArgumentError{Message: f.Message(words), Hint: f.Hint(words)}
	}
	if err != nil {
		return none, err
	}
	for i, h := range found.Hits {
		found.Hits[i] = h.Brief()
	}
	cut := page.List[search.Hit]{
		Key:    search.Hit.Key,
		Size:   func(h search.Hit) int { return page.Size(Hit{h, open(h)}) },
		Budget: budget,
	}.Cut(window, found.Hits)
	out := plain.List[Hit]{ListInfo: plain.ListInfo{Total: &found.Total, NextCursor: cut.Next, Warnings: found.Notes}}
	var names strings.Builder
	for _, h := range cut.Items {
		out.Rows = append(out.Rows, Hit{h, open(h)})
		names.WriteString(h.ID + "\n")
	}
	if hidden := foreign.HiddenIn(names.String()); hidden != "" {
		out.Warnings = append(out.Warnings, "The names of hits have invisible characters: "+hidden+". Pass them to other tools unchanged.")
	}
	if left := found.Total - len(found.Hits); left > 0 && cut.Next == "" {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%d more are not listed; use more words, or kinds", left))
	}
	return out, nil
}

// open returns the call that opens a hit.
func open(h search.Hit) Open {
	switch h.Kind {
	case search.Branch:
		return Open{"get_stack_status", Arguments{Branch: h.ID}}
	case search.PullRequest:
		n, _ := strconv.Atoi(h.ID) // GitHub gave it as a number
		return Open{"get_pr_status", Arguments{PRNumber: n}}
	case search.Issue:
		return Open{"get_jira_issue", Arguments{IssueKey: h.ID}}
	case search.Item:
		n, _ := strconv.ParseInt(h.ID, 10, 64)
		return Open{"show_item", Arguments{ID: n}}
	case search.Prompt:
		return Open{"describe", Arguments{C1: h.Command.C1, C2: h.Command.C2, C3: h.Command.C3, Agent: h.Agent}}
	case search.Recipe:
		return Open{"run_just_task", Arguments{TaskName: h.ID}}
	case search.File:
		return Open{"read_file", Arguments{Path: h.ID}}
	}
	return Open{}
}
