package mcpserver_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/mcpserver"
	"github.com/copse-dev/copse/internal/toolset"
)

// memory has the tasks that the conformance suite calls for: some of them ask the client,
// which no tool of copse does.
type memory struct {
	mu    sync.Mutex
	tasks map[string]*remembered
}

type remembered struct {
	task   mcpserver.Task
	cancel context.CancelFunc
	asked  chan int // how much the client answers
}

// noJobs makes a server announce tasks.
type noJobs struct{}

func (noJobs) Job(context.Context, string) (toolset.Job, error) {
	return toolset.Job{}, errors.New("there are no jobs")
}
func (noJobs) StopJob(context.Context, string) error { return errors.New("there are no jobs") }

func (m *memory) of(id string) (*remembered, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if one := m.tasks[id]; one != nil {
		return one, nil
	}
	return nil, errors.New("there is no such task")
}

func (m *memory) Get(_ context.Context, id string) (*mcpserver.Task, error) {
	one, err := m.of(id)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := one.task
	now.InputRequests = maps.Clone(now.InputRequests)
	return &now, nil
}

func (m *memory) Cancel(_ context.Context, id string) error {
	one, err := m.of(id)
	if err == nil {
		one.cancel()
	}
	return err
}

func (m *memory) Update(ctx context.Context, id string, answers map[string]json.RawMessage) error {
	one, err := m.of(id)
	if err != nil {
		return err
	}
	m.mu.Lock()
	given := 0
	for key := range answers {
		if _, open := one.task.InputRequests[key]; open {
			delete(one.task.InputRequests, key)
			given++
		}
	}
	m.mu.Unlock()
	if given > 0 {
		select {
		case one.asked <- given:
		case <-ctx.Done():
		}
	}
	return nil
}

// begin runs work as a task.
func (m *memory) begin(work func(context.Context, *remembered) (*mcp.CallToolResult, error)) *mcpserver.Task {
	ctx, cancel := context.WithCancel(context.Background())
	now := time.Now().UTC()
	one := &remembered{cancel: cancel, asked: make(chan int, 8), task: mcpserver.Task{
		TaskID: rand.Text(), Status: "working", CreatedAt: now, LastUpdatedAt: now, TTLMs: 60_000, PollIntervalMs: 100,
	}}
	m.mu.Lock()
	m.tasks[one.task.TaskID] = one
	m.mu.Unlock()
	go func() {
		defer cancel()
		res, err := work(ctx, one)
		m.mu.Lock()
		defer m.mu.Unlock()
		one.task.PollIntervalMs, one.task.InputRequests, one.task.LastUpdatedAt = 0, nil, time.Now().UTC()
		failure, failed := errors.AsType[*jsonrpc.Error](err)
		switch {
		case ctx.Err() != nil:
			one.task.Status = "cancelled"
		case failed:
			one.task.Status, one.task.Error = "failed", failure
		default:
			one.task.Status, one.task.Result = "completed", res
		}
	}()
	return &mcpserver.Task{TaskID: one.task.TaskID, Status: "working", CreatedAt: now, LastUpdatedAt: now, TTLMs: 60_000, PollIntervalMs: 100}
}

// ask has a task wait for answers to all requests.
func (m *memory) ask(ctx context.Context, one *remembered, requests mcp.InputRequestMap) {
	m.mu.Lock()
	one.task.Status, one.task.InputRequests = "input_required", maps.Clone(requests)
	m.mu.Unlock()
	for open := len(requests); open > 0; {
		select {
		case given := <-one.asked:
			open -= given
		case <-ctx.Done():
			return
		}
	}
	m.mu.Lock()
	one.task.Status = "working"
	m.mu.Unlock()
}

// addTasks adds tools of which calls become tasks.
func addTasks(s *mcpserver.Server) {
	lib, m := s.Library(), &memory{tasks: make(map[string]*remembered)}
	s.ServeTasks(m)
	type work = func(context.Context, *remembered) (*mcp.CallToolResult, error)
	add := func(name string, required bool, prepare func(req *mcp.CallToolRequest) work) {
		addTool(lib, name, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			do := prepare(req)
			if mcpserver.BeginTask(ctx, func() *mcpserver.Task { return m.begin(do) }) {
				return &mcp.CallToolResult{}, nil
			}
			if required {
				return nil, mcpserver.ErrNoTasks
			}
			return do(ctx, nil)
		})
	}
	always := func(do work) func(*mcp.CallToolRequest) work {
		return func(*mcp.CallToolRequest) work { return do }
	}
	addTool(lib, "greet", func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var in struct{ Name string }
		err := json.Unmarshal(req.Params.Arguments, &in)
		return said("Hello, " + in.Name + "!"), err
	})
	add("slow_compute", false, func(req *mcp.CallToolRequest) work {
		var in struct{ Seconds float64 }
		_ = json.Unmarshal(req.Params.Arguments, &in) // the suite sends a number
		return func(ctx context.Context, _ *remembered) (*mcp.CallToolResult, error) {
			select {
			case <-time.After(time.Duration(in.Seconds * float64(time.Second))):
				return said("computed"), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	})
	add("failing_job", true, always(func(context.Context, *remembered) (*mcp.CallToolResult, error) {
		res := said("it went wrong")
		res.IsError = true
		return res, nil
	}))
	add("protocol_error_job", false, always(func(context.Context, *remembered) (*mcp.CallToolResult, error) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "it broke down"}
	}))
	add("confirm_delete", false, always(func(ctx context.Context, one *remembered) (*mcp.CallToolResult, error) {
		m.ask(ctx, one, mcp.InputRequestMap{"confirm": ask("Delete it?", "confirm", "boolean")})
		return said("deleted"), nil
	}))
	add("multi_input", false, always(func(ctx context.Context, one *remembered) (*mcp.CallToolResult, error) {
		m.ask(ctx, one, mcp.InputRequestMap{"one": ask("First?", "name", "string"), "two": ask("Second?", "name", "string")})
		return said("both"), nil
	}))
	addTool(lib, "test_tool_with_task", func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		answer, ok := req.Params.InputResponses["user_name"].(*mcp.ElicitResult)
		name, named := valueOf(answer, "name")
		if !ok || !named {
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"user_name": ask("What is your name?", "name", "string")}}, nil
		}
		mcpserver.BeginTask(ctx, func() *mcpserver.Task {
			return m.begin(func(context.Context, *remembered) (*mcp.CallToolResult, error) {
				return said(fmt.Sprintf("Hello, %s!", name)), nil
			})
		})
		return &mcp.CallToolResult{}, nil
	})
}
