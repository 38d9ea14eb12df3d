package mcpserver

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/mcpserver/route"
	"github.com/copse-dev/copse/internal/mcpserver/wire"
	"github.com/copse-dev/copse/internal/toolset"
)

func (s *Server) addPrompt(p toolset.Prompt) {
	s.mcp.AddPrompt(promptDefinition(p), func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return s.prompt(ctx, req, p)
	})
}

func promptDefinition(p toolset.Prompt) *mcp.Prompt {
	def := &mcp.Prompt{Name: p.Name, Title: p.Title, Description: p.Description}
	for _, a := range p.Arguments {
		def.Arguments = append(def.Arguments, &mcp.PromptArgument{
			Name: a.Name, Description: a.Description, Required: a.Required,
		})
	}
	return def
}

// prompt answers a request for a prompt, which is that of the request's worktree if there is one.
func (s *Server) prompt(ctx context.Context, req *mcp.GetPromptRequest, p toolset.Prompt) (_ *mcp.GetPromptResult, err error) {
	defer s.guard.Recovered(ctx, "prompt "+p.Name, &err)
	worktree := ""
	if s.locator != nil {
		at, ask, err := s.locator.Of(ctx, route.Caller{Session: req.Session, Caps: req.ClientCapabilities(), Meta: req.Params.Meta, Responses: req.Params.InputResponses}, "")
		switch {
		case ask:
			return &mcp.GetPromptResult{InputRequests: route.AskRoots()}, nil
		case err != nil:
			return nil, wire.InvalidParams("%v", err)
		}
		there, ok := at.Prompt(ctx, p.Name)
		if ok {
			p, worktree = there, at.Name()
		} else if s.locator.Several() {
			return nil, wire.InvalidParams("unknown prompt %q", p.Name)
		}
	}
	for _, a := range p.Arguments {
		if a.Required && req.Params.Arguments[a.Name] == "" {
			return nil, wire.InvalidParams("missing required argument %q of prompt %q", a.Name, p.Name)
		}
	}
	text, err := p.Get(ctx, req.Params.Arguments)
	if err != nil {
		return nil, err
	}
	text = route.Located(text, worktree, false)
	return &mcp.GetPromptResult{
		Description: p.Description,
		Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}},
	}, nil
}

func (s *Server) addResource(r toolset.Resource) {
	def := &mcp.Resource{URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIMEType}
	s.mcp.AddResource(def, func(ctx context.Context, req *mcp.ReadResourceRequest) (_ *mcp.ReadResourceResult, err error) {
		defer s.guard.Recovered(ctx, "resource "+r.URI, &err)
		at, ask, err := s.resourceWorktree(ctx, req)
		if ask || err != nil {
			return &mcp.ReadResourceResult{InputRequests: route.AskRoots()}, err
		}
		read := r.Read
		if at != nil {
			there, ok := at.Resources[r.URI]
			if ok {
				read = there.Read
			} else if s.locator.Several() {
				return nil, mcp.ResourceNotFoundError(r.URI)
			}
		}
		text, err := read(ctx)
		return contents(at, r.MIMEType, text, err)
	})
}

func (s *Server) addTemplate(t toolset.Template) {
	def := &mcp.ResourceTemplate{
		URITemplate: t.URITemplate, Name: t.Name, Title: t.Title, Description: t.Description, MIMEType: t.MIMEType,
	}
	pattern := sync.OnceValue(func() *regexp.Regexp { return templatePattern(t) })
	s.mcp.AddResourceTemplate(def, func(ctx context.Context, req *mcp.ReadResourceRequest) (_ *mcp.ReadResourceResult, err error) {
		defer s.guard.Recovered(ctx, "resource "+t.URITemplate, &err)
		match := pattern().FindStringSubmatch(req.Params.URI)
		if match == nil {
			return nil, mcp.ResourceNotFoundError(req.Params.URI)
		}
		values := make(map[string]string)
		for i, v := range t.Variables {
			// A value is decoded once, here; the result is data for Read.
			if values[v.Name], err = url.PathUnescape(match[i+1]); err != nil {
				return nil, mcp.ResourceNotFoundError(req.Params.URI)
			}
		}
		at, ask, err := s.resourceWorktree(ctx, req)
		if ask || err != nil {
			return &mcp.ReadResourceResult{InputRequests: route.AskRoots()}, err
		}
		read := t.Read
		if at != nil {
			there, ok := at.Templates[t.URITemplate]
			if ok {
				read = there.Read
			} else if s.locator.Several() {
				return nil, mcp.ResourceNotFoundError(req.Params.URI)
			}
		}
		text, err := read(ctx, values)
		return contents(at, t.MIMEType, text, err)
	})
}

// resourceWorktree returns the worktree that a resource is read from, nil where there is only one.
func (s *Server) resourceWorktree(ctx context.Context, req *mcp.ReadResourceRequest) (worktree *route.Worktree, ask bool, err error) {
	if s.locator == nil {
		return nil, false, nil
	}
	worktree, ask, err = s.locator.Of(ctx, route.Caller{Session: req.Session, Caps: req.ClientCapabilities(), Meta: req.Params.Meta, Responses: req.Params.InputResponses}, "")
	if err != nil {
		err = wire.InvalidParams("%v", err)
	}
	return worktree, ask, err
}

// templatePattern matches the URIs of a template, whose variables must occur in it in their order.
func templatePattern(t toolset.Template) *regexp.Regexp {
	expr, rest := "^", t.URITemplate
	for _, v := range t.Variables {
		before, after, ok := strings.Cut(rest, "{"+v.Name+"}")
		if !ok {
			panic(fmt.Sprintf("mcpserver: template %s has no variable %s", t.URITemplate, v.Name))
		}
		expr += regexp.QuoteMeta(before) + "([^/]+)"
		rest = after
	}
	return regexp.MustCompile(expr + regexp.QuoteMeta(rest) + "$")
}

// contents returns a document, which names the worktree that it is about, as the results of
// tools do.
func contents(at *route.Worktree, mimeType, text string, err error) (*mcp.ReadResourceResult, error) {
	if err != nil {
		return nil, err
	}
	if at != nil {
		text = route.Located(text, at.Name(), mimeType == "application/json")
	}
	// URI and MIME type are filled in from the definition.
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Text: text}}}, nil
}
