package servers

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/mcpserver"
	"github.com/copse-dev/copse/internal/mcpserver/route"
	"github.com/copse-dev/copse/internal/presence"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/supervisor"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/wiring"
	"github.com/copse-dev/copse/internal/wiring/full"
)

// Fleet creates the servers of worktrees, and the one that answers for all of them. That one
// reaches only the currently served worktrees: the client's directory only chooses among them.
type Fleet struct {
	o        Options
	register *presence.Register

	mu     sync.Mutex
	served map[string]*served // by path
}

// NewFleet returns a fleet without servers.
func NewFleet(o Options) *Fleet {
	return &Fleet{o: o, register: full.NewRegister(o.Env, o.Logger), served: make(map[string]*served)}
}

// Serve creates the server of a worktree.
func (f *Fleet) Serve(ctx context.Context, path string) supervisor.Server {
	w := full.Open(ctx, wiring.Options{Program: "copse", Env: f.o.Env, Repo: path, Disabled: f.o.Disabled, ReadOnly: f.o.ReadOnly}).Registered(f.register, false).Watching(f.o.Trees)
	all := w.Serve(f.o.Logger)
	one := f.o.server(all, w.Alone(all), w.Connected)
	one.common = w.Common
	one.worktree = route.NewWorktree(one.toolsets.Toolsets, func() string { return path })
	one.closed = func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.served[path] == one {
			delete(f.served, path)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.served[path] = one
	return one
}

// ServeAll creates the server of all worktrees. Its lists of prompts and resources are those of the
// first one.
func (f *Fleet) ServeAll(ctx context.Context) supervisor.Server {
	path := f.o.Env.Dir
	if all := f.candidates(ctx, ""); len(all) > 0 {
		path = all[0].Path
	}
	first := full.Open(ctx, wiring.Options{Program: "copse", Env: f.o.Env, Repo: path, Disabled: f.o.Disabled, ReadOnly: f.o.ReadOnly})
	return f.o.server(first.Serve(f.o.Logger), f, nil)
}

var _ route.Worktrees = (*Fleet)(nil)

// Follows reports that a call is about the worktree that its session is in.
func (*Fleet) Follows() bool { return true }

// Start returns nil: the worktrees can be those of several repositories.
func (*Fleet) Start() *route.Worktree { return nil }

// Find returns the worktree of a call. A call that names a worktree, from a session whose
// directory is known, reaches those of the same repository, and none if the directory is in no
// repository that copse can use.
func (f *Fleet) Find(ctx context.Context, named string, dirs []string) (*route.Worktree, error) {
	common, missing, at := "", "", ""
	var here *served
	for _, dir := range dirs {
		repo, err := git.Discover(ctx, dir, git.Options{Env: f.o.Env.Environ})
		root := dir
		if err == nil && repo.Root() != "" {
			root = repo.Root()
			if repo.Owned() {
				common = cmp.Or(common, repo.CommonDir())
			}
		}
		if one := f.at(root); one != nil {
			here, at, common = one, root, cmp.Or(common, one.common)
			break
		}
		missing = cmp.Or(missing, root)
	}
	if named == "" && here != nil {
		return here.worktree, nil
	}
	var candidates []full.Candidate
	switch {
	case common != "" || len(dirs) == 0:
		candidates = f.candidates(ctx, common)
	case here != nil:
		candidates = []full.Candidate{{Path: at}}
	default:
		return nil, &toolset.ArgumentError{Name: "worktree", Message: "This session is in " + foreign.Mention(missing) + ", which is not in a git repository that copse can use", Hint: "Start the client in a worktree that `copse up` serves."}
	}
	hint := "Use one of: " + full.Names(candidates)
	if len(candidates) == 0 {
		hint = "Run `copse up` there."
	}
	switch {
	case named != "":
		path, err := full.Choose(named, candidates)
		if err != nil {
			return nil, err
		}
		if one := f.at(path); one != nil {
			return one.worktree, nil
		}
		return nil, notServed(path, hint)
	case missing != "":
		return f.soon(ctx, missing, candidates, hint)
	case len(candidates) == 1:
		if one := f.at(candidates[0].Path); one != nil {
			return one.worktree, nil
		}
	}
	return nil, &toolset.ArgumentError{Name: "worktree", Message: `This server serves several worktrees, and the client does not report its worktree: pass the argument "worktree"`, Hint: hint}
}

func notServed(path, hint string) error {
	return &toolset.ArgumentError{Name: "worktree", Message: "copse up does not serve " + foreign.Mention(path), Hint: hint}
}

// A worktree is new for as long as the supervisor needs to notice it.
const newTime = 5 * time.Second

// soon returns a new worktree beside others once it is served: a client can create one and ask at once.
func (f *Fleet) soon(ctx context.Context, path string, others []full.Candidate, hint string) (*route.Worktree, error) {
	made, err := os.Lstat(filepath.Join(path, ".git"))
	if err != nil && !regular.Absent(err) {
		return nil, err
	}
	if err != nil || len(others) == 0 {
		return nil, notServed(path, hint)
	}
	age := time.Since(made.ModTime())
	if age < 0 || age > newTime {
		return nil, notServed(path, hint)
	}
	ctx, cancel := context.WithTimeout(ctx, newTime-age)
	defer cancel()
	for {
		if one := f.at(path); one != nil {
			return one.worktree, nil
		}
		select {
		case <-ctx.Done():
			return nil, notServed(path, hint)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (f *Fleet) at(path string) *served {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.served[path]
}

// candidates returns the served worktrees of a repository, of all repositories for "", the main worktrees first.
func (f *Fleet) candidates(ctx context.Context, common string) []full.Candidate {
	f.mu.Lock()
	all := maps.Clone(f.served)
	f.mu.Unlock()
	var list []full.Candidate
	for _, path := range slices.Sorted(maps.Keys(all)) {
		if common != "" && all[path].common != common {
			continue
		}
		c := full.Candidate{Path: path}
		if w, err := (Repository{Env: f.o.Env}).Worktree(ctx, path); err == nil {
			c.Branch = w.Branch
		}
		list = append(list, c)
	}
	return list
}

// server makes a server of toolsets.
func (o Options) server(all *full.Served, worktrees route.Worktrees, connected func(client string)) *served {
	server := mcpserver.New(mcpserver.Options{
		Name: "copse", Version: app.Version(), Instructions: all.Instructions(o.About, o.ReadOnly), Toolsets: all.Toolsets, ReadOnly: o.ReadOnly, Worktrees: worktrees, Connected: connected,
		Definitions: full.Definitions(),
		Secrets:     o.Env.Secrets, Logger: o.Logger,
	})
	return &served{HTTP: server.HTTP(), toolsets: all, readOnly: o.ReadOnly, closed: func() {}}
}
