// Package tasks serves the extension Tasks (SEP-2663): a long call answers with a task, and the
// client polls with tasks/get until it has ended. Only a client that declares the extension gets
// tasks; the same call of any other client answers when it is done.
package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/mcpserver/answer"
	"github.com/copse-dev/copse/internal/mcpserver/host"
	"github.com/copse-dev/copse/internal/mcpserver/route"
	"github.com/copse-dev/copse/internal/mcpserver/subscription"
	"github.com/copse-dev/copse/internal/mcpserver/wire"
	"github.com/copse-dev/copse/internal/toolset"
)

// Extension is the name of the extension.
const Extension = "io.modelcontextprotocol/tasks"

// The methods of the extension.
const (
	methodGet    = "tasks/get"
	methodUpdate = "tasks/update"
	methodCancel = "tasks/cancel"
)

// The states of a task on the wire.
const (
	working   = "working"
	completed = "completed"
	cancelled = "cancelled"
)

// Source provides the tasks of a server. Its errors are for display; one that is not a
// [*jsonrpc.Error] means that the task does not exist.
type Source interface {
	Get(ctx context.Context, id string) (*Task, error)
	// Update passes on answers to a task's requests.
	Update(ctx context.Context, id string, answers map[string]json.RawMessage) error
	// Cancel ends a task, and does nothing if it has already ended.
	Cancel(ctx context.Context, id string) error
}

// params are the parameters of all three methods.
type params struct {
	mcp.ParamsBase
	TaskID string `json:"taskId"`
	// InputResponses are decoded only for the requests: a client may answer more.
	InputResponses map[string]json.RawMessage `json:"inputResponses,omitempty"`
}

// Task is a task on the wire.
type Task struct {
	mcp.ResultBase
	ResultType     string              `json:"resultType"`
	TaskID         string              `json:"taskId"`
	Status         string              `json:"status"`
	StatusMessage  string              `json:"statusMessage,omitempty"`
	CreatedAt      time.Time           `json:"createdAt"`
	LastUpdatedAt  time.Time           `json:"lastUpdatedAt"`
	TTLMs          int64               `json:"ttlMs"`
	PollIntervalMs int64               `json:"pollIntervalMs,omitempty"`
	Result         *mcp.CallToolResult `json:"result,omitempty"`
	Error          *jsonrpc.Error      `json:"error,omitempty"`
	InputRequests  mcp.InputRequestMap `json:"inputRequests,omitempty"`
}

// acknowledgment is the result of a request whose effect only a later tasks/get shows.
type acknowledgment struct {
	mcp.ResultBase
	ResultType string `json:"resultType"`
}

// Redact implements [answer.Result]. The cut follows the removal of secrets, or part of one could
// remain.
func (t *Task) Redact(g *answer.Guard) {
	t.StatusMessage = cleantext.Cut(g.Text(t.StatusMessage), maxStatus)
	if t.Result != nil {
		g.Call(t.Result)
	}
}

// maxStatus is the maximum length of a status message.
const maxStatus = 300

// Tasks are the tasks of a server. A server of several repositories shows only the tasks of calls that it
// answered itself, to those who know their ID, or those of the worktree that the request reports.
type Tasks struct {
	Guard *answer.Guard
	// Source has the tasks of a server for one worktree.
	Source Source
	// Locator finds the worktree of a request; nil for one.
	Locator *route.Locator

	mu    sync.Mutex
	begun map[string]Source // by the ID of the task
	order []string          // the IDs, the oldest first
}

// maxBegun is the maximum number of tasks whose worktree is remembered.
const maxBegun = 10_000

// remember keeps the source of a task, if there can be others.
func (t *Tasks) remember(id string, of Source) {
	if !t.Locator.Several() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.begun == nil {
		t.begun = map[string]Source{}
	}
	t.begun[id] = of
	if t.order = append(t.order, id); len(t.order) > maxBegun {
		delete(t.begun, t.order[0])
		t.order = t.order[1:]
	}
}

// source returns what has the task of a request.
func (t *Tasks) source(ctx context.Context, p *params) (Source, error) {
	if t.Locator == nil {
		return t.Source, nil
	}
	worktree, err := t.Locator.Told(ctx, p.Meta)
	if err != nil {
		return nil, err
	}
	if worktree != nil {
		return Jobs(worktree.Jobs), nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if of, ok := t.begun[p.TaskID]; ok {
		return of, nil
	}
	return nil, errors.New("no call to this server has begun a task with this ID; a task ends with its server")
}

// Serve registers the methods.
func (t *Tasks) Serve(library *mcp.Server) {
	wire.Registered(mcp.AddReceivingCustomMethod(library, methodGet, t.get))
	wire.Registered(mcp.AddReceivingCustomMethod(library, methodUpdate, t.update))
	wire.Registered(mcp.AddReceivingCustomMethod(library, methodCancel, t.cancel))
	library.AddReceivingMiddleware(t.middleware)
}

// IsMethod reports whether a method is of the extension.
func IsMethod(name string) bool {
	return name == methodGet || name == methodUpdate || name == methodCancel
}

// Place receives the task that a call becomes.
type Place struct {
	Task *Task
	// Source has the task then, if the call has found its worktree.
	Source Source
}

type placeKey struct{}

// PlaceOf returns the place for the task of a call, nil if the call cannot become one.
func PlaceOf(ctx context.Context) *Place {
	p, _ := ctx.Value(placeKey{}).(*Place)
	return p
}

// middleware lets calls of clients with the extension become tasks, and refuses the methods of the
// extension to all others.
func (t *Tasks) middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch req := req.(type) {
		case *mcp.CallToolRequest:
			if !takesTasks(req.ProtocolVersion(), req.ClientCapabilities()) {
				break
			}
			begun := &Place{}
			res, err := next(context.WithValue(ctx, placeKey{}, begun), method, req)
			if begun.Task == nil || err != nil {
				return res, err
			}
			begun.Task.ResultType = "task"
			t.remember(begun.Task.TaskID, begun.Source)
			return begun.Task, nil
		case *mcp.ServerRequest[*params]:
			if req.Params == nil {
				return nil, wire.InvalidParams("%s needs a taskId, that of a result of tools/call", method)
			}
			if !takesTasks(req.ProtocolVersion(), req.ClientCapabilities()) {
				return nil, ErrUndeclared
			}
			ctx, _ = host.Known(ctx, req.ClientInfo())
			ctx = subscription.WithSession(ctx, req.Session)
			return next(ctx, method, req)
		}
		return next(ctx, method, req)
	}
}

// ErrUndeclared is the answer to a client that does not declare the extension.
var ErrUndeclared = &jsonrpc.Error{
	Code:    mcp.CodeMissingRequiredClientCapabilities,
	Message: "declare the extension " + Extension + " in the capabilities of the request to ask for tasks",
	Data:    json.RawMessage(`{"requiredCapabilities":{"extensions":{"` + Extension + `":{}}}}`),
}

// takesTasks reports whether a request comes from a client with the extension. Clients that begin a
// session declare it for all revisions, but support the results only in the revision without
// sessions.
func takesTasks(revision string, caps *mcp.ClientCapabilities) bool {
	return revision >= wire.ModernEra && wire.Declares(caps, Extension)
}

func (t *Tasks) get(ctx context.Context, _ *mcp.ServerSession, params *params) (_ *Task, err error) {
	defer t.Guard.Recovered(ctx, methodGet, &err)
	of, err := t.source(ctx, params)
	if err != nil {
		return nil, taskError(err)
	}
	found, err := of.Get(ctx, params.TaskID)
	if err != nil {
		return nil, taskError(err)
	}
	found.ResultType = "complete"
	return found, nil
}

func (t *Tasks) update(ctx context.Context, _ *mcp.ServerSession, params *params) (_ *acknowledgment, err error) {
	defer t.Guard.Recovered(ctx, methodUpdate, &err)
	of, err := t.source(ctx, params)
	if err == nil {
		err = of.Update(ctx, params.TaskID, params.InputResponses)
	}
	return &acknowledgment{ResultType: "complete"}, taskError(err)
}

func (t *Tasks) cancel(ctx context.Context, _ *mcp.ServerSession, params *params) (_ *acknowledgment, err error) {
	defer t.Guard.Recovered(ctx, methodCancel, &err)
	of, err := t.source(ctx, params)
	if err == nil {
		err = of.Cancel(ctx, params.TaskID)
	}
	return &acknowledgment{ResultType: "complete"}, taskError(err)
}

// taskError returns an error of a source for the wire.
func taskError(err error) error {
	if err == nil {
		return nil
	}
	if own, ok := err.(*jsonrpc.Error); ok { //nolint:errorlint // the library accepts no other
		return own
	}
	return wire.InvalidParams("%v", err)
}

// Jobs are the jobs of toolsets as tasks. They make no requests.
type Jobs []toolset.Jobs

// Get returns the task of a job.
func (j Jobs) Get(ctx context.Context, id string) (*Task, error) {
	_, found, err := j.find(ctx, id)
	if err != nil {
		return nil, err
	}
	return Of(found, host.Of(toolset.Client(ctx))), nil
}

// Update ignores all answers.
func (j Jobs) Update(ctx context.Context, id string, _ map[string]json.RawMessage) error {
	_, _, err := j.find(ctx, id)
	return err
}

// Cancel ends a job.
func (j Jobs) Cancel(ctx context.Context, id string) error {
	of, _, err := j.find(ctx, id)
	if err != nil {
		return err
	}
	return of.StopJob(ctx, id)
}

// find returns a job, and its owner.
func (j Jobs) find(ctx context.Context, id string) (of toolset.Jobs, found toolset.Job, err error) {
	for _, of = range j {
		if found, err = of.Job(ctx, id); err == nil {
			return of, found, nil
		}
	}
	return nil, found, err
}

// Of returns a job as a task for a host.
func Of(j toolset.Job, by host.Host) *Task {
	t := &Task{
		TaskID: j.ID, Status: working, StatusMessage: j.Message,
		CreatedAt: j.Began.UTC(), LastUpdatedAt: j.Changed.UTC(), TTLMs: j.Keep.Milliseconds(),
	}
	switch j.State {
	case toolset.JobRuns:
		t.PollIntervalMs = pollInterval(time.Since(j.Began)).Milliseconds()
	case toolset.JobStopped:
		t.Status = cancelled
	case toolset.JobDone:
		t.Status, t.Result = completed, wire.Result(by.Fitted(j.Result))
	}
	return t
}

// pollInterval returns how long a client should wait before the next poll: a task that has been
// running for long is unlikely to end soon.
func pollInterval(running time.Duration) time.Duration {
	return min(max(running/10, 500*time.Millisecond), 5*time.Second)
}
