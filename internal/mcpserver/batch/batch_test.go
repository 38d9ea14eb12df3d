package batch_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/mcpserver/batch"
)

// The limit counts the elements of the outer array, and the next reader sees the whole body.
func TestLimit(t *testing.T) {
	t.Parallel()
	array := func(n int, element string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(element+", ", n), ", ") + "]"
	}
	for name, c := range map[string]struct {
		body string
		long bool
	}{
		"empty":             {body: ""},
		"one message":       {body: " {\"a\":[1,2,3]}"},
		"no message":        {body: "[]"},
		"as many as can be": {body: "\r\n\t [" + array(batch.Max, `{"a":"[,]"}`)[1:]},
		"one more":          {body: array(batch.Max+1, `{"a":"[,]"}`), long: true},
		"numbers":           {body: array(batch.Max+1, "7"), long: true},
		"inner array":       {body: "[" + array(batch.Max+1, "7") + "]"},
		"damaged":           {body: "[{,"},
		"not closed":        {body: strings.TrimSuffix(array(batch.Max, "{}"), "]")},
		"not closed, long":  {body: strings.TrimSuffix(array(batch.Max+1, "{}"), "]"), long: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(c.body))
			err := batch.Limit(r)
			if errors.Is(err, batch.ErrTooLong) != c.long {
				t.Fatalf("error is %v, want a long batch: %v", err, c.long)
			}
			if c.long {
				return
			}
			got, err := io.ReadAll(r.Body)
			if want := c.body; err != nil || strings.TrimSpace(string(got)) != strings.TrimSpace(want) {
				t.Errorf("the next reader sees %q, %v; want %q", got, err, want)
			}
		})
	}
}
