package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"pgregory.net/rapid"
)

// A message leaves as the library would write it.
func TestEncodeAsTheLibrary(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var raw any
		switch rapid.IntRange(0, 2).Draw(t, "kind of id") {
		case 0:
			raw = rapid.String().Draw(t, "id")
		case 1:
			raw = float64(rapid.IntRange(-5, 1<<40).Draw(t, "id"))
		}
		id, err := jsonrpc.MakeID(raw)
		if err != nil {
			t.Fatal(err)
		}
		result, err := json.Marshal(map[string]any{rapid.String().Draw(t, "key"): rapid.SliceOf(rapid.String()).Draw(t, "values")})
		if err != nil {
			t.Fatal(err)
		}
		resp := &jsonrpc.Response{ID: id, Result: result}
		if rapid.Bool().Draw(t, "error") {
			resp = &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: 7, Message: rapid.String().Draw(t, "message")}}
		}
		for _, msg := range []jsonrpc.Message{resp, &jsonrpc.Response{ID: id}, &jsonrpc.Request{ID: id, Method: "ping"}} {
			want, wantErr := jsonrpc.EncodeMessage(msg)
			got, err := Encode(msg)
			if string(got) != string(want) || (err == nil) != (wantErr == nil) {
				t.Fatalf("got %s, %v; the library writes %s, %v", got, err, want, wantErr)
			}
		}
	})
}

// A tool's result has the members that the library gives it.
func TestResultAsTheLibrary(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		res := &mcp.CallToolResult{IsError: rapid.Bool().Draw(t, "error"), Content: []mcp.Content{}}
		for _, text := range rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "texts") {
			res.Content = append(res.Content, &mcp.TextContent{Text: text})
		}
		if rapid.Bool().Draw(t, "structured") {
			encode := json.Marshal
			if rapid.Bool().Draw(t, "indented") {
				encode = func(v any) ([]byte, error) { return json.MarshalIndent(v, "", "  ") }
			}
			data, err := encode(map[string]string{rapid.String().Draw(t, "key"): rapid.String().Draw(t, "value")})
			if err != nil {
				t.Fatal(err)
			}
			res.StructuredContent = json.RawMessage(data)
		}
		if rapid.Bool().Draw(t, "information") {
			res.Meta = mcp.Meta{"information": `"content":[]` + rapid.String().Draw(t, "meta")}
		}
		want, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(callResult{CallToolResult: res})
		if err != nil {
			t.Fatal(err)
		}
		var wantValue, gotValue any
		if json.Unmarshal(want, &wantValue) != nil || json.Unmarshal(got, &gotValue) != nil {
			t.Fatalf("no JSON: %s or %s", want, got)
		}
		if diff := cmp.Diff(wantValue, gotValue); diff != "" {
			t.Fatal(diff)
		}
		// A connection that writes the result itself writes the same, in one line.
		at := &Parked{results: map[string][]byte{}}
		library := func(r mcp.Result) []byte {
			var b bytes.Buffer
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(r); err != nil {
				t.Fatal(err)
			}
			return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
		}
		written, copied := at.Take(library(callResult{res, at})), library(callResult{res, nil})
		if !bytes.Equal(written, copied) || bytes.ContainsRune(written, '\n') || len(at.results) > 0 {
			t.Fatalf("got %q, want %q; %d are left", written, copied, len(at.results))
		}
	})
}

// Results that callResult cannot encode are left to the library.
func TestLeftToTheLibrary(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		res  *mcp.CallToolResult
		ours bool
	}{
		"text and JSON": {&mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "a"}}, StructuredContent: json.RawMessage("{}")}, true},
		"an image":      {&mcp.CallToolResult{Content: []mcp.Content{&mcp.ImageContent{Data: []byte("a")}}}, false},
		"annotations":   {&mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Annotations: &mcp.Annotations{}}}}, false},
		"a value":       {&mcp.CallToolResult{StructuredContent: map[string]int{"a": 1}}, false},
	} {
		handler := EncodedOnce(func(context.Context, string, mcp.Request) (mcp.Result, error) { return tt.res, nil })
		res, err := handler(t.Context(), "tools/call", nil)
		if _, ours := res.(callResult); err != nil || ours != tt.ours {
			t.Errorf("%s: got %T, %v", name, res, err)
		}
	}
}

// An ID is one that the library answers with, or an error that repeats it if it is short.
func TestCheckID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		`1`: "", `-0.0`: "", `9007199254740991`: "", `"1.5"`: "", `null`: "", `[1.5]`: "", `{}`: "",
		`1e3`: "", `1.0`: "", `1e-400`: "1e-400", `9007199254740991.4`: "9007199254740991.4", `9007199254740990.9999999`: "9007199254740990.9999999", `1.0000000000000000001`: "1.0000000000000000001",
		`1e999999999`: "1e999999999", `1.5`: "1.5", `9007199254740992`: "9007199254740992", `-1e30`: "-1e30", `1e400`: "1e400", strings.Repeat("9", 200): "null",
	} {
		got := ""
		head, _ := ReadEnvelope([]byte(`{"id":` + id + `,"method":"ping"}`))
		if err, ok := errors.AsType[*IDError](head.CheckID()); ok {
			got = string(err.ID)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
	for _, text := range []string{`{"method":"x"}`, `{"id":1.5,`, `7`, `{"id":1.5,"method":7}`, ``} {
		if head, err := ReadEnvelope([]byte(text)); err != nil || head.CheckID() != nil {
			t.Errorf("%s: %+v, %v", text, head, err)
		}
	}
}

// A message that this package and the library could read differently is refused.
func TestReadEnvelope(t *testing.T) {
	t.Parallel()
	head, err := ReadEnvelope([]byte(` {"jsonrpc":"2.0","params":{"Method":"x","method":[],"id":2},"\u006dethod":"ping","id":"a","Else":1,"else":2}`))
	if err != nil || head.Method != "ping" || string(head.ID) != `"a"` {
		t.Errorf("got %+v, %v", head, err)
	}
	for text, member := range map[string]string{
		`{"id":1,"method":"initialize","Method":"tools/call"}`:     "method",
		`{"id":1,"Method":"tools/call"}`:                           "method",
		`{"id":1,"method":"initialize","method":"tools/call"}`:     "method",
		`{"id":1,"method":"ping","\u006dethod":null}`:              "method",
		`{"id":1,"method":"ping","id":null}`:                       "id",
		`{"id":1,"method":"ping","ID":null}`:                       "id",
		`{"id":1,"method":"ping","param\u017f":{},"params":{}}`:    "params",
		`{"id":1,"method":"ping","params":{},"params":{}}`:         "params",
		`{"id":1,"jsonrpc":"2.0","JSONRPC":"1.0","method":"ping"}`: "jsonrpc",
	} {
		_, err := ReadEnvelope([]byte(text))
		if e, ok := errors.AsType[*AmbiguousError](err); !ok || e.Member != member {
			t.Errorf("%s: got %v, want an error about %s", text, err, member)
		}
	}
}
