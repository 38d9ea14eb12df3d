// Package tasks implements every surface's operations on the tasks of a project, which are the
// recipes of its justfile: it lists, runs, and stops them.
//
// Use [New]. Package recipe decides about a task's arguments and environment. An error with a next
// step is a [failure.Error], whose advice each surface completes with its own words.
package tasks

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/recipe"
	"github.com/copse-dev/copse/internal/recipe/runlog"
	"github.com/copse-dev/copse/internal/recipe/running"
)

// Justfile has the recipes of a project.
type Justfile interface {
	Runner
	Runs
	// Recipes returns the recipes that can be run.
	Recipes(ctx context.Context) ([]recipe.Recipe, error)
	// Close ends all runs of this process.
	Close()
}

// Runner runs recipes. Its errors can be a *recipe.BusyError.
type Runner interface {
	// Run runs one to its end.
	Run(ctx context.Context, c recipe.Call, out io.Writer) (recipe.Run, error)
	// Start runs one in the background.
	Start(ctx context.Context, c recipe.Call) (running.Task, error)
}

// Runs are the runs of the user, in every process and every project; see package taskscope.
type Runs interface {
	// Running returns what runs.
	Running() []running.Task
	// Report returns the report of a run. It waits for its end, for at most wait.
	Report(ctx context.Context, id string, wait time.Duration) (runlog.Report, error)
	// Latest returns the runs that are kept, the latest first.
	Latest() []runlog.Report
	// Stop ends a run.
	Stop(ctx context.Context, id, by string) (running.Task, error)
}

var _ Justfile = (*recipe.Justfile)(nil)

// Tasks are the tasks of one project. Close them after use.
type Tasks struct{ Justfile }

// New returns the tasks of a justfile.
func New(j Justfile) *Tasks { return &Tasks{j} }

// Run runs a task and writes its output to out as it arrives. A task that failed or was stopped is
// not an error.
func (t *Tasks) Run(ctx context.Context, c recipe.Call, out io.Writer) (recipe.Run, error) {
	run, err := t.Justfile.Run(ctx, c, out)
	return run, busy(err)
}

// Start runs a task in the background, until it ends, it is stopped, or this process ends.
func (t *Tasks) Start(ctx context.Context, c recipe.Call) (running.Task, error) {
	task, err := t.Justfile.Start(ctx, c)
	return task, busy(err)
}

// busy returns the error of a run, with the next step if another run blocks it.
func busy(err error) error {
	busy, ok := errors.AsType[*recipe.BusyError](err)
	if !ok || busy.Task == nil {
		return err
	}
	return &failure.Error{
		Kind: failure.Busy,
		What: failure.Text(busy.Error()),
		Do: func(w failure.Words) string {
			return "Wait until it ends, or stop it with " + strings.ReplaceAll(w.StopTask, "ID", busy.Task.ID) + "."
		},
		Err: err,
	}
}
