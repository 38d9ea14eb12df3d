// Package runlog records a user's task runs, so every process of the
// user can ask whether a run is still running, how it ended, and what it printed last.
//
// A [Log] is a directory with one file for each run. [Log.Begin] writes it and updates it
// while the run prints; [Recording.End] writes the outcome. [Log.Get] returns a
// [Report]. It guarantees that
//
//   - the log is limited: it stores the output that the caller stores, of the last [MaxRuns]
//     runs, for [Keep];
//   - a run is stored while it runs, and for [Promised] after its end, as long as there are no
//     more than [HardMaxRuns];
//   - a run whose process was killed is reported as [Lost], not as running;
//   - output is written after the caller's function has removed secrets, never before.
//
// A log without a usable directory knows the runs of its own process.
package runlog

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/recipe/running"
	"github.com/copse-dev/copse/internal/userdir"
)

// State is the state of a run.
type State string

// The states.
const (
	Running State = "running"
	Done    State = "done"    // it ended with exit code 0
	Failed  State = "failed"  // it ended with another exit code
	Stopped State = "stopped" // it was stopped, canceled or ran out of time
	Lost    State = "lost"    // the process that ran it was killed
)

// Outcome is how a run ended.
type Outcome struct {
	State State `json:"state"`
	// ExitCode is -1 if the run was stopped.
	ExitCode int    `json:"exit_code"`
	Problem  string `json:"problem,omitempty"`
	// Reasons are the lines of the output that explain a failure, without secrets; none if they are
	// easy to find. They can be in an omitted part of the output.
	Reasons []string `json:"reasons,omitempty"`
	// TimedOut means that a run was stopped after its time limit.
	TimedOut bool      `json:"timed_out,omitempty"`
	Ended    time.Time `json:"ended,omitzero"`
}

// Report describes a run.
type Report struct {
	running.Task
	Outcome
	// Output is the output of the run, without secrets; LeftOut is the number of bytes missing in
	// its middle.
	Output  string `json:"output"`
	LeftOut int64  `json:"truncated_bytes"`
}

const (
	// MaxRuns is the number of stored runs.
	MaxRuns = 100
	// Keep is how long a run is stored.
	Keep = 72 * time.Hour
	// Promised is how long an ended run is stored even if there are more than MaxRuns.
	Promised = 15 * time.Minute
	// HardMaxRuns is the absolute maximum of stored runs.
	HardMaxRuns = 500

	// writeEvery is the maximum age of the output that another process sees.
	writeEvery = 500 * time.Millisecond
	// lookEvery is the polling interval of a process that waits for another process's run.
	lookEvery = 100 * time.Millisecond

	ending  = ".json"
	maxFile = 1 << 20
)

// Log contains the runs of a user. It is safe for concurrent use.
type Log struct {
	dir    userdir.Dir
	redact func(string) string
	// growing returns the beginning of a text without secrets.
	growing func(string) string

	mu  sync.Mutex
	own map[string]*Recording
}

// New returns the log in a directory, which is created when needed; "" is none. redact returns a
// text without secrets.
func New(dir string, redact func(string) string) *Log {
	return &Log{dir: userdir.Dir(dir), redact: redact, own: make(map[string]*Recording)}
}

// Growing sets the function that returns the output of an unfinished run without secrets. It returns
// the log.
func (l *Log) Growing(redact func(string) string) *Log {
	l.growing = redact
	return l
}

// Recording is a run of this process.
type Recording struct {
	log    *Log
	task   running.Task
	output func() (string, int64)
	ended  chan struct{}
	writer sync.WaitGroup

	mu      sync.Mutex
	outcome Outcome
}

// Begin records a run. output returns its output so far and the number of omitted bytes; it is
// called from other goroutines. [Recording.End] must be called.
func (l *Log) Begin(task running.Task, output func() (string, int64)) *Recording {
	r := &Recording{log: l, task: task, output: output, ended: make(chan struct{}), outcome: Outcome{State: Running}}
	l.prune()
	l.mu.Lock()
	l.own[task.ID] = r
	l.mu.Unlock()
	_ = l.write(r.report()) // a run that no other process sees continues nevertheless
	r.writer.Go(r.follow)
	return r
}

// follow writes the output while it grows.
func (r *Recording) follow() {
	tick := time.NewTicker(writeEvery)
	defer tick.Stop()
	last := ""
	for {
		select {
		case <-r.ended:
			return
		case <-tick.C:
			if text, _ := r.output(); text != last {
				last = text
				_ = r.log.write(r.report())
			}
		}
	}
}

// End records the outcome of the run. Later calls change nothing.
func (r *Recording) End(o Outcome) {
	r.mu.Lock()
	first := r.outcome.State == Running
	if first {
		r.outcome = o
	}
	r.mu.Unlock()
	if !first {
		return
	}
	close(r.ended)
	r.writer.Wait()
	if r.log.write(r.report()) == nil {
		// From now on, the file is enough.
		r.log.mu.Lock()
		delete(r.log.own, r.task.ID)
		r.log.mu.Unlock()
	}
}

func (r *Recording) report() Report {
	r.mu.Lock()
	outcome := r.outcome
	r.mu.Unlock()
	text, leftOut := r.output()
	switch {
	case outcome.State == Running && r.log.growing != nil:
		text = r.log.growing(text)
	case r.log.redact != nil:
		text = r.log.redact(text)
	}
	return Report{Task: r.task, Outcome: outcome, Output: text, LeftOut: leftOut}
}

// write writes the file of a run.
func (l *Log) write(r Report) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return l.dir.Replace(r.ID+ending, data)
}

// NotFoundError reports that there is no run with an ID.
type NotFoundError struct {
	ID string
	// Kept are the stored runs, the latest first.
	Kept []Report
}

func (e *NotFoundError) Error() string {
	if len(e.Kept) == 0 {
		return "There is no recorded task run; run a task first"
	}
	text := fmt.Sprintf("No task run has the id %q", cleantext.Cut(e.ID, 40))
	const maxListed = 10
	var names []string
	for _, r := range e.Kept[:min(len(e.Kept), maxListed)] {
		names = append(names, fmt.Sprintf("%s (%s, %s)", r.ID, r.Name, r.State))
	}
	return text + ". The latest: " + strings.Join(names, ", ")
}

// Get returns the report of a run. During the run, it first waits for its end, but no longer than
// wait or ctx allow. The error is a [*NotFoundError].
func (l *Log) Get(ctx context.Context, id string, wait time.Duration) (Report, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	l.mu.Lock()
	own := l.own[id]
	l.mu.Unlock()
	if own != nil {
		select {
		case <-own.ended:
		case <-ctx.Done():
		}
		return own.report(), nil
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		found, ok := l.read(id)
		if !ok {
			return Report{}, &NotFoundError{ID: id, Kept: l.Latest()}
		}
		if found.State != Running {
			return found, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return found, nil
		}
	}
}

// read returns the report in a file.
func (l *Log) read(id string) (Report, bool) {
	if !running.ValidID(id) {
		return Report{}, false
	}
	data, err := l.dir.Read(id+ending, maxFile)
	if err != nil {
		return Report{}, false
	}
	var r Report
	if json.Unmarshal(data, &r) != nil || r.ID != id {
		return Report{}, false
	}
	if r.State == Running && !r.Owner.Alive() {
		// It may have written the outcome just before it ended.
		if data, err := l.dir.Read(id+ending, maxFile); err != nil || json.Unmarshal(data, &r) != nil || r.State != Running {
			return r, err == nil
		}
		r.Outcome = Outcome{State: Lost, ExitCode: -1, Problem: "the process that ran it was killed"}
	}
	return r, true
}

// Latest returns the stored runs, the latest first.
func (l *Log) Latest() []Report {
	found := map[string]Report{}
	for _, e := range l.dir.List() {
		id, ok := strings.CutSuffix(e.Name(), ending)
		if !ok {
			continue
		}
		if r, ok := l.read(id); ok {
			found[id] = r
		}
	}
	l.mu.Lock()
	for id, r := range l.own {
		found[id] = r.report()
	}
	l.mu.Unlock()
	return slices.SortedFunc(maps.Values(found), func(a, b Report) int {
		return cmp.Or(b.Started.Compare(a.Started), strings.Compare(a.ID, b.ID))
	})
}

// prune removes runs that are old or too many. Running ones stay.
func (l *Log) prune() {
	l.mu.Lock()
	defer l.mu.Unlock()
	var ended []*Recording
	for _, r := range l.own {
		r.mu.Lock()
		if r.outcome.State != Running {
			ended = append(ended, r)
		}
		r.mu.Unlock()
	}
	slices.SortFunc(ended, func(a, b *Recording) int { return a.task.Started.Compare(b.task.Started) })
	for _, r := range ended[:max(0, len(ended)-MaxRuns+1)] {
		delete(l.own, r.task.ID)
	}

	var files []os.FileInfo
	for _, e := range l.dir.List() {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b os.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for i, info := range files {
		age := time.Since(info.ModTime())
		if i < MaxRuns-1 && age < Keep || i < HardMaxRuns-1 && age < Promised {
			continue
		}
		if r, ok := l.read(strings.TrimSuffix(info.Name(), ending)); !ok || r.State != Running {
			l.dir.Remove(info.Name())
		}
	}
}
