package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/toolset"
)

// levelTrace is below slog's debug: whole arguments and results.
const levelTrace = -8

func (s *Server) addTool(t toolset.Tool) {
	// The library's typed registration would check arguments in its own
	// words; the toolset's shape has promised others.
	def := &mcp.Tool{
		Name:        t.Name,
		Title:       t.Title,
		Description: t.Description,
		InputSchema: t.Input,
		Annotations: annotations(t.Hints),
	}
	if t.Output != nil {
		def.OutputSchema = t.Output
	}
	s.mcp.AddTool(def, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return wireResult(s.call(withProgress(ctx, req), t, req.Params.Arguments)), nil
	})
}

// withProgress lets the handler report to a client that asked for it.
func withProgress(ctx context.Context, req *mcp.CallToolRequest) context.Context {
	token := req.Params.GetProgressToken()
	if token == nil {
		return ctx
	}
	start := time.Now()
	return toolset.WithProgress(ctx, func(message string) {
		// A client that went away is no error of the call.
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: time.Since(start).Seconds(), Message: message,
		})
	})
}

// call runs a tool so that nothing it does ends the connection.
func (s *Server) call(ctx context.Context, t toolset.Tool, args json.RawMessage) (res toolset.Result) {
	start := time.Now()
	defer func() {
		if p := recover(); p != nil {
			s.logger.ErrorContext(ctx, "tool panicked", "tool", t.Name, "panic", p, "stack", string(debug.Stack()))
			res = t.Fail(fmt.Errorf("the tool %s broke down on this call", t.Name))
		}
		s.logger.InfoContext(ctx, "tool call", "tool", t.Name, "error", res.IsError, "duration", time.Since(start))
		s.logger.Log(ctx, levelTrace, "tool call", "tool", t.Name, "arguments", string(args), "result", res.Text)
	}()
	return t.Call(ctx, args)
}

// wireResult is the one place that knows how a result looks on the wire.
func wireResult(r toolset.Result) *mcp.CallToolResult {
	res := &mcp.CallToolResult{IsError: r.IsError}
	for _, text := range r.Text {
		res.Content = append(res.Content, &mcp.TextContent{Text: text})
	}
	if r.Structured != nil {
		res.StructuredContent = r.Structured
	}
	return res
}

func annotations(h toolset.Hints) *mcp.ToolAnnotations {
	a := &mcp.ToolAnnotations{ReadOnlyHint: h.ReadOnly, IdempotentHint: h.Idempotent}
	if !h.ReadOnly { // it means nothing for the others
		a.DestructiveHint = &h.Destructive
	}
	return a
}
