package tasks_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/recipe"
	"github.com/copse-dev/copse/internal/recipe/running"
	"github.com/copse-dev/copse/internal/workflow/tasks"
)

// failing is a justfile whose runs end with an error.
type failing struct {
	tasks.Justfile
	err error
}

func (f failing) Run(context.Context, recipe.Call, io.Writer) (recipe.Run, error) {
	return recipe.Run{}, f.err
}

// Each surface names its own way to stop the task that is in the way.
func TestBusy(t *testing.T) {
	t.Parallel()
	busy := &recipe.BusyError{Name: "build", Task: &running.Task{ID: "k3j9", Client: "ada"}}
	_, err := tasks.New(failing{err: busy}).Run(t.Context(), recipe.Call{Name: "build"}, io.Discard)
	e, ok := errors.AsType[*failure.Error](err)
	if !ok || e.Kind != failure.Busy || e.Error() != busy.Error() || !errors.Is(err, busy) {
		t.Fatalf("got %#v", err)
	}
	for stop, want := range map[string]string{
		`stop_task {"id": "ID"}`: `Wait until it ends, or stop it with stop_task {"id": "k3j9"}.`,
		"`copse task stop ID`":   "Wait until it ends, or stop it with `copse task stop k3j9`.",
	} {
		if got := e.Hint(failure.Words{StopTask: stop}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// An error that has its own advice stays as it is.
func TestOtherErrors(t *testing.T) {
	t.Parallel()
	for _, want := range []error{&recipe.BusyError{Name: "build"}, recipe.MissingError{}, &recipe.UnknownError{Name: "x"}} {
		if _, err := tasks.New(failing{err: want}).Run(t.Context(), recipe.Call{}, io.Discard); err != want { //nolint:errorlint // the same value
			t.Errorf("got %v, want %v", err, want)
		}
	}
}
