package toolset

import (
	"context"
	"encoding/json"
	"time"
)

// Job is a call that goes on after it has answered. Clients that can wait for calls on their
// own ask for it by its ID.
type Job struct {
	ID    string
	State JobState
	// Message says what the job is, or why it ended early.
	Message string
	// Began is when the job began. Changed is when its state changed last.
	Began, Changed time.Time
	// Keep is how long after Began the job can be asked for. It grows while the job runs.
	Keep time.Duration
	// Result is the answer of a job that is JobDone.
	Result Result
}

// JobState is how far a job is.
type JobState string

// The states of a job. A job that failed is done: its result is an error.
const (
	JobRuns    JobState = "runs"
	JobDone    JobState = "done"
	JobStopped JobState = "stopped"
)

// Jobs are the calls that go on, also those of other servers of the same user.
type Jobs interface {
	// Job returns a job. The error is for showing.
	Job(ctx context.Context, id string) (Job, error)
	// StopJob ends a job that runs, and does nothing to one that has ended. The error is
	// for showing.
	StopJob(ctx context.Context, id string) error
}

// Lasting returns a tool of which a call can become a job. begin runs a call like the
// handler of t, and returns a job instead of an output if the call goes on. In must be that
// of t, shape must have made it.
func Lasting[In, Out any](t Tool, shape Shape[Out], begin func(context.Context, In) (Out, *Job, error)) Tool {
	t.Begin = func(ctx context.Context, raw json.RawMessage) (Result, *Job) {
		var in In
		if err := inputOf[In]().decode(raw, &in); err != nil {
			return shape.Fail(err), nil
		}
		out, job, err := begin(ctx, in)
		if job != nil && err == nil {
			return Result{}, job
		}
		return answer(shape, out, err), nil
	}
	return t
}
