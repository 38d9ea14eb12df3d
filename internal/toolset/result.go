package toolset

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
)

// Result is the outcome of a tool call, before the wire. Text and Structured
// carry the same facts: clients show a model one of them, never reliably both.
type Result struct {
	// Text holds one or more text blocks.
	Text []string
	// Structured is a JSON object, or nil for a tool that answers in text.
	Structured json.RawMessage
	IsError    bool
}

// Shape is how one toolset writes its outcomes and its errors. It is a seam
// because the four systems that copse serves promise different forms.
type Shape interface {
	// OK writes a success. data is the JSON of the tool's output, compact.
	OK(data json.RawMessage) Result
	// Fail writes an error, an [*ArgumentError] among others.
	Fail(err error) Result
	// Schema is the output schema of every tool of the toolset, nil for tools
	// that answer in text. It describes the form, not the data: whole schemas
	// would nearly double what each client reads at the start, and clients do
	// not show them to a model. The reference of the tools has the data.
	Schema() *jsonschema.Schema
}

// Marshal is json.Marshal without HTML escaping, as results have it.
func Marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
