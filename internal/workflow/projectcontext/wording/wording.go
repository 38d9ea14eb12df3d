// Package wording formats a project's context: [Lines] for the lines of one section, [Markdown] for
// all sections within a budget. Foreign text is marked, as in package foreign.
package wording

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/project"
	"github.com/copse-dev/copse/internal/recipe"
	"github.com/copse-dev/copse/internal/recipe/running"
	"github.com/copse-dev/copse/internal/workflow/projectcontext"
	"github.com/copse-dev/copse/internal/workflow/stack"
)

// body is the text of a section.
type body struct {
	// head is never cut.
	head  []foreign.Line
	lines []foreign.Line
	// keepEnd means that the end of the lines is more important than their beginning.
	keepEnd bool
}

// Lines returns the lines of a section's content at the time now; none without content.
func Lines(c projectcontext.Content, now time.Time) []foreign.Line {
	b := bodyOf(c, now, 1)
	return append(slices.Clip(b.head), b.lines...)
}

// bodyOf returns the text of a section. scale is how many times longer than usual it may be.
func bodyOf(c projectcontext.Content, now time.Time, scale int) body {
	switch c := c.(type) {
	case projectcontext.Project:
		out := body{head: linesOf(projectFacts(c))}
		if repo := c.Repository; repo != nil {
			if len(repo.Worktrees) > 0 {
				out.head = append(out.head, worktrees(repo.Worktrees, maxWorktrees*scale))
			}
			if repo.Adds != nil && scale > 1 {
				out.lines = addedFiles(*repo.Adds)
			}
		}
		return out
	case projectcontext.Stack:
		return body{lines: stackLines(c, now, scale)}
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
		out := body{lines: tree(c)}
		if c.LeftOut > 0 {
			out.head = []foreign.Line{foreign.Own("The sparse checkout of this worktree leaves out ").Count(c.LeftOut, "tracked file").Own("; list_directory names them.")}
		}
		return out
	}
	return body{}
}

// linesOf returns the lines of facts.
func linesOf(facts []Fact) []foreign.Line {
	var all []foreign.Line
	for _, f := range facts {
		all = append(all, f.Line)
	}
	return all
}

// projectFacts returns where the project is and what is checked out, without the other
// worktrees.
func projectFacts(p projectcontext.Project) []Fact {
	facts := []Fact{{Key: "root", Line: foreign.Own("Root: ").Name(p.Root)}}
	repo := p.Repository
	if p.Unnamed {
		return append(facts, Fact{Key: "branch", Line: foreign.Own("Not read: it looks like a bare repository, which copse uses only if --repo names it.")})
	}
	if p.Unusable {
		return facts
	}
	if repo == nil {
		return append(facts, Fact{Key: "branch", Line: foreign.Own("Not a git repository.")})
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
		return append(facts, Fact{Key: "branch", Line: at.Own(" (a bare repository)")})
	}
	if repo.Status != nil && !repo.Head.Detached {
		at = at.Add(upstream(*repo.Status))
	}
	for _, d := range []*stack.Distance{repo.Standing.Parent, repo.Standing.Trunk} {
		if d != nil {
			at = at.Add(apart(d.Ahead, d.Behind, d.Base))
		}
	}
	facts = append(facts, Fact{Key: "branch", Line: at})
	if repo.Adds != nil {
		facts = append(facts, Fact{Key: "adds", Line: adds(*repo.Adds)})
	}
	if repo.Operation != nil {
		facts = append(facts, Fact{Key: "operation", Line: foreign.Own("In progress: ").Name(repo.Operation.String())})
	}
	if c := repo.Conflicts; c != nil {
		facts = append(facts, Fact{Key: "conflicts", Line: conflicting(*c), Unknown: len(c.With) == 0, Partial: c.Left != ""})
	}
	if repo.Note != "" {
		facts = append(facts, Fact{Key: "note", Line: note(repo.Note)})
	}
	if repo.GitHub != "" {
		facts = append(facts, Fact{Key: "github", Line: foreign.Own("GitHub: ").Name(repo.GitHub)})
	}
	return facts
}

// adds returns what a branch adds to its parent.
func adds(a projectcontext.Adds) foreign.Line {
	line := foreign.Own("Adds to ").Name(a.Base).Own(": ").Count(a.Commits, "commit").Own(", ")
	if a.Files == nil {
		return line.Own("files not known: ").Prose(a.Unavailable)
	}
	return line.Count(len(a.Files), "file").Own(",").Add(lineCount(sum(a.Files))).Own(" lines")
}

// addedFiles returns the files that a branch changes, those with the most lines first.
func addedFiles(a projectcontext.Adds) []foreign.Line {
	paths := slices.SortedFunc(maps.Keys(a.Files), func(x, y string) int {
		lines := func(path string) int { return a.Files[path].Added + a.Files[path].Deleted }
		return cmp.Or(cmp.Compare(lines(y), lines(x)), cmp.Compare(x, y))
	})
	var all []foreign.Line
	for _, path := range paths {
		all = append(all, foreign.Own("changes ").Name(path).Add(lineCount(a.Files[path])))
	}
	return all
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
		return l.Own(", up to date with ").Name(base)
	case behind == 0:
		return l.Own(", ").Int(ahead).Own(" ahead of ").Name(base)
	case ahead == 0:
		return l.Own(", ").Int(behind).Own(" behind ").Name(base)
	}
	return l.Own(", ").Int(ahead).Own(" ahead of ").Name(base).Own(" and ").Int(behind).Own(" behind")
}

// maxWorktrees is how many other worktrees are named.
const maxWorktrees = 8

func worktrees(list []git.Worktree, maximum int) foreign.Line {
	shown := min(len(list), maximum)
	var names []foreign.Line
	for _, w := range list[:shown] {
		names = append(names, worktree(w))
	}
	line := foreign.Own("Other worktrees: ").Add(foreign.Join(names, ", "))
	if more := len(list) - shown; more > 0 {
		line = line.Own(" and ").Int(more).Own(" more")
	}
	return line
}

func worktree(w git.Worktree) foreign.Line {
	on := foreign.Name(w.Branch)
	if w.Detached {
		on = foreign.Own("detached at ").Name(short(w.Head))
	}
	if w.Operation != nil {
		on = foreign.Name(w.Operation.String())
	}
	return foreign.Name(w.Path).Own(" (").Add(on).Own(")")
}

func short(hash string) string { return hash[:min(len(hash), 8)] }

func items(w projectcontext.WorkItems) body {
	out := body{head: append(storeWarnings(w), itemCounts(w))}
	for _, it := range w.ThisBranch {
		out.head = append(out.head, foreign.Own("this branch: ").Add(heldLine(w, it)))
	}
	ready := make(map[item.ID]bool, len(w.Ready))
	for _, it := range w.Ready {
		ready[it.ID] = true
	}
	for _, it := range w.InProgress {
		if !slices.Contains(w.ThisBranch, it) && !ready[it.ID] { // the others have a line
			out.lines = append(out.lines, heldLine(w, it))
		}
	}
	for _, it := range w.Claimed {
		out.lines = append(out.lines, heldLine(w, it))
	}
	for _, it := range w.Ready {
		out.lines = append(out.lines, foreign.Own("ready: ").Add(itemLine(it)))
	}
	return out
}

// maxStoreWarnings is how many warnings about the store are shown.
const maxStoreWarnings = 2

// storeWarnings returns the lines about the store of items as a whole.
func storeWarnings(w projectcontext.WorkItems) []foreign.Line {
	var all []foreign.Line
	for _, warning := range w.Warnings[:min(len(w.Warnings), maxStoreWarnings)] {
		all = append(all, foreign.Own("warning: ").Name(warning.File).Own(" ").Prose(warning.Reason))
	}
	return all
}

func itemCounts(w projectcontext.WorkItems) foreign.Line {
	return foreign.Line{}.Int(len(w.InProgress)).Own(" in progress, ").Int(w.Open).Own(" not begun; ").Int(len(w.Ready)).Own(" ready")
}

// heldLine returns the line of an item with its holder, if it has one.
func heldLine(w projectcontext.WorkItems, it *item.Summary) foreign.Line {
	if w.All == nil {
		return itemLine(it)
	}
	c, held := w.All.Claim(it.ID)
	if !held {
		return itemLine(it)
	}
	return itemLine(it).Own(", claimed by ").Name(c.Holder.Short()).Own(" until ").Name(c.End().UTC().Format(time.RFC3339))
}

func itemLine(it *item.Summary) foreign.Line {
	line := foreign.Own("#").Int(int(it.ID)).Own(" ").Prose(it.Title).Own(" [").Name(it.Status).Own("]")
	if it.Assignee != "" {
		line = line.Own(" ").Name(it.Assignee)
	}
	return line
}

func changes(c projectcontext.Changes) body {
	out := body{head: []foreign.Line{changeCounts(c)}}
	for _, f := range c.Files {
		out.lines = append(out.lines, changeLine(c, f))
	}
	return out
}

func changeCounts(c projectcontext.Changes) foreign.Line {
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
	if c.Status.Partial {
		counts = append(counts, foreign.Own("git cannot open some directories"))
	}
	head := foreign.Join(counts, ", ")
	if len(c.Lines) > 0 {
		head = head.Own(";").Add(lineCount(sum(c.Lines))).Own(" lines")
	}
	return head
}

func changeLine(c projectcontext.Changes, f git.Change) foreign.Line {
	line := foreign.Line{}.Word(f.Code).Own(" ").Name(f.Path)
	if f.From != "" {
		line = line.Own(" (was ").Name(f.From).Own(")")
	}
	if n, ok := c.Lines[f.Path]; ok {
		line = line.Add(lineCount(n))
	}
	return line
}

// sum returns the lines of all files.
func sum(files map[string]git.LineCount) git.LineCount {
	var all git.LineCount
	for _, n := range files {
		all.Added, all.Deleted = all.Added+n.Added, all.Deleted+n.Deleted
	}
	return all
}

func lineCount(n git.LineCount) foreign.Line {
	return foreign.Own(" +").Int(n.Added).Own(" -").Int(n.Deleted)
}

func task(last projectcontext.LastTask, now time.Time) body {
	var out body
	for _, t := range last.Running {
		out.head = append(out.head, runs(t).Own(", started ").Word(fact.Age(t.Started, now)))
	}
	if last.Task == "" {
		return out
	}
	head := ended(last.LastRun).Own(", ").Word(fact.Age(last.Started.Add(last.Duration), now))
	out.keepEnd, out.lines = true, foreign.Quote(last.Tail)
	if len(out.lines) > 0 {
		head = head.Own("; it printed:")
	}
	out.head = append(out.head, head)
	return out
}

// runs returns that a task runs, without for how long.
func runs(t running.Task) foreign.Line {
	return foreign.Name(strings.Join(append([]string{t.Name}, t.Args...), " ")).Own(": running as task ").Word(t.ID)
}

// ended returns how a task ended.
func ended(last recipe.LastRun) foreign.Line {
	head := foreign.Name(strings.Join(append([]string{last.Task}, last.Args...), " ")).Own(": ")
	switch {
	case last.Problem != "":
		head = head.Word(last.Problem)
	case last.ExitCode != 0:
		head = head.Own("failed with exit code ").Int(last.ExitCode)
	default:
		head = head.Own("succeeded")
	}
	return head.Own(" after ").Word(last.Duration.Round(time.Millisecond).String())
}

func containers(c projectcontext.Containers, now time.Time) []foreign.Line {
	var lines []foreign.Line
	for _, one := range c.Failing {
		line := containerLine(one)
		if !one.Ended.IsZero() {
			line = line.Own(" ").Word(fact.Age(one.Ended, now))
		}
		if !one.Ours {
			line = line.Own(" (not of this project)")
		}
		if one.LogErr != nil {
			lines = append(lines, line.Own("; log not known: ").Prose(one.LogErr.Error()))
			continue
		}
		printed := foreign.Quote(one.Log)
		if len(printed) > 0 {
			line = line.Own("; its log:")
		}
		lines = append(append(lines, line), printed...)
	}
	if c.Omitted > 0 {
		lines = append(lines, foreign.Own("… and ").Count(c.Omitted, "more container"))
	}
	return lines
}

func containerLine(one projectcontext.FailingContainer) foreign.Line {
	return foreign.Name(one.Name).Own(": ").Word(one.Problem())
}

func recipes(list projectcontext.Recipes) []foreign.Line {
	var lines []foreign.Line
	for _, r := range list {
		lines = append(lines, recipeLine(r))
	}
	return lines
}

func recipeLine(r recipe.Recipe) foreign.Line {
	line := foreign.Name(r.Usage())
	if r.Doc != "" {
		line = line.Own("  # ").Prose(cleantext.Cut(r.Doc, 80))
	}
	return line
}

// maxNames is how many characters the names of a commit's files take.
const maxNames = 160

func commits(list projectcontext.Commits, now time.Time) []foreign.Line {
	var lines []foreign.Line
	for _, c := range list {
		lines = append(lines, commitLine(c).Own(" (").Word(fact.Age(c.When, now)).Own(")"))
		switch {
		case c.Boundary:
			lines = append(lines, foreign.Own("  the history of this shallow clone begins here; the files of this commit are unknown"))
		case len(c.Files) > 0:
			lines = append(lines, foreign.Own("  ").Add(enumerate(c.Files, foreign.Own(", "), maxNames)))
		}
	}
	return lines
}

func commitLine(c git.Commit) foreign.Line {
	return foreign.Name(c.Hash).Own(" ").Prose(cleantext.Cut(c.Subject, 100))
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
		if i := strings.LastIndexByte(e.Path, '/'); i >= 0 {
			inside[e.Path[:i]] = append(inside[e.Path[:i]], marked(e))
		}
	}
	var lines, deeper []foreign.Line
	var rest []string
	for _, e := range listing.Entries {
		top := !strings.Contains(e.Path, "/")
		if len(inside[e.Path]) == 0 {
			if top {
				rest = append(rest, marked(e))
			}
			continue
		}
		line := foreign.Name(e.Path + "/").Own(": ").Add(enumerate(inside[e.Path], foreign.Own(" "), treeLine))
		if top {
			lines = append(lines, line)
		} else {
			deeper = append(deeper, line)
		}
	}
	for part := range slices.Chunk(rest, perLine) {
		lines = append(lines, enumerate(part, foreign.Own(" "), perLine*treeLine))
	}
	lines = append(lines, deeper...)
	if more := listing.Total - len(listing.Entries); more > 0 {
		lines = append(lines, foreign.Own("… ").Count(more, "more entry").Own("; list_directory lists all"))
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

// maxConflicting is how many branches a warning names.
const maxConflicting = 3

// conflicting warns of the branches that the worktree conflicts with.
func conflicting(c projectcontext.Conflicts) foreign.Line {
	if len(c.With) == 0 {
		return foreign.Own("Conflicts are not known: ").Prose(c.Left).Own("; get_conflicts looks for them")
	}
	line := foreign.Own("Conflicts with ")
	for i, with := range c.With {
		if i == maxConflicting {
			line = line.Own(" and ").Int(len(c.With) - i).Own(" more")
			break
		}
		if i > 0 {
			line = line.Own(", ")
		}
		line = line.Name(with.Branch).Own(" (").Name(with.File)
		if more := with.Files - 1; more > 0 {
			line = line.Own(" and ").Int(more).Own(" more")
		}
		line = line.Own(")")
	}
	if c.Left != "" {
		line = line.Own(" (").Prose(c.Left).Own(")")
	}
	return line.Own("; get_conflicts lists all files")
}
