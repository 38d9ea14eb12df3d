// Package completion completes the arguments of prompts and of templates of resources.
package completion

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/mcpserver/wire"
	"github.com/copse-dev/copse/internal/toolset"
)

// maxCompletions is the protocol's limit for one answer.
const maxCompletions = 100

// Completions finds the argument of a completion request.
type Completions struct {
	// Templates has the variables of each template, by its URI.
	Templates map[string][]toolset.Argument
	// Of, if set, returns the arguments of the prompt or the template in the worktree of a request, nothing if there
	// is none. false means that the worktree does not have it.
	Of func(context.Context, *mcp.CompleteRequest) ([]toolset.Argument, bool)

	mu      sync.Mutex
	prompts map[string][]toolset.Argument
}

// New returns the completions of toolsets.
func New(sets []toolset.Toolset) *Completions {
	c := &Completions{prompts: make(map[string][]toolset.Argument), Templates: make(map[string][]toolset.Argument)}
	for _, set := range sets {
		for _, p := range set.Prompts {
			c.Set(p)
		}
		for _, t := range set.Templates {
			c.Templates[t.URITemplate] = t.Variables
		}
	}
	return c
}

// Set adds the arguments of a prompt, or replaces them.
func (c *Completions) Set(p toolset.Prompt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.prompts[p.Name] = p.Arguments
}

// Drop removes the arguments of a prompt.
func (c *Completions) Drop(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.prompts, name)
}

func (c *Completions) prompt(name string) ([]toolset.Argument, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	args, known := c.prompts[name]
	return args, known
}

// own returns the arguments for a request on a server of one repository.
func (c *Completions) own(_ context.Context, req *mcp.CompleteRequest) ([]toolset.Argument, bool) {
	if ref := req.Params.Ref; ref.Type == "ref/prompt" {
		return c.prompt(ref.Name)
	}
	args, known := c.Templates[req.Params.Ref.URI]
	return args, known
}

// Handle answers a request.
func (c *Completions) Handle(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	arguments := c.own
	if c.Of != nil {
		arguments = c.Of
	}
	args, known := arguments(ctx, req)
	switch ref := req.Params.Ref; {
	case known:
	case ref.Type == "ref/prompt":
		return nil, wire.InvalidParams("unknown prompt %q", ref.Name)
	default:
		return nil, wire.InvalidParams("unknown resource template %q", ref.URI)
	}
	res := &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}
	var chosen map[string]string
	if req.Params.Context != nil {
		chosen = req.Params.Context.Arguments
	}
	for _, a := range args {
		if a.Name != req.Params.Argument.Name || a.Complete == nil {
			continue
		}
		values, err := a.Complete(ctx, req.Params.Argument.Value, chosen)
		if err != nil {
			// If the data is unavailable, an empty list of completions is correct.
			return res, nil //nolint:nilerr // see above
		}
		res.Completion.Total = len(values)
		if len(values) > maxCompletions {
			values, res.Completion.HasMore = values[:maxCompletions], true
		}
		res.Completion.Values = append(res.Completion.Values, values...)
	}
	return res, nil
}
