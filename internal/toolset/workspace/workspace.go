// Package workspace is the toolset of a project's files, its context, and its tasks.
//
// Use [New]. The handlers are methods of [Tools]. read_file and get_project_context answer only
// with text, list_directory with a JSON array, run_just_task with the output of the task; errors
// are their message.
package workspace

import (
	"cmp"
	"context"
	"math"

	"github.com/copse-dev/copse/internal/page"
	"github.com/copse-dev/copse/internal/project"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/plain"
	"github.com/copse-dev/copse/internal/workflow/projectcontext"
	"github.com/copse-dev/copse/internal/workflow/projectcontext/since"
)

// Files are the files of the project. Errors are for display.
type Files interface {
	Read(ctx context.Context, path string, lines project.Lines) (project.Text, error)
	List(ctx context.Context, path string, r project.Range) (project.Listing, error)
}

var _ Files = (*project.Project)(nil)

// Tools contains the handlers.
type Tools struct {
	files   Files
	tasks   Tasks
	context projectcontext.Sources
	memory  *since.Memory
}

// New returns the handlers. The memory stores answers about the context.
func New(files Files, tasks Tasks, context projectcontext.Sources, memory *since.Memory) *Tools {
	return &Tools{files: files, tasks: tasks, context: context, memory: memory}
}

// Toolset returns the toolset "workspace".
func (t *Tools) Toolset() toolset.Toolset {
	hints := toolset.Hints{ReadOnly: true, Idempotent: true}
	style := plain.Style{NextStep: nextStep}
	return toolset.Toolset{
		Name: "workspace", Located: true, Jobs: t,
		Instructions: []toolset.Instruction{
			{
				Say: "get_project_context is one call for the whole situation (branch, stack, items, changes, last task), max_tokens 500 returns the minimum; " +
					"its last line has a token, with which since returns only what changed: use it after a long session or a compaction.",
				Tools: []string{"get_project_context"}, First: true,
			},
			{Say: "run_just_task runs the project's tasks, such as tests.", Tools: []string{"run_just_task"}},
		},
		Tools: []toolset.Tool{
			toolset.New(text{}, toolset.Spec{
				Name: "read_file", Hints: hints,
				Description: "Read a text file of the project, or show some lines, at most 256 KiB at once.",
			}, t.ReadFile),
			plain.Rows(style, "entries", "List a directory in it, or raise limit.", toolset.Spec{
				Name: "list_directory", Hints: hints,
				Description: "List the files in a directory (folder) of the project, without what git ignores.",
			}, t.ListDirectory),
			toolset.New(text{}, toolset.Spec{
				Name: "get_project_context", Hints: toolset.Hints{ReadOnly: true, Idempotent: true, OpenWorld: true},
				Description: "Where am I and what is going on, an overview: project status, branch, stack, issue, PR, work items, changes, last task, containers, tasks, files. since: what changed since last time.",
			}, t.GetProjectContext),
			toolset.Lasting(toolset.New(outcome{}, toolset.Spec{
				Name: "run_just_task", Hints: toolset.Hints{Destructive: true, OpenWorld: true},
				Description: "Run a task (recipe) of the project's justfile, such as tests, build, or lint; get_project_context lists them.",
			}, t.RunJustTask), outcome{}, t.BeginJustTask),
			toolset.New(progress{}, toolset.Spec{
				Name: "get_task", Anywhere: true, Hints: hints,
				Description: "State, exit code, and last output of a task run, in the background or not.",
			}, t.GetTask),
			plain.Object(style, toolset.Spec{
				Name: "stop_task", Anywhere: true, Hints: toolset.Hints{Destructive: true, Idempotent: true},
				Description: "Stop (end, cancel) a running task or build of any client.",
			}, t.StopTask),
		},
	}
}

// ReadIn selects lines of a file.
type ReadIn struct {
	Path   string `json:"path" description:"Relative to the project root."`
	Offset int    `json:"offset,omitempty" min:"1" description:"First line."`
	Limit  int    `json:"limit,omitempty" min:"1" description:"Lines."`
	Column int    `json:"column,omitempty" min:"1" description:"Byte of the first line to begin at."`
}

// TextOut is a text, and notes about it.
type TextOut struct {
	Text   string `json:"text"`
	Notice string `json:"notice,omitempty"`
}

// ReadFile reads lines of a file.
func (t *Tools) ReadFile(ctx context.Context, in ReadIn) (TextOut, error) {
	lines := project.Lines{From: in.Offset, Column: in.Column, Max: toolset.RoomForLines(ctx, in.Limit)}
	var found project.Text
	err := fit(ctx, func(bytes int) (shown string, err error) {
		lines.Bytes = min(bytes, project.MaxText)
		found, err = t.files.Read(ctx, in.Path, lines)
		return found.Content, err
	})
	if err != nil {
		return TextOut{}, err
	}
	out := TextOut{Text: found.Content, Notice: found.Notice}
	if warning := invisible(found.Content, max(in.Offset, 1)); warning != "" {
		out.Notice = joined(out.Notice, warning)
	}
	return out, nil
}

// ListIn selects a directory.
type ListIn struct {
	Path  string `json:"path" description:"\".\" is the project root."`
	Depth int    `json:"depth,omitempty" min:"1" max:"5" default:"1"`
	Limit *int   `json:"limit,omitempty" min:"1" max:"5000" default:"500"`
}

// ListOut is the entries of a directory.
type ListOut = plain.List[Entry]

// Entry is an entry of a directory. Path is there if depth was more than 1.
type Entry struct {
	Name string       `json:"name"`
	Path string       `json:"path,omitempty"`
	Type project.Type `json:"type"`
	// Note describes what a name hides.
	Note string `json:"note,omitempty"`
}

const (
	defaultEntries = 500
	// maxDeep is the default maximum size of the entries of several levels in bytes.
	maxDeep = 10 << 10
)

// ListDirectory lists a directory.
func (t *Tools) ListDirectory(ctx context.Context, in ListIn) (ListOut, error) {
	r := project.Range{Depth: max(in.Depth, 1), Max: defaultEntries}
	if in.Limit != nil {
		r.Max = *in.Limit
	}
	listing, err := t.files.List(ctx, in.Path, r)
	if err != nil {
		return ListOut{}, err
	}
	out := ListOut{Rows: make([]Entry, 0, len(listing.Entries)), ListInfo: plain.ListInfo{Total: &listing.Total, Warnings: listing.Warnings}}
	room, all := maxDeep, toolset.RoomFor(ctx, math.MaxInt)
	limited := all < math.MaxInt
	for _, e := range listing.Entries {
		one := Entry{Name: e.Name, Type: e.Type, Note: hidden(e.Name, e.Path)}
		if r.Depth > 1 {
			one.Path = e.Path
			room -= len(one.Name) + len(one.Path) + len(one.Type) + len(one.Note) + len(`{"name":"","path":"","type":""},`)
			if in.Limit == nil && room < 0 {
				break
			}
		}
		if limited {
			if all -= page.Size(one) + 1; all < 0 {
				break
			}
		}
		out.Rows = append(out.Rows, one)
	}
	out.Omitted = listing.Total - len(out.Rows)
	if listing.More {
		out.Warnings = append(out.Warnings, "there are more, which copse did not count")
	}
	return out, nil
}

// ContextIn selects the amount of context.
type ContextIn struct {
	Sections  []string `json:"sections,omitempty" enum:"project,stack,items,git,task,containers,recipes,recent,tree"`
	MaxTokens int      `json:"max_tokens,omitempty" min:"500" max:"50000" default:"2000"`
	Fresh     bool     `json:"fresh,omitempty" description:"Ask GitHub and Jira again."`
	Since     string   `json:"since,omitempty" description:"Token of an earlier answer."`
}

// GetProjectContext returns the project's context as Markdown.
func (t *Tools) GetProjectContext(ctx context.Context, in ContextIn) (TextOut, error) {
	size := min(cmp.Or(in.MaxTokens, projectcontext.DefaultTokens), toolset.RoomFor(ctx, math.MaxInt)/projectcontext.BytesPerToken)
	request := projectcontext.Request{Sections: in.Sections, Fresh: in.Fresh, Tokens: size}
	if in.Since == "" {
		found, err := t.context.Gather(ctx, request)
		if err != nil {
			return TextOut{}, err
		}
		return TextOut{Text: since.Markdown(found, t.memory.Remember(found), size)}, nil
	}
	earlier, err := since.Parse(in.Since)
	if err != nil {
		return TextOut{}, &toolset.ArgumentError{
			Name: "since", Message: `Argument "since" must be the token at the end of an earlier answer of get_project_context`, Hint: "Leave it out for the whole context.",
		}
	}
	found, err := t.context.Gather(ctx, since.Request(request, earlier))
	if err != nil {
		return TextOut{}, err
	}
	return TextOut{Text: t.memory.Compare(found, earlier).Markdown(size)}, nil
}
