package rooted

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/copse-dev/copse/internal/regular"
)

// Dir is a directory below another one, the wall: its name may contain links, but never leaves the
// wall. It is opened for each call, so it may be replaced in between.
type Dir struct {
	Wall string // an absolute path
	Name string // slash-separated; "." is the wall itself
}

// Path returns the path of the directory, for display.
func (d Dir) Path() string { return filepath.Join(d.Wall, filepath.FromSlash(d.Name)) }

// Sub returns a directory in the directory, with the same wall.
func (d Dir) Sub(name string) Dir { return Dir{Wall: d.Wall, Name: path.Join(d.Name, name)} }

// Open opens the directory. The error can be ErrOutside.
func (d Dir) Open() (*os.Root, error) {
	wall, err := regular.OpenRoot(d.Wall)
	if err != nil || d.Name == "." {
		return wall, WithoutPath(err)
	}
	defer wall.Close()
	dir, err := regular.OpenRootIn(wall, filepath.FromSlash(d.Name))
	if err == nil {
		return dir, nil
	}
	if _, outside := wall.Lstat(".."); WithoutPath(err) == WithoutPath(outside) { //nolint:errorlint // the library has no name for it
		return nil, ErrOutside
	}
	return nil, WithoutPath(err)
}

// OpenToWrite opens the directory for changes of its files. The error can be ErrOutside or
// ErrGitDirectory.
func (d Dir) OpenToWrite() (*os.Root, error) {
	if d.Name != "." {
		wall, err := regular.OpenRoot(d.Wall)
		if err != nil {
			return nil, WithoutPath(err)
		}
		defer wall.Close()
		if err := CheckWrite(wall, d.Name); err != nil {
			return nil, err
		}
	}
	return d.Open()
}

// In returns the directory as a cachedfile.Directory, whose names are those in the directory.
func (d Dir) In() Files { return Files{d} }

// Files are the files of a Dir.
type Files struct{ dir Dir }

// Stat returns the file at the end of links.
func (f Files) Stat(name string) (fs.FileInfo, error) {
	return Directory(f.dir.Wall).Stat(path.Join(f.dir.Name, name))
}

// Open opens a file for reading.
func (f Files) Open(name string) (*os.File, error) {
	return Directory(f.dir.Wall).Open(path.Join(f.dir.Name, name))
}
