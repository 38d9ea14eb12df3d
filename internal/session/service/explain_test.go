package service_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/remote"
	"github.com/copse-dev/copse/internal/session/service"
)

func TestExplain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err      error
		kind     failure.Kind
		what, do string
	}{
		"not found": {
			&remote.Error{Service: "GitHub", Kind: remote.NotFound, Status: 404, Credential: "$GH_TOKEN", Detail: "Not Found"},
			failure.NotFound, "GitHub API error: Not Found (HTTP 404)", "Check the name or number, and whether the credentials from $GH_TOKEN have access.",
		},
		"not found, without credentials": {
			&remote.Error{Service: "GitHub", Kind: remote.NotFound, Status: 404, Detail: "Not Found"},
			failure.NotFound, "GitHub API error: Not Found (HTTP 404)", "Check the name or number.",
		},
		"rate limit": {
			&remote.Error{Service: "Jira", Kind: remote.RateLimited, Status: 429, RetryAfter: 61 * time.Second, Detail: "slow down"},
			failure.RateLimited, "Jira API error: slow down (HTTP 429)", "Rate limited by Jira. Retry after 2 minutes.",
		},
		"rate limit, short": {
			&remote.Error{Service: "Jira", Kind: remote.RateLimited, Status: 429, RetryAfter: 1500 * time.Millisecond, Detail: "x"},
			failure.RateLimited, "Jira API error: x (HTTP 429)", "Rate limited by Jira. Retry after 2 seconds.",
		},
		"refused": {
			&remote.Error{Service: "GitHub", Kind: remote.Refused, Status: 401, Credential: "~/.netrc machine github.com", Detail: "Bad credentials"},
			failure.Unreachable, "GitHub API error: Bad credentials (HTTP 401)",
			"GitHub refused the credentials from ~/.netrc machine github.com. Renew the token there, or give it access. HTTP status: 401.",
		},
		"no answer": {
			&remote.Error{Service: "GitHub", Detail: "no answer within 15s"},
			failure.Unreachable, "GitHub API error: no answer within 15s", "Check your network connection.",
		},
		"server error": {
			fmt.Errorf("wrapped: %w", &remote.Error{Service: "GitHub", Status: 502, Detail: "bad gateway"}),
			failure.Unreachable, "GitHub API error: bad gateway (HTTP 502)", "GitHub has an internal problem. Try again in a few minutes. HTTP status: 502.",
		},
		"values refused": {
			&remote.Error{Service: "Jira", Status: 422, Detail: "summary: too long"},
			failure.Unreachable, "Jira API error: summary: too long (HTTP 422)", "Jira did not accept the values of the request. Check the arguments. HTTP status: 422.",
		},
		"another server": {
			&remote.Error{Service: "Jira", Kind: remote.Misdirected, Status: 302, Detail: "it redirects elsewhere"},
			failure.Unreachable, "Jira API error: it redirects elsewhere (HTTP 302)", "Check the address of Jira, and whether a proxy or a login page answers there.",
		},
		"an API that is gone": {
			&remote.Error{Service: "Jira", Status: 410, Detail: "removed"},
			failure.Unreachable, "Jira API error: removed (HTTP 410)", "Update copse: Jira no longer has the API that this version uses. HTTP status: 410.",
		},
		"another status": {
			&remote.Error{Service: "Jira", Status: 407, Detail: "proxy"},
			failure.Unreachable, "Jira API error: proxy (HTTP 407)", "Check your network connection. HTTP status: 407.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := service.Explain(tt.err)
			e := failure.Of(err)
			if e.Kind != tt.kind || e.Message(failure.Words{}) != tt.what || e.Hint(failure.Words{}) != tt.do {
				t.Errorf("got %d, %q, %q", e.Kind, e.Message(failure.Words{}), e.Hint(failure.Words{}))
			}
			if !errors.Is(err, tt.err) && errors.Unwrap(tt.err) == nil {
				t.Error("the cause is lost")
			}
		})
	}
	other := errors.New("other")
	if got := service.Explain(other); !errors.Is(got, other) || failure.Of(got).Kind != failure.Internal {
		t.Errorf("another error becomes %v", got)
	}
}
