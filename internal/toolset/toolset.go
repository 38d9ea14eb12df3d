package toolset

import (
	"context"
	"slices"
)

// Toolset is a named group of tools, prompts and resources.
type Toolset struct {
	// Name is the name in --toolsets: "branches", "github".
	Name      string
	Tools     []Tool
	Prompts   []Prompt
	Resources []Resource
	Templates []Template
	// Instructions tell a model when to use the tools, the most important first.
	Instructions []Instruction
	// Located means that the tools answer for the server's worktree: a server of several worktrees
	// tells clients how to name another one.
	Located bool
	// Offer, if set, returns the prompts that can change while the server runs. It is called
	// whenever a client reads the prompts, so it must be quick. The same pointer as before means
	// that nothing has changed.
	Offer func(ctx context.Context) *Offer
	// Skills, if set, returns the skills for clients with the Skills extension. It is called
	// whenever a client reads the skills. Their names are unique.
	Skills func(ctx context.Context) []Skill
	// Pages are for clients that show views, including those that the Views of Tools name.
	Pages []Page
	// Jobs, if set, are the jobs that calls of the tools can become; see [Lasting].
	Jobs Jobs
}

// Skill is a set of instructions that a model reads when it needs them.
type Skill struct {
	// Name has lowercase letters, digits, and single hyphens.
	Name        string
	Description string
	// Read returns the file SKILL.md, whose front matter has the name and the description. An [*ArgumentError]
	// says why there is none.
	Read func(ctx context.Context) (string, error)
}

// Offer is the changing prompts of a toolset at one moment. It is immutable.
type Offer struct {
	Prompts []Prompt
}

// Prompt is a reusable text with arguments that a person picks in a client.
type Prompt struct {
	Name        string
	Title       string
	Description string
	Arguments   []Argument
	// Get renders the one user message of the prompt. An error becomes a protocol error, so it is
	// for an invalid call only: the text itself reports missing data.
	Get func(ctx context.Context, args map[string]string) (string, error)
}

// Argument is one argument of a prompt, or one variable of a template.
type Argument struct {
	Name        string
	Description string
	Required    bool
	// Complete lists the values that match the typed text, best first. chosen contains the values
	// of other arguments, by name, if the client sends them. Nil means that there are no
	// completions.
	Complete func(ctx context.Context, prefix string, chosen map[string]string) ([]string, error)
}

// Resource is a document at a fixed URI.
type Resource struct {
	URI         string
	Name        string
	Title       string
	Description string
	MIMEType    string
	Read        func(ctx context.Context) (string, error)
	// Watch, if set, makes the resource subscribable. It calls changed after each change of the
	// content and returns when ctx ends. It runs only while somebody is subscribed.
	Watch func(ctx context.Context, changed func()) error
}

// Template is a family of documents with variables in its URI, written as {name}.
// A value has no slash in the URI, and reaches Read decoded.
type Template struct {
	URITemplate string
	Name        string
	Title       string
	Description string
	MIMEType    string
	Variables   []Argument
	Read        func(ctx context.Context, values map[string]string) (string, error)
}

// Without omits the toolsets that disabled names, and all prompts and skills if it names "prompts".
func Without(sets []Toolset, disabled []string) []Toolset {
	var kept []Toolset
	for _, set := range sets {
		if slices.Contains(disabled, set.Name) {
			continue
		}
		if slices.Contains(disabled, "prompts") {
			set.Prompts = nil
			set.Offer = nil
			set.Skills = nil
		}
		kept = append(kept, set)
	}
	return kept
}
