package workspace_test

import (
	"context"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/copse-dev/copse/internal/recipe"
	"github.com/copse-dev/copse/internal/recipe/runlog"
	"github.com/copse-dev/copse/internal/recipe/running"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/workspace"
	"github.com/copse-dev/copse/internal/workflow/projectcontext"
)

// panics is a justfile whose recipes break down.
type panics struct{}

func (panics) Run(context.Context, recipe.Call, io.Writer) (recipe.Run, error) { panic("broken") }

func (panics) Start(context.Context, recipe.Call) (running.Task, error) { panic("broken") }

func (panics) Report(context.Context, string, time.Duration) (runlog.Report, error) { panic("broken") }

func (panics) Stop(context.Context, string, string) (running.Task, error) { panic("broken") }

// A panic leaves no goroutine that reports progress.
func TestPanicEndsProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // fails if a goroutine is left
		tools := workspace.New(nil, panics{}, projectcontext.Sources{}, nil)
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_, _ = tools.RunJustTask(toolset.WithProgress(t.Context(), func(string) {}), workspace.RunIn{TaskName: "a"})
		}()
		synctest.Wait()
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		if strings.Contains(string(stacks), "workspace.follow") {
			t.Errorf("the progress goes on:\n%s", stacks)
		}
	})
}
