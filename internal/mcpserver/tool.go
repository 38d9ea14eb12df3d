package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/mcpserver/definition"
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
	list   *definition.List
	views  bool // clients that show views get pages
	byName map[string]*lateTool
}

// lateTool is a tool that the library may not have yet.
type lateTool struct {
	tool     toolset.Tool
	register sync.Once
}

// newTools returns the tools of a server.
func newTools(s *Server, served served, prepared string) *tools {
	t := &tools{
		server: s, views: len(served.pages) > 0, byName: make(map[string]*lateTool, len(served.tools)),
		list: definition.New(definition.Options{Tools: served.tools, Worktrees: s.locator != nil, Located: served.located, Prepared: prepared}),
	}
	for _, tool := range served.tools {
		t.byName[tool.Name] = &lateTool{tool: tool}
	}
	return t
}

func (t *tools) middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch req := req.(type) {
		case *mcp.ListToolsRequest:
			// There is one page. The result contains the library's, which has a private mark.
			res, err := next(ctx, method, req)
			if list, ok := res.(*mcp.ListToolsResult); ok && err == nil {
				return t.list.Result(ctx, list, t.views && wire.Declares(req.ClientCapabilities(), viewsExtension))
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

func (s *Server) addTool(t toolset.Tool) {
	// The library's typed registration would check arguments with its own messages; the toolset's
	// shape has other messages.
	argument := sync.OnceValue(func() string {
		if definition.HasWorktree(t) {
			return route.AnsweredIn
		}
		return route.WorktreeArgument
	})
	s.mcp.AddTool(definition.Of(t), func(ctx context.Context, req *mcp.CallToolRequest) (_ *mcp.CallToolResult, err error) {
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
		if place := tasks.PlaceOf(ctx); place != nil {
			place.Source = tasks.Jobs(worktree.Jobs)
		}
		at, ok := worktree.Tools[t.Name]
		switch {
		case ok:
		case s.locator.Several():
			return wire.Result(by.Fitted(t.Fail(fmt.Errorf("this worktree has no tool %q", t.Name)))), nil
		default:
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
	s.idle.Begin()
	defer s.idle.End()
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
