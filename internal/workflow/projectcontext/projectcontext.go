// Package projectcontext gathers the information that an assistant, or a person, needs before
// working in a project: its location, its branch stack with issues and pull requests,
// work items, changes, the last task, failing containers, tasks, recent commits, and
// files.
//
// Fill in [Sources] and call [Sources.Gather]. The result is typed; package wording formats
// it as lines and Markdown. Gather guarantees that
//
//   - every section is present: an empty one, and an unavailable one, gives
//     the reason;
//   - the sections are read concurrently, and one that exceeds its
//     time limit delays no other;
//   - it uses the network only for fresh answers; otherwise, it uses GitHub's and Jira's last
//     answers.
package projectcontext

import (
	"context"
	"slices"
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

// Sources are the inputs of a context.
type Sources struct {
	Session *session.Session
	// Root is the directory of the project, absolute.
	Root     string
	Branches *stack.Branches
	Pulls    *pull.Requests
	Services stack.Services
	// Words complete the reasons for missing data.
	Words      failure.Words
	Items      ItemStore
	Journal    Journal
	Containers Engine
	Recipes    Justfile
	Files      Lister
	Radar      Radar // nil for none
	Now        func() time.Time
	// Patience multiplies the time limits of sections; 0 is 1.
	Patience int
}

// ItemStore is where work items are.
type ItemStore interface {
	Config(ctx context.Context) (item.Config, error)
	Snapshot(ctx context.Context) (*item.Snapshot, error)
	// Links returns the links of the items that have one.
	Links(ctx context.Context) (map[item.ID]item.Link, error)
}

// Journal records the last run of a recipe, and the user's running tasks in all projects.
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

// Request selects what to gather.
type Request struct {
	// Sections are names of sections; none means all.
	Sections []string
	// Fresh queries GitHub and Jira instead of using their last answers.
	Fresh bool
	// Tokens is the size of the answer, 0 for [DefaultTokens]. A long one includes more: deeper
	// directories and older commits.
	Tokens int
	// Commits is the least number of commits to read.
	Commits int
}

// has reports whether a section is requested.
func (r Request) has(section string) bool {
	return len(r.Sections) == 0 || slices.Contains(r.Sections, section)
}

// DefaultTokens is the default size of an answer.
const DefaultTokens = 2000

// BytesPerToken is the assumed size of a token.
const BytesPerToken = 4

// Scale returns how many times longer than usual an answer may be, at least 1.
func Scale(tokens int) int { return max(1, tokens/DefaultTokens) }

// Context describes a project at one moment.
type Context struct {
	Root string
	// At is when it was gathered.
	At       time.Time
	Sections []Section
}

// Section is one part of a context.
type Section struct {
	Name, Title string
	// Content is the data. It can be incomplete if Unavailable is set.
	Content Content
	// Empty is the reason why the section is empty, such as "no justfile". Unavailable is the
	// reason why the section, or a part of it, is missing. At most one of them is set.
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
