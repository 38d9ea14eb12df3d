package uncommitted

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/fingerprint"
	"github.com/copse-dev/copse/internal/xec"
)

// maxBeside is the maximum number of examined directories without tracked files.
const maxBeside = 2000

var errTooMany = errors.New("too many directories without tracked files")

// beside returns the directories of a worktree that have no tracked file and that git does
// not ignore: a file that appears in one of them is an untracked file. Git is asked only
// where there are such directories. The error can be that of a directory that cannot be read, which git
// does not always report.
func beside(ctx context.Context, repo *git.Repo) ([]string, error) {
	tracked, err := repo.Tracked(ctx)
	if err != nil {
		return nil, err
	}
	found, err := fingerprint.Beside(repo.Root(), tracked.All())
	if err == nil {
		found, err = notIgnored(ctx, repo, found)
	}
	if err != nil {
		return nil, err
	}
	var below []string
	unread := map[string]error{}
	queue := slices.Clone(found)
	for ; len(queue) > 0; queue = queue[1:] {
		if len(found)+len(below) > maxBeside {
			return nil, errTooMany
		}
		// Git does not look into repositories that lie in the worktree.
		if _, err := os.Lstat(filepath.Join(repo.Root(), filepath.FromSlash(queue[0]), ".git")); err != nil {
			more, err := fingerprint.Subdirectories(repo.Root(), queue[0])
			if err != nil {
				unread[queue[0]] = err
			}
			below, queue = append(below, more...), append(queue, more...)
		}
	}
	kept, err := notIgnored(ctx, repo, below)
	if err != nil {
		return nil, err
	}
	found = append(found, kept...)
	for _, dir := range found {
		if unread[dir] != nil {
			return nil, unread[dir]
		}
	}
	slices.Sort(found)
	return found, nil
}

// notIgnored returns the directories that git does not ignore.
func notIgnored(ctx context.Context, repo *git.Repo, dirs []string) ([]string, error) {
	if len(dirs) == 0 {
		return nil, nil
	}
	out, err := repo.Program().Feed(ctx, []byte(strings.Join(dirs, "\x00")+"\x00"), "check-ignore", "-z", "--stdin")
	if exit, ok := errors.AsType[*xec.ExitError](err); ok && exit.Code == 1 {
		return dirs, nil // none is ignored
	}
	if err != nil {
		return nil, err
	}
	ignored := strings.Split(string(out), "\x00")
	slices.Sort(ignored)
	return slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool {
		_, is := slices.BinarySearch(ignored, dir)
		return is
	}), nil
}
