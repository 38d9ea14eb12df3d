// Package trial finds the branches that conflict, without merging them.
//
// A [Trial] borrows the objects of a repository and writes new objects to a separate directory,
// outside the repository, which [Trial.Close] removes. It writes nothing to the repository: no
// object, no ref, no index, no file. [Trial.Snapshots] turns uncommitted changes into commits,
// [Trial.Merge] merges pairs of commits.
//
// Nothing in the repository runs. Git works without the repository's configuration and without the
// user's; of the repository's attributes, only those apply that select one of git's own merge
// drivers ([Attributes]). Files are read as they are in the worktree, without filters.
//
// The git program must be of release 2.39 or later; otherwise, the error is [ErrTooOld].
package trial

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/program"
	"github.com/copse-dev/copse/internal/git/scratch"
	"github.com/copse-dev/copse/internal/xec"
)

// ErrTooOld reports that the git program cannot merge without a worktree.
var ErrTooOld = errors.New("trying merges requires git 2.39 or later")

// Trial tries merges. It is for one goroutine.
type Trial struct {
	dir  *scratch.Dir
	git  program.Git
	next int // the number of the next snapshot
}

// New returns a Trial for a repository. Attributes are the result of [Attributes].
func New(repo *git.Repo, attributes string) (*Trial, error) {
	if strings.ContainsAny(repo.Objects(), "\n\r") {
		return nil, fmt.Errorf("the path of the repository contains a line break: %q", repo.Objects())
	}
	dir, err := scratch.New(repo.ObjectFormat())
	if err != nil {
		return nil, err
	}
	t := &Trial{dir: dir, git: repo.Aside(dir.Path)}
	files := map[string]string{"objects/info/alternates": repo.Objects() + "\n", "info/attributes": attributes}
	if boundary := repo.Boundary(); len(boundary) > 0 {
		files["shallow"] = string(boundary)
	}
	for name, text := range files {
		if err := dir.Write(name, []byte(text)); err != nil {
			return nil, errors.Join(fmt.Errorf("prepare to try merges: %w", err), t.Close())
		}
	}
	return t, nil
}

// Close removes the temporary directory.
func (t *Trial) Close() error { return t.dir.Close() }

// Pair is two commits.
type Pair struct{ A, B string }

// Outcome is the result of merging a pair.
type Outcome struct {
	// Files are the files that git cannot merge, by path; none if the merge is clean.
	Files []File
	// Reason is why the merge could not be tried, such as "unrelated histories".
	Reason string
}

// File is a file in conflict.
type File struct {
	Path string `json:"path"`
	Kind Kind   `json:"kind"`
	// A and B name the mode and the content of the file on each side, "" for none. Both are "" if git
	// does not name them.
	A string `json:"a,omitempty"`
	B string `json:"b,omitempty"`
}

// Kind is the kind of a file's conflict.
type Kind string

// The kinds.
const (
	Modified Kind = "modified in both"
	Added    Kind = "added in both"
	DeletedA Kind = "deleted in the first"
	DeletedB Kind = "deleted in the second"
	Moved    Kind = "moved"
	// Submodule is a submodule whose commit both changed. Its repository is not looked at, so git may
	// still be able to take the newer commit.
	Submodule Kind = "submodule changed in both"
)

// maxFailures is the number of failing pairs after which a survey gives up on the others, because
// isolating each failure starts more processes.
const maxFailures = 20

// Merge merges pairs, in one process as long as each of them works, and returns an outcome for
// each. The error is about all of them.
func (t *Trial) Merge(ctx context.Context, pairs []Pair) ([]Outcome, error) {
	m := merging{Trial: t, outcomes: make([]Outcome, 0, len(pairs))}
	if err := m.merge(ctx, pairs); err != nil {
		return nil, err
	}
	return m.outcomes, nil
}

// merging is one call of Merge.
type merging struct {
	*Trial
	outcomes []Outcome
	failures int
}

// merge adds the outcomes of pairs. A failing pair ends the process without output about the pairs
// before it, so merge finds it by bisection.
func (m *merging) merge(ctx context.Context, pairs []Pair) error {
	if len(pairs) == 0 {
		return nil
	}
	var input strings.Builder
	for _, p := range pairs {
		fmt.Fprintf(&input, "%s %s\n", p.A, p.B)
	}
	out, err := m.git.Feed(ctx, []byte(input.String()), "merge-tree", "--write-tree", "--stdin")
	exit, exited := errors.AsType[*xec.ExitError](err)
	const usageError = 129
	switch {
	case exited && exit.Code == usageError:
		return ErrTooOld
	case err != nil && !exited:
		return fmt.Errorf("try merges: %w", err)
	}
	found := parse(string(out))
	found = found[:min(len(found), len(pairs))]
	m.outcomes = append(m.outcomes, found...)
	rest := pairs[len(found):]
	switch {
	case len(rest) == 0:
		return nil
	case err == nil:
		return fmt.Errorf("try merges: git printed %d results for %d merges", len(found), len(pairs))
	case len(rest) == 1:
		if m.failures++; m.failures > maxFailures {
			return fmt.Errorf("try merges: %w", err)
		}
		m.outcomes = append(m.outcomes, Outcome{Reason: reason(exit)})
		return nil
	}
	if err := m.merge(ctx, rest[:len(rest)/2]); err != nil {
		return err
	}
	return m.merge(ctx, rest[len(rest)/2:])
}

// reason returns the reason why a merge could not be tried.
func reason(exit *xec.ExitError) string {
	const unrelated = "unrelated histories"
	if strings.Contains(exit.Stderr, unrelated) {
		return unrelated
	}
	line, _, _ := strings.Cut(strings.TrimSpace(exit.Stderr), "\n")
	if line == "" {
		line = exit.State
	}
	return line
}

// parse reads the output of "git merge-tree --stdin": for each merge 1 or, with conflicts, 0; the
// tree; entries of the files in conflict; an empty field; messages of a count, as many paths, a
// type, and a text; and an empty field. A clean merge has neither entries nor messages. A truncated
// end is ignored.
func parse(out string) []Outcome {
	r := reader{fields: strings.Split(out, "\x00")}
	var outcomes []Outcome
	for {
		status, tree := r.next(), r.next()
		if r.ended || tree == "" || status != "0" && status != "1" {
			return outcomes
		}
		c := conflicts{stages: map[string]int{}, sides: map[string][2]string{}}
		for entry := r.next(); entry != ""; entry = r.next() {
			c.entry(entry)
		}
		if status == "0" {
			r.messages(&c)
		}
		if r.ended {
			return outcomes
		}
		outcomes = append(outcomes, c.outcome(status == "0"))
	}
}

// reader reads fields.
type reader struct {
	fields []string
	ended  bool // a field was missing
}

// next returns the next field, "" if there is none.
func (r *reader) next() string {
	if len(r.fields) == 0 {
		r.ended = true
		return ""
	}
	field := r.fields[0]
	r.fields = r.fields[1:]
	return field
}

// messages reads messages up to the empty field. Before 2.44, git prints its advice about a submodule
// in conflict into that field.
func (r *reader) messages(c *conflicts) {
	for count := r.next(); count != ""; count = r.next() {
		n, err := strconv.Atoi(count)
		if err != nil && strings.HasSuffix(count, "\n") {
			return
		}
		if err != nil || n < 0 || len(r.fields) < n+2 {
			r.ended = true
			return
		}
		c.message(r.fields[:n], r.fields[n])
		r.fields = r.fields[n+2:]
	}
}
