package envelope_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/envelope"
)

type none struct{}

// call calls a tool that ends with out and err.
func call(t *testing.T, words failure.Words, out map[string]string, err error) toolset.Result {
	t.Helper()
	tool := envelope.Tool(envelope.Form{Words: words}, toolset.Spec{Name: "x"}, func(context.Context, none) (map[string]string, error) {
		return out, err
	})
	return tool.Call(t.Context(), nil)
}

func TestOK(t *testing.T) {
	t.Parallel()
	got := call(t, failure.Words{}, map[string]string{"a": "<"}, nil)
	want := `{"status":"ok","data":{"a":"<"}}`
	if got.IsError || got.Text[0] != want || string(got.Structured) != want {
		t.Errorf("got %+v", got)
	}
}

func TestFail(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"own": {
			fmt.Errorf("wrapped: %w", failure.New(failure.NoRepository, "m", "h")),
			`{"status":"error","error":{"code":"no_repo","message":"m","hint":"h"}}`,
		},
		"no hint": {
			failure.New(failure.NotFound, "a < b", ""),
			`{"status":"error","error":{"code":"not_found","message":"a < b"}}`,
		},
		"words": {
			&failure.Error{
				Kind: failure.NoState,
				What: func(w failure.Words) string { return w.Program + " knows nothing" },
				Do:   func(w failure.Words) string { return "Run `" + w.Track + "`." },
			},
			`{"status":"error","error":{"code":"no_twig_state","message":"copse knows nothing","hint":"Run ` + "`copse branch init`" + `."}}`,
		},
		"argument": {
			&toolset.ArgumentError{Name: "x", Message: "Missing"},
			`{"status":"error","error":{"code":"invalid_params","message":"Missing"}}`,
		},
		"anything": {
			errors.New("boom"),
			`{"status":"error","error":{"code":"internal","message":"boom","hint":"This is a bug. Report it."}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := call(t, failure.Words{Program: "copse", Track: "copse branch init"}, nil, tt.err)
			if diff := cmp.Diff(tt.want, got.Text[0]); diff != "" {
				t.Error(diff)
			}
			if string(got.Structured) != got.Text[0] || !got.IsError {
				t.Errorf("halves differ, or no error: %+v", got)
			}
			doc, err := envelope.Document(envelope.Form{Words: failure.Words{Program: "copse", Track: "copse branch init"}}, "", tt.err)
			if err != nil || doc != tt.want {
				t.Errorf("as a resource: %s, %v", doc, err)
			}
		})
	}
}

// Each kind of failure has a code of its own.
func TestCodes(t *testing.T) {
	t.Parallel()
	for kind, code := range map[failure.Kind]envelope.Code{
		failure.Internal: envelope.Internal, failure.NoRepository: envelope.NoRepo, failure.NoState: envelope.NoTwigState,
		failure.NoCredentials: envelope.CredentialsMissing, failure.NotFound: envelope.NotFound,
		failure.Invalid: envelope.InvalidParams, failure.Unreachable: envelope.NetworkError, failure.RateLimited: envelope.RateLimited,
	} {
		want := fmt.Sprintf(`{"status":"error","error":{"code":%q,"message":"m"}}`, code)
		if got := call(t, failure.Words{}, nil, failure.New(kind, "m", "")).Text[0]; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
