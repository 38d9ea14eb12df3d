package toolset

import (
	"context"
	"encoding/json"
	"reflect"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/copse-dev/copse/internal/jsonshape"
)

// Tool is one tool, ready to be served. Create it with [New].
type Tool struct {
	Spec
	// Call runs the tool on the raw arguments ("" and null are {}). No arguments make it panic, and
	// it returns errors in the toolset's shape.
	Call func(ctx context.Context, arguments json.RawMessage) Result
	// Begin, if set, runs the tool like Call for a client that supports waiting: a long call
	// returns a job instead of a result. See [Lasting].
	Begin func(ctx context.Context, arguments json.RawMessage) (Result, *Job)
	// View, if set, defines how clients that show views show the answers.
	View *View
	// Fail formats an error in the toolset's shape, for errors around the call.
	Fail func(err error) Result

	input, output func() *jsonschema.Schema
	describe      func() string
}

// Input returns the schema of the arguments, which is derived at the first call: a server starts
// faster than it describes its tools.
func (t Tool) Input() *jsonschema.Schema { return t.input() }

// Output returns the schema of the structured half, nil for a tool whose answer is text.
func (t Tool) Output() *jsonschema.Schema { return t.output() }

// Result describes the data of the tool's answers, for the reference; see package jsonshape.
func (t Tool) Result() string { return t.describe() }

// Spec is the description of a tool.
type Spec struct {
	Name string
	// Title is the name for people. It is empty if the name is clear enough: every client pays for
	// its bytes.
	Title       string
	Description string
	Hints       Hints
	// Anywhere means that the answers are the same in every worktree, although the toolset is
	// Located.
	Anywhere bool
}

// Hints are the annotations that clients read before they allow a call.
type Hints struct {
	// ReadOnly tools change nothing; --read-only serves no others.
	ReadOnly bool
	// Idempotent tools have no further effect when called twice with the same arguments.
	Idempotent bool
	// Destructive tools can lose something. Only for tools that are not
	// ReadOnly.
	Destructive bool
	// OpenWorld tools contact other machines, or run programs that can.
	OpenWorld bool
}

// New returns a tool with a handler. In is a struct of JSON-tagged fields: those without omitempty
// are required; the tags description, enum ("a,b"), min, max, and default (in JSON; the handler
// applies it) describe and limit a value. Out is any type that encodes to JSON. A programming error
// in In panics at the first call and in [Tool.Input], which tests call for every tool.
func New[In, Out any](shape Shape[Out], spec Spec, run func(context.Context, In) (Out, error)) Tool {
	args := sync.OnceValue(inputOf[In])
	return Tool{
		Spec:     spec,
		input:    sync.OnceValue(func() *jsonschema.Schema { return args().schema() }),
		output:   sync.OnceValue(shape.Schema),
		Fail:     shape.Fail,
		describe: func() string { return describe(shape) },
		Call: func(ctx context.Context, raw json.RawMessage) Result {
			var in In
			if err := args().decode(raw, &in); err != nil {
				return shape.Fail(err)
			}
			out, err := run(ctx, in)
			return answer(shape, out, err)
		},
	}
}

// answer returns the result of a handler in a shape.
func answer[Out any](shape Shape[Out], out Out, err error) Result {
	if err != nil {
		return shape.Fail(err)
	}
	res, err := shape.OK(out)
	if err != nil {
		return shape.Fail(err)
	}
	return res
}

// describe returns the form of a structured half that is not the output itself, from its shape.
func describe[Out any](shape Shape[Out]) string {
	if own, ok := shape.(interface{ Describe() string }); ok {
		return own.Describe()
	}
	return jsonshape.Describe(reflect.TypeFor[Out]())
}
