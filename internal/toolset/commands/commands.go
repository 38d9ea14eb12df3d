// Package commands is the toolset of the registry of prompts: four tools, and each command as a
// prompt, as a skill, and as a resource.
//
// Use [New]. The handlers are methods of [Tools]. Errors are the JSON objects that this registry's
// users know: {"error":"Command not found","c1","c2","c3"}, {"error":"Failed to load
// registry","path","details"}, and {"error":"Execution failed","command","stderr"}; others have
// only {"error"}.
package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/command"
	"github.com/copse-dev/copse/internal/command/library"
	"github.com/copse-dev/copse/internal/command/render"
	"github.com/copse-dev/copse/internal/command/runner"
	"github.com/copse-dev/copse/internal/page"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/plain"
)

// Library finds registries. Its errors are those of package library.
type Library interface {
	Open(agent string) (*library.Catalog, error)
	Reload(agent string) (*library.Catalog, error)
	Agents() ([]string, error)
	All() ([]library.Agent, []error)
}

var _ Library = (*library.Library)(nil)

// Runner renders prompts. Its errors can be a *render.Error.
type Runner interface {
	Run(ctx context.Context, from *library.Catalog, r render.Request) (render.Result, error)
	Portable(from *library.Catalog, r render.Request) (render.Result, error)
}

var _ Runner = (*runner.Runner)(nil)

// Tools contains the handlers.
type Tools struct {
	library Library
	runner  Runner

	mu      sync.Mutex
	offered []library.Agent // registries of the last offer
	offer   *toolset.Offer
	skilled []library.Agent // registries of the last skills
	skills  []toolset.Skill
}

// New returns the handlers.
func New(l Library, r Runner) *Tools { return &Tools{library: l, runner: r} }

// Toolset returns the toolset "commands".
func (t *Tools) Toolset() toolset.Toolset {
	hints := toolset.Hints{ReadOnly: true, Idempotent: true}
	style := plain.Style{Failure: failed}
	return toolset.Toolset{
		Name: "commands",
		Tools: []toolset.Tool{
			plain.Rows(style, "results", "", toolset.Spec{
				Name: "search", Title: "Search prompts", Hints: hints,
				Description: "Find a prompt (command, instructions, template) for a job: commit message, code review. Best match first. Then describe and execute one.",
			}, t.Search),
			plain.Object(style, toolset.Spec{
				Name: "describe", Title: "Describe prompt", Hints: hints,
				Description: "Get a prompt's usage, options, and variables.",
			}, t.Describe),
			toolset.New(prompt{}, toolset.Spec{
				Name: "execute", Title: "Run prompt", Hints: hints,
				Description: "Run a prompt: get its text, with variables filled in, as instructions to follow.",
			}, t.Execute),
			plain.Object(style, toolset.Spec{
				Name: "reload", Title: "Reload registry", Hints: hints,
				Description: "Reload the registry of prompts. copse notices changes itself.",
			}, t.Reload),
		},
		Instructions: []toolset.Instruction{{
			Say:   "Before a routine job (a commit message, a review, an issue) search for a prompt that says how it is done here; describe returns its options, execute its instructions.",
			Tools: []string{"search", "describe", "execute"},
		}},
		Templates: []toolset.Template{t.template()},
		Offer:     t.offerNow,
		Skills:    t.skillsNow,
	}
}

// SearchIn is what to look for.
type SearchIn struct {
	Query string `json:"query"`
	Agent string `json:"agent,omitempty" default:"\"climpt\""`
	Limit *int   `json:"limit,omitempty" min:"1" max:"50" default:"5"`
}

// SearchOut is the commands that were found.
type SearchOut = plain.List[Found]

// Found is a command and its similarity to the query, from 0 to 1.
type Found struct {
	C1          string  `json:"c1"`
	C2          string  `json:"c2"`
	C3          string  `json:"c3"`
	Description string  `json:"description"`
	Score       float64 `json:"score"`
}

const defaultLimit = 5

// Search finds commands by words.
func (t *Tools) Search(_ context.Context, in SearchIn) (SearchOut, error) {
	catalog, err := t.library.Open(agentOf(in.Agent))
	if err != nil {
		return SearchOut{}, err
	}
	limit := defaultLimit
	if in.Limit != nil {
		limit = *in.Limit
	}
	var out SearchOut
	for _, m := range catalog.Search(in.Query, limit) {
		c := m.Command
		out.Rows = append(out.Rows, Found{c.C1, c.C2, c.C3, line(c.Description), m.Score})
	}
	return out, nil
}

// CommandIn names a command.
type CommandIn struct {
	C1    string `json:"c1" description:"Domain, e.g. git."`
	C2    string `json:"c2" description:"Action."`
	C3    string `json:"c3" description:"Target."`
	Agent string `json:"agent,omitempty" default:"\"climpt\""`
}

func (in CommandIn) id() command.ID { return command.ID{C1: in.C1, C2: in.C2, C3: in.C3} }

// Description is a command in the form of its registry, without hidden characters.
type Description struct{ command.Command }

// Describe describes a command.
func (t *Tools) Describe(_ context.Context, in CommandIn) (Description, error) {
	_, c, err := t.find(in.Agent, in.id())
	return Description{c.Clean()}, err
}

// NotFoundError reports that a registry has no such command.
type NotFoundError struct {
	ID command.ID
}

func (e *NotFoundError) Error() string { return fmt.Sprintf("command %q not found", e.ID.String()) }

// find looks a command up.
func (t *Tools) find(agent string, id command.ID) (*library.Catalog, command.Command, error) {
	catalog, err := t.library.Open(agentOf(agent))
	if err != nil {
		return nil, command.Command{}, err
	}
	c, ok := catalog.Find(id)
	if !ok {
		return nil, command.Command{}, &NotFoundError{ID: id}
	}
	return catalog, c, nil
}

func agentOf(agent string) string {
	if agent == "" {
		return library.DefaultAgent
	}
	return agent
}

// ExecuteIn is a command to execute.
type ExecuteIn struct {
	Agent   string  `json:"agent" description:"E.g. climpt."`
	C1      string  `json:"c1"`
	C2      string  `json:"c2"`
	C3      string  `json:"c3"`
	Options Options `json:"options,omitzero" description:"edition, adaptation, input_text, input_file, destination, uv: {name: value}."`
	// Offset is the position at which to continue a prompt that was cut.
	Offset int `json:"offset,omitempty" min:"0" description:"From an earlier answer."`
}

// ExecuteOut is a prompt.
type ExecuteOut struct {
	Prompt  string   `json:"prompt"`
	Missing []string `json:"missing,omitempty"`
	// Unused are the given variables that the prompt does not have.
	Unused []string `json:"unused,omitempty"`
	// Hidden warns of characters that nobody sees.
	Hidden string `json:"hidden,omitempty"`
	// Cut describes the part of a prompt that is too long for the client.
	Cut string `json:"cut,omitempty"`
}

// Execute renders the prompt of a command.
func (t *Tools) Execute(ctx context.Context, in ExecuteIn) (ExecuteOut, error) {
	id := command.ID{C1: in.C1, C2: in.C2, C3: in.C3}
	catalog, _, err := t.find(in.Agent, id)
	if err != nil {
		return ExecuteOut{}, err
	}
	agent := agentOf(in.Agent)
	res, err := t.runner.Run(ctx, catalog, render.Request{Agent: agent, ID: id, Args: in.Options.args, InputText: in.Options.inputText})
	if err != nil {
		return ExecuteOut{}, explained(agent, id, err)
	}
	res.Prompt = secret.Of(ctx).Redact(res.Prompt) // offsets belong to this text
	if in.Offset > len(res.Prompt) || in.Offset < len(res.Prompt) && !utf8.RuneStart(res.Prompt[in.Offset]) {
		return ExecuteOut{}, &toolset.ArgumentError{
			Name: "offset", Message: fmt.Sprintf(`Argument "offset" is beyond the prompt, which has %s`, cleantext.Count(len(res.Prompt), "byte")),
			Hint: "Pass the offset that an earlier answer names, or leave it out.",
		}
	}
	out := ExecuteOut{Prompt: res.Prompt[in.Offset:], Missing: res.Missing, Unused: res.Unused, Hidden: res.Hidden()}
	room := toolset.RoomFor(ctx, math.MaxInt)
	if len(out.Prompt) <= room && in.Offset == 0 {
		return out, nil
	}
	var left int
	if len(out.Prompt) > room {
		out.Prompt, left = page.Head(nil, out.Prompt, room)
	}
	end := len(res.Prompt) - left
	out.Cut = fmt.Sprintf("… bytes %d to %d of %d shown", in.Offset, end, len(res.Prompt))
	if left > 0 {
		out.Cut += fmt.Sprintf(", because your client passes on no more; continue with offset=%d", end)
	}
	return out, nil
}

// executionError explains why a command has no prompt.
type executionError struct {
	Command, Stderr string
}

func (e *executionError) Error() string { return e.Stderr }

// explained returns the error of a runner as one of execute.
func explained(agent string, id command.ID, err error) error {
	if refused, ok := errors.AsType[*render.Error](err); ok {
		return &executionError{Command: render.Profile(agent, id) + " " + id.C2 + " " + id.C3, Stderr: refused.Reason}
	}
	return err
}

// ReloadIn names an agent.
type ReloadIn struct {
	Agent string `json:"agent,omitempty" default:"\"climpt\""`
}

// ReloadOut describes the registry that was read.
type ReloadOut struct {
	Success      bool   `json:"success"`
	Agent        string `json:"agent"`
	CommandCount int    `json:"commandCount"`
	Message      string `json:"message"`
}

// Reload reads a registry again.
func (t *Tools) Reload(_ context.Context, in ReloadIn) (ReloadOut, error) {
	agent := agentOf(in.Agent)
	catalog, err := t.library.Reload(agent)
	if err != nil {
		return ReloadOut{}, err
	}
	n := len(catalog.Commands)
	return ReloadOut{
		Success: true, Agent: agent, CommandCount: n,
		Message: fmt.Sprintf("Successfully reloaded %s for agent '%s'", cleantext.Count(n, "command"), agent),
	}, nil
}

// failed returns an error as a JSON object. It has no structured half, because some hosts show
// both.
func failed(err error) toolset.Result {
	return toolset.Result{Text: []string{string(document(err))}, IsError: true}
}

// document returns an error as JSON.
func document(err error) json.RawMessage {
	doc := failure{Error: err.Error()}
	if missing, ok := errors.AsType[*NotFoundError](err); ok {
		doc = failure{Error: "Command not found", Name: &Name{missing.ID.C1, missing.ID.C2, missing.ID.C3}, Hint: "search finds the prompts."}
	} else if unread, ok := errors.AsType[*library.LoadError](err); ok {
		doc = failure{Error: "Failed to load registry", Path: unread.Path, Details: unread.Details(), Hint: "Correct the file."}
		if errors.Is(err, fs.ErrNotExist) {
			doc.Hint = "`copse prompt init` creates a registry; check the name of the agent."
		}
	} else if failed, ok := errors.AsType[*executionError](err); ok {
		doc = failure{Error: "Execution failed", Command: failed.Command, Stderr: failed.Stderr, Hint: "describe shows the arguments; `copse prompt check` finds what is wrong with its template."}
	} else if arg, ok := errors.AsType[*toolset.ArgumentError](err); ok {
		doc = failure{Error: arg.Message, Hint: arg.Hint}
	}
	data, err := toolset.Marshal(doc)
	if err != nil { // strings always encode
		return json.RawMessage(`{"error":"unknown"}`)
	}
	return data
}

// failure is an error of any kind.
type failure struct {
	Error string `json:"error"`
	*Name
	Path    string `json:"path,omitempty"`
	Details string `json:"details,omitempty"`
	Command string `json:"command,omitempty"`
	Stderr  string `json:"stderr,omitempty"`
	Hint    string `json:"hint,omitempty"`
}

// Name is a command in an error.
type Name struct {
	C1 string `json:"c1"`
	C2 string `json:"c2"`
	C3 string `json:"c3"`
}

// prompt is the shape of execute, whose answer is text.
type prompt struct{}

// OK shows the prompt, and in further blocks its hidden characters, the missing values, and those that the
// prompt does not use.
func (prompt) OK(out ExecuteOut) (toolset.Result, error) {
	res := toolset.Result{Text: []string{out.Prompt}}
	if out.Cut != "" {
		res.Text = append(res.Text, out.Cut)
	}
	if out.Hidden != "" {
		res.Text = append(res.Text, "Warning: "+out.Hidden)
	}
	if note := listVariables(out.Missing); note != "" {
		res.Text = append(res.Text, note)
	}
	if len(out.Unused) > 0 {
		res.Text = append(res.Text, "The prompt has no variable with these names: "+line(strings.Join(out.Unused, ", ")))
	}
	return res, nil
}

// Fail writes an error as JSON text.
func (prompt) Fail(err error) toolset.Result {
	return toolset.Result{Text: []string{string(document(err))}, IsError: true}
}

// Schema returns nil: there is only text.
func (prompt) Schema() *jsonschema.Schema { return nil }
