package workspace

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/recipe"
	"github.com/copse-dev/copse/internal/recipe/running"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/plain"
	"github.com/copse-dev/copse/internal/workflow/tasks"
)

// Tasks runs recipes. Its errors are for showing.
type Tasks interface {
	Run(ctx context.Context, c recipe.Call, out io.Writer) (recipe.Run, error)
	Stop(ctx context.Context, id, by string) (running.Task, error)
}

var _ Tasks = (*tasks.Tasks)(nil)

// RunIn says what to run.
type RunIn struct {
	TaskName  string   `json:"task_name"`
	Arguments []string `json:"arguments,omitempty"`
	Timeout   int      `json:"timeout_seconds,omitempty" min:"1" max:"7200" default:"600"`
}

// RunOut is what became of a task.
type RunOut struct {
	Task       string `json:"task"`
	ExitCode   int    `json:"exit_code"`
	DurationMS int64  `json:"duration_ms"`
	Output     string `json:"output"`
	Truncated  int64  `json:"truncated_bytes"`
	// Problem says why the task was stopped.
	Problem string `json:"problem,omitempty"`
}

// progressEvery is how often a client hears of a task that runs.
const progressEvery = time.Second

// maxMessage is how many characters of a line it hears.
const maxMessage = 200

// RunJustTask runs a task to its end.
func (t *Tools) RunJustTask(ctx context.Context, in RunIn) (RunOut, error) {
	var out recipe.Output
	defer follow(ctx, in.TaskName, &out)()
	run, err := t.tasks.Run(ctx, recipe.Call{Name: in.TaskName, Client: toolset.Client(ctx), Args: in.Arguments, Timeout: time.Duration(in.Timeout) * time.Second}, &out)
	if err != nil {
		return RunOut{}, err
	}
	text, leftOut := out.Text()
	return RunOut{
		Task: run.Task, ExitCode: run.ExitCode, DurationMS: run.Duration.Milliseconds(), Output: text, Truncated: leftOut, Problem: run.Problem,
	}, nil
}

// StopIn names a running task.
type StopIn struct {
	ID string `json:"id"`
}

// StopOut is the task that was stopped.
type StopOut struct {
	ID   string `json:"id"`
	Task string `json:"task"`
	// Client is who had started it.
	Client string `json:"client"`
	Root   string `json:"root"`
}

// StopTask ends a task that runs, in whatever process and project.
func (t *Tools) StopTask(ctx context.Context, in StopIn) (StopOut, error) {
	by := toolset.Client(ctx)
	if by == "" {
		by = "an assistant"
	}
	task, err := t.tasks.Stop(ctx, in.ID, by+" with stop_task")
	if err != nil {
		return StopOut{}, err
	}
	return StopOut{ID: task.ID, Task: task.Name, Client: task.Client, Root: task.Root}, nil
}

// follow reports the last line of an output until it is stopped.
func follow(ctx context.Context, task string, out *recipe.Output) (stop func()) {
	report := toolset.Progress(ctx)
	if report == nil {
		return func() {}
	}
	stopped, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		report("running " + task)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-stopped:
				return
			case <-tick.C:
				report(out.LastLine(maxMessage))
			}
		}
	}()
	return func() {
		close(stopped)
		<-ended
	}
}

// outcome is the shape of run_just_task: what it printed, and how it ended.
type outcome struct{}

// OK shows the output in a block, and how the task ended in another. A task that failed
// is an error with the same content.
func (outcome) OK(out RunOut) (toolset.Result, error) {
	data, err := toolset.Marshal(out)
	if err != nil {
		return toolset.Result{}, err
	}
	how := fmt.Sprintf("exit code %d", out.ExitCode)
	if out.Problem != "" {
		how = out.Problem + ", " + how
	}
	how = fmt.Sprintf("%s: %s after %d ms", out.Task, how, out.DurationMS)
	if out.Truncated > 0 {
		how += fmt.Sprintf("; %d bytes left out", out.Truncated)
	}
	how = foreign.Notice(how) // a client chooses its name, which can be in the problem
	res := toolset.Result{Text: []string{out.Output, how}, Structured: data, IsError: out.ExitCode != 0 || out.Problem != ""}
	if out.Output == "" {
		res.Text = []string{"(no output) " + how}
	}
	if res.IsError {
		// Some hosts show both halves of an error; its text has all there is.
		res.Structured = nil
	}
	return res, nil
}

// Fail shows the message.
func (outcome) Fail(err error) toolset.Result { return plain.Style{NextStep: next}.Fail(err) }

// Schema says that there is an object.
func (outcome) Schema() *jsonschema.Schema { return &jsonschema.Schema{Type: "object"} }
