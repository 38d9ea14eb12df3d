package boards

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/board"
	"github.com/copse-dev/copse/internal/board/health"
	"github.com/copse-dev/copse/internal/git/reftable"
	"github.com/copse-dev/copse/internal/watch"
	"github.com/copse-dev/copse/internal/workflow/verdict/gather"
)

const (
	// maxDirs is the number of directories of a worktree that are watched for changed files.
	// Changes in others are seen with the next check, within a minute.
	maxDirs = 300
	// maxDepth is how deep they lie.
	maxDepth = 6
	// maxTrees is how many worktrees are watched.
	maxTrees = 10
	// healthEvery is how often a page looks at the servers, which are in this process, and at
	// the size of the log.
	healthEvery = 500 * time.Millisecond
)

// watch reports changes of everything that the views show, until ctx ends.
func (s *sources) watch(ctx context.Context, ready func(), changed func(board.Source)) {
	var all, started sync.WaitGroup
	run := func(source board.Source, paths func() watch.Paths) {
		started.Add(1)
		once := sync.OnceFunc(started.Done)
		all.Go(func() {
			defer once()
			watch.Follow(ctx, paths, once, func() {
				if source == board.Repository {
					s.radar.look()
				}
				changed(source)
			}, s.blind)
		})
	}
	run(board.Repository, func() watch.Paths { return s.repository(ctx) })
	started.Add(1)
	all.Go(func() {
		once := sync.OnceFunc(started.Done)
		defer once()
		s.WatchItems(ctx, s.store, once, func() { changed(board.Items) }, s.blind)
	})
	if dir := s.Env.RuntimeDir(); dir != "" {
		run(board.Agents, func() watch.Paths { return watch.Paths{Dirs: []string{dir, filepath.Join(dir, "presence")}} })
	}
	if dir := s.Env.StateDir("tasks"); dir != "" {
		run(board.Tasks, func() watch.Paths {
			return watch.Paths{Dirs: []string{dir, filepath.Join(dir, "running"), filepath.Join(dir, "runs")}}
		})
	}
	if dir := s.Env.CacheDir(); dir != "" {
		run(board.Remote, func() watch.Paths { return watch.Paths{Dirs: []string{filepath.Dir(dir), dir}} })
	}
	run(board.Prompts, func() watch.Paths {
		return watch.Paths{Trees: []string{filepath.Join(s.Workspace.Workspace(), ".agent")}}
	})
	all.Go(func() { s.radar.watch(ctx, func() { changed(board.Conflicts) }) })
	all.Go(func() { s.poll(ctx, func() { changed(board.Remote) }) })
	all.Go(func() { s.health(ctx, func() { changed(board.Servers) }) })
	started.Wait()
	ready()
	all.Wait()
}

// blind notes that changes of a source are seen late.
func (s *sources) blind(err error) {
	s.Logger.Debug("the board does not notice all changes immediately", "error", err)
}

// poll calls do at intervals until ctx ends.
func poll(ctx context.Context, every time.Duration, do func()) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			do()
		}
	}
}

// remoteEvery is how often GitHub is queried while a page is open. All processes of the user share
// the answers, and recent ones are not requested again.
const remoteEvery = 61 * time.Second

// poll queries GitHub about the stacks on the first page, until ctx ends.
func (s *sources) poll(ctx context.Context, changed func()) {
	ask := func() {
		if all, err := s.verdicts.All(ctx, gather.Selection{Limit: asked}, gather.Recent); err == nil {
			s.mu.Lock()
			s.asked = all.GitHub
			s.mu.Unlock()
			changed()
		}
	}
	ask()
	poll(ctx, remoteEvery, ask)
}

// asked is the number of branches in a query to GitHub.
const asked = 100

// health calls changed when a server starts, ends, or changes its clients, and when the log
// grows, until ctx ends.
func (s *sources) health(ctx context.Context, changed func()) {
	look := func() ([]health.Server, int64) {
		var size int64
		if info, err := os.Stat(s.Options.Files.Log); err == nil { // without a log there is nothing to see
			size = info.Size()
		}
		return s.Servers(), size
	}
	servers, log := look()
	poll(ctx, healthEvery, func() {
		if nowServers, nowLog := look(); nowLog != log || !slices.Equal(nowServers, servers) {
			servers, log = nowServers, nowLog
			changed()
		}
	})
}

// repository returns where git and people change the repository.
func (s *sources) repository(ctx context.Context) watch.Paths {
	root := s.Workspace.Workspace()
	repo, err := s.Session.Repo(ctx)
	if err != nil {
		return watch.Paths{Dirs: []string{root}}
	}
	common := repo.CommonDir()
	paths := watch.Paths{
		Dirs:  []string{common, repo.GitDir(), reftable.Dir(common)},
		Trees: []string{filepath.Join(common, "refs"), filepath.Join(common, "worktrees")},
	}
	roots := []string{root}
	if list, err := repo.Worktrees(ctx); err == nil {
		for _, w := range list {
			if w.Path != root && !w.Bare && !w.Prunable && len(roots) < maxTrees {
				roots = append(roots, w.Path)
			}
		}
	}
	for _, one := range roots {
		paths.Dirs = append(paths.Dirs, filepath.Join(one, ".twig"))
		paths.Dirs = append(paths.Dirs, directories(one, roots)...)
	}
	return paths
}

// directories returns the directories of a worktree in which people edit files. It omits hidden
// ones, generated ones, and other worktrees.
func directories(root string, others []string) []string {
	var dirs []string
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error { // what cannot be read is not watched
		if err != nil || !d.IsDir() {
			return nil //nolint:nilerr // as above
		}
		if path != root {
			name := d.Name()
			if strings.HasPrefix(name, ".") || slices.Contains([]string{"node_modules", "vendor", "target", "dist", "build"}, name) || slices.Contains(others, path) ||
				strings.Count(path[len(root):], string(filepath.Separator)) > maxDepth {
				return filepath.SkipDir
			}
		}
		if len(dirs) == maxDirs {
			return filepath.SkipAll
		}
		dirs = append(dirs, path)
		return nil
	})
	return dirs
}
