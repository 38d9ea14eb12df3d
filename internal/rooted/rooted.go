// Package rooted reads files below one directory, and never anything else.
//
// [Open] a [Root], convert a user's path to a name in it with [Root.Name], and
// read with the other methods. It guarantees that
//
//   - nothing outside the directory is opened, whatever the path is and however links
//     and directories change in the meantime: all access goes through an [os.Root]. Links
//     that stay inside are followed, including absolute ones;
//   - a path that points outside is [ErrOutside], whether a file exists there or not, so nobody
//     learns what exists elsewhere. A path of another system that would point outside there, such
//     as C:\x and ..\x, is refused everywhere;
//   - a name that no file can have, such as one with a NUL or with too many characters,
//     is [fs.ErrNotExist], like a name that no file has;
//   - [Root.CheckWrite] refuses a name inside a git directory, for packages that write;
//   - no call blocks: a named pipe, socket, or device is a [*NotRegularError] and is
//     neither opened nor waited for, and no more than a limit is read;
//   - no error of a Root names the path of the directory. errors.Is works with those
//     of io/fs. ([Root.Open] returns an [os.File], whose own errors
//     do.)
//
// Hard links and mounts inside the directory are part of it.
package rooted

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/copse-dev/copse/internal/regular"
)

var (
	// ErrOutside reports that a path points outside the directory.
	ErrOutside = errors.New("the path is outside the directory")
	// ErrNotDir reports that the file is not a directory.
	ErrNotDir = errors.New("it is not a directory")
	// ErrTooDeep reports that a name has more than maxParts parts.
	ErrTooDeep = errors.New("the path has more than 128 parts")
	// ErrTooManyLinks reports that links form a loop, or seem to.
	ErrTooManyLinks = errors.New("too many symbolic links")
)

// NotRegularError reports that the file is not a regular file.
type NotRegularError struct {
	Kind string // "directory", "named pipe", "socket", "device", "special file"
}

func (e *NotRegularError) Error() string { return "it is a " + e.Kind + ", not a file" }

func onlyRegular(info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return &NotRegularError{Kind: regular.Kind(info.Mode())}
}

// TooLargeError reports that a file exceeds the limit.
type TooLargeError struct {
	Size, Limit int64 // a lower bound: the file may be growing
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("it has %d bytes; the limit is %d", e.Size, e.Limit)
}

// Root is a directory. It is safe for concurrent use.
type Root struct {
	root    *os.Root
	escapes func() error    // root's error for a path that points outside
	paths   func() []string // of the directory: as it was given, and without links
}

// Open opens the directory at path, which is absolute.
func Open(path string) (*Root, error) {
	if !filepath.IsAbs(path) {
		return nil, errors.New("the path of the directory is not absolute")
	}
	root, err := regular.OpenRoot(path)
	if err != nil {
		return nil, WithoutPath(err)
	}
	return newRoot(root, path), nil
}

func newRoot(root *os.Root, path string) *Root {
	r := &Root{root: root}
	// Both take as long as reading a file, and are seldom needed.
	r.escapes = sync.OnceValue(func() error {
		// The library does not export this error, so this code provokes it.
		_, err := root.Lstat("..")
		return WithoutPath(err)
	})
	r.paths = sync.OnceValue(func() []string {
		paths := []string{filepath.Clean(path)}
		if real, err := filepath.EvalSymlinks(path); err == nil && real != paths[0] {
			paths = append(paths, real)
		}
		return paths
	})
	return r
}

// Close closes the directory.
func (r *Root) Close() error { return r.root.Close() }

// Name returns the name in the directory for a user's path: relative to it, or absolute and inside
// it. Names have slashes and no dots; the directory itself is ".". The error is ErrOutside. Name
// does not check whether the file exists.
func (r *Root) Name(path string) (string, error) {
	if hasDrive(path) && filepath.VolumeName(path) == "" {
		return "", ErrOutside
	}
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return r.inside(filepath.Clean(path))
	}
	if path == "" {
		return ".", nil
	}
	clean := filepath.Clean(path)
	if leaves(path) || !filepath.IsLocal(clean) {
		return "", ErrOutside
	}
	return filepath.ToSlash(clean), nil
}

// inside returns the name of an absolute path.
func (r *Root) inside(path string) (string, error) {
	for _, directory := range r.paths() {
		if rel, err := filepath.Rel(directory, path); err == nil && filepath.IsLocal(rel) && !leaves(rel) {
			return filepath.ToSlash(rel), nil
		}
	}
	return r.insideAs(path)
}

// maxParents is the maximum number of directories in which to search for the directory.
const maxParents = 64

// insideAs returns the name of an absolute path that has another path of the directory in it: another
// spelling on a file system that ignores case, or a mount.
func (r *Root) insideAs(path string) (string, error) {
	root, err := r.root.Stat(".")
	if err != nil {
		return "", ErrOutside
	}
	for at, i := path, 0; i < maxParents; i++ {
		if info, err := os.Stat(at); err == nil && os.SameFile(info, root) {
			rel, err := filepath.Rel(at, path)
			if err != nil || leaves(rel) {
				break
			}
			return filepath.ToSlash(rel), nil
		}
		parent := filepath.Dir(at)
		if parent == at {
			break
		}
		at = parent
	}
	return "", ErrOutside
}

// leaves reports whether a relative path is ever outside: even if it comes back, and even if only
// another system reads a backslash as a slash.
func leaves(path string) bool {
	slashed := strings.ReplaceAll(filepath.ToSlash(path), `\`, "/")
	if strings.HasPrefix(slashed, "/") {
		return true
	}
	depth := 0
	for part := range strings.SplitSeq(slashed, "/") {
		switch part {
		case "", ".":
		case "..":
			if depth--; depth < 0 {
				return true
			}
		default:
			depth++
		}
	}
	return false
}

// hasDrive reports whether path is one of Windows with a drive or a server.
func hasDrive(path string) bool {
	letter := len(path) >= 2 && path[1] == ':' && (path[0]|0x20 >= 'a' && path[0]|0x20 <= 'z')
	return letter || strings.HasPrefix(path, `\\`)
}

// check refuses texts that cannot be the name of a file in the directory, before any system call.
func check(name string) error {
	switch {
	case name == "" || strings.Contains(name, "\x00"):
		return fs.ErrNotExist
	case !filepath.IsLocal(filepath.FromSlash(name)):
		return ErrOutside
	case strings.Count(name, "/") >= maxParts:
		return ErrTooDeep
	}
	return nil
}

// maxParts is the maximum number of parts of a name. The system opens each of them in turn, and
// some callers examine each prefix of a name, which takes the square of its length.
const maxParts = 128

// follow calls op with a name, and if the library refuses its links, with the real name: the
// library accepts no absolute link, even if that leads inside, and only few links in total.
func (r *Root) follow(name string, op func(name string) error) error {
	if err := check(name); err != nil {
		return err
	}
	err := op(name)
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrClosed) {
		return WithoutPath(err)
	}
	if !errors.Is(err, r.escapes()) && !errors.Is(err, syscall.ELOOP) {
		return r.reason(err)
	}
	real, err := r.Real(name)
	if err != nil {
		return err
	}
	return r.reason(op(real))
}

// maxLinks is the maximum number of links in a name.
const maxLinks = 40

// Real returns the name of the file at the end of links. It is for access decisions by name: every
// other method follows links itself.
func (r *Root) Real(name string) (string, error) {
	done, _, err := r.resolve(name)
	if err != nil {
		return "", err
	}
	return path.Join(".", path.Join(done...)), nil
}

// resolve follows links. If a part is missing, done are the parts up to the missing one, and missing
// are the parts after it, not resolved.
func (r *Root) resolve(name string) (done, missing []string, err error) {
	if err := check(name); err != nil {
		return nil, nil, err
	}
	links := 0
	for rest := strings.Split(name, "/"); len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if len(done) == 0 {
				return nil, nil, ErrOutside
			}
			done = done[:len(done)-1]
			continue
		}
		done = append(done, part)
		at := filepath.Join(done...)
		info, err := r.root.Lstat(at)
		if err != nil {
			return done, rest, r.reason(err)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		if links++; links > maxLinks {
			return nil, nil, ErrTooManyLinks
		}
		target, err := r.root.Readlink(at)
		if err != nil {
			return nil, nil, r.reason(err)
		}
		done = done[:len(done)-1]
		if filepath.IsAbs(target) {
			var ok bool
			if target, ok = r.below(target); !ok {
				return nil, nil, ErrOutside
			}
			done = nil
		}
		rest = append(strings.Split(filepath.ToSlash(target), "/"), rest...)
	}
	return done, nil, nil
}

// below returns the rest of an absolute path after the directory's path. It is not cleaned: the
// meaning of ".." depends on the links before it.
func (r *Root) below(path string) (string, bool) {
	for _, directory := range r.paths() {
		rest, ok := strings.CutPrefix(path, directory)
		if ok && (rest == "" || os.IsPathSeparator(rest[0]) || os.IsPathSeparator(directory[len(directory)-1])) {
			return rest, true
		}
	}
	return "", false
}

// reason returns err without a path, in the words of this package.
func (r *Root) reason(err error) error {
	err = WithoutPath(err)
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrClosed):
		return err
	case errors.Is(err, r.escapes()):
		return ErrOutside
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG):
		return fs.ErrNotExist
	case errors.Is(err, syscall.ELOOP):
		return ErrTooManyLinks
	}
	return err
}

// WithoutPath returns only the cause of an error that names a path of this machine.
func WithoutPath(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	if between, ok := errors.AsType[*os.LinkError](err); ok {
		return between.Err
	}
	return err
}
