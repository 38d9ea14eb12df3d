package mcpserver

import (
	"cmp"
	"context"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/mcpserver/completion"
	"github.com/copse-dev/copse/internal/mcpserver/route"
	"github.com/copse-dev/copse/internal/mcpserver/skills"
	"github.com/copse-dev/copse/internal/mcpserver/wire"
	"github.com/copse-dev/copse/internal/toolset"
)

// several lists and completes, on a server of several repositories, what the worktree of each request offers. The
// library has only the prompts that all worktrees have. A client of 2026-07-28 with roots cannot be asked for them
// here, so it gets nothing more.
type several struct {
	server *Server
	common map[string]bool // the names of the library's prompts
}

func serveSeveral(s *Server, common []toolset.Toolset, completions *completion.Completions) {
	v := &several{server: s, common: map[string]bool{}}
	for _, set := range common {
		for _, p := range set.Prompts {
			v.common[p.Name] = true
		}
	}
	completions.Of = v.arguments
	if s.watchers != nil {
		s.watchers.Of, s.watchers.Serves = v.subscribable, v.serves
	}
	s.mcp.AddReceivingMiddleware(v.middleware)
}

// at returns the worktree of a request, nil if there is none, or none is known.
func (v *several) at(ctx context.Context, req mcp.Request, caps *mcp.ClientCapabilities) *route.Worktree {
	session, _ := req.GetSession().(*mcp.ServerSession)
	c := route.Caller{Session: session, Caps: caps}
	if params := req.GetParams(); params != nil {
		c.Meta = params.GetMeta()
	}
	worktree, err := v.server.locator.Unasked(ctx, c)
	if err != nil {
		return nil
	}
	return worktree
}

func (v *several) middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch req := req.(type) {
		case *mcp.ListPromptsRequest:
			res, err := next(ctx, method, req)
			list, ok := res.(*mcp.ListPromptsResult)
			if err != nil || !ok || list.NextCursor != "" {
				return res, err
			}
			return v.list(ctx, req, list), nil
		case *mcp.GetPromptRequest:
			if !v.common[req.Params.Name] {
				return v.server.prompt(ctx, req, toolset.Prompt{Name: req.Params.Name})
			}
		}
		return next(ctx, method, req)
	}
}

// list returns the last page of the list of prompts with those that the worktree offers.
func (v *several) list(ctx context.Context, req *mcp.ListPromptsRequest, last *mcp.ListPromptsResult) *mcp.ListPromptsResult {
	at := v.at(ctx, req, req.ClientCapabilities())
	if at == nil {
		return last
	}
	whole := *last
	whole.Prompts = slices.Clone(last.Prompts)
	for _, p := range at.Offered(ctx) {
		if !v.common[p.Name] {
			whole.Prompts = append(whole.Prompts, promptDefinition(p))
		}
	}
	slices.SortStableFunc(whole.Prompts, func(a, b *mcp.Prompt) int { return cmp.Compare(a.Name, b.Name) })
	return &whole
}

// arguments returns the arguments of the prompt or the template that a request completes.
func (v *several) arguments(ctx context.Context, req *mcp.CompleteRequest) ([]toolset.Argument, bool) {
	at := v.at(ctx, req, req.ClientCapabilities())
	if at == nil {
		return nil, true
	}
	switch ref := req.Params.Ref; {
	case ref.Type == "ref/prompt":
		p, ok := at.Prompt(ctx, ref.Name)
		return p.Arguments, ok
	case ref.URI == skills.Template:
		return skills.Variables(at.Skills), true
	default:
		t, ok := at.Templates[ref.URI]
		return t.Variables, ok
	}
}

// serves reports whether a worktree is still served.
func (v *several) serves(at *route.Worktree) bool {
	now, err := v.server.locator.Find.Find(context.Background(), "", []string{at.Name()})
	return err == nil && now == at
}

// subscribable returns the resource of the worktree of a request.
func (v *several) subscribable(ctx context.Context, req *mcp.SubscribeRequest) (toolset.Resource, *route.Worktree, error) {
	at := v.at(ctx, req, req.ClientCapabilities())
	if at == nil {
		return toolset.Resource{}, nil, wire.InvalidParams("this server serves several repositories, and the client does not report its worktree")
	}
	r, ok := at.Resources[req.Params.URI]
	if !ok || r.Watch == nil {
		return toolset.Resource{}, nil, wire.InvalidParams("resource %q cannot be subscribed to", req.Params.URI)
	}
	return r, at, nil
}
