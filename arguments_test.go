package copse_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/copse"
	"github.com/copse-dev/copse/internal/test/demo"
)

// needed are arguments with which each tool can be called that requires some.
var needed = map[string]map[string]any{
	"get_branch_metadata": {"branch": "main"}, "list_jira_issues": {"project": "SHOP"},
	"show_item": {"id": 2}, "create_item": {"title": "One more"}, "update_item": {"id": 2, "title": "Session cookie"}, "delete_item": {"id": 4}, "confirm_delete": {"id": 1},
	"add_comment": {"id": 1, "text": "Seen"}, "set_iteration": {"name": "next"}, "search_items": {"query": "log"},
	"get_children": {"id": 1}, "get_dependents": {"id": 2}, "claim_item": {"id": 4}, "release_item": {"id": 4},
	"search": {"query": "commit"}, "describe": {"c1": "git", "c2": "write", "c3": "commit-message"},
	"execute": {"agent": "climpt", "c1": "git", "c2": "write", "c3": "commit-message"}, "search_all": {"query": "log"},
	"read_file": {"path": "README.md"}, "list_directory": {"path": "."}, "run_just_task": {"task_name": "nothing"}, "stop_task": {"id": "nothing"}, "get_task": {"id": "nothing"},
}

// open are the tools that may ask other machines, or run what can.
var open = []string{"get_pull_request", "get_pr_status", "list_pull_requests", "get_jira_issue", "list_jira_issues", "get_project_context", "run_just_task", "get_stack_status"}

// listed is a tool as a client sees it.
type listed struct {
	Name        string
	Description string
	Annotations struct {
		ReadOnlyHint  bool
		OpenWorldHint *bool
	}
	InputSchema struct {
		Properties map[string]struct {
			Type    string
			Enum    []string
			Minimum *float64
		}
		Required []string
	}
}

// answered is a result as a client sees it.
type answered struct {
	Content           []struct{ Text string }
	StructuredContent json.RawMessage
	IsError           bool
}

func (a answered) text() string {
	var b strings.Builder
	for _, c := range a.Content {
		b.WriteString(c.Text)
	}
	return b.String()
}

// client holds a conversation with a server in this process.
type client struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
	id  int
}

// connect starts a server in the demonstration's repository.
func connect(t *testing.T) *client {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	env := demo.New(t).Env("mcp", "serve")
	env.Stdin, env.Stdout = toServer, fromServer
	ended := make(chan int, 1)
	go func() {
		code := copse.Run(context.WithoutCancel(t.Context()), env)
		_ = fromServer.Close()
		ended <- code
	}()
	t.Cleanup(func() {
		_ = fromClient.Close()
		if code := <-ended; code != app.OK {
			t.Errorf("the server ended with %d", code)
		}
	})
	c := &client{t: t, in: fromClient, out: bufio.NewReader(toClient)}
	c.request("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}`, &struct{}{})
	if _, err := io.WriteString(c.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *client) request(method, params string, result any) {
	c.t.Helper()
	c.id++
	if _, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", c.id, method, params); err != nil {
		c.t.Fatal(err)
	}
	for {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			c.t.Fatal(err)
		}
		var answer struct {
			ID     int
			Result json.RawMessage
		}
		if json.Unmarshal(line, &answer) != nil || answer.ID != c.id {
			continue
		}
		if err := json.Unmarshal(answer.Result, result); err != nil {
			c.t.Fatalf("%s %s: %v: %s", method, params, err, line)
		}
		return
	}
}

func (c *client) tools() []listed {
	c.t.Helper()
	var list struct{ Tools []listed }
	c.request("tools/list", "{}", &list)
	return list.Tools
}

func (c *client) call(tool string, arguments map[string]any) answered {
	c.t.Helper()
	params, err := json.Marshal(map[string]any{"name": tool, "arguments": arguments})
	if err != nil {
		c.t.Fatal(err)
	}
	var a answered
	c.request("tools/call", string(params), &a)
	return a
}

// Every tool reports whether it stays on this machine, and accepts the values that clients send for
// an argument without a value, and digits for numbers. Errors in plain text have no structured
// half.
func TestEveryToolTakesWhatHostsSend(t *testing.T) {
	t.Parallel()
	c := connect(t)
	tried := 0
	for _, tool := range c.tools() {
		name := tool.Name
		if opened := tool.Annotations.OpenWorldHint == nil || *tool.Annotations.OpenWorldHint; opened != slices.Contains(open, name) {
			t.Errorf("%s: openWorldHint is %t", name, opened)
		}
		refused := c.call(name, map[string]any{"nonsense": 1})
		enveloped := strings.HasPrefix(refused.text(), `{"status":"error"`)
		if !refused.IsError || !strings.Contains(refused.text(), "nonsense") || enveloped != (refused.StructuredContent != nil) {
			t.Errorf("%s: an unknown argument: %+v", name, refused)
		}
		base := needed[name]
		for _, required := range tool.InputSchema.Required {
			if base[required] == nil {
				t.Errorf("%s needs %s: add it to the table", name, required)
			}
		}
		want := c.call(name, base)
		for argument, p := range tool.InputSchema.Properties {
			if base[argument] != nil {
				if n, ok := base[argument].(int); ok {
					c.same(tool, argument, fmt.Sprint(n), want)
					tried++
				}
				continue
			}
			if name == "claim_item" && argument == "id" {
				continue // without it, the tool claims another item each time
			}
			values := []any{nil}
			if name != "update_item" || p.Type == "integer" || len(p.Enum) > 0 { // it clears a text
				values = append(values, "", 0)
			}
			if p.Type == "integer" {
				values = append(values, "0")
			}
			for _, v := range values {
				c.same(tool, argument, v, want)
				tried++
			}
			if p.Type == "integer" {
				n := 1
				if p.Minimum != nil {
					n = max(n, int(*p.Minimum))
				}
				tried++
				if number, digits := c.with(name, argument, n), c.with(name, argument, fmt.Sprint(n)); number.IsError != digits.IsError ||
					number.IsError && strings.Contains(digits.text(), "must be an integer") {
					t.Errorf("%s: %s as digits: %s", name, argument, digits.text())
				}
			}
		}
	}
	if tried < 150 {
		t.Errorf("only %d values were tried", tried)
	}
}

// with calls a tool with an argument besides those that it needs.
func (c *client) with(tool, argument string, value any) answered {
	c.t.Helper()
	arguments := map[string]any{argument: value}
	for name, v := range needed[tool] {
		if name != argument {
			arguments[name] = v
		}
	}
	return c.call(tool, arguments)
}

// same fails if a value of an argument changes what a tool answers.
func (c *client) same(tool listed, argument string, value any, want answered) {
	c.t.Helper()
	got := c.with(tool.Name, argument, value)
	if got.IsError != want.IsError || tool.Annotations.ReadOnlyHint && moving.ReplaceAllString(got.text(), "") != moving.ReplaceAllString(want.text(), "") {
		c.t.Errorf("%s: %s is %#v: got %.300s, want %.300s", tool.Name, argument, value, got.text(), want.text())
	}
}

// moving is what differs between two answers of the same content.
var moving = regexp.MustCompile(`"as_of":"[^"]*"|\d+ (min|h|days) ago|just now|since="[^"]*"`)
