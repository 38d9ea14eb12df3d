package mcpserver

import (
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
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
			got, err := encode(msg)
			if string(got) != string(want) || (err == nil) != (wantErr == nil) {
				t.Fatalf("got %s, %v; the library writes %s, %v", got, err, want, wantErr)
			}
		}
	})
}
