// Package taskscope limits the runs of tasks that a server shows and stops to those of its repository.
//
// Use [Within]. The runs of a user are shared by all processes of the user, in all projects.
package taskscope

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/copse-dev/copse/internal/recipe/runlog"
	"github.com/copse-dev/copse/internal/recipe/running"
	"github.com/copse-dev/copse/internal/workflow/tasks"
)

// Within returns the tasks with only those runs whose root is ours. A client of the server of one
// repository neither reads nor stops the runs of another one, which it could be misled to.
func Within(t *tasks.Tasks, ours func(root string) bool) *tasks.Tasks {
	return tasks.New(scope{t.Justfile, ours})
}

// scope is the tasks of a project, and the runs of its repository.
type scope struct {
	tasks.Justfile
	ours func(root string) bool
}

// Running returns what runs in this repository.
func (s scope) Running() []running.Task { return s.running(s.Justfile.Running()) }

// Latest returns the runs of this repository that are kept, the latest first.
func (s scope) Latest() []runlog.Report { return s.reports(s.Justfile.Latest()) }

// Report returns the report of a run, as Justfile does. A run of another repository does not exist here, and is not waited for.
func (s scope) Report(ctx context.Context, id string, wait time.Duration) (runlog.Report, error) {
	r, err := s.Justfile.Report(ctx, id, 0)
	if err == nil && s.ours(r.Root) {
		return s.Justfile.Report(ctx, id, wait)
	}
	if _, unknown := errors.AsType[*runlog.NotFoundError](err); err == nil || unknown {
		err = &runlog.NotFoundError{ID: id, Kept: s.Latest()}
	}
	return runlog.Report{}, err
}

// Stop ends a run, as Justfile does, if it is one of this repository.
func (s scope) Stop(ctx context.Context, id, by string) (running.Task, error) {
	all := s.Running()
	if !slices.ContainsFunc(all, func(t running.Task) bool { return t.ID == id }) {
		return running.Task{}, &running.NotRunningError{ID: id, Running: all}
	}
	return s.Justfile.Stop(ctx, id, by)
}

func (s scope) running(all []running.Task) []running.Task {
	return slices.DeleteFunc(slices.Clone(all), func(t running.Task) bool { return !s.ours(t.Root) })
}

func (s scope) reports(all []runlog.Report) []runlog.Report {
	return slices.DeleteFunc(slices.Clone(all), func(r runlog.Report) bool { return !s.ours(r.Root) })
}
