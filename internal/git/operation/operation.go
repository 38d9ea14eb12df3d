// Package operation reports which git command stopped halfway in a worktree: a rebase, merge,
// cherry-pick, revert, bisect, or "git am".
//
// [Read] reads the files that git keeps for it in the worktree's own directory, and starts no
// program. A worktree without an operation in progress costs a few failed lookups.
//
// While git rebases or bisects, HEAD is detached. [Operation.Branch] is then the branch of the
// operation, which is what a person means by "my branch".
package operation

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/git/refstore"
	"github.com/copse-dev/copse/internal/regular"
)

// Kind is the git command that is in progress.
type Kind string

// The commands that can stop halfway.
const (
	Rebase     Kind = "rebase"
	Am         Kind = "am"
	Merge      Kind = "merge"
	CherryPick Kind = "cherry-pick"
	Revert     Kind = "revert"
	Bisect     Kind = "bisect"
)

// Operation is a command in progress. Fields that git does not know are zero.
type Operation struct {
	Kind Kind `json:"kind"`
	// Branch is the branch of a rebase or a bisect, while HEAD is detached.
	Branch string `json:"branch,omitempty"`
	// Onto is the target of the rebase: the name that the user gave, or else a short hash.
	Onto string `json:"onto,omitempty"`
	// Source is the merged, picked, or reverted commit: a name, or else a short hash; of a merge,
	// all of them, separated by commas.
	Source string `json:"source,omitempty"`
	// Step and Steps count the commits of a rebase, or the patches of "git am".
	Step  int `json:"step,omitempty"`
	Steps int `json:"steps,omitempty"`
	// Remaining is the number of commits left to pick or revert after this one.
	Remaining int `json:"remaining,omitempty"`
}

// String returns the operation as text: "rebasing feat onto main, step 3 of 7".
func (o Operation) String() string {
	var text string
	switch o.Kind {
	case Rebase:
		text = "rebasing"
		if o.Branch != "" {
			text += " " + o.Branch
		}
		if o.Onto != "" {
			text += " onto " + o.Onto
		}
	case Am:
		text = "applying patches"
	case Bisect:
		text = "bisecting"
		if o.Branch != "" {
			text += " " + o.Branch
		}
	case Merge:
		text = "merging " + cmp.Or(o.Source, "a commit")
	case CherryPick:
		text = "cherry-picking " + cmp.Or(o.Source, "commits")
	case Revert:
		text = "reverting " + cmp.Or(o.Source, "commits")
	}
	if o.Steps > 0 {
		text += fmt.Sprintf(", step %d of %d", o.Step, o.Steps)
	}
	if o.Remaining > 0 {
		text += fmt.Sprintf(", %d more to go", o.Remaining)
	}
	return text
}

// maxSmall is the maximum size of a file of an operation. A todo list has a line for each commit.
const maxSmall = 1 << 20

// marks are the files of the operations in a worktree's git directory: without any of them, there
// is none.
func marks() []string {
	return []string{"rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "sequencer"}
}

// Reader reads the operation of one worktree repeatedly. If there was none, and git's directory is
// unchanged, a call costs one lookup. It is safe for concurrent use.
type Reader struct {
	gitDir directory
	now    func() time.Time
	none   atomic.Pointer[cachedfile.Signature] // of a directory without marks
}

// NewReader returns the reader of the worktree whose git directory is gitDir.
func NewReader(gitDir string) *Reader { return &Reader{gitDir: directory(gitDir), now: time.Now} }

// Read returns what [Read] returns.
func (r *Reader) Read() *Operation {
	now := r.now()
	info, err := os.Lstat(string(r.gitDir))
	if err != nil || !info.IsDir() {
		return Read(string(r.gitDir))
	}
	// A mark that appears changes the directory.
	sig := cachedfile.SignatureOf(info)
	if known := r.none.Load(); known != nil && *known == sig {
		return nil
	}
	if sig.Settled(now) && !slices.ContainsFunc(marks(), r.gitDir.has) {
		r.none.Store(&sig)
		return nil
	}
	return Read(string(r.gitDir))
}

// Read returns the operation in progress in the worktree whose git directory is gitDir, nil if
// there is none. It reads half-written files as far as possible.
func Read(gitDir string) *Operation {
	d := directory(gitDir)
	o := d.first()
	if o != nil && o.Branch == "" && o.Kind != Bisect && d.has("BISECT_LOG") {
		o.Branch = d.bisected() // a pick in the middle of a bisect
	}
	return o
}

// directory is the git directory of one worktree.
type directory string

func (d directory) first() *Operation {
	switch {
	case d.has("rebase-merge"):
		return d.rebase("rebase-merge", "msgnum", "end")
	case d.has("rebase-apply"):
		if d.has("rebase-apply/applying") {
			return &Operation{Kind: Am, Step: d.number("rebase-apply/next"), Steps: d.number("rebase-apply/last")}
		}
		return d.rebase("rebase-apply", "next", "last")
	case d.has("MERGE_HEAD"):
		return &Operation{Kind: Merge, Source: merged(d.line("MERGE_MSG"), strings.Fields(d.text("MERGE_HEAD")))}
	case d.has("CHERRY_PICK_HEAD"):
		return &Operation{Kind: CherryPick, Source: short(d.line("CHERRY_PICK_HEAD")), Remaining: max(d.todo("pick")-1, 0)}
	case d.has("REVERT_HEAD"):
		return &Operation{Kind: Revert, Source: short(d.line("REVERT_HEAD")), Remaining: max(d.todo("revert")-1, 0)}
	case d.has("BISECT_LOG"):
		return &Operation{Kind: Bisect, Branch: d.bisected()}
	case d.has("sequencer/todo"):
		// Between two commits: a conflict is committed, and the rest follows. Its commit is still the
		// first of the list, and "git cherry-pick --continue" skips it.
		if n := d.todo("pick"); n > 0 {
			return &Operation{Kind: CherryPick, Remaining: n - 1}
		}
		if n := d.todo("revert"); n > 0 {
			return &Operation{Kind: Revert, Remaining: n - 1}
		}
	}
	return nil
}

func (d directory) rebase(dir, step, steps string) *Operation {
	o := &Operation{Kind: Rebase, Step: d.number(dir + "/" + step), Steps: d.number(dir + "/" + steps)}
	if name, ok := strings.CutPrefix(d.line(dir+"/head-name"), refstore.BranchPrefix); ok {
		o.Branch = valid(name)
	}
	onto := d.line(dir + "/onto")
	o.Onto = cmp.Or(d.started(onto), short(onto))
	return o
}

// maxLogTail is the size of the end of HEAD's reflog that is searched for the start of a rebase.
const maxLogTail = 256 << 10

// started returns the name of the user's target of a rebase, from HEAD's reflog. Git writes "rebase
// (start): checkout main" there, and keeps only the hash elsewhere.
func (d directory) started(onto string) string {
	file, err := regular.Open(d.path("logs/HEAD"), 1<<40)
	if err != nil || onto == "" {
		return ""
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return ""
	}
	tail := make([]byte, min(info.Size(), maxLogTail))
	if n, err := file.ReadAt(tail, info.Size()-int64(len(tail))); err != nil {
		tail = tail[:n]
	}
	lines := bytes.Split(tail, []byte("\n"))
	for _, line := range slices.Backward(lines) {
		head, why, _ := strings.Cut(string(line), "\t")
		fields := strings.SplitN(head, " ", 3)
		if len(fields) < 3 || fields[1] != onto || !strings.Contains(why, "rebase") {
			continue
		}
		if _, name, ok := strings.Cut(why, ": checkout "); ok && !strings.HasPrefix(onto, name) {
			return valid(strings.TrimPrefix(name, refstore.BranchPrefix))
		}
	}
	return ""
}

// bisected returns the branch that was checked out when the bisect began.
func (d directory) bisected() string {
	name := strings.TrimPrefix(d.line("BISECT_START"), refstore.BranchPrefix)
	if hash(name) {
		return ""
	}
	return valid(name)
}

// maxSources is the number of merged commits that are named.
const maxSources = 4

// merged returns the sources of a merge: their names from its message, or else the abbreviated
// hashes of heads.
func merged(message string, heads []string) string {
	names := quoted(message)
	if len(names) == 0 || len(names) != len(heads) {
		names = nil
		for _, head := range heads {
			if h := short(head); h != "" {
				names = append(names, h)
			}
		}
	}
	if more := len(names) - maxSources; more > 0 {
		names = append(names[:maxSources:maxSources], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// quoted returns the names in "Merge branch 'feat' into main" or "Merge branches 'a', 'b' and 'c'",
// none if git has not written the message. A name can contain a quotation mark.
func quoted(message string) []string {
	kind, rest, found := strings.Cut(message, " '")
	if !found || !strings.HasPrefix(kind, "Merge ") {
		return nil
	}
	end := len(rest) - 1
	for _, after := range []string{"' into ", "' of "} {
		if i := strings.Index(rest, after); i >= 0 {
			end = min(end, i)
		}
	}
	if end < 0 || rest[end] != '\'' {
		return nil
	}
	names := strings.Split(strings.ReplaceAll(rest[:end], "' and '", "', '"), "', '")
	for _, name := range names {
		if valid(name) == "" {
			return nil
		}
	}
	return names
}

// todo counts the commands of the sequencer's list.
func (d directory) todo(command string) int {
	n := 0
	for line := range strings.Lines(d.text("sequencer/todo")) {
		if strings.HasPrefix(line, command+" ") {
			n++
		}
	}
	return n
}

func (d directory) path(name string) string {
	return filepath.Join(string(d), filepath.FromSlash(name))
}

// has reports whether there is a file or a directory. Git writes no links, and a link leads to what is not
// git's.
func (d directory) has(name string) bool {
	if dir := path.Dir(name); dir != "." && !d.has(dir) {
		return false
	}
	info, err := os.Lstat(d.path(name))
	return err == nil && info.Mode()&fs.ModeSymlink == 0
}

func (d directory) text(name string) string {
	if !d.has(name) {
		return ""
	}
	text, err := regular.Read(d.path(name), maxSmall)
	if err != nil {
		return "" // git is about to write it, or has just removed it
	}
	return string(text)
}

func (d directory) line(name string) string {
	line, _, _ := strings.Cut(d.text(name), "\n")
	return strings.TrimSpace(line)
}

func (d directory) number(name string) int {
	n, err := strconv.Atoi(d.line(name))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// shortHash is the number of digits of a displayed hash.
const shortHash = 8

func short(text string) string {
	if !hash(text) {
		return ""
	}
	return text[:shortHash]
}

// hash reports whether text is the complete name of an object.
func hash(text string) bool {
	const sha1Digits, sha256Digits = 40, 64
	return (len(text) == sha1Digits || len(text) == sha256Digits) && strings.Trim(text, "0123456789abcdef") == ""
}

// valid returns a name that git could have written, "" for any other.
func valid(name string) string {
	if !refstore.ValidName(refstore.BranchPrefix + name) {
		return ""
	}
	return name
}
