// Package running lists the running tasks of a user, in every process and every worktree, and ends
// them.
//
// A [Registry] is a directory with one file for each running task. [Registry.Begin] writes it, and
// the function that Begin returns removes it. The file of a killed process stays behind;
// [Registry.List] recognizes it by the process's number and start time. [Registry.Stop] signals the
// process that leads a task, after the same check: a number that the system has assigned to another
// process is never signaled.
//
// If anybody but the user can write to the directory, it is not used: a registry without a
// directory knows the tasks of its own process.
package running

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/userdir"
	"github.com/copse-dev/copse/internal/xec/family"
)

// Task is a running task.
type Task struct {
	// ID identifies the run.
	ID   string   `json:"id"`
	Name string   `json:"task"`
	Args []string `json:"args,omitempty"`
	// Root is the project's.
	Root string `json:"root"`
	// Client is who started it: the name of an MCP client, or a command.
	Client  string    `json:"client"`
	Started time.Time `json:"started"`
	// Owner is the process that started it, Leader the process that a signal must reach to end it.
	Owner  family.Process `json:"owner"`
	Leader family.Process `json:"leader"`
}

// Who starts a task: an assistant whose client has no name, or a person.
const (
	Unnamed = "an assistant"
	Person  = "copse task run"
)

// Starter returns the client as a message shows it: the name of a stranger's client is quoted.
func (t Task) Starter() string {
	if t.Client == Unnamed || t.Client == Person {
		return t.Client
	}
	return foreign.Mention(t.Client)
}

// Registry are the tasks of a user. It is safe for concurrent use.
type Registry struct {
	dir userdir.Dir // "" for none

	mu  sync.Mutex
	own map[string]*run
}

// run is a task of this process.
type run struct {
	task Task
	stop func(by string)
}

// NewRegistry returns the registry in a directory, which is created when needed; "" is for none.
func NewRegistry(dir string) *Registry {
	return &Registry{dir: userdir.Dir(dir), own: make(map[string]*run)}
}

const (
	// maxFile is the maximum size of the file.
	maxFile = 1 << 20
	// keep is longer than the longest possible task.
	keep = 24 * time.Hour
	// Grace is how long a task may take to clean up after it was asked to end.
	Grace = 5 * time.Second
	// StopTimeout is the time limit for a task to end.
	StopTimeout = Grace + 2*time.Second
)

// Run is a task of this process that [Registry.Begin] has recorded.
type Run struct {
	registry *Registry
	id       string
	task     Task
}

// Begin records a task, and fills in its ID, Owner, and Leader. stop is called, at most once, when
// another caller in this process ends it. End must be called.
func (r *Registry) Begin(t Task, stop func(by string)) *Run {
	t.ID = strings.ToLower(rand.Text()[:10])
	t.Owner = family.Identify(os.Getpid())
	r.mu.Lock()
	r.own[t.ID] = &run{task: t, stop: stop}
	r.mu.Unlock()
	r.write(t)
	return &Run{registry: r, id: t.ID, task: t}
}

// Task returns the recorded task.
func (b *Run) Task() Task {
	b.registry.mu.Lock()
	defer b.registry.mu.Unlock()
	return b.task
}

// Lead records the process whose end ends the task.
func (b *Run) Lead(pid int) {
	b.registry.mu.Lock()
	one := b.registry.own[b.id]
	one.task.Leader = family.Identify(pid)
	b.task = one.task
	t := one.task
	b.registry.mu.Unlock()
	b.registry.write(t)
}

// StoppedBy returns who asked another process to end the task, "" if nobody did.
func (b *Run) StoppedBy() string {
	data, err := b.registry.dir.Read(b.id+request, maxFile)
	if err != nil {
		return ""
	}
	return string(data)
}

// End removes the task.
func (b *Run) End() {
	r := b.registry
	r.mu.Lock()
	delete(r.own, b.id)
	r.mu.Unlock()
	if r.dir != "" {
		r.remove(b.id)
	}
}

// The suffixes of a task's files.
const (
	record  = ".json"
	request = ".stop"
)

func (r *Registry) remove(id string) {
	r.dir.Remove(id + record)
	r.dir.Remove(id + request)
}

// write writes the file of a task. A task that no other process sees runs nevertheless.
func (r *Registry) write(t Task) {
	if data, err := json.Marshal(t); err == nil {
		_ = r.dir.Replace(t.ID+record, data)
	}
}

// List returns the running tasks, the oldest first.
func (r *Registry) List() []Task {
	r.mu.Lock()
	found := make(map[string]Task, len(r.own))
	for id, one := range r.own {
		found[id] = one.task
	}
	r.mu.Unlock()
	for _, e := range r.dir.List() {
		id, ok := strings.CutSuffix(e.Name(), record)
		if _, own := found[id]; !ok || own || !ValidID(id) {
			continue
		}
		if t, ok := r.read(id); ok {
			found[id] = t
		}
	}
	tasks := make([]Task, 0, len(found))
	for _, t := range found {
		tasks = append(tasks, t)
	}
	slices.SortFunc(tasks, func(a, b Task) int {
		if c := a.Started.Compare(b.Started); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return tasks
}

// ValidID reports whether a text can be an ID, and thus a part of a file's name.
func ValidID(id string) bool {
	return len(id) == 10 && strings.IndexFunc(id, func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') }) < 0
}

// read returns the task of a file. The file of a task whose process has ended is removed
// after a while: the process may be alive in another container that shares the directory.
func (r *Registry) read(id string) (Task, bool) {
	data, err := r.dir.Read(id+record, maxFile)
	if err != nil {
		return Task{}, false
	}
	var t Task
	if json.Unmarshal(data, &t) != nil || t.ID != id || !t.Owner.Alive() {
		if time.Since(t.Started) > keep {
			r.remove(id)
		}
		return Task{}, false
	}
	return t, true
}

// Find returns the running task with a name in the project at root.
func (r *Registry) Find(root, name string) (Task, bool) {
	for _, t := range r.List() {
		if t.Root == root && t.Name == name {
			return t, true
		}
	}
	return Task{}, false
}

// NotRunningError reports that no running task has an ID.
type NotRunningError struct {
	ID string
	// Running are the running tasks.
	Running []Task
}

func (e *NotRunningError) Error() string {
	text := fmt.Sprintf("No running task has the id %q", cleantext.Cut(e.ID, 40))
	if len(e.Running) == 0 {
		return text + ", and no task is running: a task that has ended needs no stop"
	}
	const maxListed = 10
	var names []string
	for _, t := range e.Running[:min(len(e.Running), maxListed)] {
		names = append(names, t.ID+" ("+t.Name+")")
	}
	if more := len(e.Running) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return text + ". Running: " + strings.Join(names, ", ")
}

// Stop ends a task with everything that it started, and returns when it has ended. by names the one
// who stops it, for processes that wait for the task. The error is a [*NotRunningError], that of
// ctx, or explains why the task continues.
func (r *Registry) Stop(ctx context.Context, id, by string) (Task, error) {
	r.mu.Lock()
	one := r.own[id]
	r.mu.Unlock()
	if one != nil {
		one.stop(by)
		return one.task, r.await(ctx, func() bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.own[id] == nil
		})
	}
	all := r.List()
	at := slices.IndexFunc(all, func(t Task) bool { return t.ID == id })
	if at < 0 {
		return Task{}, &NotRunningError{ID: id, Running: all}
	}
	t := all[at]
	ended := func() bool {
		var running bool
		t, running = r.current(t)
		return !running
	}
	_ = r.await(ctx, func() bool { return ended() || t.Leader.PID != 0 }) // it may be about to start
	if err := r.dir.Replace(id+request, []byte(by)); err != nil {
		return t, fmt.Errorf("stop task %s: %w", id, err)
	}
	for _, end := range []func(*os.Process) error{terminate, (*os.Process).Kill} {
		if leader := family.Find(t.Leader.PID, t.Leader.Start); leader != nil {
			err := end(leader)
			_ = leader.Release()
			if err != nil && !errors.Is(err, os.ErrProcessDone) {
				return t, fmt.Errorf("stop task %s: %w", id, err)
			}
		}
		err := r.await(ctx, func() bool { return ended() || !t.Leader.Alive() })
		if err == nil {
			_ = r.await(ctx, ended) // so that a process that asks now learns that it was stopped
		}
		if err == nil || ctx.Err() != nil {
			return t, err
		}
	}
	return t, fmt.Errorf("task %s has not ended within %s", id, 2*StopTimeout)
}

// current reads a task of another process again.
func (r *Registry) current(t Task) (Task, bool) {
	if now, ok := r.read(t.ID); ok {
		return now, true
	}
	return t, false
}

var errStays = errors.New("the task has not ended in time")

// await waits until done.
func (r *Registry) await(ctx context.Context, done func() bool) error {
	limit := time.NewTimer(StopTimeout)
	defer limit.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-limit.C:
			return errStays
		}
	}
	return nil
}
