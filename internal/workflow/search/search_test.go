package search_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/project"
	"github.com/copse-dev/copse/internal/recipe"
	"github.com/copse-dev/copse/internal/remote/seen"
	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/workflow/search"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// service is a service that was asked before, or an error.
type service struct {
	entries []seen.Entry
	err     error
	asked   *int
}

func (s service) Seen(context.Context) ([]seen.Entry, error) {
	if s.asked != nil {
		*s.asked++
	}
	return s.entries, s.err
}

// store is work items.
type store struct{ items []item.Item }

func (s store) Config(context.Context) (item.Config, error) {
	return item.Config{Statuses: []string{"todo", "in-progress", "done"}}, nil
}

func (s store) Snapshot(context.Context) (*item.Snapshot, error) {
	changes := map[item.ID]*item.Entry{}
	for _, it := range s.items {
		changes[it.ID] = item.NewEntry(&it)
	}
	return new(item.Snapshot).With(changes, nil), nil
}

// tagged gives the first two items a label and an assignee.
func (s store) tagged() store {
	s.items[0].Labels, s.items[1].Assignee = []string{"Security"}, "Grace"
	return s
}

// justfile is recipes, or an error.
type justfile struct {
	recipes []recipe.Recipe
	err     error
}

func (j justfile) Recipes(context.Context) ([]recipe.Recipe, error) { return j.recipes, j.err }

func work(id item.ID, title, status, description string) item.Item {
	return item.Item{Summary: item.Summary{ID: id, Title: title, Status: status}, Description: description}
}

// shop returns a workspace with a little of everything.
func shop(t *testing.T) search.Options {
	t.Helper()
	g := gittest.New(t)
	dir := g.Init()
	g.Run(dir, "commit", "-q", "--allow-empty", "-m", "start")
	for _, branch := range []string{"feature/login", "feature/session-cookie", "loginless"} {
		g.Run(dir, "branch", branch)
	}
	for _, name := range []string{"login/login.go", "login/session.go", "login/README.md", "docs/How to log in.md", "build/login.o", "Makefile"} {
		gittest.Write(t, filepath.Join(dir, filepath.FromSlash(name)), "")
	}
	gittest.Write(t, filepath.Join(dir, ".gitignore"), "build/\n.env\n")
	gittest.Write(t, filepath.Join(dir, ".env"), "LOGIN=secret")
	at := session.New(session.Options{Dir: dir, Git: git.Options{Env: g.Env}})
	return search.Options{
		Branches: at,
		Files:    project.New(dir, func(ctx context.Context) (project.Repository, error) { return at.Repo(ctx) }),
		Pulls: service{entries: []seen.Entry{
			{Key: "42", Title: "Sign in with a passkey", State: "open", Person: "eve", Branch: "feature/login", AsOf: noon},
			{Key: "41", Title: "Login page", State: "merged", Person: "bob", Branch: "old", AsOf: noon},
		}},
		Issues: service{entries: []seen.Entry{{Key: "SHOP-7", Title: "Login", State: "In Review", AsOf: noon}}},
		Items: store{[]item.Item{
			work(1, "Login with passkeys", "in-progress", ""), work(2, "Session cookie", "todo", "So that a login lasts."),
			work(3, "Login page", "done", ""), work(42, "Audit trail", "todo", ""),
		}}.tagged(),
		Recipes: justfile{recipes: []recipe.Recipe{{Name: "login-smoke", Doc: "Try the login"}, {Name: "test", Doc: "Run all tests"}}},
		Now:     func() time.Time { return noon },
	}
}

func find(t testing.TB, s *search.Searcher, query string, kinds ...search.Kind) search.Result {
	t.Helper()
	found, err := s.Search(t.Context(), search.Request{Query: query, Kinds: kinds})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// names returns hits in short.
func names(hits []search.Hit) []string {
	all := []string{}
	for _, h := range hits {
		all = append(all, string(h.Kind)+" "+h.ID)
	}
	return all
}

func TestSearch(t *testing.T) {
	t.Parallel()
	s := search.New(shop(t))
	for query, want := range map[string][]string{
		"login": {
			"branch feature/login", "issue SHOP-7", "item 1", "branch loginless", "recipe login-smoke", "file login/login.go",
			"pull_request 41", "item 3", "item 2", "pull_request 42", "file login/README.md", "file login/session.go",
		},
		"LOGIN page":     {"pull_request 41", "item 3"},
		"session cookie": {"item 2", "branch feature/session-cookie"},
		"42":             {"pull_request 42", "item 42"},
		"#42":            {"pull_request 42", "item 42"},
		"shop-7":         {"issue SHOP-7"},
		"eve":            {"pull_request 42"},
		"grace cookie":   {"item 2"},
		"security":       {"item 1"},
		"login/se":       {"file login/session.go"},
		"in/session.go":  {"file login/session.go"},
		"login readme":   {"file login/README.md"},
		"how to":         {"file docs/How to log in.md"},
		"all tests":      {"recipe test"},
		".env":           {},
		"login.o":        {},
		"nowhere":        {},
	} {
		found := find(t, s, query)
		got := names(found.Hits)
		slices.Sort(got)
		sorted := slices.Sorted(slices.Values(want))
		if diff := cmp.Diff(sorted, append([]string{}, got...)); diff != "" && (len(want) > 0 || len(got) > 0) {
			t.Errorf("%q (-want +got):\n%s", query, diff)
		}
		if found.Total != len(want) {
			t.Errorf("%q: total %d", query, found.Total)
		}
	}
}

// The most likely hit comes first.
func TestRanking(t *testing.T) {
	t.Parallel()
	s := search.New(shop(t))
	got := names(find(t, s, "login").Hits)
	for _, pair := range [][2]string{
		{"branch feature/login", "file login/session.go"}, // in the name, not in the directory
		{"item 1", "item 3"},                              // to be done, not done
		{"item 1", "item 2"},                              // in the title, not in the description
		{"file login/login.go", "file login/README.md"},
		{"branch feature/login", "pull_request 42"},
	} {
		if slices.Index(got, pair[0]) > slices.Index(got, pair[1]) {
			t.Errorf("%s comes after %s in %q", pair[0], pair[1], got)
		}
	}
	if first := find(t, s, "42").Hits[0]; first.Kind != search.PullRequest || first.AsOf != noon || first.State != "open" {
		t.Errorf("%+v", first)
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	o := shop(t)
	o.Prompts, o.Recipes = nil, nil
	s := search.New(o)
	found := find(t, s, "login", search.Item, search.File)
	for _, h := range found.Hits {
		if h.Kind != search.Item && h.Kind != search.File {
			t.Errorf("%+v", h)
		}
	}
	if found.Counts[search.Item] != 3 || found.Counts[search.File] != 3 {
		t.Errorf("%v", found.Counts)
	}
	_, err := s.Search(t.Context(), search.Request{Query: "x", Kinds: []search.Kind{search.Recipe}})
	if f, ok := errors.AsType[*failure.Error](err); !ok || f.Hint(failure.Words{}) != "Use branch, pull_request, item, issue, file." {
		t.Errorf("%v", err)
	}
}

func TestQueriesThatAreRefused(t *testing.T) {
	t.Parallel()
	s := search.New(search.Options{})
	for query, want := range map[string]string{
		"":                       "The query is empty",
		" \t\n":                  "The query is empty",
		"\xff":                   "The query is empty",
		strings.Repeat("a", 201): "The query has more than 200 bytes",
		"a b c d e f g h i":      "The query has more than 8 words",
	} {
		if _, err := s.Search(t.Context(), search.Request{Query: query}); err == nil || err.Error() != want {
			t.Errorf("%q: %v", query, err)
		}
	}
}

// What cannot be searched is said: at once if it failed, and if nobody set it up only to those
// who look for it.
func TestNotes(t *testing.T) {
	t.Parallel()
	asked := 0
	o := search.Options{
		Pulls:   service{err: failure.New(failure.NoCredentials, "GitHub credentials not found", "Add some."), asked: &asked},
		Recipes: justfile{err: recipe.MissingError{}},
		Items:   store{[]item.Item{work(1, "Login", "todo", "")}},
		Now:     func() time.Time { return noon },
	}
	s := search.New(o)
	if found := find(t, s, "login"); len(found.Notes) > 0 || found.Total != 1 {
		t.Errorf("%+v", found)
	}
	want := []string{"pull requests: GitHub credentials not found. Add some."}
	if found := find(t, s, "login", search.PullRequest); !slices.Equal(found.Notes, want) {
		t.Errorf("%q", found.Notes)
	}
	if found := find(t, s, "nothing"); len(found.Notes) != 2 {
		t.Errorf("%q", found.Notes)
	}
	if asked != 1 {
		t.Errorf("a login that is not there is looked for %d times in a moment", asked)
	}
	o.Recipes = justfile{err: errors.New("just does not answer")}
	if found := find(t, search.New(o), "login"); !slices.Equal(found.Notes, []string{"recipes: just does not answer"}) {
		t.Errorf("%q", found.Notes)
	}
}

// Texts of others cannot steer a terminal, and the path of a file is one that can be read.
func TestForeignText(t *testing.T) {
	t.Parallel()
	o := shop(t)
	dir := o.Files.Root()
	gittest.Write(t, filepath.Join(dir, "evil\u202etxt.exe"), "")
	o.Items = store{[]item.Item{work(1, "evil \x1b[2J title\r\n"+strings.Repeat("x", 1000), "to\x07do", "")}}
	for _, h := range find(t, search.New(o), "evil").Hits {
		if strings.ContainsAny(h.ID+h.Title+h.State, "\x1b\x07\r\n\u202e") || len(h.Brief().Title) > 200 {
			t.Errorf("%+v", h)
		}
		if h.Kind == search.File {
			if _, err := o.Files.Read(t.Context(), h.ID, project.Lines{}); err != nil {
				t.Errorf("%q cannot be read: %v", h.ID, err)
			}
		}
	}
}

// Of very many the best are kept, whatever their order, and all are counted.
func TestManyHits(t *testing.T) {
	t.Parallel()
	var all []item.Item
	for i := range item.ID(3000) {
		all = append(all, work(i+1, fmt.Sprintf("some common words, number %d", i), "todo", ""))
	}
	all = append(all, work(5000, "Common", "todo", ""))
	found := find(t, search.New(search.Options{Items: store{all}}), "common")
	if found.Total != 3001 || found.Counts[search.Item] != 3001 || len(found.Hits) != search.MaxHits || found.Hits[0].ID != "5000" {
		t.Errorf("total %d, %d hits, first %+v", found.Total, len(found.Hits), found.Hits[0])
	}
	if found.Hits[1].ID != "1" || found.Hits[10].ID != "10" {
		t.Errorf("not by number: %+v", names(found.Hits[:12]))
	}
	keys := map[string]bool{}
	before := ""
	for _, h := range found.Hits {
		if h.Key() <= before || keys[h.Key()] {
			t.Fatalf("the keys of hits are not in their order: %q after %q", h.Key(), before)
		}
		before, keys[h.Key()] = h.Key(), true
	}
}
