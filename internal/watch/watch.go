// Package watch reports changes below a few directories.
//
// Use [Run]. It reports that something may have changed, not what: the caller checks, and compares
// with its previous data. Simultaneous changes are reported once, no later than half a second after
// the first. It watches a directory that does not exist yet from the moment it appears. A directory
// on a file system that does not notify (some network mounts) is silent. If the system has no
// watcher left, which it limits for all programs of a user together, Run reports a possible change
// every two seconds instead.
package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// settle is how long nothing must happen before a change is reported: git
	// writes several files for one operation.
	settle = 50 * time.Millisecond
	// maxDelay is how late a change is reported while others follow it without a pause.
	maxDelay = 500 * time.Millisecond
	// lookEvery is how often Run looks for directories that do not exist yet and whose
	// parents it does not watch. It does not watch the nearest parent that exists instead:
	// that can be a busy directory, such as the user's home.
	lookEvery = 500 * time.Millisecond
	// maxDirs bounds what one Run watches; the system has few watches to give.
	maxDirs = 4096
)

// Paths are what to watch. They need not exist: the appearance of one is a change.
type Paths struct {
	// Dirs are directories whose own entries count.
	Dirs []string
	// Trees are directories that count with everything below them.
	Trees []string
}

// Run calls changed after each change below paths until ctx ends, which returns
// nil. It is ready, so that no later change is missed, when ready is called.
func Run(ctx context.Context, paths Paths, ready, changed func()) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return poll(ctx, pollEvery, ready, changed)
	}
	defer w.Close()
	r := &run{w: w, paths: paths}
	if err := r.addAll(); err != nil {
		return err
	}
	ready()
	quiet := time.NewTimer(settle)
	quiet.Stop()
	look := time.NewTimer(lookEvery)
	defer look.Stop()
	var first time.Time // when the oldest change that is not reported came
	happened := func() {
		now := time.Now()
		if first.IsZero() {
			first = now
		}
		quiet.Reset(min(settle, first.Add(maxDelay).Sub(now)))
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case _, ok := <-w.Events:
			if !ok {
				return nil
			}
			happened()
		case err, ok := <-w.Errors:
			if !ok {
				return nil
			}
			// Too many events at once: some were lost, so anything may have
			// changed. Other errors end nothing.
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				happened()
			}
		case <-look.C:
			if slices.ContainsFunc(r.absent, isDir) {
				happened()
			} else if len(r.absent) > 0 {
				look.Reset(lookEvery)
			}
		case <-quiet.C:
			first = time.Time{}
			// New directories are watched before the caller looks, so that what
			// happens in them from now on is seen.
			if err := r.addAll(); err != nil {
				return err
			}
			look.Reset(lookEvery)
			changed()
		}
	}
}

// pollEvery is how often a change is taken for possible where nothing can be watched.
const pollEvery = 2 * time.Second

// poll calls changed at each interval until ctx ends.
func poll(ctx context.Context, interval time.Duration, ready, changed func()) error {
	ready()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			changed()
		}
	}
}

type run struct {
	w     *fsnotify.Watcher
	paths Paths
	// absent are the directories to look for: no event reports that they appear.
	absent []string
}

// addAll watches every directory that exists now. Adding one again is cheap.
func (r *run) addAll() error {
	var late Paths // what did not exist at the beginning
	for _, dir := range r.paths.Dirs {
		if !isDir(dir) {
			late.Dirs = append(late.Dirs, dir)
		}
	}
	for _, tree := range r.paths.Trees {
		if !isDir(tree) {
			late.Trees = append(late.Trees, tree)
		}
	}
	r.absent = nil
	if err := r.add(r.paths); err != nil {
		return err
	}
	// A directory can have appeared after it was looked for and before its parent was watched.
	if err := r.add(late); err != nil {
		return err
	}
	watched := r.w.WatchList()
	for _, path := range slices.Concat(late.Dirs, late.Trees) {
		if !slices.Contains(watched, filepath.Dir(path)) {
			r.absent = append(r.absent, path)
		}
	}
	return nil
}

func (r *run) add(paths Paths) error {
	for _, dir := range paths.Dirs {
		if err := r.addDir(dir); err != nil {
			return err
		}
	}
	for _, tree := range paths.Trees {
		err := filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return nil //nolint:nilerr // gone meanwhile, or not readable: nothing to watch
			}
			return r.addDir(path)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *run) addDir(dir string) error {
	if len(r.w.WatchList()) >= maxDirs {
		return fmt.Errorf("watch files: more than %d directories", maxDirs)
	}
	if !isDir(dir) {
		return nil // not there (yet)
	}
	if err := r.w.Add(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("watch files: %w", err)
	}
	return nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
