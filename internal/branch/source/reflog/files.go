package reflog

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/copse-dev/copse/internal/git/history"
	"github.com/copse-dev/copse/internal/regular"
)

// maxHeads is the maximum size of all reflogs of HEAD, of that of the remote trunk, and of packed-refs.
const maxHeads = 16 << 20

// files are the reflogs of a repository whose refs are files.
type files struct {
	dir  string // git's directory for all worktrees
	read func(branch string) history.Log

	known  map[string]history.Log // by branch
	heads  func() checkouts
	trunks func() map[string]bool // the commits that the trunk of origin had as its tip
	tags   func() map[string]bool // the packed ones
}

func newFiles(dir, trunk string) *files {
	return &files{
		dir: dir, read: history.FileLogs(dir), known: map[string]history.Log{},
		heads:  sync.OnceValue(func() checkouts { return readCheckouts(dir) }),
		trunks: sync.OnceValue(func() map[string]bool { return remoteTips(dir, trunk) }),
		tags:   sync.OnceValue(func() map[string]bool { return packedTags(dir) }),
	}
}

func (f *files) of(branch string) history.Log {
	log, ok := f.known[branch]
	if !ok {
		log = f.read(branch)
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
	_, err := os.Lstat(filepath.Join(f.dir, "refs", "tags", filepath.FromSlash(name)))
	return err == nil || f.tags()[name]
}

func (f *files) atRemote(commit string) bool { return f.trunks()[commit] }

func (f *files) checkouts() checkouts { return f.heads() }

// eachLine calls each for the lines of a file of at most left bytes, and subtracts their length from
// left. It skips a file that it cannot read.
func eachLine(path string, left *int64, each func(line string)) {
	file, err := regular.Open(path, *left)
	if err != nil {
		return
	}
	defer file.Close()
	for lines := bufio.NewScanner(&io.LimitedReader{R: file, N: *left}); lines.Scan(); {
		*left -= int64(len(lines.Bytes()) + 1)
		each(lines.Text())
	}
}

// remoteTips returns the commits in the reflog of origin's trunk, which most repositories do not have.
func remoteTips(dir, trunk string) map[string]bool {
	tips, left := map[string]bool{}, int64(maxHeads)
	eachLine(filepath.Join(dir, "logs", "refs", "remotes", "origin", filepath.FromSlash(trunk)), &left, func(line string) {
		if fields := strings.SplitN(line, " ", 3); len(fields) == 3 {
			tips[fields[1]] = true
		}
	})
	return tips
}

func packedTags(dir string) map[string]bool {
	tags, left := map[string]bool{}, int64(maxHeads)
	eachLine(filepath.Join(dir, "packed-refs"), &left, func(line string) {
		if _, tag, ok := strings.Cut(line, " "+tagPrefix); ok {
			tags[tag] = true
		}
	})
	return tags
}

// readCheckouts reads the reflogs of HEAD of all worktrees.
func readCheckouts(dir string) checkouts {
	paths := []string{filepath.Join(dir, "logs", "HEAD")}
	for _, name := range linked(dir) {
		paths = append(paths, filepath.Join(dir, "worktrees", name, "logs", "HEAD"))
	}
	found, left := checkouts{}, int64(maxHeads)
	for _, path := range paths { // a worktree need not have one
		eachLine(path, &left, func(line string) {
			head, why, _ := strings.Cut(line, "\t")
			if fields := strings.SplitN(head, " ", 3); len(fields) == 3 {
				found.add(fields[1], why)
			}
		})
	}
	return found
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
