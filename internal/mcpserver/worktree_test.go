package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/mcpserver"
	"github.com/copse-dev/copse/internal/mcpserver/route"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/envelope"
)

// rooms are worktrees whose tool, prompt and resource say which one they are of.
type rooms struct{ fixed bool }

func (r rooms) Follows() bool { return !r.fixed }

func (r rooms) Start() *route.Worktree {
	start, _ := r.Find(context.Background(), "", nil)
	return start
}

func (rooms) Find(_ context.Context, named string, dirs []string) (*route.Worktree, error) {
	at := "/start"
	if len(dirs) > 0 {
		at = dirs[0]
	}
	if named == "nowhere" {
		return nil, &toolset.ArgumentError{Name: "worktree", Message: `There is none: pass the argument "worktree"`, Hint: "Use one of: /start"}
	}
	if named != "" {
		at += "+" + named
	}
	return route.NewWorktree(room(at), func() string { return at }), nil
}

func room(at string) []toolset.Toolset {
	return []toolset.Toolset{{
		Name: "rooms", Located: true,
		Tools: []toolset.Tool{envelope.Tool(envelope.Form{}, toolset.Spec{Name: "where", Title: "w", Description: "w", Hints: toolset.Hints{ReadOnly: true}},
			func(_ context.Context, in echoIn) (echoOut, error) { return echoOut{Text: at + in.Text}, nil })},
		Prompts: []toolset.Prompt{{Name: "here", Get: func(context.Context, map[string]string) (string, error) { return "You are here.", nil }}},
		Resources: []toolset.Resource{
			{URI: "room://here", Name: "here", MIMEType: "text/plain", Read: func(context.Context) (string, error) { return at, nil }},
			{URI: "room://data", Name: "data", MIMEType: "application/json", Read: func(context.Context) (string, error) { return `{"a":1}`, nil }},
		},
		Templates: []toolset.Template{{
			URITemplate: "room://note/{n}", Name: "note", Variables: []toolset.Argument{{Name: "n"}},
			Read: func(context.Context, map[string]string) (string, error) { return "{a note}\n", nil },
		}},
	}}
}

// A client with roots is asked in each call, in the way of its revision. Its answer counts at
// once: Claude Code moves to another worktree without a notification.
func TestRoots(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		server := mcpserver.New(mcpserver.Options{Name: "t", Version: "1", Toolsets: room("/start"), Worktrees: rooms{}, Logger: slog.New(slog.DiscardHandler)})
		toServer, fromClient := io.Pipe()
		toClient, fromServer := io.Pipe()
		go func() {
			_ = server.ServeStdio(t.Context(), toServer, fromServer)
			_ = fromServer.Close()
		}()
		client := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil)
		client.AddRoots(&mcp.Root{URI: "file:///one%20two"})
		session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: toClient, Writer: fromClient}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
		if err != nil {
			t.Fatal(revision, err)
		}
		call := func(args map[string]any) string {
			t.Helper()
			res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "where", Arguments: args})
			if err != nil {
				t.Fatal(revision, err)
			}
			return res.Content[0].(*mcp.TextContent).Text
		}
		if got, want := call(map[string]any{"text": "!"}), `{"status":"ok","data":{"text":"/one two!"},"worktree":"/one two"}`; got != want {
			t.Errorf("%s: got %s, want %s", revision, got, want)
		}
		client.RemoveRoots("file:///one%20two")
		client.AddRoots(&mcp.Root{URI: "https://example.com"}, &mcp.Root{URI: "file:///three"})
		if got := call(nil); !strings.Contains(got, `"text":"/three"`) {
			t.Errorf("%s: after moving: %s", revision, got)
		}
		if got := call(map[string]any{"worktree": "x"}); !strings.Contains(got, `"text":"/three+x"`) {
			t.Errorf("%s: named: %s", revision, got)
		}
		if got := call(map[string]any{"worktree": "nowhere"}); !strings.Contains(got, `"code":"invalid_params"`) || !strings.Contains(got, "Use one of") {
			t.Errorf("%s: nowhere: %s", revision, got)
		}
		prompt, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "here"})
		if err != nil || prompt.Messages[0].Content.(*mcp.TextContent).Text != "You are here.\n\nWorktree: `/three`\n" {
			t.Errorf("%s: prompt: %+v, %v", revision, prompt, err)
		}
		for uri, want := range map[string]string{
			"room://here": "/three\n\nWorktree: `/three`\n", "room://data": `{"a":1,"worktree":"/three"}`, "room://note/1": "{a note}\n\nWorktree: `/three`\n",
		} {
			resource, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
			if err != nil || resource.Contents[0].Text != want {
				t.Errorf("%s: resource %s: %+v, %v", revision, uri, resource, err)
			}
		}
		_ = session.Close()
	}
}

// Codex says in each call where its session is.
func TestCodex(t *testing.T) {
	t.Parallel()
	c := start(t, mcpserver.Options{Name: "t", Version: "1", Toolsets: room("/start"), Worktrees: rooms{}})
	if hello := c.initialize("2025-06-18"); !strings.Contains(hello, `"codex/sandbox-state-meta":{}`) {
		t.Errorf("Codex is not asked to say where it is: %s", hello)
	}
	for i, tt := range []struct{ meta, want string }{
		{`{"codex/sandbox-state-meta":{"sandboxCwd":"file:///w/a"},"x-codex-turn-metadata":{"workspaces":{"/w/b":{}}}}`, "/w/a"},
		{`{"x-codex-turn-metadata":{"workspaces":{"/w/b":{"has_changes":true}}}}`, "/w/b"},
		{`{"x-codex-turn-metadata":"{\"workspaces\":{\"/w/c\":{}}}"}`, "/w/c"},
		{`{"x-codex-turn-metadata":{"workspaces":{"relative":{}}}}`, "/start"},
		{`{"x-codex-turn-metadata":7,"codex/sandbox-state-meta":[]}`, "/start"},
		{`{"progressToken":1}`, "/start"},
	} {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"where","arguments":{},"_meta":%s}}`, i+10, tt.meta))
		if got := c.line(); !strings.Contains(got, `{"status":"ok","data":{"text":"`+tt.want+`"},"worktree":"`+tt.want+`"}`) {
			t.Errorf("%s: %s", tt.meta, got)
		}
	}
}

// A client that does not report its roots gets an error: the call could be meant for another
// worktree. It is asked again in the next call. One that does not know the question is asked once.
func TestSilentRoots(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := start(t, mcpserver.Options{Name: "t", Version: "1", Toolsets: room("/start"), Worktrees: rooms{}})
		c.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}}`)
		c.line()
		c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		const unknown = "did not report the directories of its session"
		for i, tt := range []struct{ roots, want string }{
			{`"result":{"roots":[{"uri":"file:///moved"}]}`, `"text":"/moved"`},
			{"", unknown + " (roots/list): no answer within 5s"},
			{`"result":{"roots":[{"uri":"file:///moved"}]}`, `"text":"/moved"`},
			{"cancel", unknown + " (roots/list): the call was canceled"},
			{`"error":{"code":-32603,"message":"not\nnow"}`, unknown + ` (roots/list): calling \"roots/list\": not now`},
			{`"error":{"code":-32601,"message":"no such method"}`, `"text":"/start"`},
			{"not asked", `"text":"/start"`},
		} {
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"where"}}`, i+10))
			got, asked := "", false
			for got == "" {
				var m struct {
					ID     json.RawMessage
					Method string
				}
				line := c.line()
				if err := json.Unmarshal([]byte(line), &m); err != nil {
					t.Fatal(err)
				}
				switch {
				case m.Method != "roots/list":
					if m.Method == "" {
						got = line
					}
				case tt.roots == "cancel":
					c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i+10))
				case tt.roots != "":
					c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, tt.roots))
				}
				asked = asked || m.Method == "roots/list"
			}
			if !strings.Contains(got, tt.want) || asked != (tt.roots != "not asked") {
				t.Errorf("%d: asked %v, got %s", i, asked, got)
			}
		}
		c.in.Close()
		<-c.ended
	})
}

// A tool with an argument of that name keeps it, and has another one for the worktree of the call.
func TestOwnWorktreeArgument(t *testing.T) {
	t.Parallel()
	type in struct {
		Worktree string `json:"worktree,omitempty"`
	}
	sets := []toolset.Toolset{{Name: "own", Tools: []toolset.Tool{envelope.Tool(envelope.Form{}, toolset.Spec{Name: "link", Title: "l", Description: "l"},
		func(_ context.Context, in in) (echoOut, error) { return echoOut{Text: "linked to " + in.Worktree}, nil })}}}
	c := start(t, mcpserver.Options{Name: "t", Version: "1", Toolsets: sets, Worktrees: rooms{}})
	c.initialize("2025-11-25")
	c.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"link","arguments":{"worktree":"/w"}}}`)
	if got := c.line(); !strings.Contains(got, "linked to /w") || !strings.Contains(got, `"worktree":"/start"`) {
		t.Errorf("got %s", got)
	}
	c.send(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"link","arguments":{"worktree":"/w","answered_in":"x"}}}`)
	if got := c.line(); !strings.Contains(got, "linked to /w") || !strings.Contains(got, `"worktree":"/start+x"`) {
		t.Errorf("got %s", got)
	}
	c.send(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"link","arguments":{"worktree":"/w","answered_in":"nowhere"}}}`)
	if got := c.line(); !strings.Contains(got, "pass the argument") || !strings.Contains(got, "answered_in") {
		t.Errorf("got %s", got)
	}
	c.send(`{"jsonrpc":"2.0","id":6,"method":"tools/list"}`)
	if got := c.line(); !strings.Contains(got, `"worktree":{"type":"string"},"answered_in":{"type":"string"}`) {
		t.Errorf("got %s", got)
	}
}

// A server of one worktree has no argument that names it.
func TestWorktreeArgument(t *testing.T) {
	t.Parallel()
	list := func(places route.Worktrees) string {
		o := mcpserver.Options{Name: "t", Version: "1", Toolsets: room("/start")}
		if places != nil {
			o.Worktrees = places
		}
		c := start(t, o)
		c.initialize("2025-11-25")
		c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
		return c.line()
	}
	if one := list(nil); strings.Contains(one, `"worktree"`) {
		t.Errorf("a server of one worktree lists %s", one)
	}
	if many := list(rooms{}); !strings.Contains(many, `"worktree":{"type":"string","description":"Path or branch`) {
		t.Errorf("a server of several worktrees lists %s", many)
	}
	c := start(t, mcpserver.Options{Name: "t", Version: "1", Toolsets: room("/start"), Worktrees: rooms{fixed: true}})
	if hello := c.initialize("2025-11-25"); strings.Contains(hello, "experimental") {
		t.Errorf("a server that stays where it is says %s", hello)
	}
	c.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"where","arguments":{"worktree":7}}}`)
	var answer struct{ Result struct{ IsError bool } }
	if line := c.line(); json.Unmarshal([]byte(line), &answer) != nil || !answer.Result.IsError || !strings.Contains(line, "must be a string") {
		t.Errorf("got %s", line)
	}
	for _, none := range []string{"null", `""`, "0"} {
		c.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"where","arguments":{"worktree":` + none + `}}}`)
		answer.Result.IsError = false
		if line := c.line(); json.Unmarshal([]byte(line), &answer) != nil || answer.Result.IsError {
			t.Errorf("%s: got %s", none, line)
		}
	}
}
