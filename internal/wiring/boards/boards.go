// Package boards wires the local pages of worktrees: the views, what they read, and what is
// watched while a page is open.
package boards

import (
	"context"
	"crypto/rand"
	"log/slog"
	"path/filepath"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/board"
	"github.com/copse-dev/copse/internal/board/entry"
	"github.com/copse-dev/copse/internal/board/health"
	"github.com/copse-dev/copse/internal/board/markup"
	"github.com/copse-dev/copse/internal/board/worktrees"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/wiring"
	"github.com/copse-dev/copse/internal/wiring/servers"
	"github.com/copse-dev/copse/internal/wiring/workspace"
	"github.com/copse-dev/copse/internal/workflow/doctor"
	"github.com/copse-dev/copse/internal/workflow/tasks"
)

// Options say what the boards show.
type Options struct {
	Env      app.Env
	Files    servers.Files
	Disabled []string
	ReadOnly bool
	// Examine makes the doctor's checks of a worktree, without the network.
	Examine func(ctx context.Context, root string) []doctor.Finding
	// Servers returns the servers that run.
	Servers func() []health.Server
	Logger  *slog.Logger
}

// New returns the boards of all worktrees; one opens when its first link is made.
func New(o Options) *board.Site {
	return board.NewSite(markup.Placeholder(rand.Text()), board.SiteOptions{
		Open: o.open, Now: o.Env.Now,
		Key: func(ctx context.Context) (string, error) {
			key, err := o.Files.Tokens.File(filepath.Join(o.Files.Shared, "board")).Token(ctx)
			o.Env.Secrets.Add(key)
			return key, err
		},
	})
}

// sources are what the views of one board read.
type sources struct {
	Options
	*workspace.Workspace
	kit   *markup.Kit
	store item.Store
	tasks *tasks.Tasks
}

// views returns the views of a board, in the order of the navigation.
func (s *sources) views() []board.View {
	trees := s.Workspace.Worktrees(s.store)
	return []board.View{
		worktrees.New(s.kit, worktrees.Options{Worktrees: trees, Runs: s.tasks, Root: s.Workspace.Workspace(), Now: s.Env.Now}),
		health.New(s.kit, health.Options{
			Examine: func(ctx context.Context) []doctor.Finding { return s.Examine(ctx, s.Workspace.Workspace()) },
			Servers: s.Servers, Log: s.Options.Files.Log, Now: s.Env.Now,
		}),
	}
}

func (o Options) open(ctx context.Context, root string, p markup.Placeholder) (*board.Board, error) {
	here := workspace.Open(ctx, wiring.Options{Program: "copse", Env: o.Env, Repo: root, Found: true, Disabled: o.Disabled})
	s := &sources{
		Options: o, Workspace: here, store: here.Items(), tasks: here.Tasks(),
		kit: markup.NewKit(markup.Options{Now: o.Env.Now, Redact: o.Env.Secrets.Redact, Field: entry.TokenField, Token: p}),
	}
	return board.New(s.kit, board.Options{
		Views: s.views(), Summary: s.summary, Watch: s.watch, ReadOnly: o.ReadOnly, Words: here.Words, Now: o.Env.Now, Logger: o.Logger,
		Close: func() {
			s.tasks.Close()
			_ = s.store.Close() // nothing is written at its end
		},
	}), nil
}

// summary is the top line of the board.
func (s *sources) summary(ctx context.Context) board.Summary {
	root := s.Workspace.Workspace()
	out := board.Summary{Name: filepath.Base(root)}
	if repo, err := s.Pulls.Repository(ctx, ""); err == nil {
		out.Line = repo.Owner + "/" + repo.Name
		return out
	}
	out.Line = filepath.Dir(root)
	return out
}
