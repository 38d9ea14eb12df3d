package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/mcpserver"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/envelope"
)

// window returns a toolset with a view.
func window(draw func(context.Context, json.RawMessage) (string, error)) toolset.Toolset {
	tool := func(name string) toolset.Tool {
		return envelope.Tool(envelope.Form{}, toolset.Spec{Name: name, Title: name, Description: name, Hints: toolset.Hints{ReadOnly: true}},
			func(_ context.Context, in echoIn) (echoOut, error) { return echoOut(in), nil })
	}
	look := tool("look")
	look.View = &toolset.View{URI: "ui://window", Draw: draw}
	peek := envelope.Tool(envelope.Form{}, toolset.Spec{Name: "peek", Title: "peek", Description: "peek", Hints: toolset.Hints{ReadOnly: true}}, toolset.Drawn(
		func(_ context.Context, in echoIn) (echoOut, error) { return echoOut(in), nil },
		func(out echoOut) (string, error) { return "<i>" + out.Text + "</i>", nil }))
	peek.View = &toolset.View{}
	return toolset.Toolset{
		Name: "window", Tools: []toolset.Tool{look, peek, tool("echo")},
		Resources: []toolset.Resource{{URI: "toy://one", Name: "one", Read: func(context.Context) (string, error) { return "1", nil }}},
		Pages:     []toolset.Page{{URI: "ui://window", Name: "window", HTML: func() string { return "<!doctype html>" }}},
	}
}

// Views are for clients that declare the extension. For all others not a byte changes.
func TestViews(t *testing.T) {
	t.Parallel()
	var secrets secret.Set
	secrets.Add("hunter2hunter2")
	draw := func(_ context.Context, data json.RawMessage) (string, error) {
		if strings.Contains(string(data), "broken") {
			return "", errors.New("a mistake in a template")
		}
		return "<b>hunter2hunter2</b>", nil
	}
	with := start(t, mcpserver.Options{Toolsets: []toolset.Toolset{window(draw)}, Secrets: &secrets})
	bare := window(draw)
	bare.Pages = nil
	for i := range bare.Tools {
		bare.Tools[i].View = nil
	}
	without := start(t, mcpserver.Options{Toolsets: []toolset.Toolset{bare}})
	ask := func(c *client, method, params, caps string) string {
		c.send(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params +
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + caps + `}}}`)
		return c.line()
	}
	const declared = `{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}`
	const look = `"name":"look","arguments":{"text":"out"},`
	for method, params := range map[string]string{
		"tools/list": "", "resources/list": "", "tools/call": look, "resources/read": `"uri":"ui://window",`,
	} {
		got, want := ask(with, method, params, "{}"), ask(without, method, params, "{}")
		if got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", method, got, want)
		}
	}
	for _, try := range []struct{ method, params, want string }{
		{"server/discover", "", `"io.modelcontextprotocol/ui":{}`},
		{"tools/list", "", `{"_meta":{"ui":{"resourceUri":"ui://window"}},"annotations":`},
		{"resources/list", "", `"mimeType":"text/html;profile=mcp-app","name":"window","uri":"ui://window"`},
		{"resources/read", `"uri":"ui://window",`, `"mimeType":"text/html;profile=mcp-app","text":"\u003c!doctype html\u003e"`},
		{"tools/call", look, `"copse/html":"\u003cb\u003e`},
		{"tools/call", `"name":"peek","arguments":{"text":"own"},`, `"copse/html":"\u003ci\u003eown`},
		{"tools/call", `"name":"look","arguments":{"text":"broken"},`, `"content":[{"type":"text","text":"{\"status\":\"ok\",\"data\":{\"text\":\"broken\"}}"}]`},
	} {
		got := ask(with, try.method, try.params, declared)
		if !strings.Contains(got, try.want) || strings.Contains(got, "hunter2") {
			t.Errorf("%s: want %s in\n%s", try.method, try.want, got)
		}
	}
	if got := ask(with, "tools/list", "", declared); strings.Count(got, "resourceUri") != 1 {
		t.Errorf("other tools have a page, too:\n%s", got)
	}
}
