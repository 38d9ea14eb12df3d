// Package elsewhere refuses the paths in a repository's files that lead to another machine.
//
// Windows connects to the machine in a path such as \\host\share\file as soon as a program examines it,
// and logs in there. Anybody can put such a path into a file of an archive that git follows: .git,
// commondir, gitdir, the alternates, and the configuration. A path of a device, such as \\.\pipe\x or
// \\?\UNC\host\share, is as bad. A repository on a share may name that share.
package elsewhere

import (
	"fmt"
	"io/fs"
	"runtime"
	"strings"
)

// Error reports a path that leads to another machine, or to a device.
type Error struct {
	// Path is the path, as a file of the repository names it.
	Path string
}

func (e *Error) Error() string {
	return fmt.Sprintf("names %q, which is on another machine or is a device", e.Path)
}

// Check returns an error if following a path would lead to another machine. file is the file
// that names it. The directories are those from which the repository was reached, empty if there is
// none: the path may be on the same share. The error is an [*fs.PathError] with an [*Error].
func Check(file, path string, from ...string) error {
	if runtime.GOOS != "windows" || !leads(path, from...) {
		return nil
	}
	return &fs.PathError{Op: "follow", Path: file, Err: &Error{path}}
}

// leads reports whether a path leads to another machine or a device than those of the directories, on Windows.
func leads(path string, from ...string) bool {
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
