package project

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/copse-dev/copse/internal/rooted"
)

// maxGitFile is the maximum size of the file .git.
const maxGitFile = 4 << 10

// A gitDirectory is git's directory in the project under another name, such as .bare. Its zero value
// is none.
type gitDirectory struct {
	depth int // the number of directories in its path
	info  fs.FileInfo
}

// is reports whether it is the directory with a path of this depth. Names are not enough: a file system can have
// several for one directory.
func (g gitDirectory) is(depth int, info func() (fs.FileInfo, error)) bool {
	if g.info == nil || depth != g.depth {
		return false
	}
	this, err := info()
	return err == nil && os.SameFile(g.info, this)
}

// gitDirectory returns the directory in the project that .git names, a file or a link.
func (f *directory) gitDirectory() gitDirectory {
	info, err := f.Lstat(".git")
	if err != nil {
		return gitDirectory{}
	}
	named := ".git"
	switch {
	case info.Mode().IsRegular():
		text, err := f.Read(".git", maxGitFile)
		if err != nil {
			return gitDirectory{}
		}
		named, _ = strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir:")
		named = filepath.FromSlash(strings.TrimSpace(named))
		if known := f.elsewhere.Load(); known != nil && *known == named {
			return gitDirectory{}
		}
		outside := named
		if named, err = f.Name(named); err != nil {
			f.elsewhere.Store(&outside)
			return gitDirectory{}
		}
	case info.Mode()&fs.ModeSymlink == 0:
		return gitDirectory{}
	}
	named, _, _ = strings.Cut(named, "/worktrees/")
	real, err := f.Real(named)
	if err != nil {
		return gitDirectory{} // it is outside
	}
	shared, _, _ := strings.Cut(real, "/worktrees/")
	if shared == "." {
		return gitDirectory{}
	}
	if info, err = f.Lstat(shared); err != nil {
		return gitDirectory{}
	}
	return gitDirectory{depth: depth(shared), info: info}
}

// depth returns the number of directories in the name of a directory.
func depth(name string) int { return 1 + strings.Count(name, "/") }

// isGits reports whether a name, which has no links, is that of git's own files.
func (f *directory) isGits(name string) bool {
	if rooted.NamesGit(name) {
		return true
	}
	git := f.gitDirectory()
	parts := strings.Split(name, "/")
	if git.info == nil || len(parts) < git.depth {
		return false
	}
	dir := strings.Join(parts[:git.depth], "/")
	return git.is(git.depth, func() (fs.FileInfo, error) { return f.Lstat(dir) })
}
