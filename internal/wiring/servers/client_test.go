package servers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// client speaks as little of the protocol as the tests need, in one era or the other.
type client struct {
	t       testing.TB
	url     string
	session string // "" is the newer era
	http    *http.Client
}

// connect begins a session.
func connect(t testing.TB, port int) *client {
	t.Helper()
	c := modern(t, port)
	res, body := c.post(t.Context(), `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`, nil)
	if c.session = res.Header.Get("Mcp-Session-Id"); c.session == "" {
		t.Fatalf("no session: %s %s", res.Status, body)
	}
	c.post(t.Context(), `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil)
	return c
}

// modern returns a client that needs no session.
func modern(t testing.TB, port int) *client {
	return &client{t: t, url: "http://127.0.0.1:" + strconv.Itoa(port) + "/mcp", http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4}}}
}

func (c *client) post(ctx context.Context, body string, header http.Header) (*http.Response, string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader([]byte(body)))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Authorization", "Bearer "+token)
	if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
	}
	maps.Copy(req.Header, header)
	res, err := c.http.Do(req)
	if err != nil {
		return &http.Response{Status: err.Error(), Header: http.Header{}}, ""
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return res, err.Error()
	}
	return res, string(data)
}

// call calls a tool and returns the text of its result.
func (c *client) call(ctx context.Context, id int, tool, args string) string {
	var res *http.Response
	var body string
	if c.session != "" {
		res, body = c.post(ctx, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, args), nil)
	} else {
		const meta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
		res, body = c.post(ctx, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":%s}}`, id, tool, args, meta),
			http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {tool}})
	}
	for line := range strings.Lines(body) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			body = data
		}
	}
	var answer struct {
		ID     int
		Result struct{ Content []struct{ Text string } }
		Error  struct{ Message string }
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || answer.ID != id {
		return fmt.Sprintf("no answer to %d: %s: %s", id, res.Status, body)
	}
	if answer.Error.Message != "" {
		return "error: " + answer.Error.Message
	}
	var texts []string
	for _, block := range answer.Result.Content {
		texts = append(texts, block.Text)
	}
	return strings.Join(texts, "\n")
}

// tools returns the names of the tools that the server lists.
func (c *client) tools(ctx context.Context) []string {
	_, body := c.post(ctx, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, nil)
	for line := range strings.Lines(body) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			body = data
		}
	}
	var answer struct {
		Result struct{ Tools []struct{ Name string } }
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		c.t.Errorf("no list of tools: %v: %s", err, body)
	}
	var names []string
	for _, tool := range answer.Result.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// close ends the session.
func (c *client) close(ctx context.Context) {
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, c.url, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Mcp-Session-Id", c.session)
	if res, err := c.http.Do(req); err == nil {
		_ = res.Body.Close()
	}
	c.http.CloseIdleConnections()
}
