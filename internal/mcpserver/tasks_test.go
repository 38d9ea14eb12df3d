package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/mcpserver"
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
