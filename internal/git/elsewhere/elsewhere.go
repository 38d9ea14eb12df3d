// Package elsewhere refuses the paths in a repository's files that lead away from what copse has examined: to
// another machine, or to a file that is another one in each process.
//
// Anybody can put a path into a file of an archive that git follows: .git, commondir, gitdir, the
// alternates, and the configuration; or a link into the place of such a file. copse examines the files, and then git
// reads them, in another process and another working directory. Below /proc, and on Windows relative to
// a drive, the same path leads the two to different files. [Resolve] follows paths and links step by step, and refuses
// those. Windows also connects to the machine in a path such as \\host\share\file as soon as a program examines it,
// and logs in there; a path of a device, such as \\.\pipe\x or \\?\UNC\host\share, is as bad. [Check] refuses
// them before anything follows them. A repository on a share may name that share.
package elsewhere

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/copse-dev/copse/internal/regular"
)

// Error reports a path that leads to another machine or a device, or to different files in different
// processes.
type Error struct {
	// Path is the path, as a file of the repository names it; or, if Process is true, the directory on the
	// way that differs.
	Path string
	// Process means that the path depends on the process.
	Process bool
}

func (e *Error) Error() string {
	if e.Process {
		return fmt.Sprintf("leads through %q, where each process finds different files", e.Path)
	}
	return fmt.Sprintf("names %q, which is on another machine or is a device, or depends on the current drive", e.Path)
}

// Remedy returns the next step for a person.
func (e *Error) Remedy() string {
	if e.Process {
		return "write a path without that directory, or remove it"
	}
	return "correct the path in it, or start copse in a directory on that machine"
}

// Resolve returns a path without links, as filepath.EvalSymlinks does. file is the file of the repository that
// names the path, or the path itself. The error is an [*fs.PathError] with an [*Error] if the way leads through a
// directory that depends on the process, whether or not its target exists for this one.
func Resolve(file, path string) (string, error) {
	real, err := resolve(path)
	if _, ok := errors.AsType[*Error](err); ok {
		return "", &fs.PathError{Op: "follow", Path: file, Err: err}
	}
	return real, err
}

// Leads returns the error of Resolve, or nil if there is only another problem on the way.
func Leads(file, path string) error {
	_, err := Resolve(file, path)
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	return nil
}

// Link returns the error of Leads for a link at path, nil if there is no link. The directory of path must not have
// links.
func Link(path string) error {
	info, err := os.Lstat(path)
	if regular.Absent(err) || err == nil && info.Mode()&fs.ModeSymlink == 0 {
		return nil
	}
	return Leads(path, path)
}

// Check returns an error if following a path would lead to another machine. file is the file
// that names it. The directories are those from which the repository was reached, empty if there is
// none: the path may be on the same share. The error is an [*fs.PathError] with an [*Error].
func Check(file, path string, from ...string) error {
	if runtime.GOOS != "windows" || !leads(path, from...) {
		return nil
	}
	return &fs.PathError{Op: "follow", Path: file, Err: &Error{Path: path}}
}

// leads reports whether a path leads to another machine or a device than those of the directories, or depends on the
// current drive or its current directory, on Windows.
func leads(path string, from ...string) bool {
	if drifts(path) {
		return true
	}
	v := volume(path)
	if v == "" {
		return false
	}
	for _, dir := range from {
		if volume(dir) == v {
			return false
		}
	}
	return true
}

// drifts reports whether a path on Windows is relative to the current drive, such as \x, or to the current directory
// of a drive, such as C:x.
func drifts(path string) bool {
	path = strings.ReplaceAll(path, "/", `\`)
	if len(path) > 1 && path[1] == ':' {
		return !strings.HasPrefix(path[2:], `\`)
	}
	return strings.HasPrefix(path, `\`) && volume(path) == ""
}

// volume returns the share or the device of a path on Windows, in one spelling, "" for other paths.
// It is longer rather than shorter: a path that is not \\host\share is a volume of its own.
func volume(path string) string {
	path = strings.ToLower(strings.ReplaceAll(path, "/", `\`))
	if strings.HasPrefix(path, `\??\`) {
		path = `\\?\` + path[len(`\??\`):]
	}
	rest, ok := strings.CutPrefix(path, `\\`)
	if !ok {
		return ""
	}
	parts := 2 // host and share, or the kind of the path and the device
	if strings.HasPrefix(rest, `?\unc\`) || strings.HasPrefix(rest, `.\unc\`) {
		parts = 4
	}
	names := strings.SplitN(rest, `\`, parts+1)
	return `\\` + strings.Join(names[:min(parts, len(names))], `\`)
}
