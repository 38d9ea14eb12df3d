package project

import (
	"path/filepath"
	"strings"

	"github.com/copse-dev/copse/internal/rooted"
)

// maxGitFile is the maximum size of the file .git.
const maxGitFile = 4 << 10

// gitDirectory returns the directory in the project that the file .git names, such as .bare; "" for
// none.
func (f *directory) gitDirectory() string {
	info, err := f.Lstat(".git")
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	text, err := f.Read(".git", maxGitFile)
	if err != nil {
		return ""
	}
	named, _ := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir:")
	dir, err := f.Name(filepath.FromSlash(strings.TrimSpace(named)))
	if err != nil || dir == "." {
		return "" // it is outside
	}
	shared, _, _ := strings.Cut(dir, "/worktrees/")
	return shared
}

// isGits reports whether a name is that of git's own files.
func (f *directory) isGits(name string) bool {
	if rooted.NamesGit(name) {
		return true
	}
	dir := f.gitDirectory()
	return dir != "" && (name == dir || strings.HasPrefix(name, dir+"/"))
}
