// Package tasks is what every surface does with the tasks of a project, which are the
// recipes of its justfile: it lists, runs and stops them.
//
// Use [New]. What a task may be given, and what it sees, is decided in package recipe. An
// error after which there is something to do is a [failure.Error], whose advice each
// surface completes with its own words.
package tasks

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/recipe"
	"github.com/copse-dev/copse/internal/recipe/running"
)

// Justfile has the recipes of a project.
type Justfile interface {
	// Recipes returns the recipes that can be run.
	Recipes(ctx context.Context) ([]recipe.Recipe, error)
	// Run runs one. Its error can be a *recipe.BusyError.
	Run(ctx context.Context, c recipe.Call, out io.Writer) (recipe.Run, error)
	// Running returns what the user runs, in every project.
	Running() []running.Task
	// Stop ends a run.
	Stop(ctx context.Context, id, by string) (running.Task, error)
	// Close ends all runs of this process.
	Close()
}

var _ Justfile = (*recipe.Justfile)(nil)

// Tasks are the tasks of one project. Close them after use.
type Tasks struct{ Justfile }

// New returns the tasks of a justfile.
func New(j Justfile) *Tasks { return &Tasks{j} }

// Run runs a task and writes what it prints to out as it comes. A task that failed or was
// stopped is no error.
func (t *Tasks) Run(ctx context.Context, c recipe.Call, out io.Writer) (recipe.Run, error) {
	run, err := t.Justfile.Run(ctx, c, out)
	busy, ok := errors.AsType[*recipe.BusyError](err)
	if !ok || busy.Task == nil {
		return run, err
	}
	return run, &failure.Error{
		Kind: failure.Busy,
		What: failure.Text(busy.Error()),
		Do: func(w failure.Words) string {
			return "Wait until it has ended, or end it with " + strings.ReplaceAll(w.StopTask, "ID", busy.Task.ID) + "."
		},
		Err: err,
	}
}
