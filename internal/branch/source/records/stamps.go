package records

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/copse-dev/copse/internal/cachedfile"
)

const (
	// maxDirectories bounds the directories below one that count.
	maxDirectories = 2000
	// tick is more than the time between two different times of a file. A file that changed
	// less than that before it was read may have changed again without a trace.
	tick = 100 * time.Millisecond
)

// stamps tell whether files and directories are as they were.
type stamps struct {
	seen map[string]stamp // by path
	// settled says that a change since shows.
	settled bool
}

// stamp is what the system says about a file, or that it is not there.
type stamp struct {
	exists    bool
	signature cachedfile.Signature
	mode      fs.FileMode
}

// stampsOf returns the stamps of files and directories, with the directories below them.
// Git replaces a ref by renaming, so that its directory shows the change.
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
		s.settled = false // it is read each time
	}
}

// hold reports whether nothing changed since.
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
