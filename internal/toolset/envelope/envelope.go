// Package envelope implements the result shape of the branches, github, and jira toolsets:
// {"status":"ok","data":…} or {"status":"error","error":{"code", "message","hint"?}}, compact, the
// same in the text and in the structured half.
//
// Use [Tool] for a tool of this shape. Handlers return [failure.Error]s, whose kinds become codes
// and whose phrases are completed with the words of the [Form]; any other error has the code
// "internal".
package envelope

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/copse-dev/copse/internal/failure"
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

// codeOf returns the code of a kind of failure.
func codeOf(k failure.Kind) Code {
	switch k {
	case failure.NoRepository:
		return NoRepo
	case failure.NoState:
		return NoTwigState
	case failure.NoCredentials:
		return CredentialsMissing
	case failure.NotFound:
		return NotFound
	case failure.Invalid:
		return InvalidParams
	case failure.Unreachable:
		return NetworkError
	case failure.RateLimited:
		return RateLimited
	}
	return Internal
}

// Form is the common part of the envelopes of one program.
type Form struct{ Words failure.Words }

// Tool returns a tool of this shape; see [toolset.New].
func Tool[In, Out any](f Form, spec toolset.Spec, run func(context.Context, In) (Out, error)) toolset.Tool {
	return toolset.New(shape[Out]{f}, spec, run)
}

// Document returns the result of a handler as the JSON text of a resource. Resources have no error
// flag: a model that reads one sees in it why there is no content.
func Document[Out any](f Form, out Out, err error) (string, error) {
	if err != nil {
		return string(f.document(err)), nil
	}
	res, err := shape[Out]{f}.OK(out)
	if err != nil {
		return "", err
	}
	return res.Text[0], nil
}

// document returns the envelope of an error.
func (f Form) document(err error) json.RawMessage {
	doc, _ := toolset.Marshal(struct { // strings always encode
		Status string `json:"status"`
		Error  shown  `json:"error"`
	}{"error", f.of(err)})
	return doc
}

// shown is an error for the caller.
type shown struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// of returns the caller's part of an error.
func (f Form) of(err error) shown {
	if arg, ok := errors.AsType[*toolset.ArgumentError](err); ok {
		return shown{InvalidParams, arg.Message, arg.Hint}
	}
	e := failure.Of(err)
	return shown{codeOf(e.Kind), e.Message(f.Words), e.Hint(f.Words)}
}

// shape implements [toolset.Shape] for tools that answer with an Out.
type shape[Out any] struct{ form Form }

// OK returns the envelope of out.
func (shape[Out]) OK(out Out) (toolset.Result, error) {
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
func (s shape[Out]) Fail(err error) toolset.Result {
	doc := s.form.document(err)
	return toolset.Result{Text: []string{string(doc)}, Structured: doc, IsError: true}
}

// Schema describes only an object. Both forms of the envelope would cost each client 150 bytes per
// tool.
func (shape[Out]) Schema() *jsonschema.Schema { return &jsonschema.Schema{Type: "object"} }
