package wording

import (
	"fmt"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/workflow/projectcontext"
)

// Fact is a statement of a section, for comparing two moments.
type Fact struct {
	// Key identifies the fact in its section, at every moment.
	Key string
	// Line is the text of the fact.
	Line foreign.Line
	// Label is the name of the fact when it no longer holds; "" is its line.
	Label string
	// Stamp differs between states with the same words: when a file or an item was changed, when a task ended.
	// Ages are not a part of either.
	Stamp string
	// More is a text that follows the line.
	More []foreign.Line
	// Short means that the line is only a name, and that several can share a line.
	Short bool
	// Partial means that the line is only a part of the fact. A comparison does not count it.
	Partial bool
	// Unknown means that nothing is currently known about it, and about the facts whose keys begin
	// with its key and a space. A line says why.
	Unknown bool
}

// Facts returns the facts of a section, in the order of importance. cut means that there are more,
// after the last fact.
func Facts(c projectcontext.Content) (facts []Fact, cut bool) {
	switch c := c.(type) {
	case projectcontext.Project:
		facts = projectFacts(c)
		if c.Repository != nil {
			for _, w := range c.Repository.Worktrees {
				facts = append(facts, Fact{Key: "worktree " + w.Path, Line: foreign.Own("worktree ").Add(worktree(w))})
			}
		}
	case projectcontext.Stack:
		return stackFacts(c), len(c.Branches) < c.Total
	case projectcontext.WorkItems:
		facts = itemFacts(c)
	case projectcontext.Changes:
		facts = append(facts, Fact{Key: " counts", Line: changeCounts(c)})
		for _, f := range c.Files {
			facts = append(facts, Fact{Key: f.Path, Line: changeLine(c, f), Label: f.Path, Stamp: c.Stamps[f.Path]})
		}
	case projectcontext.LastTask:
		for _, t := range c.Running {
			facts = append(facts, Fact{Key: "running " + t.ID, Line: runs(t)})
		}
		if c.Task == "" {
			break
		}
		facts = append(facts, Fact{Key: "last", Line: ended(c.LastRun), Stamp: c.Started.UTC().Format(time.RFC3339Nano), More: foreign.Quote(c.Tail)})
	case projectcontext.Containers:
		for _, one := range c.Failing {
			facts = append(facts, Fact{Key: one.Name, Line: containerLine(one), Stamp: one.Ended.UTC().Format(time.RFC3339), More: foreign.Quote(one.Log)})
		}
		cut = c.Omitted > 0
	case projectcontext.Recipes:
		for _, r := range c {
			facts = append(facts, Fact{Key: r.Name, Line: recipeLine(r), Label: r.Name})
		}
	case projectcontext.Commits:
		for _, one := range c {
			facts = append(facts, Fact{Key: one.Hash, Line: commitLine(one)})
		}
		cut = true
	case projectcontext.Files:
		entries, more := c.Usual()
		for _, e := range entries {
			facts = append(facts, Fact{Key: e.Path, Line: foreign.Name(strings.TrimSuffix(e.Path, e.Name) + marked(e)), Short: true})
		}
		cut = more
	}
	return facts, cut
}

func stackFacts(s projectcontext.Stack) []Fact {
	var facts []Fact
	var why []reason
	if s.Note != "" {
		facts = append(facts, Fact{Key: "note", Line: note(s.Note)})
	}
	for i, b := range s.Branches {
		line := branchLine(b)
		if i+1 < len(s.Branches) {
			line = line.Own(" on ").Name(s.Branches[i+1].Branch)
		}
		facts = append(facts, Fact{Key: "branch " + b.Branch, Line: line.Add(links(b))})
		if b.JiraIssue != "" {
			facts = append(facts, linkFact("issue "+b.JiraIssue, foreign.Name(b.JiraIssue), b.Issue, issue))
		}
		if b.PRNumber > 0 {
			key := fmt.Sprintf("pull request %d", b.PRNumber)
			facts = append(facts, linkFact(key, foreign.Own("#").Int(int(b.PRNumber)), b.PullRequest, pullRequest))
			facts = append(facts, pullFacts(key, b)...)
		}
		for _, one := range []func() (reason, bool){
			func() (reason, bool) { return reasonOf(b.Issue, true) }, func() (reason, bool) { return reasonOf(b.PullRequest, false) },
		} {
			if r, ok := one(); ok && !r.unfetched {
				why = append(why, r)
			}
		}
	}
	for _, r := range why {
		line := r.line()
		facts = append(facts, Fact{Key: "service " + line.Plain(), Line: line})
	}
	return facts
}

// links names what a branch is linked to, which is known without the services.
func links(b projectcontext.LinkedBranch) foreign.Line {
	var names []foreign.Line
	if b.JiraIssue != "" {
		names = append(names, foreign.Name(b.JiraIssue))
	}
	if b.PRNumber > 0 {
		names = append(names, foreign.Own("#").Int(int(b.PRNumber)))
	}
	if len(names) == 0 {
		return foreign.Line{}
	}
	return foreign.Own(" (").Add(foreign.Join(names, ", ")).Own(")")
}

// linkFact returns what a service says about what a branch is linked to, without the age.
func linkFact[T any](key string, name foreign.Line, f *fact.Fact[T], word func(T) foreign.Line) Fact {
	if f == nil {
		return Fact{Key: key, Line: name}
	}
	value, known := f.Get()
	switch {
	case known:
		return Fact{Key: key, Line: name.Own(": ").Add(word(value))}
	case f.State == fact.StateNone:
		return Fact{Key: key, Line: name.Own(": none")}
	}
	return Fact{Key: key, Unknown: true}
}

// pullFacts returns what decides about the merge of a pull request, each part for itself.
func pullFacts(key string, b projectcontext.LinkedBranch) []Fact {
	if b.PullRequest == nil {
		return nil
	}
	status, known := b.PullRequest.Get()
	if !known {
		return nil
	}
	number := foreign.Own("#").Int(int(b.PRNumber))
	var facts []Fact
	add := func(id string, line foreign.Line) {
		facts = append(facts, Fact{Key: key + " " + id, Line: number.Add(line)})
	}
	for _, text := range status.Summary.Blockers {
		add("blocked "+text, foreign.Own(" blocked: ").Prose(text))
	}
	for _, c := range failing(status) {
		add("check "+c.Name, foreign.Own(" check ").Add(checkLine(c)))
	}
	for _, r := range status.Reviews {
		add("review "+r.Author, foreign.Own(" review by ").Name(r.Author).Own(": ").Name(strings.ToLower(r.State)))
	}
	for _, t := range status.UnresolvedThreads {
		add("thread "+t.URL+t.File+" "+cleantext.Cut(t.Text, maxThread), foreign.Own(" unresolved: ").Add(threadLine(t)))
		facts[len(facts)-1].Stamp = t.UpdatedAt
	}
	return facts
}

func itemFacts(w projectcontext.WorkItems) []Fact {
	var facts []Fact
	for _, line := range storeWarnings(w) {
		facts = append(facts, Fact{Key: "warning " + line.Plain(), Line: line})
	}
	facts = append(facts, Fact{Key: "counts", Line: itemCounts(w)})
	met := make(map[item.ID]bool)
	add := func(list []*item.Summary, before foreign.Line) {
		for _, it := range list {
			if !met[it.ID] {
				met[it.ID] = true
				facts = append(facts, Fact{Key: itemKey + it.ID.String(), Line: before.Add(heldLine(w, it)), Stamp: it.Updated})
			}
		}
	}
	add(w.ThisBranch, foreign.Own("this branch: "))
	add(w.InProgress, foreign.Line{})
	add(w.Claimed, foreign.Line{})
	add(w.Ready, foreign.Own("ready: "))
	return facts
}

const itemKey = "#"

// Gone describes a fact that is no longer in a section; false if the section does not know.
func Gone(c projectcontext.Content, key string) (foreign.Line, bool) {
	w, ok := c.(projectcontext.WorkItems)
	id, isItem := strings.CutPrefix(key, itemKey)
	if !ok || !isItem || w.All == nil {
		return foreign.Line{}, false
	}
	n, err := item.ParseID(id)
	if err != nil {
		return foreign.Line{}, false
	}
	it, err := w.All.Find(n)
	if err != nil {
		return foreign.Line{}, false
	}
	return itemLine(it), true
}
