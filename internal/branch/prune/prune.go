// Package prune proposes how to bring declared stacks up to date with git: renamed branches get
// their new name, branches whose parent was deleted or merged move to its parent, and deleted
// branches are no longer tracked.
//
// [Plan] takes all known data ([Known]) and reads nothing else. Each change has a reason. No change
// makes a branch depend on itself.
package prune

import (
	"fmt"

	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/git/history"
)

// Known is the input of a plan.
type Known struct {
	State *twig.State
	// Root is the parent of a branch whose parents are all deleted or merged.
	Root string
	// Logs are the reflogs of existing branches.
	Logs map[string]history.Log
	// Merged returns the reason why a branch counts as merged, "" if it does not. Plan calls it for
	// branches on which others are stacked.
	Merged func(branch string) string
}

// Kind is the kind of a change.
type Kind string

// The kinds of changes.
const (
	// Rename replaces the name From by To wherever it is declared.
	Rename Kind = "rename"
	// Reparent moves Branch from the parent From to the parent To.
	Reparent Kind = "reparent"
	// Forget drops all declarations about Branch, including its links.
	Forget Kind = "forget"
)

// Change is one proposal.
type Change struct {
	Kind     Kind   `json:"kind"`
	Branch   string `json:"branch"`
	From     string `json:"from,omitempty"`
	To       string `json:"to,omitempty"`
	Evidence string `json:"evidence"`
}

// Plan returns the changes in the order in which to apply them: names first, then parents, then
// dropped branches.
func Plan(k Known) []Change {
	p := plan{Known: k, names: make(map[string]string)}
	p.renames()
	p.declared()
	p.parents()
	p.gone()
	return p.changes
}

type plan struct {
	Known
	names   map[string]string // new names by old ones
	first   map[string]string // the first declared parent of a branch, both under their present names
	roots   map[string]bool   // the present names of the roots
	changes []Change
}

func (p *plan) exists(name string) bool {
	_, exists := p.Logs[name]
	return exists
}

func (p *plan) renames() {
	now := make(map[string][]string) // by old name
	for name, log := range p.Logs {
		for _, was := range log.Names {
			now[was] = append(now[was], name)
		}
	}
	for _, name := range p.State.Names() {
		if p.exists(name) || len(now[name]) != 1 {
			continue
		}
		to := now[name][0]
		p.names[name] = to
		p.changes = append(p.changes, Change{Kind: Rename, Branch: name, From: name, To: to, Evidence: "reflog: renamed"})
	}
}

// current returns the present name of a branch.
func (p *plan) current(name string) string {
	if to, renamed := p.names[name]; renamed {
		return to
	}
	return name
}

// declared reads the parents and the roots under their present names, once: a state can declare
// hundreds of thousands.
func (p *plan) declared() {
	p.first, p.roots = make(map[string]string, len(p.State.Dependencies)), make(map[string]bool, len(p.State.Roots))
	for _, d := range p.State.Dependencies {
		if child := p.current(d.Child); p.first[child] == "" {
			p.first[child] = p.current(d.Parent)
		}
	}
	for _, r := range p.State.Roots {
		p.roots[p.current(r.Branch)] = true
	}
}

func (p *plan) isRoot(name string) bool { return name == p.Root || p.roots[name] }

func (p *plan) parents() {
	why := make(map[string]string)
	// over returns the reason why a branch is no longer a parent, "" if it still is.
	over := func(name string) string {
		known, ok := why[name]
		switch {
		case ok:
			return known
		case !p.exists(name):
			known = fmt.Sprintf("%s no longer exists in git", name)
		case p.isRoot(name):
		default:
			if merged := p.Merged(name); merged != "" {
				known = fmt.Sprintf("%s is merged: %s", name, merged)
			}
		}
		why[name] = known
		return known
	}
	root := p.Root
	if root != "" && over(root) != "" {
		root = ""
	}
	end := p.ends(over, root)
	for _, d := range p.State.Dependencies {
		child, from := p.current(d.Child), p.current(d.Parent)
		if !p.exists(child) || over(from) == "" {
			continue
		}
		to := end(from)
		if to == child {
			to = root
		}
		if to == child || to == "" {
			continue // only the branch itself remains
		}
		p.changes = append(p.changes, Change{Kind: Reparent, Branch: child, From: from, To: to, Evidence: over(from)})
	}
}

// ends returns a function that returns the next ancestor that still is a parent, "" if there is none. It
// follows each branch once: thousands of branches can have the same thousands of deleted ancestors.
func (p *plan) ends(over func(string) string, root string) func(at string) string {
	ends := make(map[string]string)
	return func(at string) string {
		var passed []string
		for over(at) != "" {
			known, met := ends[at]
			if met {
				at = known
				break
			}
			ends[at] = root // where a circle ends
			passed = append(passed, at)
			if at = p.first[at]; at == "" {
				at = root
				break
			}
		}
		for _, name := range passed {
			ends[name] = at
		}
		return at
	}
}

func (p *plan) gone() {
	for _, name := range p.State.Names() {
		if _, renamed := p.names[name]; !renamed && !p.exists(name) && !p.isRoot(name) {
			p.changes = append(p.changes, Change{Kind: Forget, Branch: name, Evidence: "it no longer exists in git"})
		}
	}
}
