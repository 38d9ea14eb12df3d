package history

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/git/program"
	"github.com/copse-dev/copse/internal/git/reftable"
	"github.com/copse-dev/copse/internal/regular"
)

// Log is the content of a branch's reflog. Entries expire after some months, and git deletes the
// reflog with the branch.
type Log struct {
	// Commit is the commit on which the branch began, "" if it is unknown.
	Commit string
	// From is the branch on which it was created, if git recorded its name; a remote's branch has
	// the remote's name before it.
	From string
	// Onto are the commits onto which the branch was rebased, the newest first.
	Onto []string
	// Held are the commits that the branch had as its tip. The value is true for commits that were
	// made on it, and false for commits to which it was moved, as by a rebase without own commits.
	Held map[string]bool
	// Tips are the commits of all entries, the oldest first.
	Tips []string
	// Names are the earlier names of the branch, the newest first.
	Names []string
	// Damaged says that there is a reflog that git did not write like this.
	Damaged bool
}

// created is the beginning of the reason for a branch that was created.
const created = "branch: Created from "

// maxLogs is the maximum size of all reflogs of an answer: some hundred thousand changes.
const maxLogs = 64 << 20

// Logs returns a function that returns the reflog of a branch. Refs in the reftable format have
// their reflogs in the tables, from which git reads those of all branches at once.
func Logs(ctx context.Context, git program.Git, commonDir string) (func(branch string) Log, error) {
	if !reftable.Used(commonDir) {
		return FileLogs(commonDir), nil
	}
	entries, err := Entries(ctx, git, "--branches")
	if err != nil {
		return nil, err
	}
	logs := make(map[string]*Log)
	for _, e := range entries {
		log, known := logs[e.Ref]
		if !known {
			log = &Log{Held: make(map[string]bool)}
			logs[e.Ref] = log
			if strings.HasPrefix(e.Why, created) || strings.HasPrefix(e.Why, "commit (initial)") {
				log.begin(e.Commit, e.Why)
			}
		}
		log.add(e.Commit, e.Why)
	}
	for _, log := range logs {
		log.end()
	}
	return func(branch string) Log {
		if log := logs[branch]; log != nil {
			return *log
		}
		return Log{Held: make(map[string]bool)}
	}, nil
}

// Entry is an entry of a reflog.
type Entry struct {
	// Ref is the ref, as short as git prints it.
	Ref string
	// Commit is the commit that the ref got, and Why the reason.
	Commit, Why string
}

// Entries returns the entries of the reflogs of refs, or of those that an option of git selects, the
// oldest of each ref first. It ignores refs that do not exist.
func Entries(ctx context.Context, git program.Git, refs ...string) ([]Entry, error) {
	args := []string{"log", "--ignore-missing", "--walk-reflogs", "-z", "--no-color", "--no-show-signature", "--format=%gD%n%H%n%gs"}
	out, err := git.Run(ctx, append(append(args, refs...), "--")...)
	if err != nil {
		return nil, fmt.Errorf("read the reflogs: %w", err)
	}
	var entries []Entry
	// Git lists the newest entry of a ref first.
	for _, text := range slices.Backward(strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")) {
		if fields := strings.SplitN(text, "\n", 3); len(fields) == 3 {
			ref, _, _ := strings.Cut(fields[0], "@{")
			entries = append(entries, Entry{Ref: ref, Commit: fields[1], Why: fields[2]})
		}
	}
	return entries, nil
}

// FileLogs returns a function that returns the reflog of a branch whose ref is a file, an empty one
// if there is none. commonDir is git's directory for all worktrees. A log is damaged if it and those
// before it are larger than all logs of a repository.
func FileLogs(commonDir string) func(branch string) Log {
	left := int64(maxLogs)
	return func(branch string) Log { return fileLog(commonDir, branch, &left) }
}

func fileLog(commonDir, branch string, left *int64) Log {
	log := Log{Held: make(map[string]bool)}
	file, err := regular.Open(filepath.Join(commonDir, "logs", filepath.FromSlash(prefix+branch)), *left)
	if err != nil {
		log.Damaged = !errors.Is(err, fs.ErrNotExist)
		return log // nothing is known about a branch without a reflog
	}
	defer file.Close()
	lines := bufio.NewScanner(&io.LimitedReader{R: file, N: *left})
	for first := true; lines.Scan(); first = false {
		*left -= int64(len(lines.Bytes()) + 1)
		// "<old> <new> <who> <time> <zone>\t<why>"; a new branch has no old commit.
		head, why, _ := bytes.Cut(lines.Bytes(), []byte("\t"))
		old, rest, _ := bytes.Cut(head, []byte(" "))
		commit, _, ok := bytes.Cut(rest, []byte(" "))
		if !ok || len(bytes.Trim(commit, "0123456789abcdef")) > 0 {
			log.Damaged = true
			continue
		}
		tip, reason := string(commit), string(why) // the rest of the line is not kept
		if first && len(bytes.Trim(old, "0")) == 0 {
			log.begin(tip, reason)
		}
		log.add(tip, reason)
	}
	log.Damaged = log.Damaged || lines.Err() != nil
	log.end()
	return log
}

// begin notes the entry of a new branch.
func (log *Log) begin(commit, why string) {
	log.Commit = commit
	if from, ok := strings.CutPrefix(why, created); ok && from != "HEAD" {
		log.From = strings.TrimPrefix(strings.TrimPrefix(from, prefix), "refs/remotes/")
	}
}

// add notes an entry. Call it for the oldest first, and end after the newest.
func (log *Log) add(commit, why string) {
	onto, ok := rebased(why)
	if ok {
		log.Onto = append(log.Onto, onto)
	}
	if was, ok := renamed(why); ok {
		log.Names = append(log.Names, was)
	}
	log.Tips = append(log.Tips, commit)
	log.Held[commit] = log.Held[commit] || made(why) && onto != commit
}

// end puts the newest entries first.
func (log *Log) end() {
	slices.Reverse(log.Onto)
	slices.Reverse(log.Names)
}

// rebased returns the commit after "onto" in "rebase (finish): refs/heads/b onto 1a2b…".
func rebased(why string) (onto string, ok bool) {
	what, rest, _ := strings.Cut(why, ": ")
	if !strings.Contains(what, "rebase") {
		return "", false
	}
	_, onto, ok = strings.Cut(rest, " onto ")
	return strings.TrimSpace(onto), ok
}

// renamed returns the old name in "Branch: renamed refs/heads/a to refs/heads/b".
func renamed(why string) (was string, ok bool) {
	names, ok := strings.CutPrefix(why, "Branch: renamed "+prefix)
	if !ok {
		return "", false
	}
	was, _, ok = strings.Cut(names, " to "+prefix)
	return was, ok
}

// made reports whether an entry records a commit on the branch.
func made(why string) bool {
	if strings.HasSuffix(why, ": Fast-forward") {
		return false
	}
	for _, kind := range []string{"commit", "rebase", "cherry-pick", "revert", "am", "pull --rebase", "merge "} {
		if strings.HasPrefix(why, kind) {
			return true
		}
	}
	return false
}

// Holder returns the one branch besides name that had a commit as its tip, "" if there are several.
// branches are those whose logs have the commit. A branch on which the commit was made takes
// precedence over branches that were moved to it. A branch that began at the commit, as name may
// have, has not made it, except for the local branch of a remote's branch.
func Holder(name, commit string, branches []string, log func(branch string) Log) string {
	var makers, movers []string
	for _, other := range branches {
		l := log(other)
		made, held := l.Held[commit]
		switch began := l.Commit == commit; {
		case other == name || !held:
		case began && strings.HasSuffix(l.From, "/"+other), !began && made:
			makers = append(makers, other)
		case !began:
			movers = append(movers, other)
		}
	}
	switch {
	case len(makers) == 1:
		return makers[0]
	case len(makers) == 0 && len(movers) == 1:
		return movers[0]
	}
	return ""
}
