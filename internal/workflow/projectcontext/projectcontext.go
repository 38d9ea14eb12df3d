// Package projectcontext gathers what an assistant, or a person, should know before
// working in a project: where it is, its branch stack with issues and pull requests,
// work items, changes, the last task, containers in trouble, tasks, recent commits, and
// files.
//
// Fill in [Sources] and call [Sources.Gather]. The result is typed; package wording puts
// it into lines and Markdown. Gather guarantees that
//
//   - every section is there: one that has nothing to say, and one that could not be
//     learned, gives the reason;
//   - the sections are read at the same time, and one that does not answer within its
//     limit delays no other;
//   - the network is asked only for fresh answers; otherwise GitHub's and Jira's last
//     answers count.
package projectcontext

import (
	"context"
	"time"

	"github.com/copse-dev/copse/internal/docker"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/project"
	"github.com/copse-dev/copse/internal/recipe"
	"github.com/copse-dev/copse/internal/recipe/running"
	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/workflow/pull"
	"github.com/copse-dev/copse/internal/workflow/stack"
)

// Names returns the names of the sections, the most important first.
func Names() []string {
	return []string{"project", "stack", "items", "git", "task", "containers", "recipes", "recent", "tree"}
}

// Sources are what a context is gathered from.
type Sources struct {
	Session *session.Session
	// Root is the directory of the project, absolute.
	Root     string
	Branches *stack.Branches
	Pulls    *pull.Requests
	Services stack.Services
	// Words complete the reasons of what could not be learned.
	Words      failure.Words
	Items      ItemStore
	Journal    Journal
	Containers Engine
	Recipes    Justfile
	Files      Lister
	Radar      Radar // nil for none
	Now        func() time.Time
}

// ItemStore is where work items are.
type ItemStore interface {
	Config(ctx context.Context) (item.Config, error)
	Snapshot(ctx context.Context) (*item.Snapshot, error)
	// Links returns the links of the items that have one.
	Links(ctx context.Context) (map[item.ID]item.Link, error)
}

// Journal remembers the last run of a recipe, and what the user runs in any project.
type Journal interface {
	Last() (recipe.LastRun, bool)
	Running() []running.Task
}

// Engine runs containers.
type Engine interface {
	Containers(ctx context.Context, root string) ([]docker.Container, error)
	Logs(ctx context.Context, id string, n int) (string, error)
}

// Justfile has recipes.
type Justfile interface {
	Recipes(ctx context.Context) ([]recipe.Recipe, error)
}

// Lister lists directories.
type Lister interface {
	List(ctx context.Context, path string, r project.Range) (project.Listing, error)
}

// Request says what to gather.
type Request struct {
	// Sections are names of sections; none means all.
	Sections []string
	// Fresh asks GitHub and Jira instead of using their last answers.
	Fresh bool
	// Tokens is how long the answer may be, 0 for [DefaultTokens]. A long one is worth
	// reading more: deeper directories and older commits.
	Tokens int
	// Commits is the least number of commits to read.
	Commits int
}

// DefaultTokens is how long an answer is unless its reader asks for another size.
const DefaultTokens = 2000

// BytesPerToken is what a token counts as.
const BytesPerToken = 4

// Scale returns how many times longer than usual an answer may be, at least 1.
func Scale(tokens int) int { return max(1, tokens/DefaultTokens) }

// Context is what is known of a project at one moment.
type Context struct {
	Root string
	// At is when it was gathered.
	At       time.Time
	Sections []Section
}

// Section is one part of a context.
type Section struct {
	Name, Title string
	// Content is what was learned. It can be incomplete where Unavailable is set.
	Content Content
	// Empty is why there is nothing to say, such as "no justfile". Unavailable is why the
	// section, or a part of it, could not be learned. At most one of them is set.
	Empty, Unavailable string
}

// Content is what a section holds: a [Project], [Stack], [WorkItems], [Changes],
// [LastTask], [Containers], [Recipes], [Commits] or [Files].
type Content interface{ content() }

func (Project) content()    {}
func (Stack) content()      {}
func (WorkItems) content()  {}
func (Changes) content()    {}
func (LastTask) content()   {}
func (Containers) content() {}
func (Recipes) content()    {}
func (Commits) content()    {}
func (Files) content()      {}
