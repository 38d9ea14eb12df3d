package mcpserver

import (
	"context"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/mcpserver/answer"
	"github.com/copse-dev/copse/internal/mcpserver/wire"
	"github.com/copse-dev/copse/internal/toolset"
)

// The extension MCP Apps (SEP-1865): a client that declares it shows a page next to the answers of
// a tool. Other clients see neither the pages nor the references to them.
const (
	viewsExtension = "io.modelcontextprotocol/ui"
	pageScheme     = "ui://"
)

// views serves the extension.
type views struct{ pages map[string]toolset.Page }

// serve registers the pages.
func (v *views) serve(s *Server) {
	for _, p := range v.pages {
		def := &mcp.Resource{URI: p.URI, Name: p.Name, Title: p.Title, Description: p.Description, MIMEType: answer.PageMIMEType}
		s.mcp.AddResource(def, func(ctx context.Context, req *mcp.ReadResourceRequest) (_ *mcp.ReadResourceResult, err error) {
			defer s.guard.Recovered(ctx, "resource "+p.URI, &err)
			if !wire.Declares(req.ClientCapabilities(), viewsExtension) {
				return nil, mcp.ResourceNotFoundError(p.URI)
			}
			// A page without domains cannot load anything.
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
				Text: p.HTML(), Meta: mcp.Meta{"ui": map[string]any{"prefersBorder": false}},
			}}}, nil
		})
	}
}

// middleware omits the pages from the lists of other clients.
func (v *views) middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		if req, ok := req.(*mcp.ListResourcesRequest); ok && err == nil && !wire.Declares(req.ClientCapabilities(), viewsExtension) {
			if list, ok := res.(*mcp.ListResourcesResult); ok {
				list.Resources = slices.DeleteFunc(list.Resources, func(r *mcp.Resource) bool { return strings.HasPrefix(r.URI, pageScheme) })
			}
		}
		return res, err
	}
}

// draw adds the drawing of a tool's result to the answer.
func (s *Server) draw(ctx context.Context, t toolset.Tool, res toolset.Result, own *toolset.Drawing, out *mcp.CallToolResult) {
	if res.IsError || res.Structured == nil {
		return
	}
	html, err := own.HTML()
	if html == "" && err == nil && t.View.Draw != nil {
		html, err = t.View.Draw(ctx, res.Structured)
	}
	switch {
	case err != nil:
		s.logger.WarnContext(ctx, "a view cannot be drawn", "tool", t.Name, "error", err)
	case html != "":
		out.Meta = mcp.Meta{answer.Drawing: html}
	}
}
