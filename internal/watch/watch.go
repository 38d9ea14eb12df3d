// Package watch tells when something below a few directories changes.
//
// Use [Run]. It reports that something may have changed, not what: the caller
// looks, and compares with what it knew. Changes that come together are
// reported once. A directory on a file system that does not notify (some network
// mounts) is quiet. Where the system has no watcher left to give, which it limits for all
// programs of a user together, Run reports a possible change every two seconds instead.
package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settle is how long nothing must happen before a change is reported: git
// writes several files for one operation.
const settle = 50 * time.Millisecond

// maxFolders bounds what one Run watches; the system has few watches to give.
const maxFolders = 4096

// Paths are what to watch. A folder that does not exist is passed over, until
// it appears in one that is watched and is itself named here.
type Paths struct {
	// Dirs are folders whose own entries count.
	Dirs []string
	// Trees are folders that count with everything below them.
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
	for {
		select {
		case <-ctx.Done():
			return nil
		case _, ok := <-w.Events:
			if !ok {
				return nil
			}
			quiet.Reset(settle)
		case err, ok := <-w.Errors:
			if !ok {
				return nil
			}
			// Too many events at once: some were lost, so anything may have
			// changed. Other errors end nothing.
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				quiet.Reset(settle)
			}
		case <-quiet.C:
			// New folders are watched before the caller looks, so that what
			// happens in them from now on is seen.
			if err := r.addAll(); err != nil {
				return err
			}
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
}

// addAll watches every folder that there is now. Adding one again is cheap.
func (r *run) addAll() error {
	for _, dir := range r.paths.Dirs {
		if err := r.add(dir); err != nil {
			return err
		}
	}
	for _, tree := range r.paths.Trees {
		err := filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return nil //nolint:nilerr // gone meanwhile, or not readable: nothing to watch
			}
			return r.add(path)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *run) add(dir string) error {
	if len(r.w.WatchList()) >= maxFolders {
		return fmt.Errorf("watch files: more than %d directories", maxFolders)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil //nolint:nilerr // not there (yet)
	}
	if err := r.w.Add(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("watch files: %w", err)
	}
	return nil
}
