package full

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/dirwatch"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/mcpserver/route"
	"github.com/copse-dev/copse/internal/presence"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/wiring"
)

// Worktrees are the worktrees that one server on standard input answers for: the one that it
// was started in, and those that its client moves to. Make it with [Follow] and close it
// after use.
//
// The client runs as the user and may be anywhere. A call can name other worktrees of the
// same repository, and nothing else: a model chooses the name.
type Worktrees struct {
	opts     wiring.Options
	logger   *slog.Logger
	start    *servedWorktree
	register *presence.Register
	trees    *dirwatch.Trees

	mu    sync.Mutex
	roots map[string]*servedWorktree // by the root of the worktree
	dirs  map[string]*servedWorktree // by the directory that a client named
}

// servedWorktree is a worktree that is served.
type servedWorktree struct {
	workspace *Workspace
	served    *Served
	worktree  *route.Worktree
}

// Follow returns the worktrees of a server that is started with the options.
func Follow(ctx context.Context, o wiring.Options, logger *slog.Logger) *Worktrees {
	p := &Worktrees{
		opts: o, logger: logger, register: NewRegister(o.Env, logger), trees: dirwatch.NewTrees(),
		roots: make(map[string]*servedWorktree), dirs: make(map[string]*servedWorktree),
	}
	p.start = p.open(ctx, o)
	p.start.worktree = p.start.workspace.Serving(p.start.served)
	return p
}

// Serving returns the worktree with the things served from it. Its answers name it where the repository has
// other worktrees, which could be meant.
func (w *Workspace) Serving(all *Served) *route.Worktree {
	return route.NewWorktree(all.Toolsets, func() string {
		if w.Main != "" || hasWorktrees(w.Common) {
			return w.Workspace()
		}
		return ""
	})
}

// Alone returns the worktrees of a server that answers for one worktree, whatever is named.
func (w *Workspace) Alone(all *Served) route.Worktrees {
	return alone{Candidate{Path: w.Workspace()}, w.Serving(all)}
}

type alone struct {
	candidate Candidate
	worktree  *route.Worktree
}

func (alone) Follows() bool { return false }

func (a alone) Start() *route.Worktree { return a.worktree }

func (a alone) Find(_ context.Context, named string, _ []string) (*route.Worktree, error) {
	if named == "" {
		return a.worktree, nil
	}
	if _, err := Choose(named, []Candidate{a.candidate}); err != nil {
		return nil, err
	}
	return a.worktree, nil
}

func (p *Worktrees) open(ctx context.Context, o wiring.Options) *servedWorktree {
	w := Open(ctx, o).Registered(p.register, true).Watching(p.trees)
	w.Log(ctx, p.logger)
	return &servedWorktree{workspace: w, served: w.Serve(p.logger)}
}

// hasWorktrees reports whether a repository has linked worktrees.
func hasWorktrees(common string) bool {
	if common == "" {
		return false
	}
	path := filepath.Join(common, "worktrees")
	if _, err := os.Lstat(path); regular.Absent(err) {
		return false // as in most repositories, which an attempt to open it takes three times as long to find out
	}
	dir, err := regular.OpenDirAt(path)
	if err != nil {
		return !regular.Absent(err)
	}
	defer dir.Close()
	_, err = dir.Readdirnames(1)
	return !errors.Is(err, io.EOF)
}

// Toolsets returns the toolsets that are served.
func (p *Worktrees) Toolsets() []toolset.Toolset { return p.start.served.Toolsets }

// Instructions returns what the server tells a model at the start.
func (p *Worktrees) Instructions(about string, readOnly bool) string {
	return p.start.served.Instructions(about, readOnly)
}

// Connected records that a client has connected. It may be elsewhere with its next call.
func (p *Worktrees) Connected(client string) { p.start.workspace.Connected(client) }

// Follows reports whether the server follows its client. One that was started for a repository
// stays there.
func (p *Worktrees) Follows() bool { return p.opts.Repo == "" }

// Start returns the worktree in which the server was started.
func (p *Worktrees) Start() *route.Worktree { return p.start.worktree }

// Find returns the worktree of a call.
func (p *Worktrees) Find(ctx context.Context, named string, dirs []string) (*route.Worktree, error) {
	at := p.session(ctx, dirs)
	if named == "" {
		return at.worktree, nil
	}
	repo, err := at.workspace.Session.Repo(ctx)
	if err != nil {
		return nil, &toolset.ArgumentError{Name: "worktree", Message: `Argument "worktree" names nothing: this session is not in a git repository`, Hint: "Leave it out."}
	}
	list, err := repo.Worktrees(ctx)
	if err != nil {
		return nil, err
	}
	var candidates []Candidate
	for _, w := range list {
		if !w.Bare && !w.Prunable {
			candidates = append(candidates, Candidate{Path: w.Path, Branch: w.Branch})
		}
	}
	path, err := Choose(named, candidates)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at(ctx, path).worktree, nil
}

// session returns the worktree of a session in directories: the first one in a repository, else
// the first one, else the worktree where the server was started.
func (p *Worktrees) session(ctx context.Context, dirs []string) *servedWorktree {
	if len(dirs) == 0 {
		return p.start
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, dir := range dirs {
		if at := p.dirs[dir]; at != nil {
			return at
		}
		repo, err := git.Discover(ctx, dir, git.Options{Env: p.opts.Env.Environ})
		if err != nil || repo.Root() == "" {
			continue
		}
		at := p.at(ctx, repo.Root())
		p.dirs[dir] = at
		return at
	}
	if dir := dirs[0]; dir != p.start.workspace.Dir {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return p.at(ctx, dir)
		}
	}
	return p.start
}

// at returns the worktree of a root, which it opens if it is new. The caller holds the lock.
func (p *Worktrees) at(ctx context.Context, root string) *servedWorktree {
	if root == p.start.workspace.Workspace() {
		return p.start
	}
	if at := p.roots[root]; at != nil {
		return at
	}
	o := p.opts
	o.Repo, o.Found = root, true
	at := p.open(ctx, o)
	at.worktree = route.NewWorktree(at.served.Toolsets, at.workspace.Workspace)
	p.roots[root] = at
	return at
}

// Close closes all that were opened.
func (p *Worktrees) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	errs := []error{p.register.Close(), p.start.served.Close()}
	for _, at := range p.roots {
		errs = append(errs, at.served.Close())
	}
	return errors.Join(errs...)
}

// Candidate is a worktree that a call can name.
type Candidate struct{ Path, Branch string }

// maxNamed is how many worktrees an error lists.
const maxNamed = 10

// Choose returns the path of the worktree that a text names: by its path, or one below it, by its
// current branch, or by the last part of its path.
func Choose(named string, among []Candidate) (string, error) {
	path := ""
	if filepath.IsAbs(named) {
		clean := filepath.Clean(named)
		if real, err := filepath.EvalSymlinks(clean); err == nil {
			clean = real
		}
		for _, c := range among {
			if (clean == c.Path || strings.HasPrefix(clean, c.Path+string(filepath.Separator))) && len(c.Path) > len(path) {
				path = c.Path
			}
		}
	} else {
		for _, by := range []func(Candidate) string{
			func(c Candidate) string { return c.Branch }, func(c Candidate) string { return filepath.Base(c.Path) },
		} {
			var found []string
			for _, c := range among {
				if by(c) == named {
					found = append(found, c.Path)
				}
			}
			if len(found) == 1 {
				return found[0], nil
			}
		}
	}
	if path != "" {
		return path, nil
	}
	hint := "Leave it out: this session can name none."
	if len(among) > 0 {
		hint = "Use one of: " + Names(among)
	}
	return "", &toolset.ArgumentError{
		Name: "worktree", Message: fmt.Sprintf("There is no worktree %q here", cleantext.Cut(cleantext.Line(named), 200)),
		Hint: hint,
	}
}

// Names lists worktrees for a message.
func Names(all []Candidate) string {
	var names []string
	for i, c := range all {
		if i == maxNamed {
			names = append(names, fmt.Sprintf("and %d more", len(all)-i))
			break
		}
		name := foreign.Mention(c.Path)
		if c.Branch != "" {
			name += " (" + foreign.Mention(cleantext.Cut(c.Branch, 80)) + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}
