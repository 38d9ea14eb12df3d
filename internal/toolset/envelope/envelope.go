// Package envelope is the result shape of the branches, github and jira
// toolsets: {"status":"ok","data":…} or {"status":"error","error":{"code",
// "message","hint"?}}, compact, the same in the text and in the structured
// half.
//
// Handlers return an [*Error] where they know what went wrong. Anything else
// becomes code "internal".
package envelope

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/copse-dev/copse/internal/remote"
	"github.com/copse-dev/copse/internal/toolset"
)

// Code is the machine-readable kind of an error. The set is closed.
type Code string

// The codes, each with the meaning that the tools' users rely on.
const (
	NoRepo             Code = "no_repo"
	NoTwigState        Code = "no_twig_state"
	CredentialsMissing Code = "credentials_missing"
	NotFound           Code = "not_found"
	InvalidParams      Code = "invalid_params"
	NetworkError       Code = "network_error"
	RateLimited        Code = "rate_limited"
	Internal           Code = "internal"
)

// Error is an error as the caller sees it.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// Err is the cause, for errors.Is; it is not shown.
	Err error `json:"-"`
}

func (e *Error) Error() string { return e.Message }

func (e *Error) Unwrap() error { return e.Err }

// Shape implements [toolset.Shape].
type Shape struct{}

var _ toolset.Shape = Shape{}

// OK wraps data.
func (Shape) OK(data json.RawMessage) toolset.Result {
	doc := make(json.RawMessage, 0, len(data)+32)
	doc = append(doc, `{"status":"ok","data":`...)
	doc = append(doc, data...)
	doc = append(doc, '}')
	return toolset.Result{Text: []string{string(doc)}, Structured: doc}
}

// Fail wraps err.
func (Shape) Fail(err error) toolset.Result {
	doc := Document(err)
	return toolset.Result{Text: []string{string(doc)}, Structured: doc, IsError: true}
}

// Document is the error envelope as JSON, for resources, which have no error
// flag of their own.
func Document(err error) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	// Three strings always encode.
	_ = enc.Encode(struct {
		Status string `json:"status"`
		Error  *Error `json:"error"`
	}{"error", Of(err)})
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Of turns any error into the one that the caller sees.
func Of(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if arg, ok := errors.AsType[*toolset.ArgumentError](err); ok {
		return &Error{Code: InvalidParams, Message: arg.Message, Hint: arg.Hint}
	}
	if r, ok := errors.AsType[*remote.Error](err); ok {
		return ofRemote(r)
	}
	if errors.Is(err, remote.ErrNotAllowed) {
		// Only a redirect leads there: clients ask for what is allowed.
		return &Error{
			Code: NetworkError, Message: "The service answered with a redirect to where nothing is sent: " + err.Error(),
			Hint: "Check the address of the service and the name of the repository.",
		}
	}
	return &Error{Code: Internal, Message: err.Error(), Hint: "This is a bug. Please report it."}
}

// Schema describes both forms of the envelope.
func (Shape) Schema() *jsonschema.Schema {
	return &jsonschema.Schema{
		Type: "object",
		Properties: map[string]*jsonschema.Schema{
			"status": {Enum: []any{"ok", "error"}},
			"data":   {Type: "object"},
			"error":  {Type: "object"},
		},
		PropertyOrder: []string{"status", "data", "error"},
		Required:      []string{"status"},
	}
}
