package search_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/board"
	"github.com/copse-dev/copse/internal/board/markup"
	view "github.com/copse-dev/copse/internal/board/search"
	"github.com/copse-dev/copse/internal/command"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/project"
	"github.com/copse-dev/copse/internal/workflow/search"
)

const evil = `"'><img src=x onerror=alert(1)>`

// searcher finds the same for each query.
type searcher struct{ hits []search.Hit }

func (s searcher) Kinds() []search.Kind { return search.Kinds() }

func (s searcher) Search(_ context.Context, r search.Request) (search.Result, error) {
	out := search.Result{Counts: map[search.Kind]int{}, Notes: []string{"recipes: " + evil}}
	if r.Query == "nothing" {
		return out, nil
	}
	if r.Query == "refused" {
		return out, failure.New(failure.Invalid, "The query has more than 8 words", "Use the rarest of them.")
	}
	for _, h := range s.hits {
		if len(r.Kinds) == 0 || h.Kind == r.Kinds[0] {
			out.Hits = append(out.Hits, h)
			out.Counts[h.Kind]++
			out.Total++
		}
	}
	return out, nil
}

type files struct{}

func (files) Read(_ context.Context, path string, _ project.Lines) (project.Text, error) {
	if path != "login.go" {
		return project.Text{}, &project.NotFoundError{Path: path}
	}
	return project.Text{Content: "package login\x1b[31m // " + evil + "\n"}, nil
}

func render(t *testing.T, query string) (string, *board.Detail) {
	t.Helper()
	kit := markup.NewKit(markup.Options{Now: time.Now, Field: "token", Token: "TOKEN"})
	v := view.New(kit, view.Options{Files: files{}, Views: []string{"stacks", "items", "tasks", "prompts"}, Searcher: searcher{[]search.Hit{
		{Kind: search.Branch, ID: "feature/a&b" + evil},
		{Kind: search.PullRequest, ID: "42", Title: evil, State: evil, Branch: "feature/login", AsOf: time.Now()},
		{Kind: search.PullRequest, ID: "43", Branch: "feature/login", Fork: "eve/shop" + evil, AsOf: time.Now()},
		{Kind: search.Item, ID: "7", Title: evil},
		{Kind: search.Issue, ID: "SHOP-7", Title: evil},
		{Kind: search.Prompt, ID: "git write x", Command: command.ID{C1: "git", C2: "write", C3: "x"}, Agent: evil},
		{Kind: search.Recipe, ID: "test"},
		{Kind: search.File, ID: "login.go"},
		{Kind: search.File, ID: "gone.go"},
	}}})
	q, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	page, err := v.Render(t.Context(), board.Request{Query: q})
	if query == "q=refused" {
		if _, ok := err.(*failure.Error); !ok { //nolint:errorlint // it is not wrapped
			t.Errorf("%v", err)
		}
		return "", nil
	}
	if err != nil {
		t.Fatal(err)
	}
	text := string(page.Tools)
	for _, s := range page.Sections {
		text += string(s.Head) + string(s.Foot)
		for _, r := range s.Rows {
			text += string(r.HTML)
		}
	}
	if page.Detail != nil {
		text += string(page.Detail.Sub)
		for _, r := range page.Detail.Blocks {
			text += string(r.HTML)
		}
	}
	for _, bad := range []string{"<img", `"'>`, "\x1b", `href="javascript`} {
		if strings.Contains(text, bad) {
			t.Errorf("?%s has %q: %s", query, bad, text)
		}
	}
	return text, page.Detail
}

// Each hit leads to the view that shows it, and what has none is shown here.
func TestHits(t *testing.T) {
	t.Parallel()
	got, _ := render(t, "q=login")
	for _, want := range []string{
		`href="stacks?branch=feature%2Fa%26b`, `href="items/7"`, `href="tasks?task=test"`, `href="prompts?agent=`, `kind=file`, `branches <span class="dim">1</span>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in %s", want, got)
		}
	}
	if got, d := render(t, "q=login&at=file++login.go"); d == nil || d.Title != "login.go" || !strings.Contains(got, "package login //") {
		t.Errorf("%s", got)
	}
	if got, _ := render(t, "q=login&at=file++gone.go"); !strings.Contains(got, "File not found") {
		t.Errorf("%s", got)
	}
	if got, d := render(t, "q=login&kind=pull_request&at=pull_request++42"); d == nil || !strings.Contains(got, `href="stacks?branch=feature%2Flogin"`) || strings.Contains(got, "items/7") {
		t.Errorf("%s", got)
	}
	// A branch of a fork is not the branch of that name here.
	if got, d := render(t, "q=login&kind=pull_request&at=pull_request++43"); d == nil || !strings.Contains(got, "</code> of <code>eve/shop") || strings.Contains(got, `href="stacks?branch`) {
		t.Errorf("%s", got)
	}
	if got, d := render(t, "q=login&at=issue++SHOP-7"); d == nil || !strings.Contains(d.Title, "SHOP-7") {
		t.Errorf("%s", got)
	}
}

func TestStatesSayWhatToDo(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{"": "Search everything", "q=nothing": "Use fewer or other words", "q=refused": ""} {
		if got, _ := render(t, query); !strings.Contains(got, want) {
			t.Errorf("?%s: %s", query, got)
		}
	}
	render(t, "q="+url.QueryEscape(evil)+"&kind="+url.QueryEscape(evil)+"&at="+url.QueryEscape(evil))
}
