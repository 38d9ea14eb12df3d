package mcpserver

import (
	"context"
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/mcpserver/host"
	"github.com/copse-dev/copse/internal/mcpserver/subscription"
	"github.com/copse-dev/copse/internal/mcpserver/wire"
	"github.com/copse-dev/copse/internal/toolset"
)

// The extension Tasks (SEP-2663): a long call answers with a task, and the client polls with
// tasks/get until it has ended. Only a client that declares the extension gets tasks; the same call
// of any other client answers when it is done.
const tasksExtension = "io.modelcontextprotocol/tasks"

// The methods of the extension.
const (
	tasksGet    = "tasks/get"
	tasksUpdate = "tasks/update"
	tasksCancel = "tasks/cancel"
)

// The states of a task on the wire.
const (
	taskWorking   = "working"
	taskCompleted = "completed"
	taskCancelled = "cancelled"
)

// taskSource provides the tasks of a server. Its errors are for display; one that is not a
// [*jsonrpc.Error] means that the task does not exist.
type taskSource interface {
	Get(ctx context.Context, id string) (*task, error)
	// Update passes on answers to a task's requests.
	Update(ctx context.Context, id string, answers map[string]json.RawMessage) error
	// Cancel ends a task, and does nothing if it has already ended.
	Cancel(ctx context.Context, id string) error
}

// taskParams are the parameters of all three methods.
type taskParams struct {
	mcp.ParamsBase
	TaskID string `json:"taskId"`
	// InputResponses are decoded only for the requests: a client may answer more.
	InputResponses map[string]json.RawMessage `json:"inputResponses,omitempty"`
}

// task is a task on the wire.
type task struct {
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

// tasks serves the extension.
type tasks struct {
	server *Server
	source taskSource
}

// serve registers the methods.
func (t *tasks) serve(library *mcp.Server) {
	// The errors mean that the protocol itself has a method with that name.
	must(mcp.AddReceivingCustomMethod(library, tasksGet, t.get))
	must(mcp.AddReceivingCustomMethod(library, tasksUpdate, t.update))
	must(mcp.AddReceivingCustomMethod(library, tasksCancel, t.cancel))
}

// beginning receives the task that a call becomes.
type beginning struct{ task *task }

type beginningKey struct{}

// beginningOf returns the place for the task of a call, nil if the call cannot become one.
func beginningOf(ctx context.Context) *beginning {
	b, _ := ctx.Value(beginningKey{}).(*beginning)
	return b
}

// middleware lets calls of clients with the extension become tasks, and refuses the methods of the
// extension to all others.
func (t *tasks) middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch req := req.(type) {
		case *mcp.CallToolRequest:
			if !takesTasks(req.ProtocolVersion(), req.ClientCapabilities()) {
				break
			}
			begin := &beginning{}
			res, err := next(context.WithValue(ctx, beginningKey{}, begin), method, req)
			if begin.task == nil || err != nil {
				return res, err
			}
			begin.task.ResultType = "task"
			return begin.task, nil
		case *mcp.ServerRequest[*taskParams]:
			if req.Params == nil {
				return nil, wire.InvalidParams("%s needs a taskId, that of a result of tools/call", method)
			}
			if !takesTasks(req.ProtocolVersion(), req.ClientCapabilities()) {
				return nil, errNoTasks
			}
			ctx, _ = host.Known(ctx, req.ClientInfo())
			ctx = subscription.WithSession(ctx, req.Session)
			return next(ctx, method, req)
		}
		return next(ctx, method, req)
	}
}

// errNoTasks is the answer to a client that does not declare the extension.
var errNoTasks = &jsonrpc.Error{
	Code:    mcp.CodeMissingRequiredClientCapabilities,
	Message: "declare the extension " + tasksExtension + " in the capabilities of the request to ask for tasks",
	Data:    json.RawMessage(`{"requiredCapabilities":{"extensions":{"` + tasksExtension + `":{}}}}`),
}

// takesTasks reports whether a request comes from a client with the extension. Clients that begin a
// session declare it for all revisions, but support the results only in the revision without
// sessions.
func takesTasks(revision string, caps *mcp.ClientCapabilities) bool {
	return revision >= wire.ModernEra && declares(caps, tasksExtension)
}

// declares reports whether a client has an extension.
func declares(caps *mcp.ClientCapabilities, extension string) bool {
	if caps == nil {
		return false
	}
	_, ok := caps.Extensions[extension]
	return ok
}

func (t *tasks) get(ctx context.Context, _ *mcp.ServerSession, params *taskParams) (_ *task, err error) {
	defer t.server.recovered(ctx, tasksGet, &err)
	found, err := t.source.Get(ctx, params.TaskID)
	if err != nil {
		return nil, taskError(err)
	}
	found.ResultType = "complete"
	return found, nil
}

func (t *tasks) update(ctx context.Context, _ *mcp.ServerSession, params *taskParams) (_ *acknowledgment, err error) {
	defer t.server.recovered(ctx, tasksUpdate, &err)
	return &acknowledgment{ResultType: "complete"}, taskError(t.source.Update(ctx, params.TaskID, params.InputResponses))
}

func (t *tasks) cancel(ctx context.Context, _ *mcp.ServerSession, params *taskParams) (_ *acknowledgment, err error) {
	defer t.server.recovered(ctx, tasksCancel, &err)
	return &acknowledgment{ResultType: "complete"}, taskError(t.source.Cancel(ctx, params.TaskID))
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

// jobs are the jobs of toolsets as tasks. They make no requests.
type jobs []toolset.Jobs

// Get returns the task of a job.
func (j jobs) Get(ctx context.Context, id string) (*task, error) {
	_, found, err := j.find(ctx, id)
	if err != nil {
		return nil, err
	}
	return taskOf(found, host.Of(toolset.Client(ctx))), nil
}

// Update ignores all answers.
func (j jobs) Update(ctx context.Context, id string, _ map[string]json.RawMessage) error {
	_, _, err := j.find(ctx, id)
	return err
}

// Cancel ends a job.
func (j jobs) Cancel(ctx context.Context, id string) error {
	of, _, err := j.find(ctx, id)
	if err != nil {
		return err
	}
	return of.StopJob(ctx, id)
}

// find returns a job, and its owner.
func (j jobs) find(ctx context.Context, id string) (of toolset.Jobs, found toolset.Job, err error) {
	for _, of = range j {
		if found, err = of.Job(ctx, id); err == nil {
			return of, found, nil
		}
	}
	return nil, found, err
}

// maxStatus is the maximum length of a status message. The cut follows the removal of secrets, or
// part of one could remain.
const maxStatus = 300

// taskOf returns a job as a task for a host.
func taskOf(j toolset.Job, by host.Host) *task {
	t := &task{
		TaskID: j.ID, Status: taskWorking, StatusMessage: j.Message,
		CreatedAt: j.Began.UTC(), LastUpdatedAt: j.Changed.UTC(), TTLMs: j.Keep.Milliseconds(),
	}
	switch j.State {
	case toolset.JobRuns:
		t.PollIntervalMs = pollInterval(time.Since(j.Began)).Milliseconds()
	case toolset.JobStopped:
		t.Status = taskCancelled
	case toolset.JobDone:
		t.Status, t.Result = taskCompleted, wireResult(by.Fitted(j.Result))
	}
	return t
}

// pollInterval returns how long a client should wait before the next poll: a task that has been
// running for long is unlikely to end soon.
func pollInterval(running time.Duration) time.Duration {
	return min(max(running/10, 500*time.Millisecond), 5*time.Second)
}
