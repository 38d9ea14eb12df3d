// Package dirt counts the changed files of a worktree, and runs git only after a change in the
// worktree.
package dirt

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/git"
)

// Counter counts the files of a worktree that differ from its commit, including untracked ones. It
// caches the answer while nothing in the worktree changes, and runs git otherwise. It is safe for
// concurrent use.
type Counter struct {
	repo *git.Repo

	mu    sync.Mutex
	seen  map[string]stamp // the inputs of the answer, by path; nil for no answer
	files int
}

// New returns the counter of a repository's worktree. It reads nothing yet.
func New(r *git.Repo) *Counter { return &Counter{repo: r} }

// stamp identifies the state of a file or a directory.
type stamp struct {
	size    int64
	changed int64
	mode    fs.FileMode
}

const (
	// maxStamps is the maximum number of files and directories to examine before git runs anyway.
	maxStamps = 10_000
	// unsettled is the minimum age of a change for a second one to show in the time.
	unsettled = 2 * time.Second
)

// Count returns how many files differ.
func (d *Counter) Count(ctx context.Context) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen != nil && d.unchanged() {
		return d.files, nil
	}
	d.seen = nil
	before, ok := d.stamps(ctx)
	status, files, err := d.repo.Changes(ctx)
	if err == nil && status.Partial {
		err = errors.New("git cannot open some of the directories")
	}
	if err != nil {
		return 0, err
	}
	d.files = len(files)
	if ok && settled(before) {
		if d.seen = before; !d.unchanged() {
			d.seen = nil
		}
	}
	return d.files, nil
}

func (d *Counter) unchanged() bool {
	for path, was := range d.seen {
		if now := stampOf(path); now != was {
			return false
		}
	}
	return true
}

func settled(stamps map[string]stamp) bool {
	limit := time.Now().Add(-unsettled).UnixNano()
	for _, s := range stamps {
		if s.changed > limit {
			return false
		}
	}
	return true
}

// stampOf returns the stamp of a file, the zero one if there is none.
func stampOf(path string) stamp {
	info, err := os.Lstat(path)
	if err != nil {
		return stamp{}
	}
	s := stamp{changed: info.ModTime().UnixNano(), mode: info.Mode()}
	if !info.IsDir() {
		s.size = info.Size()
	}
	return s
}

// stamps returns the stamps of all inputs of the answer: the index, the commit, the files that git
// tracks, every directory, and the files of ignore patterns. It returns false if there are too many
// of them, or if it cannot determine them.
func (d *Counter) stamps(ctx context.Context) (map[string]stamp, bool) {
	r := d.repo
	tracked, err := r.Tracked(ctx)
	if err != nil || len(tracked.Links()) > 0 || tracked.Len() > maxStamps || r.RefTables() {
		return nil, false
	}
	excludes, err := r.Excludes(ctx)
	if err != nil {
		return nil, false
	}
	paths := []string{filepath.Join(r.GitDir(), "index"), filepath.Join(r.GitDir(), "HEAD"), filepath.Join(r.CommonDir(), "packed-refs"), filepath.Join(r.CommonDir(), "config")}
	paths = append(paths, excludes.Files...)
	head, err := r.Head(ctx)
	if err != nil {
		return nil, false
	}
	if head.Branch != "" {
		paths = append(paths, filepath.Join(r.CommonDir(), "refs", "heads", filepath.FromSlash(head.Branch)))
	}
	for _, path := range tracked.All() {
		paths = append(paths, filepath.Join(r.Root(), filepath.FromSlash(path)))
	}
	left := maxStamps
	err = filepath.WalkDir(r.Root(), func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !e.IsDir():
			return nil
		case e.Name() == ".git" && path != r.Root():
			return fs.SkipDir
		}
		if left--; left < 0 {
			return fs.SkipAll
		}
		paths = append(paths, path, filepath.Join(path, ".gitignore"))
		return nil
	})
	if err != nil || left < 0 {
		return nil, false
	}
	stamps := make(map[string]stamp, len(paths))
	for _, path := range paths {
		stamps[path] = stampOf(path)
	}
	return stamps, true
}
