package reflog

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"

	"github.com/copse-dev/copse/internal/git/history"
	"github.com/copse-dev/copse/internal/regular"
)

// maxHead is the maximum size of a reflog of HEAD.
const maxHead = 16 << 20

// files are the reflogs of a repository whose refs are files.
type files struct {
	dir   string // git's directory for all worktrees
	trunk string
	known map[string]history.Log // by branch
	heads []checkout
	read  bool // heads is known
}

func (f *files) of(branch string) history.Log {
	log, ok := f.known[branch]
	if !ok {
		log = history.ReadLog(f.dir, branch)
		f.known[branch] = log
	}
	return log
}

// exists looks for the reflog of the branch, which every branch created in a worktree has.
func (f *files) exists(branch string) bool {
	info, err := os.Lstat(filepath.Join(f.dir, "logs", "refs", "heads", filepath.FromSlash(branch)))
	return err == nil && info.Mode().IsRegular()
}

func (f *files) isTag(name string) bool {
	if _, err := os.Lstat(filepath.Join(f.dir, "refs", "tags", filepath.FromSlash(name))); err == nil {
		return true
	}
	packed, err := regular.Read(filepath.Join(f.dir, "packed-refs"), maxHead)
	return err == nil && strings.Contains(string(packed), " refs/tags/"+name+"\n")
}

func (f *files) atRemote(commit string) bool {
	file, err := regular.Open(filepath.Join(f.dir, "logs", "refs", "remotes", "origin", filepath.FromSlash(f.trunk)), maxHead)
	if err != nil {
		return false // most repositories have none
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if fields := strings.SplitN(lines.Text(), " ", 3); len(fields) == 3 && fields[1] == commit {
			return true
		}
	}
	return false
}

func (f *files) checkouts() []checkout {
	if f.read {
		return f.heads
	}
	f.read = true
	paths := []string{filepath.Join(f.dir, "logs", "HEAD")}
	for _, name := range linked(f.dir) {
		paths = append(paths, filepath.Join(f.dir, "worktrees", name, "logs", "HEAD"))
	}
	for _, path := range paths {
		file, err := regular.Open(path, maxHead)
		if err != nil {
			continue // a worktree need not have one
		}
		for lines := bufio.NewScanner(file); lines.Scan(); {
			head, why, _ := strings.Cut(lines.Text(), "\t")
			fields := strings.SplitN(head, " ", 3)
			if len(fields) != 3 {
				continue
			}
			if one, ok := checkoutOf(fields[1], why); ok {
				f.heads = append(f.heads, one)
			}
		}
		_ = file.Close()
	}
	return f.heads
}

// linked returns git's names of the linked worktrees.
func linked(commonDir string) []string {
	entries, err := regular.ReadDir(filepath.Join(commonDir, "worktrees"))
	if err != nil {
		return nil
	}
	var names []string
	for _, d := range entries[:min(len(entries), maxWorktrees)] {
		names = append(names, d.Name())
	}
	return names
}
