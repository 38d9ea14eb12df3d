package envelope_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/remote"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/envelope"
)

func TestOK(t *testing.T) {
	t.Parallel()
	got, err := envelope.Shape[map[string]string]{}.OK(map[string]string{"a": "<"})
	want := `{"status":"ok","data":{"a":"<"}}`
	if err != nil || got.IsError || got.Text[0] != want || string(got.Structured) != want {
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
			fmt.Errorf("wrapped: %w", &envelope.Error{Code: envelope.NoRepo, Message: "m", Hint: "h"}),
			`{"status":"error","error":{"code":"no_repo","message":"m","hint":"h"}}`,
		},
		"no hint": {
			&envelope.Error{Code: envelope.NotFound, Message: "a < b"},
			`{"status":"error","error":{"code":"not_found","message":"a < b"}}`,
		},
		"argument": {
			&toolset.ArgumentError{Name: "x", Message: "Missing"},
			`{"status":"error","error":{"code":"invalid_params","message":"Missing"}}`,
		},
		"anything": {
			errors.New("boom"),
			`{"status":"error","error":{"code":"internal","message":"boom","hint":"This is a bug. Please report it."}}`,
		},
		"not found": {
			&remote.Error{Service: "GitHub", Kind: remote.NotFound, Status: 404, Credential: "$GH_TOKEN", Detail: "Not Found"},
			`{"status":"error","error":{"code":"not_found","message":"GitHub API error: Not Found (HTTP 404)","hint":"Check the name or number, and that the credentials from $GH_TOKEN may see it."}}`,
		},
		"rate limit": {
			&remote.Error{Service: "Jira", Kind: remote.RateLimited, Status: 429, RetryAfter: 61 * time.Second, Detail: "slow down"},
			`{"status":"error","error":{"code":"rate_limited","message":"Jira API error: slow down (HTTP 429)","hint":"Rate limited by Jira. Retry after 2 minutes."}}`,
		},
		"rate limit, short": {
			&remote.Error{Service: "Jira", Kind: remote.RateLimited, Status: 429, RetryAfter: 1500 * time.Millisecond, Detail: "x"},
			`{"status":"error","error":{"code":"rate_limited","message":"Jira API error: x (HTTP 429)","hint":"Rate limited by Jira. Retry after 2 seconds."}}`,
		},
		"refused": {
			&remote.Error{Service: "GitHub", Kind: remote.Refused, Status: 401, Credential: "~/.netrc machine github.com", Detail: "Bad credentials"},
			`{"status":"error","error":{"code":"network_error","message":"GitHub API error: Bad credentials (HTTP 401)","hint":"GitHub refused the credentials from ~/.netrc machine github.com. Renew the token there, or give it access. HTTP status: 401."}}`,
		},
		"no answer": {
			&remote.Error{Service: "GitHub", Detail: "no answer within 15s"},
			`{"status":"error","error":{"code":"network_error","message":"GitHub API error: no answer within 15s","hint":"Check your network connection."}}`,
		},
		"server error": {
			&remote.Error{Service: "GitHub", Status: 502, Detail: "bad gateway"},
			`{"status":"error","error":{"code":"network_error","message":"GitHub API error: bad gateway (HTTP 502)","hint":"Check your network connection. HTTP status: 502."}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := envelope.Fail(tt.err)
			if diff := cmp.Diff(tt.want, got.Text[0]); diff != "" {
				t.Error(diff)
			}
			if string(got.Structured) != got.Text[0] || !got.IsError {
				t.Errorf("halves differ, or no error: %+v", got)
			}
		})
	}
}
