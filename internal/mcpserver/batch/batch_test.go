package batch_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/mcpserver/batch"
	"github.com/copse-dev/copse/internal/mcpserver/wire"
)

// The limit counts the elements of the outer array, and the next reader sees the whole body.
func TestLimit(t *testing.T) {
	t.Parallel()
	array := func(n int, element string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(element+", ", n), ", ") + "]"
	}
	message := func(method string, size int) string {
		empty := `{"method":"` + method + `","a":""}`
		return strings.Replace(empty, `""`, `"`+strings.Repeat("a", size-len(empty))+`"`, 1)
	}
	for name, c := range map[string]struct {
		body                   string
		long, large, ambiguous bool
	}{
		"empty":             {body: ""},
		"one message":       {body: " {\"a\":[1,2,3]}"},
		"no message":        {body: "[]"},
		"as many as can be": {body: "\r\n\t [" + array(batch.Max, `{"a":"[,]"}`)[1:]},
		"one more":          {body: array(batch.Max+1, `{"a":"[,]"}`), long: true},
		"numbers":           {body: array(batch.Max+1, "7"), long: true},
		"inner array":       {body: "[" + array(batch.Max+1, "7") + "]"},
		"damaged":           {body: "[{,"},
		"large call":        {body: message("tools/call", batch.MaxSmall+1)},
		"large prompt":      {body: "[" + message("prompts/get", batch.MaxSmall+1) + "]"},
		"small":             {body: message("initialize", batch.MaxSmall)},
		"large":             {body: " " + message("initialize", batch.MaxSmall+1), large: true},
		"large answer":      {body: strings.Replace(message("x", batch.MaxSmall+1), "method", "result", 1), large: true},
		"large in a batch":  {body: "[{}," + message("notifications/initialized", batch.MaxSmall+1) + "]", large: true},
		"two methods":       {body: strings.Replace(message("initialize", batch.MaxSmall+30), `"a"`, `"Method":"tools/call","a"`, 1), ambiguous: true},
		"two IDs":           {body: `[{},{"id":1,"method":"ping","ID":null}]`, ambiguous: true},
		"large and damaged": {body: message("initialize", batch.MaxSmall+1)[1:]},
		"not closed":        {body: strings.TrimSuffix(array(batch.Max, "{}"), "]")},
		"not closed, long":  {body: strings.TrimSuffix(array(batch.Max+1, "{}"), "]"), long: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(c.body))
			if strings.HasPrefix(name, "large") {
				r.ContentLength = -1 // as in a chunked request
			}
			err := batch.Limit(r)
			if errors.Is(err, batch.ErrTooLong) != c.long || errors.Is(err, batch.ErrTooLarge) != c.large {
				t.Fatalf("error is %v, want a long batch: %v, a large message: %v", err, c.long, c.large)
			}
			if _, ok := errors.AsType[*wire.AmbiguousError](err); ok != c.ambiguous {
				t.Fatalf("error is %v, want one about an ambiguous message: %v", err, c.ambiguous)
			}
			if c.long || c.large || c.ambiguous {
				return
			}
			got, err := io.ReadAll(r.Body)
			if want := c.body; err != nil || strings.TrimSpace(string(got)) != strings.TrimSpace(want) {
				t.Errorf("the next reader sees %q, %v; want %q", got, err, want)
			}
		})
	}
}

// Only what the server answers counts as a request, and the next reader sees the whole body.
func TestAsks(t *testing.T) {
	t.Parallel()
	const request, note, answer = `{"id":1,"method":"ping"}`, `{"method":"notifications/cancelled"}`, `{"id":1,"result":{}}`
	for body, want := range map[string]bool{
		request: true, note: false, answer: false, "[" + note + "," + answer + "]": false, " [" + note + "," + request + "]": true,
		"{": true, "": true, `{"id":1,"method":"ping","Method":""}`: true, `{"id":1,"method":"ping","id":null}`: true,
	} {
		r := httptest.NewRequest("POST", "/", strings.NewReader(body))
		if got := batch.Asks(r); got != want {
			t.Errorf("%s: %t", body, got)
		}
		if rest, _ := io.ReadAll(r.Body); string(rest) != body {
			t.Errorf("the next reader sees %q of %q", rest, body)
		}
	}
}
