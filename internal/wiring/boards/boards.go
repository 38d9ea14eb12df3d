// Package boards wires the local pages of worktrees: the views, their data, and the watches while a
// page is open.
package boards

import (
	"context"
	"crypto/rand"
	"html/template"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/board"
	"github.com/copse-dev/copse/internal/board/entry"
	"github.com/copse-dev/copse/internal/board/health"
	"github.com/copse-dev/copse/internal/board/items"
	"github.com/copse-dev/copse/internal/board/markup"
	"github.com/copse-dev/copse/internal/board/prompts"
	"github.com/copse-dev/copse/internal/board/search"
	"github.com/copse-dev/copse/internal/board/stacks"
	tasksview "github.com/copse-dev/copse/internal/board/tasks"
	"github.com/copse-dev/copse/internal/board/worktrees"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/dirwatch"
	"github.com/copse-dev/copse/internal/httpguard"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/loopback"
	"github.com/copse-dev/copse/internal/remote"
	"github.com/copse-dev/copse/internal/wiring"
	"github.com/copse-dev/copse/internal/wiring/full"
	"github.com/copse-dev/copse/internal/wiring/servers"
	"github.com/copse-dev/copse/internal/workflow/doctor"
	"github.com/copse-dev/copse/internal/workflow/tasks"
	"github.com/copse-dev/copse/internal/workflow/verdict"
	"github.com/copse-dev/copse/internal/workflow/verdict/gather"
)

// Options configure the boards.
type Options struct {
	Env      app.Env
	Files    servers.Files
	Disabled []string
	ReadOnly bool
	// Examine runs the doctor's checks of a worktree, without the network.
	Examine func(ctx context.Context, root string) []doctor.Finding
	// Servers returns the servers that run.
	Servers func() []health.Server
	Logger  *slog.Logger
	// Trees observe changes of files, nil for nobody.
	Trees *dirwatch.Trees
}

// New returns the boards of all worktrees; a board opens when its first link is created.
func New(o Options) *board.Site {
	return board.NewSite(markup.Placeholder(rand.Text()), board.SiteOptions{
		Open: o.open, Now: o.Env.Now,
		Key: func(ctx context.Context) (string, error) {
			key, err := o.Files.Tokens.File(filepath.Join(o.Files.Shared, "board")).Token(ctx)
			o.Env.Secrets.Add(key)
			return key, err
		},
		Own: own, Certain: loopback.Tells(), Host: host(o.Env.GOOS),
	})
}

// host returns a new name for this machine, which browsers resolve themselves. Safari does not, and on
// Linux there are other browsers.
func host(goos string) string {
	if goos != "linux" {
		return "localhost"
	}
	return strings.ToLower(rand.Text()) + ".localhost"
}

// own reports whether a request comes from a process of this user, as far as the system tells. The
// system's list of connections can be long, so own reads it once for a connection.
func own(r *http.Request) bool {
	return httpguard.Once(r, func() (bool, error) {
		at, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		return loopback.Mine(at, r.RemoteAddr, os.Getuid())
	})
}

// sources are the data of the views of one board.
type sources struct {
	Options
	*full.Workspace
	kit   *markup.Kit
	store storage.Store
	tasks *tasks.Tasks

	verdicts *gather.Verdicts
	radar    *radar
	pulls    *pulls

	mu     sync.Mutex
	github verdict.GitHub // how GitHub's answers on the last page of stacks were
	asked  verdict.GitHub // how GitHub answered when it was asked last
}

// views returns the views of a board, in the order of the navigation.
func (s *sources) views() []board.View {
	trees := s.Worktrees(s.store)
	library, runner := s.Commands()
	views := []board.View{
		stacks.New(s.kit, stacks.Options{
			All: func(ctx context.Context, q gather.Selection) (gather.Overview, error) {
				all, err := s.verdicts.All(ctx, q, gather.Cached)
				s.mu.Lock()
				defer s.mu.Unlock()
				s.github = all.GitHub
				if all.GitHub.AsOf.IsZero() && s.asked.Reason != "" {
					s.github = s.asked // why there is nothing at hand
				}
				return all, err
			},
			Conflicts: s.radar.latest, Pull: s.pulls.of, Clients: s.Clients, Now: s.Env.Now,
		}),
		worktrees.New(s.kit, worktrees.Options{Worktrees: trees, Count: s.checkouts, Runs: s.tasks, Root: s.Workspace.Workspace(), Now: s.Env.Now}),
		items.New(s.kit, items.Options{
			Store: s.store, Claims: s.Claims(s.store), Agent: s.Person(), Behind: s.behind, Now: s.Env.Now,
		}),
		tasksview.New(s.kit, tasksview.Options{Tasks: s.tasks, Root: s.Workspace.Workspace(), Now: s.Env.Now}),
		prompts.New(s.kit, prompts.Options{Library: library, Runner: runner}),
		health.New(s.kit, health.Options{
			Examine: func(ctx context.Context) []doctor.Finding { return s.Examine(ctx, s.Workspace.Workspace()) },
			Servers: s.Servers, Log: s.Options.Files.Log, Now: s.Env.Now,
		}),
	}
	served := func(v board.View) bool {
		set := map[string]string{"items": "items", "tasks": "workspace", "prompts": "commands"}[v.Name()]
		return set == "" || !slices.Contains(s.Disabled, set)
	}
	views = slices.DeleteFunc(views, func(v board.View) bool { return !served(v) })
	names := make([]string, len(views))
	for i, v := range views {
		names[i] = v.Name()
	}
	found := search.Options{Searcher: s.Search(s.store, s.tasks, s.Workspace.Files()), Words: s.Words, Views: names}
	if !slices.Contains(s.Disabled, "workspace") {
		found.Files = s.Workspace.Files()
	}
	return append(views, search.New(s.kit, found))
}

// checkouts counts the worktrees.
func (s *sources) checkouts(ctx context.Context) (int, error) {
	repo, err := s.Session.Repo(ctx)
	if err != nil {
		return 0, err
	}
	list, err := repo.Checkouts(ctx)
	return len(list), err
}

// behind returns what belongs to a branch, from the data in memory.
func (s *sources) behind(ctx context.Context, branch string) items.Behind {
	found, err := s.Branches.Context(remote.WithCachedOnly(ctx), branch, s.Services)
	if err != nil {
		return items.Behind{} // the branch is gone, and its name is on the page
	}
	out := items.Behind{Issue: found.JiraIssue, Pull: int(found.PRNumber)}
	if issue, ok := found.Jira.Get(); ok {
		out.Status = issue.Status
	}
	if status, ok := found.PullRequest.Get(); ok {
		out.State = status.PullRequest.State
		if status.PullRequest.Merged {
			out.State = "merged"
		}
	}
	return out
}

func (o Options) open(ctx context.Context, root string, p markup.Placeholder) (*board.Board, error) {
	ws := full.Open(ctx, wiring.Options{Program: "copse", Env: o.Env, Repo: root, Found: true, Disabled: o.Disabled}).Watching(o.Trees)
	s := &sources{
		Options: o, Workspace: ws, store: ws.Items(), tasks: ws.Tasks(),
		kit: markup.NewKit(markup.Options{Now: o.Env.Now, Secrets: o.Env.Secrets, Field: entry.TokenField, Token: p}),
	}
	s.verdicts, s.radar = ws.Verdicts(s.store), newRadar(ws.Radar().Report)
	s.pulls = newPulls(ws.Services.PullRequest, o.Env.Now)
	syncer := ws.Sync(s.store).Background(o.Logger)
	return board.New(s.kit, board.Options{
		Views: s.views(), Summary: s.summary, Watch: s.watch, Moved: ws.Moved, ReadOnly: o.ReadOnly, Words: ws.Words, Now: o.Env.Now, Logger: o.Logger,
		Close: func() {
			s.radar.close()
			s.pulls.close()
			s.tasks.Close()
			syncer.Close()
			_ = s.store.Close() // nothing is written at its end
		},
	}), nil
}

// summary returns the top line of the board.
func (s *sources) summary(ctx context.Context) board.Summary {
	root := s.Workspace.Workspace()
	out := board.Summary{Name: filepath.Base(root)}
	var parts []string
	if repo, err := s.Pulls.Repository(ctx, ""); err == nil {
		parts = append(parts, repo.String())
	}
	ws := map[string]bool{root: true}
	if repo, err := s.Session.Repo(ctx); err == nil {
		if list, err := repo.Checkouts(ctx); err == nil {
			for _, w := range list {
				ws[w.Path] = true
			}
			parts = append(parts, cleantext.Count(len(list), "worktree"))
		}
	}
	agents := 0
	for _, c := range s.Clients(ctx) {
		if ws[c.Worktree] {
			agents++
		}
	}
	parts = append(parts, cleantext.Count(agents, "agent"))
	out.Line = strings.Join(parts, " · ")
	out.Fresh = s.fresh()
	return out
}

// fresh states the age of GitHub's answers, or how to get some.
func (s *sources) fresh() template.HTML {
	s.mu.Lock()
	github := s.github
	s.mu.Unlock()
	switch {
	case slices.Contains(s.Disabled, "github") || github.State == "":
		return ""
	case !github.AsOf.IsZero():
		return "GitHub " + s.kit.Ago(github.AsOf)
	}
	why := cleantext.Line(strings.TrimSuffix(github.Reason, ".") + ". " + github.Hint)
	return template.HTML(`<span class="tipped" tabindex="0">GitHub: not connected<span class="tip end" role="tooltip">` + template.HTMLEscapeString(why) + `</span></span>`)
}
