package mcpserver

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/toolset"
)

// Options say what a server offers and who it is.
type Options struct {
	// Name and Version are what the server calls itself.
	Name    string
	Version string
	// Instructions are read by every client's model at the start: short, most
	// important first.
	Instructions string
	// Toolsets are served in full, or, with ReadOnly, without the tools that
	// are not marked as read-only.
	Toolsets []toolset.Toolset
	ReadOnly bool
	Logger   *slog.Logger
}

// Server is an MCP server with a fixed set of tools, prompts and resources. It
// can serve several clients at once.
type Server struct {
	mcp      *mcp.Server
	logger   *slog.Logger
	watchers *watchers
}

// listTTL is how long a client may keep a list. Lists change only when another
// version of the program is installed.
const listTTL = 5 * time.Minute

// New assembles a server. Nothing is opened, asked or read: the first answer
// costs what the protocol costs.
func New(o Options) *Server {
	s := &Server{logger: o.Logger}
	caps := &mcp.ServerCapabilities{}
	var (
		completions completions
		watchable   = make(map[string]toolset.Resource)
		tools       []toolset.Tool
	)
	for _, set := range o.Toolsets {
		for _, t := range set.Tools {
			if t.Hints.ReadOnly || !o.ReadOnly {
				tools = append(tools, t)
			}
		}
		for _, r := range set.Resources {
			if r.Watch != nil {
				watchable[r.URI] = r
			}
		}
		completions.add(set)
		if len(set.Prompts) > 0 {
			caps.Prompts = &mcp.PromptCapabilities{}
		}
		if len(set.Resources)+len(set.Templates) > 0 {
			caps.Resources = &mcp.ResourceCapabilities{}
		}
	}
	slices.SortFunc(tools, func(a, b toolset.Tool) int { return cmp.Compare(a.Name, b.Name) })
	if len(tools) > 0 {
		caps.Tools = &mcp.ToolCapabilities{}
	}

	opts := &mcp.ServerOptions{
		Instructions: o.Instructions,
		Logger:       slog.New(quiet{o.Logger.Handler()}),
		Capabilities: caps,
		SetCacheable: cacheHints,
	}
	if completions.any() {
		opts.CompletionHandler = completions.handle
	}
	if len(watchable) > 0 {
		s.watchers = newWatchers(watchable, s.updated, o.Logger)
		opts.SubscribeHandler = s.watchers.subscribe
		opts.UnsubscribeHandler = s.watchers.unsubscribe
	}

	s.mcp = mcp.NewServer(&mcp.Implementation{Name: o.Name, Version: o.Version}, opts)
	for _, t := range tools {
		s.addTool(t)
	}
	for _, set := range o.Toolsets {
		for _, p := range set.Prompts {
			s.addPrompt(p)
		}
		for _, r := range set.Resources {
			s.addResource(r)
		}
		for _, t := range set.Templates {
			s.addTemplate(t)
		}
	}
	return s
}

// ServeStdio answers one client until its input or ctx ends, which returns nil.
// Calls that are running when ctx ends are cancelled at once.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	if s.watchers != nil {
		defer s.watchers.close()
	}
	// When its own context ends, the library waits for running calls without
	// cancelling them; at the end of the input it cancels them. So the end of
	// ctx is made the end of the input.
	return s.mcp.Run(context.WithoutCancel(ctx), &stdio{in: in, out: out, stop: ctx.Done(), logger: s.logger})
}

func (s *Server) updated(uri string) {
	// A client that went away is no error of ours; the library logs it.
	_ = s.mcp.ResourceUpdated(context.Background(), &mcp.ResourceUpdatedNotificationParams{URI: uri})
}

// cacheHints lets clients keep the lists, and nothing that can change.
func cacheHints(_ context.Context, req mcp.Request, c *mcp.Cacheable) {
	c.CacheScope = "private"
	if _, isRead := req.(*mcp.ReadResourceRequest); !isRead {
		c.TTLMs = int(listTTL.Milliseconds())
	}
}

// quiet makes the protocol library's log lines less important than it thinks
// they are: it reports the normal end of a connection as an error.
type quiet struct{ slog.Handler }

func (q quiet) Enabled(ctx context.Context, l slog.Level) bool {
	return q.Handler.Enabled(ctx, l-8)
}

func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	r.Level -= 8
	return q.Handler.Handle(ctx, r)
}

func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(attrs)} }
func (q quiet) WithGroup(name string) slog.Handler       { return quiet{q.Handler.WithGroup(name)} }
