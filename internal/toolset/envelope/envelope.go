// Package envelope is the result shape of the branches, github and jira
// toolsets: {"status":"ok","data":…} or {"status":"error","error":{"code",
// "message","hint"?}}, compact, the same in the text and in the structured
// half.
//
// Handlers return an [*Error] where they know what went wrong. Anything else
// becomes code "internal".
package envelope

import (
	"context"
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

// Shape implements [toolset.Shape] for tools that answer with an Out.
type Shape[Out any] struct{}

// Tool returns a tool of this shape; see [toolset.New].
func Tool[In, Out any](spec toolset.Spec, run func(context.Context, In) (Out, error)) toolset.Tool {
	return toolset.New(Shape[Out]{}, spec, run)
}

// OK returns the envelope of out.
func (Shape[Out]) OK(out Out) (toolset.Result, error) {
	doc, err := toolset.Marshal(struct {
		Status string `json:"status"`
		Data   Out    `json:"data"`
	}{"ok", out})
	if err != nil {
		return toolset.Result{}, err
	}
	return toolset.Result{Text: []string{string(doc)}, Structured: doc}, nil
}

// Fail returns the envelope of err.
func (Shape[Out]) Fail(err error) toolset.Result { return Fail(err) }

// Fail returns the envelope of err as a result.
func Fail(err error) toolset.Result {
	doc := Document(err)
	return toolset.Result{Text: []string{string(doc)}, Structured: doc, IsError: true}
}

// Document is the error envelope as JSON, for resources, which have no error
// flag of their own.
func Document(err error) json.RawMessage {
	doc, _ := toolset.Marshal(struct { // strings always encode
		Status string `json:"status"`
		Error  *Error `json:"error"`
	}{"error", Of(err)})
	return doc
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
func (Shape[Out]) Schema() *jsonschema.Schema {
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
