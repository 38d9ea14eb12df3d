package toolset

import (
	"context"
	"encoding/json"
	"time"
)

// Job is a call that continues after its answer. Clients that support waiting poll it by its ID.
type Job struct {
	ID    string
	State JobState
	// Message describes the job, or why it ended early.
	Message string
	// Began is when the job began. Changed is when its state last changed.
	Began, Changed time.Time
	// Keep is how long after Began the job can be polled. It grows while the job runs.
	Keep time.Duration
	// Result is the answer of a job that is JobDone.
	Result Result
}

// JobState is the state of a job.
type JobState string

// The states of a job. A job that failed is done: its result is an error.
const (
	JobRuns    JobState = "runs"
	JobDone    JobState = "done"
	JobStopped JobState = "stopped"
)

// Jobs are the calls that continue, including those of other servers of the same user.
type Jobs interface {
	// Job returns a job. The error is for display.
	Job(ctx context.Context, id string) (Job, error)
	// StopJob ends a running job, and does nothing to one that has ended. The error is for display.
	StopJob(ctx context.Context, id string) error
}

// Lasting returns a tool whose calls can become jobs. begin runs a call like the handler of t, and
// returns a job instead of an output if the call continues. In must be that of t, and shape must
// have created it.
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
