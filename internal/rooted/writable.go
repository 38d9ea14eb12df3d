package rooted

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
)

// ErrGitDirectory reports that a name leads into a git directory, where only git writes.
var ErrGitDirectory = errors.New("the path is inside a git directory, where copse does not write; replace the symbolic link with a file or directory")

// CheckWrite returns the error of [Root.CheckWrite] for a directory that is already open.
func CheckWrite(root *os.Root, name string) error {
	return newRoot(root, root.Name()).CheckWrite(name)
}

// CheckWrite returns an error if a write to name would leave the directory or change a git
// directory below it: a repository can contain a link to .git/config. The file, and directories
// of its name, may be missing. The error is ErrOutside or ErrGitDirectory. The directory itself may be
// a git directory, for copse's own files there.
//
// Another process that replaces a link after the check can write to the git directory itself.
func (r *Root) CheckWrite(name string) error {
	done, missing, err := r.resolve(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if NamesGit(path.Join(path.Join(done...), path.Join(missing...))) {
		return ErrGitDirectory
	}
	for i := range done {
		if r.IsGit(filepath.Join(done[:i+1]...)) {
			return ErrGitDirectory
		}
	}
	return nil
}

// IsGit reports whether a directory is a git directory, whatever its name is.
func (r *Root) IsGit(dir string) bool {
	return IsGit(func(name string) bool {
		_, err := r.root.Lstat(filepath.Join(dir, name))
		return err == nil
	})
}

// IsGit reports whether a directory with certain files is a git directory, as git decides.
func IsGit(has func(name string) bool) bool {
	return has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}

// NamesGit reports whether a part of a name is .git. Some file systems have other names for it, too.
func NamesGit(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		part, _, _ = strings.Cut(part, ":") // a stream of the file
		part = strings.TrimRight(part, ". ")
		if strings.EqualFold(cleantext.Line(part), ".git") || strings.EqualFold(part, "git~1") {
			return true
		}
	}
	return false
}
