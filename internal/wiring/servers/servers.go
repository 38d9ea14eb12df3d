// Package servers wires the supervisor of copse up: git's worktrees, the product's toolsets over
// HTTP, and the locations of its files.
package servers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/bearer"
	"github.com/copse-dev/copse/internal/dirwatch"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/mcpserver"
	"github.com/copse-dev/copse/internal/mcpserver/route"
	"github.com/copse-dev/copse/internal/mcpserver/wire"
	"github.com/copse-dev/copse/internal/rooted"
	"github.com/copse-dev/copse/internal/supervisor"
	"github.com/copse-dev/copse/internal/watch"
	"github.com/copse-dev/copse/internal/wiring/full"
)

// Options configure each server.
type Options struct {
	Env      app.Env
	Disabled []string
	ReadOnly bool
	// About begins the instructions.
	About  string
	Logger *slog.Logger
	// Trees observe changes of files for all servers of the process.
	Trees *dirwatch.Trees
}

// served is a workspace that is served.
type served struct {
	*mcpserver.HTTP
	toolsets *full.Served
	readOnly bool
	worktree *route.Worktree
	common   string // git's directory, "" outside git
	closed   func()
}

// Tools returns the tools that are served.
func (s *served) Tools() []supervisor.Tool {
	tools := []supervisor.Tool{}
	for _, set := range s.toolsets.Toolsets {
		for _, t := range set.Tools {
			if t.Hints.ReadOnly || !s.readOnly {
				tools = append(tools, supervisor.Tool{Name: t.Name, Description: t.Description, Parameters: wire.SchemaJSON(t.Input())})
			}
		}
	}
	return tools
}

// Close ends sessions, calls and tasks.
func (s *served) Close() {
	s.closed()
	s.HTTP.Close()
	_ = s.toolsets.Close() // nothing is written at its end
}

// Repository finds worktrees with git.
type Repository struct {
	Env app.Env
	// Unnamed means a directory that nobody named, such as the working directory. It is never
	// treated as a bare repository.
	Unnamed string
}

func (r Repository) discover(ctx context.Context, dir string) (*git.Repo, error) {
	return git.Discover(ctx, dir, git.Options{Env: r.Env.Environ, Named: dir != r.Unnamed})
}

var _ supervisor.Repository = Repository{}

// maxServed is the maximum number of served worktrees of a repository.
const maxServed = 50

// Worktrees lists those of the repository that contains dir, at most [maxServed].
func (r Repository) Worktrees(ctx context.Context, dir string, served []string) (found []supervisor.Worktree, more int, err error) {
	repo, err := r.discover(ctx, dir)
	if errors.Is(err, git.ErrNotRepository) {
		one, err := directory(dir)
		return []supervisor.Worktree{one}, 0, err
	}
	if err != nil {
		return nil, 0, err
	}
	list, err := repo.Worktrees(ctx)
	if err != nil {
		return nil, 0, err
	}
	list = slices.DeleteFunc(list, func(w git.Worktree) bool { return w.Bare || w.Prunable })
	if more = max(len(list)-maxServed, 0); more > 0 {
		list = preferred(list, []string{repo.Root(), repo.MainRoot()}, served)[:maxServed]
	}
	for _, w := range list {
		at, err := git.Discover(ctx, w.Path, git.Options{Env: r.Env.Environ})
		if err != nil || at.CommonDir() != repo.CommonDir() {
			continue // it is being made or removed
		}
		found = append(found, supervisor.Worktree{Path: at.Root(), Branch: w.Branch, Key: at.GitDir()})
	}
	return found, more, nil
}

// preferred sorts worktrees by the lists that they are in, an earlier list first, then the most
// recently used.
func preferred(list []git.Worktree, earlier ...[]string) []git.Worktree {
	rank := map[string]int{}
	for i, paths := range slices.Backward(earlier) {
		for _, path := range paths {
			rank[path] = i - len(earlier)
		}
	}
	slices.SortStableFunc(list, func(a, b git.Worktree) int {
		return cmp.Or(cmp.Compare(rank[a.Path], rank[b.Path]), b.Used.Compare(a.Used))
	})
	return list
}

// Worktree returns the one that contains dir, or dir itself outside git.
func (r Repository) Worktree(ctx context.Context, dir string) (supervisor.Worktree, error) {
	repo, err := r.discover(ctx, dir)
	if errors.Is(err, git.ErrNotRepository) || err == nil && repo.Root() == "" {
		return directory(dir)
	}
	if err != nil {
		return supervisor.Worktree{}, err
	}
	w := supervisor.Worktree{Path: repo.Root(), Key: repo.GitDir()}
	if head, err := repo.Head(ctx); err == nil {
		w.Branch = head.Branch
	}
	return w, nil
}

// directory is a directory outside git.
func directory(dir string) (supervisor.Worktree, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err == nil {
		var info os.FileInfo
		if info, err = os.Stat(real); err == nil && !info.IsDir() {
			err = errors.New("it is not a directory")
		}
	}
	if err != nil {
		return supervisor.Worktree{}, fmt.Errorf("%s cannot be served: %w", dir, rooted.WithoutPath(err))
	}
	return supervisor.Worktree{Path: real, Key: real}, nil
}

// Watch watches what git keeps about worktrees.
func (r Repository) Watch(ctx context.Context, dir string, changed func()) error {
	repo, err := r.discover(ctx, dir)
	if errors.Is(err, git.ErrNotRepository) {
		<-ctx.Done() // whether it is there is looked at anyway
		return nil
	}
	if err != nil {
		return err
	}
	common := repo.CommonDir()
	return watch.Run(ctx, watch.Paths{Dirs: []string{common}, Trees: []string{filepath.Join(common, "worktrees")}}, changed, changed)
}

// Files are the locations of copse up's files.
type Files struct {
	Runtime string // the directory of the socket
	// Shared is the key of the server that answers for all worktrees.
	Shared string
	Ports  string
	Tokens bearer.Store
	Log    string
}

// Places finds them; the error names a missing variable.
func Places(env app.Env) (Files, error) {
	state, config := env.StateDir("servers"), env.ConfigDir()
	if state == "" || config == "" {
		return Files{}, errors.New("there is no home directory to keep ports and tokens in; set HOME")
	}
	return Files{
		Runtime: env.RuntimeDir(), Shared: state,
		Ports: filepath.Join(state, "ports.json"), Log: filepath.Join(state, "up.log"),
		Tokens: bearer.NewStore(filepath.Join(config, "tokens")),
	}, nil
}
