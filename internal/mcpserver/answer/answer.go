// Package answer keeps secrets out of the answers of a server, and a crash within the call that it
// ends.
package answer

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"runtime/debug"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/secret"
)

const (
	// PageMIMEType is the type of a page, which is a part of the program.
	PageMIMEType = "text/html;profile=mcp-app"
	// Drawing is the key of the HTML in the metadata of a result, which clients do not show to a
	// model.
	Drawing = "copse/html"
)

// Guard protects the answers of a server.
type Guard struct {
	Secrets *secret.Set // nil for none
	Logger  *slog.Logger
}

// Result is the result of an extension's method. Redact removes the secrets from it.
type Result interface{ Redact(g *Guard) }

// Recovered turns a panic into a protocol error. It must be deferred.
func (g *Guard) Recovered(ctx context.Context, what string, err *error) {
	if p := recover(); p != nil {
		g.Logger.ErrorContext(ctx, "handler panicked", "handler", what, "panic", p, "stack", string(debug.Stack()))
		*err = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: what + " crashed on this call; this is a bug; report it"}
	}
}

// Redacted removes the server's secrets from every answer: results of all kinds, and errors. Handlers find
// the secrets in their context, to remove them before they cut a text.
// Progress is redacted where it is reported.
func (g *Guard) Redacted(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		result, err := next(secret.With(ctx, g.Secrets), method, req)
		if err != nil {
			return result, g.redactError(err)
		}
		g.redactResult(result)
		return result, nil
	}
}

// redactResult removes the secrets from a result.
func (g *Guard) redactResult(result mcp.Result) {
	switch r := result.(type) {
	case *mcp.CallToolResult:
		g.Call(r)
	case *mcp.ReadResourceResult:
		for _, c := range r.Contents {
			if c.MIMEType != PageMIMEType {
				c.Text = g.Text(c.Text)
			}
		}
	case *mcp.GetPromptResult:
		g.Texts(&r.Description)
		for _, m := range r.Messages {
			if text, ok := m.Content.(*mcp.TextContent); ok {
				text.Text = g.Text(text.Text)
			}
		}
	case *mcp.ListPromptsResult:
		r.Prompts = cleaned(r.Prompts, func(p *mcp.Prompt) {
			p.Arguments = cleaned(p.Arguments, func(a *mcp.PromptArgument) { g.Texts(&a.Name, &a.Title, &a.Description) })
			g.Texts(&p.Name, &p.Title, &p.Description)
		})
	case *mcp.ListResourcesResult:
		r.Resources = cleaned(r.Resources, func(r *mcp.Resource) { g.Texts(&r.URI, &r.Name, &r.Title, &r.Description) })
	case *mcp.CompleteResult:
		r.Completion.Values = slices.Clone(r.Completion.Values)
		for i := range r.Completion.Values {
			g.Texts(&r.Completion.Values[i])
		}
	case Result:
		r.Redact(g)
	}
}

// Call removes the secrets from both halves of a tool's result.
func (g *Guard) Call(r *mcp.CallToolResult) {
	for _, c := range r.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			text.Text = g.Text(text.Text)
		}
	}
	if data, ok := r.StructuredContent.(json.RawMessage); ok {
		r.StructuredContent = json.RawMessage(g.Secrets.JSON(data))
	}
	if html, ok := r.Meta[Drawing].(string); ok {
		r.Meta[Drawing] = g.Secrets.HTML(html)
	}
}

// Text returns text without secrets. JSON stays JSON.
func (g *Guard) Text(text string) string {
	clean := g.Secrets.Redact(text)
	if clean != text && json.Valid([]byte(text)) {
		return string(g.Secrets.JSON([]byte(text)))
	}
	return clean
}

// cleaned returns copies of the elements of a list, after clean. The library keeps the elements.
func cleaned[T any](list []*T, clean func(*T)) []*T {
	copies := make([]*T, len(list))
	for i, e := range list {
		c := *e
		clean(&c)
		copies[i] = &c
	}
	return copies
}

// Texts removes the secrets from texts.
func (g *Guard) Texts(texts ...*string) {
	for _, text := range texts {
		*text = g.Secrets.Redact(*text)
	}
}

// redactError returns err without secrets, on one line.
func (g *Guard) redactError(err error) error {
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		clean := *e
		clean.Message = foreign.Notice(g.Secrets.Redact(e.Message))
		clean.Data = g.Secrets.JSON(e.Data)
		return &clean
	}
	if clean := foreign.Notice(g.Secrets.Redact(err.Error())); clean != err.Error() {
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: clean}
	}
	return err
}
