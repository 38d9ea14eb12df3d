// Package wording puts a project's context into words: [Lines] for the lines of one
// section, [Markdown] for all sections within a budget. What others wrote is marked, as
// package foreign does it.
package wording

import (
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/project"
	"github.com/copse-dev/copse/internal/workflow/projectcontext"
	"github.com/copse-dev/copse/internal/workflow/stack"
)

// body is the text of a section.
type body struct {
	// head is never cut.
	head  []foreign.Line
	lines []foreign.Line
	// keepEnd says that the end of lines is worth more than their beginning.
	keepEnd bool
}

// Lines returns the lines of a section's content at the time now; none without content.
func Lines(c projectcontext.Content, now time.Time) []foreign.Line {
	b := bodyOf(c, now)
	return append(slices.Clip(b.head), b.lines...)
}

func bodyOf(c projectcontext.Content, now time.Time) body {
	switch c := c.(type) {
	case projectcontext.Project:
		return body{head: placeLines(c)}
	case projectcontext.Stack:
		return body{lines: stackLines(c, now)}
	case projectcontext.WorkItems:
		return items(c)
	case projectcontext.Changes:
		return changes(c)
	case projectcontext.LastTask:
		return task(c, now)
	case projectcontext.Containers:
		return body{lines: containers(c, now)}
	case projectcontext.Recipes:
		return body{lines: recipes(c)}
	case projectcontext.Commits:
		return body{lines: commits(c, now)}
	case projectcontext.Files:
		return body{lines: tree(c)}
	}
	return body{}
}

func placeLines(p projectcontext.Project) []foreign.Line {
	lines := []foreign.Line{foreign.Own("Root: ").Name(p.Root)}
	repo := p.Repository
	if repo == nil {
		return append(lines, foreign.Own("Not a git repository."))
	}
	at := foreign.Own("Branch: ").Name(repo.Branch)
	switch {
	case repo.Head.Detached && repo.Branch != "":
		at = at.Own(", detached at ").Name(short(repo.Head.Commit))
	case repo.Head.Detached:
		at = foreign.Own("Detached at ").Name(short(repo.Head.Commit))
	case repo.Head.Unborn:
		at = at.Own(", no commit yet")
	}
	if repo.Bare {
		return append(lines, at.Own(" (a bare repository)"))
	}
	if repo.Status != nil && !repo.Head.Detached {
		at = at.Add(upstream(*repo.Status))
	}
	for _, d := range []*stack.Distance{repo.Standing.Parent, repo.Standing.Trunk} {
		if d != nil {
			at = at.Add(apart(d.Ahead, d.Behind, d.Base))
		}
	}
	lines = append(lines, at)
	if repo.Operation != nil {
		lines = append(lines, foreign.Own("In progress: ").Name(repo.Operation.String()))
	}
	if repo.Note != "" {
		lines = append(lines, foreign.Own("Note: ").Name(repo.Note))
	}
	if repo.GitHub != "" {
		lines = append(lines, foreign.Own("GitHub: ").Name(repo.GitHub))
	}
	if len(repo.Worktrees) > 0 {
		lines = append(lines, worktrees(repo.Worktrees))
	}
	return lines
}

func upstream(st git.Status) foreign.Line {
	var l foreign.Line
	switch {
	case st.Upstream == "":
		return l.Own(", no upstream")
	case st.UpstreamGone:
		return l.Own(", upstream ").Name(st.Upstream).Own(" is gone")
	}
	return apart(st.Ahead, st.Behind, st.Upstream)
}

// apart returns how far a branch is from another.
func apart(ahead, behind int, base string) foreign.Line {
	var l foreign.Line
	switch {
	case ahead == 0 && behind == 0:
		return l.Own(", level with ").Name(base)
	case behind == 0:
		return l.Own(", ").Int(ahead).Own(" ahead of ").Name(base)
	case ahead == 0:
		return l.Own(", ").Int(behind).Own(" behind ").Name(base)
	}
	return l.Own(", ").Int(ahead).Own(" ahead of ").Name(base).Own(" and ").Int(behind).Own(" behind")
}

// maxWorktrees is how many other worktrees are named.
const maxWorktrees = 8

func worktrees(list []git.Worktree) foreign.Line {
	shown := min(len(list), maxWorktrees)
	var names []foreign.Line
	for _, w := range list[:shown] {
		on := foreign.Name(w.Branch)
		if w.Detached {
			on = foreign.Own("detached at ").Name(short(w.Head))
		}
		if w.Operation != nil {
			on = foreign.Name(w.Operation.String())
		}
		names = append(names, foreign.Name(w.Path).Own(" (").Add(on).Own(")"))
	}
	line := foreign.Own("Other worktrees: ").Add(foreign.Join(names, ", "))
	if more := len(list) - shown; more > 0 {
		line = line.Own(" and ").Int(more).Own(" more")
	}
	return line
}

func short(hash string) string { return hash[:min(len(hash), 8)] }

func items(w projectcontext.WorkItems) body {
	out := body{head: []foreign.Line{
		foreign.Line{}.Int(len(w.InProgress)).Own(" in progress, ").Int(w.Open).Own(" not begun, of which ").Int(len(w.Ready)).Own(" are ready"),
	}}
	for _, it := range w.ThisBranch {
		out.head = append(out.head, foreign.Own("this branch: ").Add(itemLine(it)))
	}
	for _, it := range w.InProgress {
		if !slices.Contains(w.ThisBranch, it) { // the others have a line already
			out.lines = append(out.lines, itemLine(it))
		}
	}
	for _, it := range w.Ready {
		out.lines = append(out.lines, foreign.Own("ready: ").Add(itemLine(it)))
	}
	return out
}

func itemLine(it *item.Summary) foreign.Line {
	line := foreign.Own("#").Int(int(it.ID)).Own(" ").Name(it.Title).Own(" [").Name(it.Status).Own("]")
	if it.Assignee != "" {
		line = line.Own(" ").Name(it.Assignee)
	}
	return line
}

func changes(c projectcontext.Changes) body {
	var counts []foreign.Line
	for _, count := range []struct {
		n    int
		what foreign.Line
	}{
		{c.Status.Conflicted, foreign.Own(" in conflict")}, {c.Status.Staged, foreign.Own(" staged")},
		{c.Status.Modified, foreign.Own(" modified")}, {c.Status.Untracked, foreign.Own(" untracked")},
	} {
		if count.n > 0 {
			counts = append(counts, foreign.Line{}.Int(count.n).Add(count.what))
		}
	}
	head := foreign.Join(counts, ", ")
	if len(c.Lines) > 0 {
		var sum git.LineCount
		for _, n := range c.Lines {
			sum.Added, sum.Deleted = sum.Added+n.Added, sum.Deleted+n.Deleted
		}
		head = head.Own(";").Add(lineCount(sum)).Own(" lines")
	}
	out := body{head: []foreign.Line{head}}
	for _, f := range c.Files {
		line := foreign.Line{}.Word(f.Code).Own(" ").Name(f.Path)
		if f.From != "" {
			line = line.Own(" (was ").Name(f.From).Own(")")
		}
		if n, ok := c.Lines[f.Path]; ok {
			line = line.Add(lineCount(n))
		}
		out.lines = append(out.lines, line)
	}
	return out
}

func lineCount(n git.LineCount) foreign.Line {
	return foreign.Own(" +").Int(n.Added).Own(" -").Int(n.Deleted)
}

func task(last projectcontext.LastTask, now time.Time) body {
	head := foreign.Name(strings.Join(append([]string{last.Task}, last.Args...), " ")).Own(": ")
	switch {
	case last.Problem != "":
		head = head.Word(last.Problem)
	case last.ExitCode != 0:
		head = head.Own("failed with exit code ").Int(last.ExitCode)
	default:
		head = head.Own("succeeded")
	}
	head = head.Own(" after ").Word(last.Duration.Round(time.Millisecond).String()).
		Own(", ").Word(fact.Age(last.Started.Add(last.Duration), now))
	out := body{keepEnd: true, lines: foreign.Quote(last.Tail)}
	if len(out.lines) > 0 {
		head = head.Own("; it printed:")
	}
	out.head = []foreign.Line{head}
	return out
}

func containers(c projectcontext.Containers, now time.Time) []foreign.Line {
	var lines []foreign.Line
	for _, one := range c.Failing {
		line := foreign.Name(one.Name).Own(": ").Word(one.Problem())
		if !one.Ended.IsZero() {
			line = line.Own(" ").Word(fact.Age(one.Ended, now))
		}
		if !one.Ours {
			line = line.Own(" (not of this project)")
		}
		if one.LogErr != nil {
			lines = append(lines, line.Own("; log not known: ").Name(one.LogErr.Error()))
			continue
		}
		printed := foreign.Quote(one.Log)
		if len(printed) > 0 {
			line = line.Own("; its log:")
		}
		lines = append(append(lines, line), printed...)
	}
	if c.Omitted > 0 {
		lines = append(lines, foreign.Own("… and ").Int(c.Omitted).Own(" more containers"))
	}
	return lines
}

func recipes(list projectcontext.Recipes) []foreign.Line {
	var lines []foreign.Line
	for _, r := range list {
		line := foreign.Name(r.Usage())
		if r.Doc != "" {
			line = line.Own("  # ").Name(cleantext.Cut(r.Doc, 80))
		}
		lines = append(lines, line)
	}
	return lines
}

// maxNames is how many characters the names of a commit's files take.
const maxNames = 160

func commits(list projectcontext.Commits, now time.Time) []foreign.Line {
	var lines []foreign.Line
	for _, c := range list {
		lines = append(lines, foreign.Name(c.Hash).Own(" ").Name(cleantext.Cut(c.Subject, 100)).Own(" (").Word(fact.Age(c.When, now)).Own(")"))
		if len(c.Files) > 0 {
			lines = append(lines, foreign.Own("  ").Add(enumerate(c.Files, foreign.Own(", "), maxNames)))
		}
	}
	return lines
}

const (
	// treeLine is how many characters the line of a directory has.
	treeLine = 160
	// perLine is how many entries without listed contents share a line.
	perLine = 10
)

func tree(listing projectcontext.Files) []foreign.Line {
	inside := map[string][]string{}
	for _, e := range listing.Entries {
		if dir, _, ok := strings.Cut(e.Path, "/"); ok {
			inside[dir] = append(inside[dir], marked(e))
		}
	}
	var lines []foreign.Line
	var rest []string
	for _, e := range listing.Entries {
		switch {
		case strings.Contains(e.Path, "/"):
		case len(inside[e.Name]) > 0:
			lines = append(lines, foreign.Name(marked(e)).Own(": ").Add(enumerate(inside[e.Name], foreign.Own(" "), treeLine)))
		default:
			rest = append(rest, marked(e))
		}
	}
	for part := range slices.Chunk(rest, perLine) {
		lines = append(lines, enumerate(part, foreign.Own(" "), perLine*treeLine))
	}
	if more := listing.Total - len(listing.Entries); more > 0 {
		lines = append(lines, foreign.Own("… ").Int(more).Own(" more entries; list_directory shows them"))
	}
	return lines
}

// marked returns the name of an entry with a mark for its type, as ls -F does it.
func marked(e project.Entry) string {
	switch e.Type {
	case project.Directory:
		return e.Name + "/"
	case project.Symlink:
		return e.Name + "@"
	}
	return e.Name
}

// enumerate joins as many names as fit in room characters, and says how many more there
// are.
func enumerate(names []string, separator foreign.Line, room int) foreign.Line {
	var shown foreign.Line
	for i, name := range names {
		room -= len([]rune(foreign.Spell(name))) + len(separator.Plain())
		if i > 0 {
			if room < 0 {
				return shown.Own(" … and ").Int(len(names) - i).Own(" more")
			}
			shown = shown.Add(separator)
		}
		shown = shown.Name(name)
	}
	return shown
}
