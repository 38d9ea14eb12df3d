package workspace

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/page"
	"github.com/copse-dev/copse/internal/recipe/runlog"
	"github.com/copse-dev/copse/internal/recipe/running"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/toolset"
)

const (
	// quick is how long a task may take before its call becomes a job.
	quick = 2 * time.Second
	// promised is how long after its start a run can be polled in any case.
	promised = time.Hour
)

// BeginJustTask runs a task for a client that supports waiting. It returns a job for a task in the
// background, and for one that is not quick.
func (t *Tools) BeginJustTask(ctx context.Context, in RunIn) (RunOut, *toolset.Job, error) {
	task, err := t.tasks.Start(ctx, in.call(ctx))
	if err != nil {
		return RunOut{}, nil, err
	}
	wait := quick
	if in.Background {
		wait = 0
	}
	r, err := t.tasks.Report(ctx, task.ID, wait)
	if err == nil && ctx.Err() != nil { // nobody will hear of the job
		_, _ = t.tasks.Stop(context.WithoutCancel(ctx), task.ID, caller(ctx)) // it may have ended
		return RunOut{}, nil, context.Cause(ctx)
	}
	if err != nil {
		r = runlog.Report{Task: task, Outcome: runlog.Outcome{State: runlog.Running}}
	}
	if r.State == runlog.Running || in.Background {
		return RunOut{}, &toolset.Job{
			ID: task.ID, State: toolset.JobRuns, Message: about(task), Began: task.Started, Changed: task.Started, Keep: promised,
		}, nil
	}
	out, err := ran(ctx, r)
	return out, nil, err
}

// Job returns the state of a run, no matter who started it.
func (t *Tools) Job(ctx context.Context, id string) (toolset.Job, error) {
	r, err := t.tasks.Report(ctx, id, 0)
	if err != nil {
		return toolset.Job{}, err
	}
	job := toolset.Job{ID: r.ID, State: toolset.JobRuns, Message: about(r.Task), Began: r.Started, Changed: r.Started, Keep: promised}
	if r.State == runlog.Running {
		job.Keep = max(promised, time.Since(r.Started)+runlog.Promised)
		return job, nil
	}
	if !r.Ended.IsZero() { // the end of a lost run is unknown
		job.Changed = r.Ended
		job.Keep = max(promised, r.Ended.Sub(r.Started)+runlog.Promised)
	}
	if r.State == runlog.Stopped && !r.TimedOut {
		job.State, job.Message = toolset.JobStopped, foreign.Notice(r.Problem)
		return job, nil
	}
	out, err := ran(ctx, r)
	if err != nil {
		return toolset.Job{}, err
	}
	job.State = toolset.JobDone
	job.Result, err = outcome{}.OK(out)
	return job, err
}

// StopJob ends a run, in any process and worktree of the repository.
func (t *Tools) StopJob(ctx context.Context, id string) error {
	r, err := t.tasks.Report(ctx, id, 0)
	if err != nil || r.State != runlog.Running {
		return err
	}
	if _, err = t.tasks.Stop(ctx, id, caller(ctx)); err != nil {
		if r, gone := t.tasks.Report(ctx, id, 0); gone == nil && r.State != runlog.Running {
			return nil // it has ended meanwhile
		}
	}
	return err
}

// caller returns the name of the one who stops a task.
func caller(ctx context.Context) string {
	if by := toolset.Client(ctx); by != "" {
		return foreign.Mention(cleantext.Cut(by, 40))
	}
	return "an assistant"
}

// about describes a run.
func about(t running.Task) string {
	return foreign.Notice(fmt.Sprintf("%s in %s", strings.Join(append([]string{t.Name}, t.Args...), " "), t.Root))
}

// ran returns the outcome of a run that has ended.
func ran(ctx context.Context, r runlog.Report) (RunOut, error) {
	out := RunOut{
		Task: r.Name, ExitCode: r.ExitCode, Problem: r.Problem, Truncated: r.LeftOut, reasons: r.Reasons,
	}
	if !r.Ended.IsZero() {
		out.DurationMS = r.Ended.Sub(r.Started).Milliseconds()
	}
	err := fit(ctx, func(bytes int) (string, error) {
		out.Output, out.Truncated = r.Output, r.LeftOut
		if len(r.Output) > bytes {
			head, _ := page.Head(secret.Of(ctx), r.Output, bytes/2)
			tail, _ := page.Tail(secret.Of(ctx), r.Output, bytes-bytes/2)
			more := len(r.Output) - len(head) - len(tail)
			out.Output, out.Truncated = fmt.Sprintf("%s\n… %s left out …\n%s", head, cleantext.Count(more, "byte"), tail), r.LeftOut+int64(more)
		}
		return out.Output, nil
	})
	return out, err
}
