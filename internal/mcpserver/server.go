package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/idle"
	"github.com/copse-dev/copse/internal/mcpserver/answer"
	"github.com/copse-dev/copse/internal/mcpserver/completion"
	"github.com/copse-dev/copse/internal/mcpserver/route"
	"github.com/copse-dev/copse/internal/mcpserver/skills"
	"github.com/copse-dev/copse/internal/mcpserver/stdio"
	"github.com/copse-dev/copse/internal/mcpserver/subscription"
	"github.com/copse-dev/copse/internal/mcpserver/tasks"
	"github.com/copse-dev/copse/internal/mcpserver/wire"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/toolset"
)

// Options configure a server.
type Options struct {
	// Name and Version identify the server.
	Name    string
	Version string
	// Instructions are for every client's model at the start: short, most important first.
	Instructions string
	// Toolsets are served in full, or, with ReadOnly, without the tools that are not marked as
	// read-only.
	Toolsets []toolset.Toolset
	ReadOnly bool
	// Worktrees finds the worktree of each call, whose toolsets answer; Toolsets then say what
	// there is. Nil is for a server that answers for one worktree.
	Worktrees route.Worktrees
	// Definitions are definitions of tools that were prepared for a server with Worktrees; see
	// package definition. The others are derived when a client asks for them.
	Definitions string
	// Connected, if set, is called with the name of each client that begins a session.
	Connected func(client string)
	// Ready, if set, is called once by ServeStdio before it does anything that must be ended: see
	// [stdio.Transport].
	Ready func()
	// Secrets never leave the server; nil for none.
	Secrets *secret.Set
	Logger  *slog.Logger
}

// Server is an MCP server with a fixed set of tools; prompts and resources can
// change. It can serve several clients at once.
type Server struct {
	mcp      *mcp.Server
	guard    *answer.Guard
	logger   *slog.Logger
	watchers *subscription.Watchers
	locator  *route.Locator // nil for one worktree
	tasks    *tasks.Tasks   // nil if no call can become one
	ready    func()
	idle     *idle.Timer
}

// listTTL is how long a client may cache a list that changes only when another version of the
// program is installed.
const listTTL = 5 * time.Minute

// idleAfter is how long the server must be idle before it returns memory to the system.
const idleAfter = 2 * time.Second

// pageSize is the number of entries in a page of a list.
const pageSize = 100

// New assembles a server. It opens and reads nothing: the first answer costs only what the protocol
// costs.
func New(o Options) *Server {
	s := &Server{guard: &answer.Guard{Secrets: o.Secrets, Logger: o.Logger}, logger: o.Logger, ready: o.Ready, idle: idle.New(idleAfter, idle.Release)}
	served := collect(o)
	if o.Worktrees != nil {
		s.locator = &route.Locator{Find: o.Worktrees}
	}
	completions := completion.New(o.Toolsets)
	changes := len(served.offers) > 0
	opts := &mcp.ServerOptions{
		Instructions: o.Instructions,
		Logger:       slog.New(quiet{o.Logger.Handler()}),
		Capabilities: served.capabilities(changes && !s.locator.Several()),
		SetCacheable: cacheHints(changes),
		PageSize:     pageSize,
	}
	if served.prompts || served.resources || changes {
		opts.CompletionHandler = completions.Handle
	}
	if len(served.watchable) > 0 {
		s.watchers = subscription.New(served.watchable, s.updated, o.Logger)
		opts.SubscribeHandler = s.watchers.Subscribe
		opts.UnsubscribeHandler = s.watchers.Unsubscribe
	}

	s.mcp = mcp.NewServer(&mcp.Implementation{Name: o.Name, Version: o.Version}, opts)
	if s.watchers != nil {
		s.mcp.AddSendingMiddleware(s.watchers.Addressed)
	}
	if changes && !s.locator.Several() {
		changing := &offers{server: s, completions: completions, each: served.offers}
		s.mcp.AddReceivingMiddleware(changing.middleware)
		s.mcp.AddSendingMiddleware(changing.quiet)
	}
	if len(served.skills) > 0 {
		offered := &skills.Skills{Guard: s.guard, Locator: s.locator, Each: served.skills}
		offered.Serve(s.mcp)
		completions.Templates[skills.Template] = skills.Variables(served.skills)
	}
	if s.locator.Several() {
		serveSeveral(s, o.Toolsets, completions)
	}
	tools := newTools(s, served, o.Definitions)
	s.mcp.AddReceivingMiddleware(tools.middleware)
	if len(served.pages) > 0 {
		shown := &views{served.pages}
		shown.serve(s)
		s.mcp.AddReceivingMiddleware(shown.middleware)
	}
	if len(served.jobs) > 0 {
		s.tasks = &tasks.Tasks{Guard: s.guard, Source: served.jobs, Locator: s.locator}
		s.tasks.Serve(s.mcp)
	}
	s.mcp.AddReceivingMiddleware(wire.WellFormed)
	s.mcp.AddReceivingMiddleware(s.guard.Redacted)
	s.mcp.AddReceivingMiddleware(subscription.Sessions)
	s.mcp.AddReceivingMiddleware(s.awake)
	s.mcp.AddReceivingMiddleware(wire.EncodedOnce)
	if o.Connected != nil {
		s.mcp.AddReceivingMiddleware(subscription.Connected(o.Connected))
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

// awake delays the release of memory with each request. It does not count those that run: a
// subscription lasts as long as its client.
func (s *Server) awake(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		s.idle.Begin()
		s.idle.End()
		return next(ctx, method, req)
	}
}

// served is the union of a server's toolsets.
type served struct {
	tools              []toolset.Tool // by name
	watchable          map[string]toolset.Resource
	offers             []offer
	skills             []func(context.Context) []toolset.Skill
	jobs               tasks.Jobs
	pages              map[string]toolset.Page // by URI
	prompts, resources bool
	located            map[string]bool // tools that declare the argument "worktree"
	follows            bool
}

// collect returns the content of o's toolsets, without the tools that o omits.
func collect(o Options) served {
	all := served{watchable: make(map[string]toolset.Resource), located: make(map[string]bool), pages: make(map[string]toolset.Page), follows: o.Worktrees != nil && o.Worktrees.Follows()}
	for _, set := range o.Toolsets {
		for _, t := range set.Tools {
			if t.Hints.ReadOnly || !o.ReadOnly {
				all.tools = append(all.tools, t)
				all.located[t.Name] = set.Located && !t.Anywhere && o.Worktrees != nil
			}
		}
		for _, r := range set.Resources {
			if r.Watch != nil {
				all.watchable[r.URI] = r
			}
		}
		if set.Offer != nil {
			all.offers = append(all.offers, offer{ask: set.Offer})
		}
		if set.Skills != nil {
			all.skills = append(all.skills, set.Skills)
		}
		for _, p := range set.Pages {
			all.pages[p.URI] = p
		}
		if set.Jobs != nil && !o.ReadOnly {
			all.jobs = append(all.jobs, set.Jobs)
		}
		all.prompts = all.prompts || len(set.Prompts) > 0
		all.resources = all.resources || len(set.Resources)+len(set.Templates) > 0
	}
	slices.SortFunc(all.tools, func(a, b toolset.Tool) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// capabilities returns the capabilities that the server declares. reports means that it reports changes of the lists.
func (s served) capabilities(reports bool) *mcp.ServerCapabilities {
	caps, changes := &mcp.ServerCapabilities{}, len(s.offers) > 0
	if s.prompts || changes {
		caps.Prompts = &mcp.PromptCapabilities{ListChanged: reports}
	}
	if s.resources || changes || len(s.skills) > 0 || len(s.pages) > 0 {
		caps.Resources = &mcp.ResourceCapabilities{ListChanged: reports}
	}
	if len(s.tools) > 0 {
		caps.Tools = &mcp.ToolCapabilities{}
	}
	if len(s.skills) > 0 {
		caps.AddExtension(skills.Extension, nil)
	}
	if len(s.pages) > 0 {
		caps.AddExtension(viewsExtension, nil)
	}
	if len(s.jobs) > 0 {
		caps.AddExtension(tasks.Extension, nil)
	}
	if s.follows {
		caps.Experimental = map[string]any{route.CodexSandbox: struct{}{}} // Codex then sends it
	}
	return caps
}

// ServeStdio answers one client until its input or ctx ends, and then returns nil. When ctx ends,
// running calls are canceled immediately.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	if s.watchers != nil {
		defer s.watchers.Close()
	}
	// When its own context ends, the library waits for running calls without canceling them; at the
	// end of the input, it cancels them. The end of ctx therefore becomes the end of the input.
	ctx, parked := wire.WithParked(ctx)
	conn := &stdio.Transport{In: in, Out: out, Stop: ctx.Done(), Logger: s.logger, Parked: parked, Ready: s.ready, Ended: make(chan struct{})}
	ended := make(chan error, 1)
	go func() { ended <- s.mcp.Run(context.WithoutCancel(ctx), conn) }()
	select {
	case err := <-ended:
		return err
	case <-conn.Ended:
	case <-ctx.Done():
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(lastAnswers): // nothing ends a write to a client that does not read
		return errors.New("the client did not read the last answers")
	}
}

// lastAnswers is how long running calls and writes may take after the end of the input.
const lastAnswers = 5 * time.Second

func (s *Server) updated(uri string) {
	// A disconnected client is not an error of the server; the library logs it.
	_ = s.mcp.ResourceUpdated(context.Background(), &mcp.ResourceUpdatedNotificationParams{URI: uri})
}

// cacheHints lets clients cache the lists, and nothing that can change.
func cacheHints(changes bool) func(context.Context, mcp.Request, *mcp.Cacheable) {
	return func(_ context.Context, req mcp.Request, c *mcp.Cacheable) {
		c.CacheScope = "private"
		switch req.(type) {
		case *mcp.ReadResourceRequest:
			return
		case *mcp.ListPromptsRequest, *mcp.ListResourcesRequest:
			if changes {
				return
			}
		}
		c.TTLMs = int(listTTL.Milliseconds())
	}
}

// quiet lowers the level of the protocol library's log lines: the library reports the normal end of
// a connection as an error.
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
