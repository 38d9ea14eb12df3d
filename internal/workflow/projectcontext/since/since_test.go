package since_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/project"
	"github.com/copse-dev/copse/internal/recipe"
	"github.com/copse-dev/copse/internal/workflow/projectcontext"
	"github.com/copse-dev/copse/internal/workflow/projectcontext/since"
)

var at = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func memory(dir string) *since.Memory {
	return since.New(dir, func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }, func() time.Time { return at })
}

// with returns a context of the sections.
func with(root string, sections ...projectcontext.Section) projectcontext.Context {
	return projectcontext.Context{Root: root, At: at, Sections: sections}
}

// recipes returns a section of recipes, whose facts are by name.
func recipes(docs map[string]string) projectcontext.Section {
	list := projectcontext.Recipes{}
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		list = append(list, recipe.Recipe{Name: name, Doc: docs[name]})
	}
	return projectcontext.Section{Name: "recipes", Title: "Tasks", Content: list}
}

// plain returns the lines of a section, without marks; nil if it is not among the changes.
func plain(c since.Changes, name string) []string {
	for _, s := range c.Sections {
		if s.Name == name {
			lines := []string{}
			for _, l := range slices.Concat(s.Head, s.Lines) {
				lines = append(lines, l.Plain())
			}
			return lines
		}
	}
	return nil
}

// An answer contains the conflicts that copse knows, but a comparison ignores them unless they are all.
// An answer without conflicts applies only if copse has compared everything.
func TestConflicts(t *testing.T) {
	t.Parallel()
	project := func(c *projectcontext.Conflicts) projectcontext.Context {
		return with("/r", projectcontext.Section{Name: "project", Title: "Project", Content: projectcontext.Project{
			Root: "/r", Repository: &projectcontext.Repository{Branch: "a", Conflicts: c},
		}})
	}
	const left, line = "1 pair of branches is not compared", "Conflicts with main (f); get_conflicts lists all files"
	found := func(all bool) *projectcontext.Conflicts {
		c := &projectcontext.Conflicts{With: []projectcontext.Conflicting{{Branch: "main", File: "f", Files: 1}}}
		if !all {
			c.Left = left
		}
		return c
	}
	m := memory(t.TempDir())
	token := m.Remember(project(found(false)))
	for i, step := range []struct {
		now  *projectcontext.Conflicts
		want []string
	}{
		{&projectcontext.Conflicts{Left: left}, nil},
		{nil, []string{"gone: Conflicts with main (f) (" + left + "); get_conflicts lists all files"}},
		{found(false), nil},
		{nil, nil},
		{found(true), []string{"new: " + line}},
		{&projectcontext.Conflicts{Left: left}, nil},
		{found(true), nil},
		{found(false), nil},
		{nil, []string{"gone: " + line}},
	} {
		c := m.Compare(project(step.now), token)
		if diff := cmp.Diff(step.want, plain(c, "project")); diff != "" {
			t.Errorf("step %d: %s", i, diff)
		}
		token = c.Token
	}
}

// Applied to the earlier facts, the changes give the present ones: each line that changed is
// there, and no other one. So it is in another process, which knows the token alone.
func TestChangesAreAllAndOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		facts := rapid.MapOf(rapid.StringMatching(`[a-f]{1,2}`), rapid.StringMatching(`[xyz]{1,2}`))
		before, now := facts.Draw(rt, "before"), facts.Draw(rt, "now")
		token := memory(dir).Remember(with("/r", recipes(before)))
		again, err := since.Parse(token.String())
		if err != nil {
			rt.Fatal(err)
		}
		changes := memory(dir).Compare(with("/r", recipes(now)), again)

		got := maps.Clone(before)
		for _, line := range plain(changes, "recipes") {
			verb, rest, _ := strings.Cut(line, ": ")
			name, doc, _ := strings.Cut(rest, "  # ")
			_, had := before[name]
			_, has := now[name]
			switch {
			case verb == "gone" && had && !has:
				delete(got, name)
			case verb == "new" && !had && has, verb == "now" && had && before[name] != now[name]:
				got[name] = doc
			default:
				rt.Errorf("%q is no change from %v to %v", line, before, now)
			}
		}
		if diff := cmp.Diff(now, got); diff != "" {
			rt.Errorf("what changed is not all: %s", diff)
		}
		same := cmp.Equal(before, now)
		if unchanged := slices.Contains(changes.Unchanged, "recipes"); unchanged != same {
			rt.Errorf("unchanged: %t, from %v to %v", unchanged, before, now)
		}
		if same != (changes.Token.String() == token.String()) {
			rt.Errorf("the tokens %s and %s of %v and %v", token, changes.Token, before, now)
		}
	})
}

// Where the earlier answer is not kept, the token still says what is as it was.
func TestForgotten(t *testing.T) {
	t.Parallel()
	task := projectcontext.Section{Name: "task", Title: "Last task", Empty: "none was run"}
	for name, dir := range map[string]string{"no directory": "", "another directory": t.TempDir()} {
		token := memory("").Remember(with("/r", recipes(map[string]string{"a": "x", "b": "y"}), task))
		changes := memory(dir).Compare(with("/r", recipes(map[string]string{"a": "x", "b": "z"}), task), token)
		if diff := cmp.Diff([]string{"a  # x", "b  # z"}, plain(changes, "recipes")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if !changes.Forgotten || !slices.Equal(changes.Unchanged, []string{"task"}) {
			t.Errorf("%s: %+v", name, changes)
		}
		if text := changes.Markdown(500); !strings.Contains(text, "no longer has the earlier answer") || !strings.Contains(text, "Unchanged: task.") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// A damaged or planted file counts as none.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := memory(dir)
	token := m.Remember(with("/r", recipes(map[string]string{"a": "x"})))
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others can read it: %v, %v", info.Mode(), err)
	}
	for _, text := range []string{"", "{", `{"root":"/r","sections":[{"name":"recipes","facts":[{"key":"evil","sum":"x","text":"y"}]}]}`} {
		if err := os.WriteFile(files[0], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		changes := m.Compare(with("/r", recipes(map[string]string{"b": "x"})), token)
		if !changes.Forgotten || !slices.Equal(plain(changes, "recipes"), []string{"b  # x"}) {
			t.Errorf("%q: %+v", text, changes)
		}
	}
}

// stack returns a section with one branch and its pull request.
func stack(f fact.Fact[pullrequest.Status]) projectcontext.Section {
	b := projectcontext.LinkedBranch{PullRequest: &f}
	b.Branch, b.PRNumber = "topic", 7
	return projectcontext.Section{Name: "stack", Title: "Branch stack", Content: projectcontext.Stack{Branches: []projectcontext.LinkedBranch{b}, Total: 1}}
}

func pull(checks string, failing ...string) pullrequest.Status {
	s := pullrequest.Status{PullRequest: pullrequest.PullRequest{Number: 7, Title: "Log in", State: "open", Author: "ada", Base: "main"}}
	s.Summary.Checks, s.Summary.ReviewDecision, s.Summary.Failing = checks, "none", failing
	for _, name := range failing {
		s.Checks = append(s.Checks, pullrequest.Check{Name: name, Status: "completed", Conclusion: new("failure")})
	}
	return s
}

// A new age does not count as a change. A fact that is unknown for a while is compared with its
// last known value.
func TestUnknownMeanwhile(t *testing.T) {
	t.Parallel()
	m := memory(t.TempDir())
	known := func(s pullrequest.Status, age time.Duration) projectcontext.Section {
		return stack(fact.Known(s, "GitHub", at.Add(-age)))
	}
	token := m.Remember(with("/r", known(pull("failing", "lint", "test"), time.Hour)))
	step := func(want []string, s projectcontext.Section) {
		t.Helper()
		changes := m.Compare(with("/r", s), token)
		if diff := cmp.Diff(want, plain(changes, "stack")); diff != "" {
			t.Error(diff)
		}
		token = changes.Token
	}
	step(nil, known(pull("failing", "lint", "test"), time.Minute))
	down := stack(fact.Unavailable[pullrequest.Status]("no network", ""))
	step([]string{"new: GitHub: not known: no network"}, down)
	step(nil, down)
	step([]string{"gone: GitHub: not known: no network", "gone: #7 check test: failure"}, known(pull("failing", "lint"), 0))
	step([]string{
		"now: #7: Log in by ada (unknown), open into main, checks passing, no reviews", "gone: #7 check lint: failure",
	}, known(pull("passing"), 0))
}

// A section that cannot be read says so once, and loses nothing.
func TestUnavailableSection(t *testing.T) {
	t.Parallel()
	m := memory(t.TempDir())
	token := m.Remember(with("/r", recipes(map[string]string{"a": "x", "b": "y"})))
	broken := projectcontext.Section{Name: "recipes", Title: "Tasks", Unavailable: "password hunter2 is wrong"}
	for i, tt := range []struct {
		now  projectcontext.Section
		want []string
	}{
		{broken, []string{"now unknown: password *** is wrong"}},
		{broken, nil},
		{recipes(map[string]string{"a": "x", "c": "z"}), []string{"known again", "new: c  # z", "gone: b"}},
		{projectcontext.Section{Name: "recipes", Title: "Tasks", Empty: "no justfile"}, []string{"now empty: no justfile"}},
		{recipes(map[string]string{"a": "x"}), []string{"new: a  # x"}},
	} {
		changes := m.Compare(with("/r", tt.now), token)
		if diff := cmp.Diff(tt.want, plain(changes, "recipes")); diff != "" {
			t.Errorf("%d: %s", i, diff)
		}
		token = changes.Token
	}
}

func commits(hashes string) projectcontext.Section {
	list := projectcontext.Commits{}
	for hash := range strings.FieldsSeq(hashes) {
		list = append(list, git.Commit{Hash: hash, Subject: "s"})
	}
	return projectcontext.Section{Name: "recent", Title: "Recently changed", Content: list}
}

// Of a list that is cut, what both parts have in common decides what is new and what is gone.
func TestCutLists(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		before, now string
		want        []string
	}{
		"nothing":              {"c b a", "c b a", nil},
		"more is read":         {"c b", "c b a", nil},
		"a new one":            {"c b a", "d c b", []string{"new: d s"}},
		"an amended one":       {"c b a", "d b a", []string{"new: d s", "gone: c s"}},
		"all are new":          {"c b a", "f e d", []string{"new: f s", "new: e s", "new: d s"}},
		"back to an older one": {"c b a", "a", []string{"gone: c s", "gone: b s"}},
	} {
		m := memory(t.TempDir())
		changes := m.Compare(with("/r", commits(tt.now)), m.Remember(with("/r", commits(tt.before))))
		if diff := cmp.Diff(tt.want, plain(changes, "recent")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// An item that is done says so.
func TestGoneItem(t *testing.T) {
	t.Parallel()
	items := func(status string) projectcontext.Section {
		one := &item.Summary{ID: 3, Title: "Log in", Status: status}
		all := (&item.Snapshot{}).With(map[item.ID]*item.Entry{3: item.NewEntry(&item.Item{Summary: *one})}, nil)
		w := projectcontext.WorkItems{All: all, Open: 1}
		if status != "done" {
			w.InProgress = []*item.Summary{one}
		}
		return projectcontext.Section{Name: "items", Title: "Work items", Content: w}
	}
	m := memory(t.TempDir())
	changes := m.Compare(with("/r", items("done")), m.Remember(with("/r", items("doing"))))
	want := []string{"now: 0 in progress, 1 not begun; 0 ready", "gone: #3 Log in [done]"}
	if diff := cmp.Diff(want, plain(changes, "items")); diff != "" {
		t.Error(diff)
	}
}

// Names share lines.
func TestFiles(t *testing.T) {
	t.Parallel()
	files := func(names ...string) projectcontext.Section {
		list := projectcontext.Files{Total: len(names)}
		for _, name := range names {
			list.Entries = append(list.Entries, project.Entry{Name: filepath.Base(name), Path: name, Type: project.File})
		}
		return projectcontext.Section{Name: "tree", Title: "Files", Content: list}
	}
	m := memory(t.TempDir())
	changes := m.Compare(with("/r", files("a", "c", "d/x")), m.Remember(with("/r", files("b", "c", "d/y", "d/deep/z"))))
	if diff := cmp.Diff([]string{"new: a, d/x", "gone: b, d/y"}, plain(changes, "tree")); diff != "" {
		t.Error(diff)
	}
}

// A token of another worktree compares with what was told there, and says so.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	m := memory(t.TempDir())
	changes := m.Compare(with("/b", recipes(map[string]string{"a": "x", "b": "y"})), m.Remember(with("/a", recipes(map[string]string{"a": "x"}))))
	if changes.Elsewhere != "/a" || !slices.Equal(plain(changes, "recipes"), []string{"new: b  # y"}) {
		t.Errorf("got %+v", changes)
	}
	if text := changes.Markdown(500); !strings.Contains(text, "another worktree: `/a`.") {
		t.Error(text)
	}
}

// The token of an answer in another repository is that of a forgotten one.
func TestOtherRepository(t *testing.T) {
	t.Parallel()
	m := memory(t.TempDir())
	token := m.In("/a/.git").Remember(with("/a", recipes(map[string]string{"private": "x"})))
	if changes := m.In("/b/.git").Compare(with("/b", recipes(map[string]string{"b": "y"})), token); !changes.Forgotten || changes.Elsewhere != "" || strings.Contains(changes.Markdown(500), "private") {
		t.Errorf("got %+v", changes)
	}
	if changes := m.In("/a/.git").Compare(with("/linked", recipes(map[string]string{"b": "y"})), token); changes.Forgotten || changes.Elsewhere != "/a" {
		t.Errorf("got %+v", changes)
	}
}

// A name that is not UTF-8 is kept as well.
func TestNotUTF8(t *testing.T) {
	t.Parallel()
	m := memory(t.TempDir())
	changes := m.Compare(with("/r\xff", recipes(map[string]string{"a\xfe": "x"})), m.Remember(with("/r\xff", recipes(map[string]string{"a\xff": "x"}))))
	if changes.Forgotten || changes.Elsewhere != "" || len(plain(changes, "recipes")) != 2 {
		t.Errorf("got %+v", changes)
	}
}

// The answers that are kept have a limit; those used last stay.
func TestKeepsAFew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := at
	m := since.New(dir, func(s string) string { return s }, func() time.Time { return now })
	var tokens []since.Token
	for i := range 220 {
		now = now.Add(time.Second)
		tokens = append(tokens, m.Remember(with("/r", recipes(map[string]string{"a": fmt.Sprint(i)}))))
		m.Remember(with("/r", recipes(map[string]string{"a": "0"}))) // again and again
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) > 200 {
		t.Errorf("%d files, %v", len(files), err)
	}
	for i, forgotten := range map[int]bool{0: false, 5: true, 219: false} {
		if c := m.Compare(with("/r", recipes(nil)), tokens[i]); c.Forgotten != forgotten {
			t.Errorf("answer %d is forgotten: %t", i, c.Forgotten)
		}
	}
}

// A clock that was wrong has no effect on the answers that are kept now.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	now := at
	m := since.New(t.TempDir(), func(s string) string { return s }, func() time.Time { return now })
	answer := func(i int) projectcontext.Context { return with("/r", recipes(map[string]string{"a": fmt.Sprint(i)})) }
	for i := range 200 {
		m.Remember(answer(i))
	}
	now = at.AddDate(-1, 0, 0)
	if c := m.Compare(with("/r", recipes(nil)), m.Remember(answer(200))); c.Forgotten {
		t.Error("the latest answer is forgotten")
	}
}

// Any text is a token that reads back as it is, or an error.
func FuzzParse(f *testing.F) {
	f.Add(memory("").Remember(with("/r", recipes(nil))).String())
	for _, text := range []string{"", "c1", "c1aa", "c1aeaaa", "../../etc/passwd", "c1aeaaaaaa", "C1AEAAAAAA"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		token, err := since.Parse(text)
		if err != nil {
			if _, ok := errors.AsType[*since.InvalidError](err); !ok {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		again, err := since.Parse(token.String())
		if err != nil || again.String() != token.String() || len(token.Sections()) == 0 {
			t.Errorf("%q reads as %s, then %v", text, token, err)
		}
	})
}
