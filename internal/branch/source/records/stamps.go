package records

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/copse-dev/copse/internal/branch/source"
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
	gaps []gap
	// settled reports that a later change is visible.
	settled bool
}

// stamp is the system's data about a file, or the fact that it does not exist.
type stamp struct {
	exists    bool
	signature cachedfile.Signature
	mode      fs.FileMode
}

// gap is a file that does not exist. While dir, the nearest directory that exists, is as it was,
// the file still does not exist: one lookup answers for all gaps in a directory.
type gap struct {
	path string
	dir  string // "" if a change of the directory might not be visible
	was  stamp
}

// look examines files at one time. It examines those that exist once.
type look struct {
	now  time.Time
	seen map[string]stamp
}

func newLook(now time.Time) look { return look{now, map[string]stamp{}} }

func (l look) at(path string) stamp {
	if known, ok := l.seen[path]; ok {
		return known
	}
	info, err := os.Lstat(path)
	if err != nil {
		return stamp{}
	}
	now := stamp{true, cachedfile.SignatureOf(info), info.Mode()}
	l.seen[path] = now
	return now
}

// maxMissing is the maximum number of missing directories to examine for one gap. A repository can
// contain thousands of branches whose names have thousands of parts.
const maxMissing = 32

// gapAt returns the gap at a path, false if there is a file.
func (l look) gapAt(path string) (gap, bool) {
	dir, part := filepath.Dir(path), path
	for range maxMissing {
		if dir == part {
			break
		}
		was := l.at(dir)
		if !was.exists {
			dir, part = filepath.Dir(dir), dir
			continue
		}
		// Whatever appears in the directory after it was examined changes it.
		if was.mode.IsDir() && was.signature.Settled(l.now) && !l.at(part).exists {
			return gap{path, dir, was}, true
		}
		break
	}
	return gap{path: path}, !l.at(path).exists
}

// stampsOf returns the stamps of files and directories, with the directories below them. Git
// replaces a ref by renaming, so its directory shows the change.
func stampsOf(paths []string, now time.Time) stamps {
	l := newLook(now)
	s := stamps{seen: make(map[string]stamp, len(paths)), settled: true}
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil {
			missing, ok := l.gapAt(path)
			s.gaps, s.settled = append(s.gaps, missing), s.settled && ok
			continue
		}
		s.add(path, info, l.now)
		if info.IsDir() && !source.IsNamesIn(path) {
			s.below(path, l.now)
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
func (s *stamps) hold(l look) bool {
	if !s.settled {
		return false
	}
	for path, was := range s.seen {
		if l.at(path) != was {
			return false
		}
	}
	for i, missing := range s.gaps {
		if missing.dir != "" && l.at(missing.dir) == missing.was {
			continue
		}
		now, ok := l.gapAt(missing.path)
		if !ok {
			return false
		}
		s.gaps[i] = now
	}
	return true
}
