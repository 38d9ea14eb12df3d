package taskscope_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/recipe/runlog"
	"github.com/copse-dev/copse/internal/recipe/running"
	"github.com/copse-dev/copse/internal/workflow/tasks"
	"github.com/copse-dev/copse/internal/workflow/taskscope"
)

// user is the runs of a user, which all run.
type user struct {
	tasks.Justfile
	runs    []running.Task
	stopped []string
	waited  time.Duration
}

func (u *user) Running() []running.Task { return u.runs }

func (u *user) Latest() []runlog.Report {
	var all []runlog.Report
	for _, t := range u.runs {
		all = append(all, runlog.Report{Task: t, Output: "output of " + t.Name})
	}
	return all
}

func (u *user) Report(_ context.Context, id string, wait time.Duration) (runlog.Report, error) {
	u.waited += wait
	all := u.Latest()
	if i := slices.IndexFunc(all, func(r runlog.Report) bool { return r.ID == id }); i >= 0 {
		return all[i], nil
	}
	return runlog.Report{}, &runlog.NotFoundError{ID: id, Kept: all}
}

func (u *user) Stop(_ context.Context, id, _ string) (running.Task, error) {
	u.stopped = append(u.stopped, id)
	return running.Task{ID: id}, nil
}

// A run of another repository does not exist for the server of a repository: it is neither listed,
// shown, waited for, nor stopped, and no error names it.
func TestWithin(t *testing.T) {
	t.Parallel()
	u := &user{runs: []running.Task{{ID: "1", Name: "build", Root: "/ours"}, {ID: "2", Name: "theirs", Root: "/theirs"}}}
	own := taskscope.Within(tasks.New(u), func(root string) bool { return root == "/ours" })
	ctx := t.Context()
	if running, latest := own.Running(), own.Latest(); len(running) != 1 || running[0].ID != "1" || len(latest) != 1 || latest[0].ID != "1" {
		t.Errorf("%v run, and the latest are %v", running, latest)
	}
	for _, id := range []string{"2", "3"} {
		r, err := own.Report(ctx, id, time.Minute)
		if _, ok := errors.AsType[*runlog.NotFoundError](err); !ok || r.Output != "" || strings.Contains(err.Error(), "theirs") {
			t.Errorf("report of %s: %+v, %v", id, r, err)
		}
		_, err = own.Stop(ctx, id, "ada")
		if _, ok := errors.AsType[*running.NotRunningError](err); !ok || strings.Contains(err.Error(), "theirs") {
			t.Errorf("stop of %s: %v", id, err)
		}
	}
	if u.waited != 0 || u.stopped != nil {
		t.Errorf("waited for %s, and stopped %q", u.waited, u.stopped)
	}
	if r, err := own.Report(ctx, "1", time.Minute); err != nil || r.Output != "output of build" || u.waited != time.Minute {
		t.Errorf("own report: %+v, %v", r, err)
	}
	if _, err := own.Stop(ctx, "1", "ada"); err != nil || len(u.stopped) != 1 {
		t.Errorf("own stop: %v", err)
	}
}
