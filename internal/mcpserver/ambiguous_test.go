package mcpserver_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/mcpserver"
	"github.com/copse-dev/copse/internal/toolset"
)

// A message that two programs read differently is refused, and so is a task that the header does not name.
func TestAmbiguousMessages(t *testing.T) {
	t.Parallel()
	handler := mcpserver.New(mcpserver.Options{
		Name: "kiln", Version: "1", Toolsets: []toolset.Toolset{kiln{}.toolset()}, Logger: slog.New(slog.DiscardHandler),
	}).HTTP()
	web := httptest.NewServer(handler)
	t.Cleanup(func() { handler.Close(); web.Close() })
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
	large := `,"version":"` + strings.Repeat("x", 1<<20) + `"`
	get := func(params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{` + params + `,` + meta + `}}`
	}
	for name, try := range map[string]struct {
		path, body, task string // task is in the header
		want             string
	}{
		"session":           {body: hello, want: `"protocolVersion"`},
		"large":             {body: strings.Replace(hello, `,"version":"0"`, large, 1), want: "can have at most 64 KiB"},
		"large, two cases":  {body: strings.Replace(strings.Replace(hello, `,"version":"0"`, large, 1), `"params"`, `"Method":"tools/call","params"`, 1), want: `the member \"method\" only once`},
		"ID in two cases":   {body: `{"jsonrpc":"2.0","id":9007199254740993,"ID":1,"method":"ping"}`, want: `the member \"id\" only once`},
		"batch":             {body: `[{"jsonrpc":"2.0","id":1,"method":"ping","Method":""}]`, want: `the member \"method\" only once`},
		"2024-11-05":        {path: "/sse?sessionid=x", body: `{"jsonrpc":"2.0","id":1,"method":"ping","Method":""}`, want: "only once"},
		"task":              {body: get(`"taskId":"fired"`), task: "fired", want: "the glaze is"},
		"another task":      {body: get(`"taskId":"fired"`), task: "other", want: "must be the taskId"},
		"task in two cases": {body: get(`"taskId":"fired","TaskID":"other"`), task: "other", want: "must be the taskId"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := try.path
			if path == "" {
				path = "/mcp"
			}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL+path, strings.NewReader(try.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			if try.task != "" {
				req.Header.Set("Mcp-Protocol-Version", "2026-07-28")
				req.Header.Set("Mcp-Method", "tasks/get")
				req.Header.Set("Mcp-Name", try.task)
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if got, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(got), try.want) {
				t.Errorf("%s: %.300s, %v; want %q", res.Status, got, err, try.want)
			}
		})
	}
}
