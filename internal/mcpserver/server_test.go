package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/mcpserver"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/envelope"
)

type echoIn struct {
	Text string `json:"text,omitempty" description:"What to say."`
}

type echoOut struct {
	Text string `json:"text"`
}

// toys has a tool for each way in which a call can go.
func toys(started chan<- struct{}) toolset.Toolset {
	tool := func(name string, readOnly bool, run func(context.Context, echoIn) (echoOut, error)) toolset.Tool {
		return envelope.Tool(envelope.Form{}, toolset.Spec{
			Name: name, Title: name, Description: name, Hints: toolset.Hints{ReadOnly: readOnly},
		}, run)
	}
	return toolset.Toolset{
		Name: "toys",
		Tools: []toolset.Tool{
			tool("write", false, func(_ context.Context, in echoIn) (echoOut, error) { return echoOut(in), nil }),
			tool("echo", true, func(_ context.Context, in echoIn) (echoOut, error) { return echoOut(in), nil }),
			tool("panic", true, func(context.Context, echoIn) (echoOut, error) { panic("oh") }),
			tool("fail", true, func(context.Context, echoIn) (echoOut, error) { return echoOut{}, errors.New("no luck") }),
			tool("hang", true, func(ctx context.Context, _ echoIn) (echoOut, error) {
				started <- struct{}{}
				<-ctx.Done()
				return echoOut{}, ctx.Err()
			}),
		},
		Prompts: []toolset.Prompt{{
			Name: "hello", Description: "Says hello",
			Arguments: []toolset.Argument{{Name: "who", Required: true,
				Complete: func(_ context.Context, prefix string, _ map[string]string) ([]string, error) {
					return []string{prefix + "a", prefix + "b"}, nil
				}}},
			Get: func(_ context.Context, args map[string]string) (string, error) { return "hello " + args["who"], nil },
		}},
		Resources: []toolset.Resource{{
			URI: "toy://one", Name: "one", MIMEType: "text/plain",
			Read: func(context.Context) (string, error) { return "1", nil },
			Watch: func(ctx context.Context, changed func()) error {
				changed()
				<-ctx.Done()
				return nil
			},
		}},
		Templates: []toolset.Template{{
			URITemplate: "toy://{name}/x", Name: "x", MIMEType: "text/plain",
			Variables: []toolset.Argument{{Name: "name"}},
			Read: func(_ context.Context, values map[string]string) (string, error) {
				return "value " + values["name"], nil
			},
		}},
	}
}

// client talks JSON-RPC lines to a server that runs in this process.
type client struct {
	t     *testing.T
	in    *io.PipeWriter
	out   *bufio.Scanner
	ended chan error
}

func start(t *testing.T, o mcpserver.Options) *client {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	o.Name, o.Version = "toy", "1.0"
	o.Logger = slog.New(slog.DiscardHandler)
	c := &client{t: t, in: inW, out: bufio.NewScanner(outR), ended: make(chan error, 1)}
	c.out.Buffer(nil, 64<<20)
	go func() {
		c.ended <- mcpserver.New(o).ServeStdio(t.Context(), inR, outW)
		outW.Close()
	}()
	return c
}

func (c *client) send(lines ...string) {
	c.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(c.in, l+"\n"); err != nil {
			c.t.Fatal(err)
		}
	}
}

func (c *client) line() string {
	c.t.Helper()
	if !c.out.Scan() {
		c.t.Fatalf("no answer: %v", c.out.Err())
	}
	return c.out.Text()
}

func (c *client) initialize(version string) string {
	c.send(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"` + version +
		`","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`)
	answer := c.line()
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return answer
}

func call(id, tool, args string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `}}`
}

func TestErasOnOneStream(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		c := start(t, mcpserver.Options{Toolsets: []toolset.Toolset{toys(nil)}})
		if got := c.initialize(version); !strings.Contains(got, `"protocolVersion":"`+version+`"`) {
			t.Errorf("initialize with %s: %s", version, got)
		}
		c.send(call("1", "echo", `{"text":"<a>"}`))
		var got struct {
			Result struct {
				Content           []struct{ Type, Text string }
				StructuredContent struct {
					Status string
					Data   echoOut
				}
			}
		}
		if err := json.Unmarshal([]byte(c.line()), &got); err != nil {
			t.Fatal(err)
		}
		if text := got.Result.Content[0].Text; text != `{"status":"ok","data":{"text":"<a>"}}` {
			t.Errorf("text half: %s", text)
		}
		if s := got.Result.StructuredContent; s.Status != "ok" || s.Data.Text != "<a>" {
			t.Errorf("structured half: %+v", s)
		}
	}

	c := start(t, mcpserver.Options{Toolsets: []toolset.Toolset{toys(nil)}})
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	c.send(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + meta + `}}`)
	got := c.line()
	for _, want := range []string{`"2026-07-28"`, `"2024-11-05"`, `"ttlMs":300000`, `"cacheScope":"private"`, `"resultType":"complete"`,
		`"capabilities":{"completions":{},"prompts":{},"resources":{"subscribe":true},"tools":{}}`} {
		if !strings.Contains(got, want) {
			t.Errorf("discover lacks %s: %s", want, got)
		}
	}
	c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"},` + meta + `}}`)
	if got := c.line(); !strings.Contains(got, `"resultType":"complete"`) || !strings.Contains(got, `{"status":"ok","data":{"text":"x"}}`) {
		t.Errorf("call in the modern era: %s", got)
	}
}

// The connection must outlive anything that a line can hold.
func TestBadLinesDoNotEndTheConnection(t *testing.T) {
	t.Parallel()
	c := start(t, mcpserver.Options{Toolsets: []toolset.Toolset{toys(nil)}})
	c.initialize("2025-11-25")
	deep := strings.Repeat("[", 20000) + strings.Repeat("]", 20000)
	for _, tt := range []struct{ line, code string }{
		{`{"jsonrpc":"2.0","id":1,`, "-32700"},
		{`hello`, "-32700"},
		{deep, "-32700"},
		{"\xff\xfe", "-32700"},
		{`5`, "-32600"},
		{`"x"`, "-32600"},
		{`null`, "-32600"},
		{`[]`, "-32600"},
		{`{}`, "-32600"},
		{`{"jsonrpc":"1.0","id":1,"method":"ping"}`, "-32600"},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, "-32600"},
		{`{"jsonrpc":"2.0","id":1,"method":7}`, "-32600"},
		{`[{"jsonrpc":"2.0"}]`, "-32600"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`, `"code"`},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, `"code"`},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}`, `"code"`},
		{`{"jsonrpc":"2.0","id":1,"method":"no/such"}`, "-32601"},
		{call("1", "nope", "{}"), "-32602"},
		{call("1", "echo", "7"), `invalid_params`},
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`, `"code"`},
		{"x" + strings.Repeat(" ", 17<<20), "-32600"},
	} {
		c.send(tt.line)
		if got := c.line(); !strings.Contains(got, tt.code) {
			t.Errorf("%.60s: got %.300s, want %s", tt.line, got, tt.code)
		}
	}
	c.send(`{"jsonrpc":"2.0","method":"no/such/notification"}`, "", "   ",
		`{"jsonrpc":"2.0","id":99,"result":{}}`,
		call("2", "echo", `{}`))
	if got := c.line(); !strings.Contains(got, `"id":2`) {
		t.Errorf("after all that: %s", got)
	}
}

func TestCallsThatFail(t *testing.T) {
	t.Parallel()
	c := start(t, mcpserver.Options{Toolsets: []toolset.Toolset{toys(nil)}})
	c.initialize("2025-11-25")
	for tool, want := range map[string]string{
		"panic": `the tool panic crashed on this call`,
		"fail":  `{"status":"error","error":{"code":"internal","message":"no luck","hint":"This is a bug. Report it."}}`,
	} {
		c.send(call("1", tool, "{}"))
		got := c.line()
		if !strings.Contains(got, want) || !strings.Contains(got, `"isError":true`) {
			t.Errorf("%s: %s", tool, got)
		}
	}
}

func TestBatchAndDuplicateIDs(t *testing.T) {
	t.Parallel()
	started := make(chan struct{}, 1)
	c := start(t, mcpserver.Options{Toolsets: []toolset.Toolset{toys(started)}})
	c.initialize("2025-03-26")
	c.send(`[` + call("1", "echo", `{"text":"one"}`) + `,{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}},` + call("2", "echo", `{"text":"two"}`) + `]`)
	var answers []struct{ ID int }
	if err := json.Unmarshal([]byte(c.line()), &answers); err != nil || len(answers) != 2 {
		t.Errorf("batch: %v %v", answers, err)
	}
	c.send(call("5", "hang", "{}"))
	<-started
	c.send(call("5", "echo", "{}"))
	if got := c.line(); !strings.Contains(got, "request id 5 is in use") {
		t.Errorf("duplicate id: %s", got)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`)
	c.send(call("6", "echo", `{"text":"on"}`))
	for {
		got := c.line()
		if strings.Contains(got, `"id":6`) {
			break
		}
		if !strings.Contains(got, `"id":5`) {
			t.Fatalf("after cancel: %s", got)
		}
	}
}

// Of very many calls at once, each gets its own answer.
func TestManyCallsAtOnce(t *testing.T) {
	t.Parallel()
	set := toolset.Toolset{Name: "slow", Tools: []toolset.Tool{
		envelope.Tool(envelope.Form{}, toolset.Spec{Name: "slow", Title: "slow", Description: "slow"}, func(_ context.Context, in echoIn) (echoOut, error) {
			time.Sleep(time.Millisecond)
			return echoOut(in), nil
		}),
	}}
	c := start(t, mcpserver.Options{Toolsets: []toolset.Toolset{set}})
	c.initialize("2025-11-25")
	const calls = 500
	go func() {
		for i := range calls {
			_, _ = io.WriteString(c.in, call(strconv.Itoa(i), "slow", fmt.Sprintf(`{"text":"%d <&> \u2028"}`, i))+"\n")
		}
	}()
	answered := map[int]bool{}
	for range calls {
		var a struct {
			ID     int
			Result struct {
				Content []struct{ Text string }
				echoed  struct{ Data echoOut }
			}
		}
		line := c.line()
		err := json.Unmarshal([]byte(line), &a)
		if err == nil {
			err = json.Unmarshal([]byte(a.Result.Content[0].Text), &a.Result.echoed)
		}
		if want := fmt.Sprintf("%d <&> \u2028", a.ID); err != nil || answered[a.ID] || a.Result.echoed.Data.Text != want {
			t.Fatalf("%v, want %q: %s", err, want, line)
		}
		answered[a.ID] = true
	}
}

// Calls that do not end do not keep a client from canceling them, or others from their answers.
func TestManyCallsThatHang(t *testing.T) {
	t.Parallel()
	const calls = 100
	started := make(chan struct{}, calls)
	c := start(t, mcpserver.Options{Toolsets: []toolset.Toolset{toys(started)}})
	c.initialize("2025-11-25")
	for i := range calls {
		c.send(call(strconv.Itoa(i), "hang", "{}"))
	}
	for range calls {
		<-started
	}
	c.send(call("1000", "echo", `{"text":"on"}`))
	if got := c.line(); !strings.Contains(got, `"id":1000`) {
		t.Fatalf("got %s", got)
	}
	for i := range calls {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i))
	}
	c.send(call("1001", "echo", `{"text":"on"}`))
	for !strings.Contains(c.line(), `"id":1001`) {
	}
}

// A script that pipes requests in gets its answers; a call that hangs does not
// keep the process.
func TestEndOfInput(t *testing.T) {
	t.Parallel()
	started := make(chan struct{}, 1)
	c := start(t, mcpserver.Options{Toolsets: []toolset.Toolset{toys(started)}})
	c.initialize("2025-11-25")
	c.send(call("1", "hang", "{}"))
	<-started
	c.send(call("2", "echo", `{"text":"last"}`))
	c.in.Close()
	if got := c.line(); !strings.Contains(got, "last") {
		t.Errorf("answer after the end of input: %s", got)
	}
	go func() {
		for c.out.Scan() {
		}
	}()
	select {
	case err := <-c.ended:
		if err != nil {
			t.Errorf("end of input: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the server did not end with its input")
	}
}

func TestReadOnlyLeavesOutWriters(t *testing.T) {
	t.Parallel()
	for _, readOnly := range []bool{false, true} {
		c := start(t, mcpserver.Options{Toolsets: []toolset.Toolset{toys(nil)}, ReadOnly: readOnly})
		c.initialize("2025-11-25")
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		var list struct {
			Result struct{ Tools []struct{ Name string } }
		}
		if err := json.Unmarshal([]byte(c.line()), &list); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range list.Result.Tools {
			names = append(names, tool.Name)
		}
		want := []string{"echo", "fail", "hang", "panic", "write"}
		if readOnly {
			want = want[:4]
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("readOnly %v: %s", readOnly, diff)
		}
	}
}

func TestPromptsResourcesCompletions(t *testing.T) {
	t.Parallel()
	c := start(t, mcpserver.Options{Toolsets: []toolset.Toolset{toys(nil)}})
	c.initialize("2025-11-25")
	for _, tt := range []struct{ method, params, want string }{
		{"prompts/get", `{"name":"hello","arguments":{"who":"you"}}`, "hello you"},
		{"prompts/get", `{"name":"hello"}`, `missing required argument \"who\"`},
		{"resources/read", `{"uri":"toy://one"}`, `{"uri":"toy://one","mimeType":"text/plain","text":"1"}`},
		{"resources/read", `{"uri":"toy://a%2Fb/x"}`, `"text":"value a/b"`},
		{"resources/read", `{"uri":"toy://%zz/x"}`, `"code":-32602`},
		{"resources/read", `{"uri":"toy://two"}`, `"code":-32602`},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"hello"},"argument":{"name":"who","value":"z"}}`, `{"total":2,"values":["za","zb"]}`},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"nope"},"argument":{"name":"who","value":"z"}}`, `unknown prompt`},
		{"completion/complete", `{"ref":{"type":"ref/resource","uri":"toy://{name}/x"},"argument":{"name":"name","value":"z"}}`, `"values":[]`},
		{"resources/subscribe", `{"uri":"toy://two"}`, `cannot be subscribed to`},
	} {
		c.send(`{"jsonrpc":"2.0","id":1,"method":"` + tt.method + `","params":` + tt.params + `}`)
		if got := c.line(); !strings.Contains(got, tt.want) {
			t.Errorf("%s %s: %s", tt.method, tt.params, got)
		}
	}
}

// A server whose client reads nothing ends when its input does.
func TestUnreadAnswersAtTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"server/unknown"}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"server/unknown"}` + "\n")
		unread, out := io.Pipe()
		start := time.Now()
		err := mcpserver.New(mcpserver.Options{Name: "toy", Version: "1.0", Logger: slog.New(slog.DiscardHandler)}).ServeStdio(t.Context(), in, out)
		if err == nil || !strings.Contains(err.Error(), "did not read") {
			t.Errorf("got %v", err)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("it took %v", took)
		}
		_ = unread.Close() // the abandoned writes end
	})
}
