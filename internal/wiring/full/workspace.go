// Package full opens all of copse's data about a directory: the sources of package wiring,
// which only read, and work items, prompts, files, and tasks, which it can change. The read-only
// program must not link it.
//
// Use [Open]. It searches for the repository once; the rest opens when it is needed.
package full

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/board/hosted"
	"github.com/copse-dev/copse/internal/branch/source/pulllist"
	"github.com/copse-dev/copse/internal/branch/source/records"
	"github.com/copse-dev/copse/internal/command/library"
	"github.com/copse-dev/copse/internal/command/runner"
	"github.com/copse-dev/copse/internal/dirwatch"
	"github.com/copse-dev/copse/internal/docker"
	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/checkout"
	"github.com/copse-dev/copse/internal/git/gitlink"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/shared"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/presence"
	"github.com/copse-dev/copse/internal/project"
	"github.com/copse-dev/copse/internal/recipe"
	"github.com/copse-dev/copse/internal/recipe/running"
	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/settings"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/commands"
	toolconflicts "github.com/copse-dev/copse/internal/toolset/conflicts"
	"github.com/copse-dev/copse/internal/toolset/envelope"
	"github.com/copse-dev/copse/internal/toolset/items"
	"github.com/copse-dev/copse/internal/toolset/searchall"
	"github.com/copse-dev/copse/internal/toolset/stackstatus"
	"github.com/copse-dev/copse/internal/toolset/workspace"
	toolworktrees "github.com/copse-dev/copse/internal/toolset/worktrees"
	"github.com/copse-dev/copse/internal/turn"
	"github.com/copse-dev/copse/internal/userdir"
	"github.com/copse-dev/copse/internal/wiring"
	"github.com/copse-dev/copse/internal/workflow/claims"
	"github.com/copse-dev/copse/internal/workflow/conflicts"
	"github.com/copse-dev/copse/internal/workflow/itemsync"
	"github.com/copse-dev/copse/internal/workflow/openpulls"
	"github.com/copse-dev/copse/internal/workflow/projectcontext"
	"github.com/copse-dev/copse/internal/workflow/projectcontext/since"
	"github.com/copse-dev/copse/internal/workflow/pull"
	"github.com/copse-dev/copse/internal/workflow/search"
	"github.com/copse-dev/copse/internal/workflow/tasks"
	"github.com/copse-dev/copse/internal/workflow/taskscope"
	"github.com/copse-dev/copse/internal/workflow/verdict/gather"
	"github.com/copse-dev/copse/internal/workflow/worktrees"
	"github.com/copse-dev/copse/internal/xec"
	"github.com/copse-dev/copse/internal/xec/family"
)

// ToolsetNames returns the names of the toolsets in the order of the documentation.
func ToolsetNames() []string {
	return []string{"branches", "github", "jira", "items", "commands", "workspace"}
}

// Workspace is a directory, its git worktree, and its data.
type Workspace struct {
	*wiring.Sources
	session.Worktree
	Settings settings.Files

	env      app.Env
	place    place
	disabled []string
	readOnly bool
	journal  func() *recipe.Journal // one, which knows what runs
	radar    func() *conflicts.Radar
	process  func() family.Process
	register *presence.Register // of the server, nil for a command
	single   bool               // the register has one client
	trees    *dirwatch.Trees    // of the server, nil for a command
}

// Open returns the workspace of the options. It reads little yet.
func Open(ctx context.Context, o wiring.Options) *Workspace {
	o.Recorded = Recorded(o.Env)
	sources := wiring.New(o)
	worktree := sources.Session.Worktree(ctx)
	w := &Workspace{
		Sources: sources, Worktree: worktree, env: o.Env, place: placeOf(worktree), disabled: o.Disabled, readOnly: o.ReadOnly,
		journal: sync.OnceValue(func() *recipe.Journal {
			return recipe.NewJournal(o.Env.StateDir("tasks"), worktree.Workspace()).Redacted(o.Env.Secrets.Redact, o.Env.Secrets.RedactPart)
		}),
		Settings: settings.Open(o.Env.SettingsFile(), worktree.Workspace()),
		process:  sync.OnceValue(func() family.Process { return family.Identify(os.Getpid()) }),
	}
	o.Env.Secrets.Later(w.knowDatabase)
	w.radar = sync.OnceValue(func() *conflicts.Radar {
		options := conflicts.Options{
			Branches: sources.Branches, CacheDir: o.Env.ConflictsDir(), Git: git.Options{Env: o.Env.Environ}, Now: o.Env.Now,
			Patience: o.Env.Patience,
			Clients: func(ctx context.Context) map[string][]string {
				names := make(map[string][]string)
				clients, _ := w.clients(ctx) // those that are known
				for _, c := range clients {
					names[c.Worktree] = append(names[c.Worktree], c.Name)
				}
				return names
			},
		}
		if w.trees != nil {
			options.Trees = w.trees
		}
		return conflicts.New(options)
	})
	return w
}

// Recorded returns the records of stack tools about the branches of a repository.
func Recorded(env app.Env) *records.Records {
	user := settings.OpenUser(env.SettingsFile())
	return records.New(records.Options{
		Pulls: pulllist.Dir(env.PullsDir()),
		First: func() []string {
			s, err := user.Get()
			if err != nil {
				return nil // the command that shows the settings says so
			}
			return s.Stacks.Sources
		},
	})
}

// Find returns the workspace that a command of copse is run in, or that of repo.
func Find(ctx context.Context, env app.Env, repo string) *Workspace {
	return Open(ctx, wiring.Options{Program: "copse", Env: env, Repo: repo})
}

// Log logs the problems of the settings.
func (w *Workspace) Log(ctx context.Context, logger *slog.Logger) {
	for _, problem := range w.Settings.Problems() {
		logger.WarnContext(ctx, "settings", "problem", problem)
	}
}

// Warn reports the problems of the settings to a person.
func (w *Workspace) Warn() {
	for _, problem := range w.Settings.Problems() {
		fmt.Fprintf(w.env.Stderr, "warning: %s\n", problem)
	}
}

// Sync returns the synchronizer of a shared store with its branch and a remote.
func (w *Workspace) Sync(store storage.Store) *itemsync.Sync {
	files, _ := store.(*local.Store)
	return itemsync.New(itemsync.Options{
		Session: w.Session, Store: files, User: w.Settings.User.Get,
		Approved: w.approved(), Env: w.env.Environ, Now: w.env.Now, Redact: w.env.Secrets.Redact,
	})
}

// approved returns the shared stores that the user has created or synced on this machine.
func (w *Workspace) approved() itemsync.Approved {
	return itemsync.Approved{Dir: userdir.Dir(w.env.StateDir("stores"))}
}

// Commands returns the registries of prompts, and the runner that executes them.
func (w *Workspace) Commands() (*library.Library, *runner.Runner) {
	return library.New(w.Workspace(), w.env.Home()), runner.New(w.Workspace(), w.env.Home(), xec.Env(w.env.Environ), w.Settings.User)
}

// Tasks returns the tasks of the project. Close them after use, which stops the running ones.
func (w *Workspace) Tasks() *tasks.Tasks {
	return tasks.New(recipe.New(w.Workspace(), w.env.EnvironIn(w.Workspace()), w.journal(), recipe.Options{
		Self: w.env.Self, Main: w.Main,
		PassCredentials: func() (bool, error) {
			s, err := w.Settings.User.Get()
			return s.Tasks.PassCredentials, err
		},
	}))
}

// ours reports whether a directory is a worktree of this repository. A linked one must lead back to it: git's list
// can have any path.
func (w *Workspace) ours(root string) bool {
	return root == w.Workspace() || w.Main != "" && root == w.Main || slices.Contains(checkout.Linked(w.Common), root) && gitlink.Repository(root) == w.Common
}

// Files returns the files of the project.
func (w *Workspace) Files() *project.Project {
	return project.New(w.Workspace(), func(ctx context.Context) (project.Repository, error) {
		repo, err := w.Session.Repo(ctx)
		if err != nil {
			return nil, err
		}
		return repo, nil
	})
}

// Radar returns the finder of conflicts. There is one, which caches its results.
func (w *Workspace) Radar() *conflicts.Radar { return w.radar() }

// readers returns the toolsets that only read, with the tools that the read-only program does not
// have.
func (w *Workspace) readers(store storage.Store) []toolset.Toolset {
	sets := w.ReadOnlyToolsets()
	for i := range sets {
		if sets[i].Name == "branches" {
			form := envelope.Form{Words: w.Words}
			for j, t := range sets[i].Tools {
				if t.Name == "get_worktrees" {
					sets[i].Tools[j] = toolworktrees.Tool(form, w.Worktrees(store))
				}
			}
			sets[i].Tools = append(sets[i].Tools, toolconflicts.Tool(form, w.Radar()))
		}
	}
	return sets
}

// Worktrees returns the worktrees of the repository, with who works in them.
func (w *Workspace) Worktrees(items storage.Store) *worktrees.Worktrees {
	return worktrees.New(worktrees.Options{
		Branches: w.Branches, Radar: w.Radar(), Services: w.Services, Items: items,
		Clients: w.clients,
		Private: w.hasPrivateItems,
		Ignored: w.ignored,
		Tasks:   func() []running.Task { return w.journal().Running() },
	})
}

// NewRegister returns the register that publishes the clients of a server.
func NewRegister(env app.Env, logger *slog.Logger) *presence.Register {
	return presence.NewRegister(presenceDir(env), env.Now, func(err error) {
		logger.Warn("other programs cannot see who works here, and `copse worktrees` calls no worktree safe to remove", "error", err)
	})
}

// clients returns the clients of all servers of the user, except the calling one.
func (w *Workspace) clients(ctx context.Context) ([]presence.Client, error) {
	clients, err := presence.List(presenceDir(w.env), w.env.Now())
	// The register may get its ID while the records are read.
	own, caller := w.register.ID(), cmp.Or(toolset.Client(ctx), unnamed)
	return slices.DeleteFunc(clients, func(c presence.Client) bool {
		return own != "" && c.Server == own && (w.single || c.Name == caller && c.Worktree == w.Workspace())
	}), err
}

// Clients returns the known clients of all servers of the user.
func (w *Workspace) Clients(ctx context.Context) []presence.Client {
	clients, _ := w.clients(ctx)
	return clients
}

// unnamed is the name of a client without a name.
const unnamed = "an MCP client"

func presenceDir(env app.Env) string {
	if dir := env.RuntimeDir(); dir != "" {
		return filepath.Join(dir, "presence")
	}
	return ""
}

// Registered publishes the calls of the toolsets that are served from now on. single means that the
// register has the calls of only one client.
func (w *Workspace) Registered(r *presence.Register, single bool) *Workspace {
	w.register, w.single = r, single
	return w
}

// Watching enables the observation of file changes, for a server that gets several calls.
func (w *Workspace) Watching(trees *dirwatch.Trees) *Workspace {
	w.trees = trees
	return w
}

// Connected records that a client works in the worktree.
func (w *Workspace) Connected(client string) { w.seen(client, "") }

func (w *Workspace) seen(client, tool string) {
	w.register.Seen(cmp.Or(client, unnamed), w.Workspace(), tool)
}

// agent returns the client that calls.
func (w *Workspace) agent(ctx context.Context) claim.Agent {
	return claim.Agent{
		Name: cmp.Or(toolset.Client(ctx), unnamed), Session: toolset.Session(ctx), Worktree: w.Workspace(),
		Host: w.env.Hostname, Process: w.process(),
	}
}

// Person returns the user of the command line, who has no lasting process.
func (w *Workspace) Person() claim.Agent {
	return claim.Agent{Name: w.env.User(), Worktree: w.Workspace(), Host: w.env.Hostname}
}

// Claims returns the claims of a store.
func (w *Workspace) Claims(store storage.Store) *claims.Claims {
	return claims.New(store, w.Sync(store).Publish, w.env.Now)
}

// called returns the toolsets with tools that know their caller, and whose calls renew its
// claims. Calls of the tools of items, and of the one for the context, which shows claims, also find
// holders that have ended, unless the server is read-only.
func (w *Workspace) called(c *claims.Claims, sets []toolset.Toolset) []toolset.Toolset {
	for i := range sets {
		for j := range sets[i].Tools {
			t := &sets[i].Tools[j]
			note := c.Called
			if (sets[i].Name == "items" || t.Name == "get_project_context") && !w.readOnly {
				note = c.Look
			}
			call := t.Call
			t.Call = func(ctx context.Context, arguments json.RawMessage) toolset.Result {
				ctx = claim.WithAgent(ctx, w.agent(ctx))
				renew := func() { _ = note(ctx) } // what cannot be renewed expires, and the next claim says why
				renew()
				defer renew() // a call can take longer than a lease
				return call(ctx, arguments)
			}
		}
	}
	return sets
}

// noted returns the toolsets with tools whose calls are published.
func (w *Workspace) noted(sets []toolset.Toolset) []toolset.Toolset {
	if w.register == nil {
		return sets
	}
	for i := range sets {
		for j := range sets[i].Tools {
			t := &sets[i].Tools[j]
			name, call := t.Name, t.Call
			t.Call = func(ctx context.Context, arguments json.RawMessage) toolset.Result {
				w.seen(toolset.Client(ctx), name)
				return call(ctx, arguments)
			}
			if begin := t.Begin; begin != nil {
				t.Begin = func(ctx context.Context, arguments json.RawMessage) (toolset.Result, *toolset.Job) {
					w.seen(toolset.Client(ctx), name)
					return begin(ctx, arguments)
				}
			}
		}
	}
	return sets
}

// Search returns the searcher of everything that is served. It omits recipes if they cannot run.
func (w *Workspace) Search(items storage.Store, tasks *tasks.Tasks, files *project.Project) *search.Searcher {
	o := search.Options{Now: w.env.Now}
	served := func(name string) bool { return !slices.Contains(w.disabled, name) }
	if served("branches") {
		o.Branches = w.Session
	}
	if served("github") {
		o.Pulls = w.Pulls
	}
	if served("jira") {
		o.Issues = w.Issues
	}
	if served("items") {
		o.Items = items
	}
	if served("commands") {
		o.Prompts, _ = w.Commands()
	}
	if served("workspace") {
		o.Files = files
		if !w.readOnly {
			o.Recipes = tasks
		}
	}
	return search.New(o)
}

// Containers returns the client of the container engine.
func (w *Workspace) Containers() *docker.Client {
	return docker.New(docker.Options{Getenv: w.env.Getenv, Home: w.env.Home(), GOOS: w.env.GOOS})
}

// Context returns the sources of the project's context.
func (w *Workspace) Context(items storage.Store, tasks *tasks.Tasks, files *project.Project) projectcontext.Sources {
	return projectcontext.Sources{
		Session: w.Session, Root: w.Workspace(),
		Branches: w.Branches, Pulls: w.Pulls, Services: w.Services, Words: w.Words,
		Items: items, Journal: w.journal(), Containers: w.Containers(), Recipes: tasks, Files: files,
		Radar: w.Radar(), Now: w.env.Now, Patience: w.env.Patience,
	}
}

// Memory returns the store of answers about the project's context.
func (w *Workspace) Memory() *since.Memory {
	return since.New(w.env.StateDir("context"), w.env.Secrets.Redact, w.env.Now).In(cmp.Or(w.Common, w.Workspace()))
}

// Served contains the toolsets of a workspace. Close it after use.
type Served struct {
	Toolsets []toolset.Toolset

	notes  []string // for the instructions
	store  storage.Store
	tasks  *tasks.Tasks
	syncer *shared.Background
	claims *claims.Claims
}

// Serve returns the toolsets of the workspace that are not disabled. Background work is logged.
func (w *Workspace) Serve(logger *slog.Logger) *Served {
	s := w.served(logger)
	s.tasks = taskscope.Within(w.Tasks(), w.ours)
	s.notes = w.missingLogins()
	files := w.Files()
	project := workspace.New(files, s.tasks, w.Context(s.store, s.tasks, files), w.Memory()).Toolset()
	project.Tools = append(project.Tools, searchall.Tool(w.Words, w.Search(s.store, s.tasks, files)))
	drawn := w.drawings(s.store)
	s.Toolsets = w.place.staying(shown(w.noted(w.called(s.claims, toolset.Without(append(w.stacked(w.readers(s.store), s.store, drawn),
		w.itemTools(s),
		commands.New(w.Commands()).Toolset(),
		project,
	), w.disabled))), drawn))
	return s
}

// missingLogins returns notes for a model about tools whose services have no login.
func (w *Workspace) missingLogins() []string {
	missing := w.WithoutLogin()
	if len(missing) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("No login for %s was found when the server started; tools that need one answer credentials_missing. `copse mcp doctor --online` shows how to add one.",
		strings.Join(missing, " and "))}
}

// Instructions returns a server's instructions for a model at the start, after the server's
// purpose.
func (s *Served) Instructions(about string, readOnly bool) string {
	return toolset.Instructions(about, s.Toolsets, readOnly, s.notes...)
}

// Advice returns what a server tells its clients about all toolsets except some, and about the texts
// of others. It does not depend on the settings of a person, because a team shares the file with it.
func Advice(ctx context.Context, except ...string) []string {
	served := Find(ctx, app.EmptyEnv(), "").Serve(slog.New(slog.DiscardHandler))
	defer served.Close()
	return append(toolset.Advice(toolset.Without(served.Toolsets, except), false), "In the answers of copse: "+toolset.Foreign)
}

// Verdicts returns the verdicts on the stacks of the repository.
func (w *Workspace) Verdicts(store storage.Store) *gather.Verdicts {
	o := gather.Options{
		Branches: w.Branches, Services: w.Services, Items: store, Now: w.env.Now, Radar: w.Radar(),
		Kept: kept(w.env.ConflictsDir()),
	}
	if !slices.Contains(w.disabled, "github") {
		o.Kept = kept(w.env.ConflictsDir(), w.env.CacheDir(), w.env.PullsDir())
		o.Pulls = pulls{w.Pulls, w.Words}
		o.Turns = turn.Dir(w.env.TurnsDir())
		o.Opened = openpulls.Lists{Session: w.Session, Pulls: w.Pulls, Dir: pulllist.Dir(w.env.PullsDir()), Now: w.env.Now}
	}
	return gather.New(o)
}

// kept returns the directories that the environment has a place for.
func kept(dirs ...string) []string {
	return slices.DeleteFunc(dirs, func(dir string) bool { return dir == "" })
}

// pulls are the pull requests of the repository, in the words of the program.
type pulls struct {
	*pull.Requests
	words failure.Words
}

func (p pulls) OfBranches(ctx context.Context, heads []pullrequest.Head) []fact.Fact[pullrequest.Status] {
	return p.Requests.OfBranches(ctx, heads, p.words)
}

// stacked adds the verdict on stacks to the toolset of branches.
func (w *Workspace) stacked(sets []toolset.Toolset, store storage.Store, drawn *hosted.Views) []toolset.Toolset {
	for i, set := range sets {
		if set.Name == "branches" {
			sets[i] = stackstatus.New(envelope.Form{Words: w.Words}, w.Verdicts(store), drawn.DrawStack).Extend(set)
		}
	}
	return sets
}

// ServeItems returns only the toolset of work items.
func (w *Workspace) ServeItems(logger *slog.Logger) *Served {
	s := w.served(logger)
	s.Toolsets = w.place.staying(shown(w.called(s.claims, []toolset.Toolset{w.itemTools(s)}), w.drawings(s.store)))
	return s
}

func (w *Workspace) served(logger *slog.Logger) *Served {
	store := w.Items()
	sync := w.Sync(store)
	return &Served{store: store, syncer: sync.Background(logger), claims: claims.New(store, sync.Publish, w.env.Now)}
}

func (w *Workspace) itemTools(s *Served) toolset.Toolset {
	return items.New(s.store, w.env.Now).MarkMerged(s.store, w.Pulls).Claiming(s.claims).Offering(w.Sync(s.store).Offered).
		Watched(func(ctx context.Context, ready, changed func()) {
			w.WatchItems(ctx, s.store, ready, changed, func(error) {})
		}).Toolset()
}

// Close releases the resources of the toolsets, stops the running tasks, and ends the sync of the
// items within a second.
func (s *Served) Close() error {
	if s.tasks != nil {
		s.tasks.Close()
	}
	s.syncer.Close()
	return s.store.Close()
}
