// Package nextstep formats the next step for a branch as a command of the tool that manages its
// stack. copse shows such a command and never runs it.
package nextstep

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/foreign"
)

// Action is the purpose of a next step.
type Action int

// The actions.
const (
	// None means that there is nothing to do.
	None Action = iota
	// Resume continues an operation that stopped.
	Resume
	// Restack rebases a branch onto its parent.
	Restack
	// Tidy removes merged and deleted branches.
	Tidy
	// Submit pushes and opens a pull request.
	Submit
	// Propose opens a pull request.
	Propose
	// Push pushes.
	Push
	// Work checks out the branch to change it.
	Work
	// Answer shows the reviewers' comments.
	Answer
	// Publish marks a draft as ready.
	Publish
	// Reopen opens a pull request that was closed.
	Reopen
	// Watch follows the checks.
	Watch
	// Look opens the page of the pull request.
	Look
	// Merge merges the pull request.
	Merge
	// Lift moves a branch from its merged parent, with the commit Base, to Parent.
	Lift
	// Delete deletes a merged branch.
	Delete
	// Track adds a branch to the records of a stack tool.
	Track
)

// Branch is the input of a command. Unknown fields are empty.
type Branch struct {
	Name, Parent, Trunk string
	// Tool is the source of the branch's parent.
	Tool string
	// Base is the commit of Parent on which it was stacked.
	Base string
	// Remote is the name of its push remote, empty for a branch that has never been pushed.
	Remote string
	// Diverged means that the remote branch has commits that the branch lacks.
	Diverged bool
	// Current means that it is checked out in the current worktree.
	Current bool
	// Number is that of its pull request.
	Number int
	// Operation is the git command that stopped halfway, and Elsewhere the path of the worktree of
	// the branch, if that is not the current one.
	Operation, Elsewhere string
	// Tracked and Conflicted count the changed files that git tracks, and those that it could not
	// merge, in the worktree where git would rebase the branch. InConflict is one of the latter.
	Tracked, Conflicted int
	InConflict          string
}

// template is a command, with placeholders {branch}, {parent}, {base}, {remote}, {number},
// {operation}, and {trunk}.
type template = string

// templates are the commands of a tool by their action. An array is data of the executable; a map
// would be created at each start.
type templates [Track + 1]template

// commands returns the commands of a tool. git and gh do what a tool has no command for.
func commands(tool string) templates {
	switch tool {
	case "git-spice":
		return templates{
			Resume: "gs {operation} continue", Restack: "gs upstack restack --branch {branch}", Tidy: "gs repo sync",
			Submit: "gs branch submit --branch {branch}", Propose: "gs branch submit --branch {branch}", Push: "gs branch submit --branch {branch}",
			Work: "gs branch checkout {branch}", Publish: "gs branch submit --branch {branch} --no-draft",
			Lift: "gs upstack onto {parent} --branch {branch}", Track: "gs branch track --base {parent} {branch}",
		}
	case "graphite":
		return templates{
			Resume: "gt continue", Restack: "gt restack --branch {branch}", Tidy: "gt sync", Submit: "gt submit --branch {branch}",
			Propose: "gt submit --branch {branch}", Push: "gt submit --branch {branch}", Work: "gt checkout {branch}", Merge: "gt merge",
			Lift: "gt move --source {branch} --onto {parent}", Track: "gt track --parent {parent} {branch}",
		}
	case "git-town":
		return templates{
			Resume: "git town continue", Restack: "git town sync --stack", Tidy: "git town sync --all", Submit: "git town propose --stack",
			Propose: "git town propose --stack", Push: "git town sync --stack",
		}
	case "git-machete":
		return templates{
			Restack: "git machete traverse", Tidy: "git machete slide-out {branch}", Submit: "git machete traverse",
			Propose: "git machete github create-pr", Push: "git machete traverse", Track: "git machete add --onto {parent} {branch}",
		}
	case "gh-stack", "github-stack":
		return templates{
			Resume: "gh stack rebase --continue", Restack: "gh stack rebase", Tidy: "gh stack sync", Submit: "gh stack submit",
			Propose: "gh stack submit", Push: "gh stack push",
		}
	case "twig":
		return templates{Tidy: "copse branch prune"}
	}
	return templates{}
}

// The commands that push: a new branch, new commits, and commits that replace others.
const (
	pushNew     template = "git push -u {remote} {branch}"
	pushCommits template = "git push {remote} {branch}"
	pushRewrite template = "git push --force-with-lease {remote} {branch}"
)

// plain are the commands of git and gh.
var plain = templates{ //nolint:gochecknoglobals // a constant
	Resume: "git {operation} --continue", Restack: "git rebase {parent} {branch}", Tidy: "git fetch --prune",
	Submit: pushNew, Propose: "gh pr create --head {branch} --base {parent}", Push: pushNew,
	Work: "git switch {branch}", Answer: "gh pr view {number} --comments", Publish: "gh pr ready {number}", Reopen: "gh pr reopen {number}",
	Watch: "gh pr checks {number} --watch", Look: "gh pr view {number} --web", Merge: "gh pr merge {number}",
	Lift: "git rebase --onto {parent} {base} {branch}", Delete: "git branch -D {branch}",
}

// Knows reports whether a tool has a command of its own for an action.
func Knows(tool string, a Action) bool { return commands(tool)[a] != "" }

// shown reports whether a command can contain the value of a placeholder. One with hidden characters
// would differ from its appearance. Git and other programs would take a name for an option, for a
// push by force ("+main"), or for the address of a remote.
func shown(value, name string) bool {
	return value != "" && !foreign.Hidden(value) && value[0] != '-' && value[0] != '+' && (name != "remote" || !strings.Contains(value, ":"))
}

// thereOnly reports whether a command works only in the worktree of its branch. git refuses to rebase
// a branch that another worktree has checked out, and a command that does not name the branch is
// about the one that is checked out.
func thereOnly(a Action, text template) bool {
	switch a {
	case Resume, Restack, Lift:
		return true
	case Submit, Propose, Push, Merge:
		return !strings.Contains(text, "{branch}") && !strings.Contains(text, "{number}")
	default:
		return false
	}
}

// First returns what a person has to do before the command of an action, which would fail otherwise; "" if
// that is nothing.
func First(a Action, b Branch) string {
	switch {
	case a == Resume && b.Conflicted > 0 && b.Operation != "bisect":
		what := cleantext.Count(b.Conflicted, "file")
		if shown(b.InConflict, "path") {
			if what = cleantext.Word(b.InConflict); b.Conflicted > 1 {
				what += " and " + cleantext.Count(b.Conflicted-1, "more file")
			}
		}
		return "resolve the conflicts in " + what
	case (a == Restack || a == Lift) && b.Tracked+b.Conflicted > 0:
		return "commit or stash " + cleantext.Count(b.Tracked+b.Conflicted, "changed file")
	}
	return ""
}

// Command returns the command of an action, "" if there is none that can be shown.
func Command(a Action, b Branch) string {
	text := commands(b.Tool)[a]
	if text == "" {
		text = plain[a]
	}
	switch {
	case a == Resume && b.Operation == "bisect":
		text = "git bisect reset"
	case a == Resume && b.Operation != "rebase":
		text = plain[Resume] // operations that no stack tool began
	case a == Restack && text == plain[Restack] && b.Base != "":
		text = "git rebase --onto {parent} {base} {branch}"
	case a == Lift && text == plain[Lift] && b.Base == "":
		text = plain[Restack]
	case a == Delete && b.Current:
		text = "git switch {trunk} && " + text
	case a == Delete && b.Elsewhere != "":
		text = "copse worktrees" // it says whether the worktree can be removed
	case text == pushNew && b.Diverged:
		text = pushRewrite
	case text == pushNew && b.Remote != "":
		text = pushCommits
	}
	switch {
	case b.Elsewhere == "":
	case a == Work:
		text = "cd {path}"
	case text != "" && thereOnly(a, text):
		text = "cd {path} && " + text
	}
	number := ""
	if b.Number > 0 {
		number = strconv.Itoa(b.Number)
	}
	var pairs []string
	for name, value := range map[string]string{
		"branch": b.Name, "parent": cmp.Or(b.Parent, b.Trunk), "base": b.Base, "remote": cmp.Or(b.Remote, "origin"),
		"number": number, "trunk": b.Trunk, "operation": b.Operation, "path": b.Elsewhere,
	} {
		placeholder := "{" + name + "}"
		if strings.Contains(text, placeholder) && !shown(value, name) {
			return ""
		}
		pairs = append(pairs, placeholder, cleantext.Word(value))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
