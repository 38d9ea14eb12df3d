package tasks_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/board"
	"github.com/copse-dev/copse/internal/board/markup"
	"github.com/copse-dev/copse/internal/board/tasks"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/recipe"
	"github.com/copse-dev/copse/internal/recipe/runlog"
	"github.com/copse-dev/copse/internal/recipe/running"
)

const root = "/shop"

// justfile is a justfile without just.
type justfile struct {
	recipes []recipe.Recipe
	err     error
	runs    []runlog.Report
	called  []recipe.Call
	stopped []string
}

func (j *justfile) Recipes(context.Context) ([]recipe.Recipe, error) { return j.recipes, j.err }

func (j *justfile) Start(_ context.Context, c recipe.Call) (running.Task, error) {
	if c.Name == "busy" {
		return running.Task{}, &recipe.BusyError{Name: "busy"}
	}
	j.called = append(j.called, c)
	return running.Task{ID: "r9", Name: c.Name, Root: root}, nil
}

func (j *justfile) Running() []running.Task {
	var all []running.Task
	for _, r := range j.runs {
		if r.State == runlog.Running {
			all = append(all, r.Task)
		}
	}
	return all
}

func (j *justfile) Report(_ context.Context, id string, _ time.Duration) (runlog.Report, error) {
	at := slices.IndexFunc(j.runs, func(r runlog.Report) bool { return r.ID == id })
	if at < 0 {
		return runlog.Report{}, &runlog.NotFoundError{ID: id}
	}
	return j.runs[at], nil
}

func (j *justfile) Latest() []runlog.Report { return j.runs }

func (j *justfile) Stop(_ context.Context, id, by string) (running.Task, error) {
	j.stopped = append(j.stopped, id+" by "+by)
	return running.Task{ID: id, Name: "test"}, nil
}

const evil = `"'><img src=x onerror=alert(1)>`

func shop() *justfile {
	at := time.Now().Add(-time.Minute)
	return &justfile{
		recipes: []recipe.Recipe{
			{Name: "busy"},
			{Name: "deploy", Doc: "Deploy it " + evil, Confirm: true, Parameters: []recipe.Parameter{{Name: "target", Default: evil}}},
			{Name: "test", Parameters: []recipe.Parameter{{Name: "filter", Optional: true}, {Name: "more", Optional: true}, {Name: "flags", Optional: true, Many: true}, {Name: "level", Option: "--level"}}},
		},
		runs: []runlog.Report{
			{
				Task:    running.Task{ID: "r1", Name: "test", Root: root, Client: evil, Started: at, Args: []string{evil}},
				Outcome: runlog.Outcome{State: runlog.Running}, Output: "\x1b[31mred\x1b[0m " + evil + "\x1b]0;title\x07\n",
			},
			{
				Task:    running.Task{ID: "r2", Name: "test", Root: root, Client: "codex", Started: at},
				Outcome: runlog.Outcome{State: runlog.Failed, ExitCode: 3, Problem: evil, Reasons: []string{evil}, Ended: at.Add(time.Second)},
			},
			{Task: running.Task{ID: "r3", Name: "secret", Root: "/elsewhere", Started: at}, Outcome: runlog.Outcome{State: runlog.Running}},
		},
	}
}

func view(j *justfile) *tasks.View {
	kit := markup.NewKit(markup.Options{Now: time.Now, Field: "token", Token: "TOKEN"})
	return tasks.New(kit, tasks.Options{Tasks: j, Root: root, Now: time.Now})
}

func render(t *testing.T, v *tasks.View, path, query string, readOnly bool) string {
	t.Helper()
	q, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	page, err := v.Render(t.Context(), board.Request{Path: path, Query: q, ReadOnly: readOnly})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, s := range page.Sections {
		b.WriteString(string(s.Head))
		for _, r := range s.Rows {
			b.WriteString(string(r.HTML))
		}
	}
	if page.Detail != nil {
		b.WriteString(string(page.Detail.Sub))
		for _, r := range page.Detail.Blocks {
			b.WriteString(string(r.HTML))
		}
	}
	return b.String()
}

// The page shows the tasks and the runs of its worktree alone, and no text of theirs does
// anything.
func TestPage(t *testing.T) {
	t.Parallel()
	v := view(shop())
	for _, path := range []string{"", "r1", "r2"} {
		for _, query := range []string{"", "task=deploy", "task=test"} {
			got := render(t, v, path, query, false)
			for _, bad := range []string{"<img", `"'>`, "\x1b", "\x07", "secret"} {
				if strings.Contains(got, bad) {
					t.Errorf("%s?%s has %q: %s", path, query, bad, got)
				}
			}
		}
	}
	if got := render(t, v, "r1", "", false); !strings.Contains(got, "red &#34;") || !strings.Contains(got, `action="tasks/r1/stop"`) {
		t.Error(got)
	}
	if got := render(t, v, "r2", "", false); !strings.Contains(got, "exit code 3") || strings.Contains(got, "/stop") {
		t.Error(got)
	}
	if got := render(t, v, "", "", false); !strings.Contains(got, "in the worktree shop") {
		t.Error(got)
	}
	if got := v.Count(t.Context()); got.Text != "1 running" {
		t.Errorf("%+v", got)
	}
	for _, path := range []string{"r3", "none"} {
		if _, err := v.Render(t.Context(), board.Request{Path: path}); err == nil {
			t.Errorf("a run of nobody here is shown: %s", path)
		}
	}
}

func TestEmptyAndBrokenStatesSayWhatToDo(t *testing.T) {
	t.Parallel()
	if got := render(t, view(&justfile{err: recipe.MissingError{}}), "", "", false); !strings.Contains(got, "No tasks yet") {
		t.Error(got)
	}
	if got := render(t, view(&justfile{err: recipe.NotInstalledError{}}), "", "", false); !strings.Contains(got, "brew install just") {
		t.Error(got)
	}
}

// A task runs with the arguments of the form, and one that asks runs only with an answer.
func TestRun(t *testing.T) {
	t.Parallel()
	j := shop()
	v := view(j)
	run := func(form url.Values) error {
		out, err := v.Act(t.Context(), board.Request{}, "run", form)
		if err == nil && out.To != "tasks/r9" {
			t.Errorf("%+v", out)
		}
		return err
	}
	for _, form := range []url.Values{
		{"task": {"test"}}, {"task": {"test"}, "p0": {"a b"}, "p1": {"c"}, "p2": {"d e\r\nf"}, "p3": {"2"}}, {"task": {"deploy"}, "p0": {"live"}, "confirmed": {"yes"}},
	} {
		if err := run(form); err != nil {
			t.Errorf("%v: %v", form, err)
		}
	}
	var called []string
	for _, c := range j.called {
		called = append(called, fmt.Sprintf("%s %q %v %v %s", c.Name, c.Args, c.Confirmed, c.Person, c.Client))
	}
	want := []string{
		`test [] false true copse board`, `test ["a b" "c" "d e" "f" "--level" "2"] false true copse board`, `deploy ["live"] true true copse board`,
	}
	if !slices.Equal(called, want) {
		t.Errorf("got %q", called)
	}
	for what, form := range map[string]url.Values{
		"requires confirmation": {"task": {"deploy"}, "p0": {"live"}}, "target is missing": {"task": {"deploy"}, "confirmed": {"yes"}},
		"no task": {"task": {"--list"}}, "already running": {"task": {"busy"}}, "filter is missing": {"task": {"test"}, "p1": {"x"}},
	} {
		err := run(form)
		if _, ok := errors.AsType[*failure.Error](err); !ok || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if len(j.called) != len(want) {
		t.Errorf("what was refused ran: %v", j.called)
	}
}

func TestStop(t *testing.T) {
	t.Parallel()
	j := shop()
	v := view(j)
	if out, err := v.Act(t.Context(), board.Request{Path: "r1"}, "stop", nil); err != nil || out.To != "tasks/r1" {
		t.Errorf("%+v, %v", out, err)
	}
	for _, path := range []string{"r3", "none", ""} {
		if _, err := v.Act(t.Context(), board.Request{Path: path}, "stop", nil); err == nil {
			t.Errorf("%q is stopped", path)
		}
	}
	if !slices.Equal(j.stopped, []string{"r1 by copse board"}) {
		t.Errorf("%q", j.stopped)
	}
}

func TestReadOnlyOffersNoChanges(t *testing.T) {
	t.Parallel()
	v := view(shop())
	for _, path := range []string{"", "r1", "r2"} {
		if got := render(t, v, path, "task=deploy", true); strings.Contains(got, `method="post"`) || strings.Contains(got, "TOKEN") {
			t.Errorf("%s: %s", path, got)
		}
	}
}
