package mcpserver_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/mcpserver"
	"github.com/copse-dev/copse/internal/mcpserver/route"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/envelope"
)

// kiln is a toolset with a tool whose calls last.
type kiln struct{}

func (kiln) Job(_ context.Context, id string) (toolset.Job, error) {
	job := toolset.Job{ID: id, State: toolset.JobDone, Began: time.Now(), Changed: time.Now(), Keep: time.Hour}
	switch id {
	case "fired":
		job.Message = strings.Repeat("x", 290) + "hunter2hunter2"
		job.Result = toolset.Result{Text: []string{"the glaze is hunter2hunter2"}, Structured: []byte(`{"glaze":"hunter2hunter2"}`), IsError: true}
		return job, nil
	case "broken":
		panic("oh")
	}
	return job, errors.New("nothing is in the kiln")
}

func (kiln) StopJob(context.Context, string) error { return nil }

func (k kiln) toolset() toolset.Toolset {
	fire := func(_ context.Context, in echoIn) (echoOut, error) { return echoOut(in), nil }
	tool := envelope.Tool(envelope.Form{}, toolset.Spec{Name: "fire", Title: "fire", Description: "fire"}, fire)
	tool.Begin = func(context.Context, json.RawMessage) (toolset.Result, *toolset.Job) {
		return toolset.Result{}, &toolset.Job{ID: "fired", State: toolset.JobRuns, Began: time.Now(), Changed: time.Now(), Keep: time.Hour}
	}
	return toolset.Toolset{Name: "kiln", Tools: []toolset.Tool{tool}, Jobs: k}
}

// A call becomes a task for a request that declares the extension, in the revision that has
// it. A task is as harmless as any other answer.
func TestTasks(t *testing.T) {
	t.Parallel()
	var secrets secret.Set
	secrets.Add("hunter2hunter2")
	c := start(t, mcpserver.Options{Toolsets: []toolset.Toolset{kiln{}.toolset()}, Secrets: &secrets})
	ask := func(method, params, caps string) string {
		c.send(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params +
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + caps + `}}}`)
		return c.line()
	}
	const declared = `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	const fire = `"name":"fire","arguments":{"text":"hot"},`
	for _, try := range []struct{ method, params, caps, want string }{
		{"server/discover", "", "{}", `"io.modelcontextprotocol/tasks":{}`},
		{"tools/call", fire, "{}", `"text":"hot"`},
		{"tools/call", fire, declared, `"resultType":"task","taskId":"fired","status":"working"`},
		{"tasks/get", `"taskId":"fired",`, "{}", `"code":-32021`},
		{"tasks/get", `"taskId":"fired",`, declared, `"isError":true`},
		{"tasks/get", `"taskId":"broken",`, declared, `"code":-32603`},
		{"tasks/get", `"taskId":"other",`, declared, `"code":-32602,"message":"nothing is in the kiln"`},
		{"tasks/get", `"taskId":7,`, declared, `"error"`},
		{"tasks/update", `"taskId":"fired","inputResponses":{"x":{"ignored":true}},`, declared, `"resultType":"complete"`},
		{"tasks/update", `"taskId":"other","inputResponses":{},`, declared, `"code":-32602`},
		{"tasks/cancel", `"taskId":"fired",`, declared, `"resultType":"complete"`},
		{"tasks/cancel", `"taskId":"other",`, declared, `"code":-32602`},
		{"tasks/list", "", declared, `"code":-32601`},
	} {
		got := ask(try.method, try.params, try.caps)
		if !strings.Contains(got, try.want) || strings.Contains(got, "hunter") {
			t.Errorf("%s %s of %s: want %s in\n%s", try.method, try.params, try.caps, try.want, got)
		}
	}
}

// In a session of an older revision there are no tasks, whatever the client declares.
func TestTasksNeedTheirRevision(t *testing.T) {
	t.Parallel()
	c := start(t, mcpserver.Options{Toolsets: []toolset.Toolset{kiln{}.toolset()}})
	c.send(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25",` +
		`"capabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}},"clientInfo":{"name":"t","version":"0"}}}`)
	c.line()
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, call("1", "fire", `{"text":"hot"}`))
	if got := c.line(); !strings.Contains(got, `"text":"hot"`) || strings.Contains(got, "taskId") {
		t.Errorf("got %s", got)
	}
	for _, params := range []string{`,"params":{"taskId":"fired"}`, ``, `,"params":null`} {
		c.send(`{"jsonrpc":"2.0","id":2,"method":"tasks/get"` + params + `}`)
		if got := c.line(); !strings.Contains(got, `"code":-3202`) && !strings.Contains(got, `"code":-32602`) {
			t.Errorf("params %s: got %s", params, got)
		}
	}
	c.send(call("3", "fire", `{"text":"still there"}`))
	if got := c.line(); !strings.Contains(got, "still there") {
		t.Errorf("got %s", got)
	}
}

// oven has one task, and its errors name it.
type oven string

func (o oven) Job(_ context.Context, id string) (toolset.Job, error) {
	if id != string(o) {
		return toolset.Job{}, fmt.Errorf("no task has this ID; the latest: %s", string(o))
	}
	return toolset.Job{ID: id, State: toolset.JobDone, Began: time.Now(), Changed: time.Now(), Keep: time.Hour, Result: toolset.Result{Text: []string{"bread of " + id}}}, nil
}

func (o oven) StopJob(context.Context, string) error { return nil }

func (o oven) toolset() toolset.Toolset {
	set := kiln{}.toolset()
	set.Tools[0].Begin = func(context.Context, json.RawMessage) (toolset.Result, *toolset.Job) {
		return toolset.Result{}, &toolset.Job{ID: string(o), State: toolset.JobRuns, Began: time.Now(), Changed: time.Now(), Keep: time.Hour}
	}
	set.Jobs = o
	return set
}

// houses are worktrees of several repositories, or of one.
type houses struct{ one bool }

func (houses) Follows() bool { return true }

func (houses) Find(_ context.Context, named string, dirs []string) (*route.Worktree, error) {
	at := strings.TrimPrefix(strings.Join(dirs, ""), "/")
	if at = cmp.Or(named, at); at == "" {
		return nil, &toolset.ArgumentError{Name: "worktree", Message: "Several worktrees"}
	}
	return route.NewWorktree([]toolset.Toolset{oven(at).toolset()}, func() string { return at }), nil
}

func (h houses) Start() *route.Worktree {
	if !h.one {
		return nil
	}
	return route.NewWorktree([]toolset.Toolset{oven("start").toolset()}, func() string { return "" })
}

// A server of several repositories shows and ends the task of a call to those who know its ID, and names no other.
// The worktree that a request reports has its own tasks only.
func TestTasksOfWorktrees(t *testing.T) {
	t.Parallel()
	for _, h := range []houses{{one: false}, {one: true}} {
		c := start(t, mcpserver.Options{Toolsets: []toolset.Toolset{oven("start").toolset()}, Worktrees: h})
		ask := func(method, params, dir string) string {
			at := ""
			if dir != "" {
				at = `"codex/sandbox-state-meta":{"sandboxCwd":"` + dir + `"},`
			}
			c.send(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `"_meta":{` + at +
				`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`)
			return c.line()
		}
		const none = "no call to this server has begun a task with this ID"
		tries := []struct{ method, params, dir, want string }{
			{"tasks/get", `"taskId":"start",`, "", none},
			{"tasks/get", `"taskId":"left",`, "", none},
			{"tools/call", `"name":"fire","arguments":{"text":"hot","worktree":"left"},`, "", `"taskId":"left","status":"working"`},
			{"tools/call", `"name":"fire","arguments":{"text":"hot"},`, "/right", `"taskId":"right","status":"working"`},
			{"tasks/get", `"taskId":"left",`, "", "bread of left"},
			{"tasks/get", `"taskId":"right",`, "", "bread of right"},
			{"tasks/get", `"taskId":"right",`, "/right", "bread of right"},
			{"tasks/get", `"taskId":"left",`, "/right", "the latest: right"},
			{"tasks/cancel", `"taskId":"left",`, "/right", "the latest: right"},
			{"tasks/cancel", `"taskId":"left",`, "", `"resultType":"complete"`},
			{"tasks/cancel", `"taskId":"start",`, "", none},
			{"tasks/update", `"taskId":"start","inputResponses":{},`, "", none},
		}
		if h.one {
			tries = []struct{ method, params, dir, want string }{
				{"tasks/get", `"taskId":"start",`, "", "bread of start"},
				{"tasks/get", `"taskId":"right",`, "/right", "bread of right"},
			}
		}
		for _, try := range tries {
			if got := ask(try.method, try.params, try.dir); !strings.Contains(got, try.want) {
				t.Errorf("%s %s in %q: want %s in\n%s", try.method, try.params, try.dir, try.want, got)
			}
		}
	}
}
