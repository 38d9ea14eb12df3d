package workspace

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/page"
	"github.com/copse-dev/copse/internal/recipe"
	"github.com/copse-dev/copse/internal/recipe/capture"
	"github.com/copse-dev/copse/internal/recipe/runlog"
	"github.com/copse-dev/copse/internal/recipe/running"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/plain"
	"github.com/copse-dev/copse/internal/workflow/tasks"
)

// Tasks runs recipes. Its errors are for display.
type Tasks interface {
	Run(ctx context.Context, c recipe.Call, out io.Writer) (recipe.Run, error)
	Start(ctx context.Context, c recipe.Call) (running.Task, error)
	Report(ctx context.Context, id string, wait time.Duration) (runlog.Report, error)
	Stop(ctx context.Context, id, by string) (running.Task, error)
}

var _ Tasks = (*tasks.Tasks)(nil)

// RunIn selects a task to run.
type RunIn struct {
	TaskName  string   `json:"task_name"`
	Arguments []string `json:"arguments,omitempty"`
	Timeout   int      `json:"timeout_seconds,omitempty" min:"1" max:"7200" default:"600"`
	// Background starts the task and answers immediately.
	Background bool `json:"background,omitempty" description:"Return a task_id for get_task."`
}

// RunOut is the outcome of a task, or the ID of one in the background.
type RunOut struct {
	// ID is that of a task in the background; the members below Task are then empty.
	ID         string `json:"-"`
	Task       string `json:"task"`
	ExitCode   int    `json:"exit_code"`
	DurationMS int64  `json:"duration_ms"`
	Output     string `json:"output"`
	Truncated  int64  `json:"truncated_bytes"`
	// Problem explains why the task was stopped.
	Problem string `json:"problem,omitempty"`
	// reasons are the lines of the output that explain a failure.
	reasons []string
}

func (in RunIn) call(ctx context.Context) recipe.Call {
	return recipe.Call{Name: in.TaskName, Client: toolset.Client(ctx), Args: in.Arguments, Timeout: time.Duration(in.Timeout) * time.Second}
}

// progressEvery is the interval between progress messages for a running task.
const progressEvery = time.Second

// maxLine is the length of a reported line, in characters. The server removes secrets from
// the line and then shortens it.
const maxLine = 4000

// RunJustTask runs a task to its end, or starts it in the background.
func (t *Tools) RunJustTask(ctx context.Context, in RunIn) (RunOut, error) {
	call := in.call(ctx)
	if in.Background {
		task, err := t.tasks.Start(ctx, call)
		return RunOut{ID: task.ID, Task: task.Name}, err
	}
	var out capture.Output
	defer follow(ctx, in.TaskName, &out)()
	run, err := t.tasks.Run(ctx, call, &out)
	if err != nil {
		return RunOut{}, err
	}
	var text string
	var leftOut int64
	if err := fit(ctx, func(bytes int) (string, error) {
		text, leftOut = out.TextOf(bytes)
		return text, nil
	}); err != nil {
		return RunOut{}, err
	}
	return RunOut{
		Task: run.Task, ExitCode: run.ExitCode, DurationMS: run.Duration.Milliseconds(), Output: text, Truncated: leftOut, Problem: run.Problem,
		reasons: run.Reasons,
	}, nil
}

// GetIn selects a run, and the amount of its output.
type GetIn struct {
	ID   string `json:"id"`
	Wait int    `json:"wait_seconds,omitempty" min:"0" max:"50" description:"Wait for its end."`
	Tail int    `json:"tail,omitempty" min:"1" max:"1000" default:"40" description:"Lines of output."`
}

// GetOut is the state of a run.
type GetOut struct {
	ID    string       `json:"task_id"`
	Task  string       `json:"task"`
	State runlog.State `json:"state"`
	// ExitCode is set when the run has ended.
	ExitCode   *int   `json:"exit_code,omitempty"`
	DurationMS int64  `json:"duration_ms"`
	Output     string `json:"output"`
	Problem    string `json:"problem,omitempty"`
	// reasons explain a failure; they can be in lines before the tail.
	reasons []string
}

// defaultTail is the default number of lines in get_task.
const defaultTail = 40

// GetTask returns the state of a run, no matter who started it.
func (t *Tools) GetTask(ctx context.Context, in GetIn) (GetOut, error) {
	r, err := t.tasks.Report(ctx, in.ID, time.Duration(in.Wait)*time.Second)
	if err != nil {
		return GetOut{}, err
	}
	out := GetOut{ID: r.ID, Task: r.Name, State: r.State, Problem: r.Problem, Output: lastLines(r.Output, cmp.Or(in.Tail, defaultTail))}
	if kept, cut := page.Tail(secret.Of(ctx), out.Output, toolset.RoomFor(ctx, math.MaxInt)); cut > 0 {
		out.Output = fmt.Sprintf("… %s left out …\n%s", cleantext.Count(cut, "byte"), kept)
	}
	switch r.State {
	case runlog.Running:
		out.DurationMS = time.Since(r.Started).Milliseconds()
	case runlog.Lost: // nobody knows when
	default:
		out.ExitCode, out.DurationMS = &r.ExitCode, r.Ended.Sub(r.Started).Milliseconds()
	}
	if r.State != runlog.Done {
		out.reasons = r.Reasons
	}
	return out, nil
}

// lastLines returns the last lines of a text.
func lastLines(text string, n int) string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return strings.Join(lines[max(0, len(lines)-n):], "")
}

// progress is the shape of get_task: the latest output of the run, and its state.
type progress struct{}

// OK shows the output in a block, and the state of the run in another.
func (progress) OK(out GetOut) (toolset.Result, error) {
	data, err := toolset.Marshal(out)
	if err != nil {
		return toolset.Result{}, err
	}
	how := fmt.Sprintf("%s (%s): %s", out.Task, out.ID, out.State)
	if out.Problem != "" {
		how += ", " + out.Problem
	}
	if out.ExitCode != nil {
		how += fmt.Sprintf(", exit code %d", *out.ExitCode)
	}
	if out.State == runlog.Running {
		how += fmt.Sprintf(" for %d ms", out.DurationMS)
	} else if out.ExitCode != nil {
		how += fmt.Sprintf(" after %d ms", out.DurationMS)
	}
	res := toolset.Result{Text: []string{out.Output, foreign.Notice(how)}, Structured: data}
	switch {
	case out.Output == "":
		res.Text = []string{"(no output) " + foreign.Notice(how)}
	case len(out.reasons) > 0:
		res.Text = []string{explained(foreign.Notice(how), out.reasons), out.Output}
	}
	return res, nil
}

// Fail shows the message.
func (progress) Fail(err error) toolset.Result { return plain.Style{NextStep: nextStep}.Fail(err) }

// Schema describes only an object.
func (progress) Schema() *jsonschema.Schema { return &jsonschema.Schema{Type: "object"} }

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

// StopTask ends a running task, in any process and worktree of the repository.
func (t *Tools) StopTask(ctx context.Context, in StopIn) (StopOut, error) {
	task, err := t.tasks.Stop(ctx, in.ID, caller(ctx)+" with stop_task")
	if err != nil {
		return StopOut{}, err
	}
	return StopOut{ID: task.ID, Task: task.Name, Client: task.Client, Root: task.Root}, nil
}

// follow reports the last line of an output until it is stopped.
func follow(ctx context.Context, task string, out *capture.Output) (stop func()) {
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
				report(out.LastLine(maxLine))
			}
		}
	}()
	return func() {
		close(stopped)
		<-ended
	}
}

// outcome is the shape of run_just_task: the output, and the end of the task.
type outcome struct{}

// started is a task in the background.
type started struct {
	ID   string `json:"task_id"`
	Task string `json:"task"`
}

// OK shows the output in a block, and the end of the task in another. A failed task is an error
// with the same content, which begins with the lines that explain the failure.
func (outcome) OK(out RunOut) (toolset.Result, error) {
	if out.ID != "" {
		data, err := toolset.Marshal(started{ID: out.ID, Task: out.Task})
		text := foreign.Notice(fmt.Sprintf("%s runs in the background as task %s. get_task {\"id\": %q, \"wait_seconds\": 30} waits for it; stop_task ends it.", out.Task, out.ID, out.ID))
		return toolset.Result{Text: []string{text}, Structured: data}, err
	}
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
		how += "; " + cleantext.Count(int(out.Truncated), "byte") + " left out"
	}
	how = foreign.Notice(how) // a client chooses its name, which can be in the problem
	res := toolset.Result{Structured: data, IsError: out.ExitCode != 0 || out.Problem != ""}
	switch {
	case out.Output == "":
		res.Text = []string{"(no output) " + how}
	case res.IsError && len(out.reasons) > 0:
		res.Text = []string{explained(how, out.reasons), out.Output}
	default:
		res.Text = []string{out.Output, how}
	}
	if res.IsError {
		// Some hosts show both halves of an error; its text is complete.
		res.Structured = nil
	}
	return res, nil
}

// explained returns the end of a task with the lines that explain it, indented.
func explained(how string, reasons []string) string {
	return how + "\n\nThese lines of its output explain it:\n\n    " + strings.Join(reasons, "\n    ") + "\n"
}

// Fail shows the message.
func (outcome) Fail(err error) toolset.Result { return plain.Style{NextStep: nextStep}.Fail(err) }

// Schema describes only an object.
func (outcome) Schema() *jsonschema.Schema { return &jsonschema.Schema{Type: "object"} }
