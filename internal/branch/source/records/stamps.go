package records

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/copse-dev/copse/internal/cachedfile"
)

const (
	// maxDirectories limits the directories below one that are watched.
	maxDirectories = 2000
	// tick is more than the difference between two distinguishable times of a file. A file that
	// changed less than that before it was read may have changed again without a trace.
	tick = 100 * time.Millisecond
)

// stamps detect changes of files and directories.
type stamps struct {
	seen map[string]stamp // by path
	// settled reports that a later change is visible.
	settled bool
}

// stamp is the system's data about a file, or the fact that it does not exist.
type stamp struct {
	exists    bool
	signature cachedfile.Signature
	mode      fs.FileMode
}

// stampsOf returns the stamps of files and directories, with the directories below them. Git
// replaces a ref by renaming, so its directory shows the change.
func stampsOf(paths []string) stamps {
	s := stamps{seen: make(map[string]stamp, len(paths)), settled: true}
	now := time.Now()
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil {
			s.seen[path] = stamp{}
			continue
		}
		s.add(path, info, now)
		if info.IsDir() {
			s.below(path, now)
		}
	}
	return s
}

func (s *stamps) add(path string, info fs.FileInfo, now time.Time) {
	s.seen[path] = stamp{true, cachedfile.SignatureOf(info), info.Mode()}
	s.settled = s.settled && now.Sub(info.ModTime()) > tick
}

// below adds the directories below one.
func (s *stamps) below(dir string, now time.Time) {
	left := maxDirectories
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() || path == dir {
			return nil
		}
		if left--; left < 0 {
			return fs.ErrInvalid
		}
		info, err := d.Info()
		if err == nil {
			s.add(path, info, now)
		}
		return err
	})
	if err != nil {
		s.settled = false // it is read every time
	}
}

// hold reports whether nothing has changed since.
func (s stamps) hold() bool {
	if !s.settled {
		return false
	}
	for path, was := range s.seen {
		now := stamp{}
		if info, err := os.Lstat(path); err == nil {
			now = stamp{true, cachedfile.SignatureOf(info), info.Mode()}
		}
		if now != was {
			return false
		}
	}
	return true
}
