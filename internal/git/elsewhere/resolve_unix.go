//go:build unix

package elsewhere

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks is the maximum number of links on the way, as for filepath.EvalSymlinks.
const maxLinks = 255

// resolve returns a path without links. Other than filepath.EvalSymlinks, it sees every directory on the
// way: the target of a link below /proc does not show that the way led through /proc.
func resolve(path string) (string, error) {
	at, rest, links := "/", path, 0
	var system device
	for rest != "" {
		name, after, more := strings.Cut(rest, "/")
		rest = after
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		if differs(next) {
			return "", &Error{Path: next, Process: true}
		}
		info, err := os.Lstat(next)
		if err != nil {
			return "", err
		}
		switch {
		case info.Mode()&os.ModeSymlink != 0:
			if links++; links > maxLinks {
				return "", &os.PathError{Op: "follow", Path: path, Err: syscall.ELOOP}
			}
			target, err := os.Readlink(next)
			if err != nil {
				return "", err
			}
			if filepath.IsAbs(target) {
				at = "/"
			}
			rest = target + "/" + rest
			continue
		case system.kernels(next, info):
			return "", &Error{Path: next, Process: true}
		case more && !info.IsDir():
			return "", &os.PathError{Op: "follow", Path: next, Err: syscall.ENOTDIR}
		}
		at = next
	}
	return at, nil
}

// differs reports whether a file or directory is one of those that differ for each process, by its usual name. A file
// system can ignore case.
func differs(path string) bool {
	switch strings.ToLower(path) {
	case "/proc", "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/compat/linux/proc", "/usr/compat/linux/proc":
		return true
	}
	return false
}
