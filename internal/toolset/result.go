package toolset

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
)

// Result is the result of a tool call, before the wire. Text and Structured carry the same facts:
// clients show a model one of them, and not reliably both.
type Result struct {
	// Text holds one or more text blocks.
	Text []string
	// Structured is a JSON object, or nil for a tool whose answer is text.
	Structured json.RawMessage
	// OwnWorktree means that Structured has a member "worktree" that is not the worktree that the
	// answer is about.
	OwnWorktree bool
	IsError     bool
}

// Shape formats the results of tools that return an Out, and their errors. It is an interface
// because the four systems that copse replaces have different forms. A shape knows the type of the
// output, so it builds both halves of a result from the value, and nothing is decoded again.
type Shape[Out any] interface {
	// OK returns the result of a success. An error means that out cannot be encoded.
	OK(out Out) (Result, error)
	// Fail returns the result of an error, such as an [*ArgumentError].
	Fail(err error) Result
	// Schema returns the output schema, nil for tools whose answer is text. It describes the form,
	// not the data: complete schemas would nearly double what each client reads at the start, and
	// clients do not show them to a model. The reference of the tools describes the data.
	Schema() *jsonschema.Schema
}

// Marshal returns json.Marshal without HTML escaping, the form of results.
func Marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
