package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/mcpserver/host"
	"github.com/copse-dev/copse/internal/mcpserver/route"
	"github.com/copse-dev/copse/internal/mcpserver/subscription"
	"github.com/copse-dev/copse/internal/mcpserver/tasks"
	"github.com/copse-dev/copse/internal/mcpserver/wire"
	"github.com/copse-dev/copse/internal/toolset"
)

// levelTrace is below slog's debug: complete arguments and results.
const levelTrace = -8

// tools are the tools of a server. Registering all of them takes the library milliseconds, for
// which every client would wait at the start. The library therefore gets a tool at its first call,
// and the list is built here.
type tools struct {
	server *Server
	list   func() []*mcp.Tool
	linked func() []*mcp.Tool // the list for clients that show views
	byName map[string]*lateTool
}

// lateTool is a tool that the library may not have yet.
type lateTool struct {
	tool     toolset.Tool
	register sync.Once
}

// newTools returns all tools of a server; located contains the names of those that declare the
// argument "worktree". Every tool accepts it, or "answered_in" if it has another argument of that
// name. Declaring it everywhere would cost each client a kilobyte.
func newTools(s *Server, all []toolset.Tool, located map[string]bool) *tools {
	t := &tools{server: s, byName: make(map[string]*lateTool, len(all))}
	for _, tool := range all {
		t.byName[tool.Name] = &lateTool{tool: tool}
	}
	t.list = sync.OnceValue(func() []*mcp.Tool {
		defs := make([]*mcp.Tool, len(all))
		told := false
		for i, tool := range all {
			input := tool.Input()
			switch {
			case s.locator == nil:
			case hasOwnWorktree(tool):
				input = with(input, route.AnsweredIn, &jsonschema.Schema{Type: "string"})
			case located[tool.Name]:
				input = with(input, route.WorktreeArgument, worktreeInput(&told))
			}
			defs[i] = definition(tool, input)
		}
		return defs
	})
	t.linked = sync.OnceValue(func() []*mcp.Tool {
		defs := slices.Clone(t.list())
		for i, tool := range all {
			defs[i] = link(defs[i], tool.View)
		}
		return defs
	})
	return t
}

func (t *tools) middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch req := req.(type) {
		case *mcp.ListToolsRequest:
			// There is one page, whatever the library knows of it. The result must be the
			// library's: it sets a private mark in it.
			res, err := next(ctx, method, req)
			if list, ok := res.(*mcp.ListToolsResult); ok && err == nil {
				list.Tools = t.list()
			}
			return res, err
		case *mcp.CallToolRequest:
			if late := t.byName[req.Params.Name]; late != nil {
				late.register.Do(func() { t.server.addTool(late.tool) })
			}
		}
		return next(ctx, method, req)
	}
}

// definition returns a tool's definition for clients.
func definition(t toolset.Tool, input *jsonschema.Schema) *mcp.Tool {
	def := &mcp.Tool{
		Name:        t.Name,
		Title:       t.Title,
		Description: t.Description,
		InputSchema: wire.SchemaJSON(input),
		Annotations: annotations(t.Hints),
	}
	if t.Output() != nil {
		def.OutputSchema = wire.SchemaJSON(t.Output())
	}
	return def
}

func (s *Server) addTool(t toolset.Tool) {
	// The library's typed registration would check arguments with its own messages; the toolset's
	// shape has other messages.
	argument := sync.OnceValue(func() string {
		if hasOwnWorktree(t) {
			return route.AnsweredIn
		}
		return route.WorktreeArgument
	})
	s.mcp.AddTool(definition(t, t.Input()), func(ctx context.Context, req *mcp.CallToolRequest) (_ *mcp.CallToolResult, err error) {
		defer s.guard.Recovered(ctx, "tool "+t.Name, &err)
		ctx, cancel := context.WithCancel(ctx)
		defer cancel() // goroutines that a handler leaves behind report no more progress
		ctx, by := host.Known(ctx, req.ClientInfo())
		ctx = subscription.WithSession(ctx, req.Session)
		ctx = s.withProgress(ctx, req)
		if s.locator == nil {
			return s.answer(ctx, req, t, req.Params.Arguments, by, ""), nil
		}
		asked, args, err := route.TakeWorktree(req.Params.Arguments, argument())
		if err != nil {
			return wire.Result(by.Fitted(t.Fail(err))), nil
		}
		worktree, ask, err := s.locator.Of(ctx, route.Caller{Session: req.Session, Caps: req.ClientCapabilities(), Meta: req.Params.Meta, Responses: req.Params.InputResponses}, asked)
		switch {
		case ask:
			return &mcp.CallToolResult{InputRequests: route.AskRoots()}, nil
		case err != nil:
			return wire.Result(by.Fitted(t.Fail(route.InArgument(err, argument())))), nil
		}
		at, ok := worktree.Tools[t.Name]
		if !ok {
			at = t
		}
		return s.answer(ctx, req, at, args, by, worktree.Name()), nil
	})
}

// answer runs a tool and returns its result for a host, in which the worktree is named. A call
// that becomes a task has no result yet.
func (s *Server) answer(ctx context.Context, req *mcp.CallToolRequest, t toolset.Tool, args json.RawMessage, by host.Host, worktree string) *mcp.CallToolResult {
	views := t.View != nil && wire.Declares(req.ClientCapabilities(), viewsExtension)
	var drawing *toolset.Drawing
	if views {
		ctx, drawing = toolset.WithDrawing(ctx)
	}
	res, job := s.call(ctx, t, args)
	if job != nil {
		tasks.PlaceOf(ctx).Task = tasks.Of(*job, by)
		return &mcp.CallToolResult{}
	}
	out := wire.Result(by.Fitted(route.Locate(res, worktree)))
	if views {
		s.draw(ctx, t, res, drawing, out)
	}
	return out
}

// hasOwnWorktree reports whether a tool has an argument "worktree" of its own: work items are linked
// to worktrees.
func hasOwnWorktree(t toolset.Tool) bool { return t.Input().Properties[route.WorktreeArgument] != nil }

// worktreeInput describes the argument "worktree", in full only once.
func worktreeInput(told *bool) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	if !*told {
		s.Description, *told = "Path or branch of another worktree. All other tools take it", true
	}
	return s
}

// with returns a schema with an additional argument.
func with(s *jsonschema.Schema, name string, argument *jsonschema.Schema) *jsonschema.Schema {
	wider := *s
	wider.Properties = map[string]*jsonschema.Schema{name: argument}
	maps.Copy(wider.Properties, s.Properties)
	wider.PropertyOrder = append(slices.Clone(s.PropertyOrder), name)
	return &wider
}

// maxProgress is the maximum length of a progress message. The cut follows the removal of secrets,
// or part of one could remain.
const maxProgress = 200

// withProgress lets the handler report progress to a client that requested it.
func (s *Server) withProgress(ctx context.Context, req *mcp.CallToolRequest) context.Context {
	token := req.Params.GetProgressToken()
	if token == nil {
		return ctx
	}
	start := time.Now()
	return toolset.WithProgress(ctx, func(message string) {
		// A disconnected client is not an error of the call.
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: time.Since(start).Seconds(), Message: cleantext.Cut(s.guard.Secrets.Redact(message), maxProgress),
		})
	})
}

// call runs a tool so that no failure in it ends the connection. There is a job only if
// [tasks.PlaceOf] has a place for it.
func (s *Server) call(ctx context.Context, t toolset.Tool, args json.RawMessage) (res toolset.Result, job *toolset.Job) {
	s.idle.begin()
	defer s.idle.end()
	start := time.Now()
	defer func() {
		if p := recover(); p != nil {
			s.logger.ErrorContext(ctx, "tool panicked", "tool", t.Name, "panic", p, "stack", string(debug.Stack()))
			res, job = t.Fail(fmt.Errorf("the tool %s crashed on this call", t.Name)), nil
		}
		s.logger.InfoContext(ctx, "tool call", "tool", t.Name, "error", res.IsError, "duration", time.Since(start))
		s.logger.Log(ctx, levelTrace, "tool call", "tool", t.Name, "arguments", string(args), "result", res.Text)
	}()
	if t.Begin != nil && tasks.PlaceOf(ctx) != nil {
		return t.Begin(ctx, args)
	}
	return t.Call(ctx, args), nil
}

func annotations(h toolset.Hints) *mcp.ToolAnnotations {
	a := &mcp.ToolAnnotations{ReadOnlyHint: h.ReadOnly, IdempotentHint: h.Idempotent}
	if !h.OpenWorld { // the default that clients assume
		a.OpenWorldHint = &h.OpenWorld
	}
	if !h.ReadOnly { // it has no meaning for the others
		a.DestructiveHint = &h.Destructive
	}
	return a
}
