package mcptext_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/test/mcptext"
)

// A result whose halves differ is shown as a mismatch.
func TestMismatch(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		structured string
		blocks     []string
		differ     bool
	}{
		"object":              {`{"a":1,"b":[2]}`, []string{"{\n  \"b\": [2], \"a\": 1\n}"}, false},
		"another value":       {`{"a":1}`, []string{`{"a":2}`}, true},
		"another number":      {`{"a":9007199254740993}`, []string{`{"a":9007199254740992}`}, true},
		"no JSON":             {`{"a":1}`, []string{`a`}, true},
		"a block too many":    {`{"a":1}`, []string{`{"a":1}`, "and more"}, true},
		"list":                {`{"items":[1,2],"total":2}`, []string{`[1,2]`}, false},
		"empty list":          {`{"items":[],"total":0}`, []string{`[]`}, false},
		"another element":     {`{"items":[1,2],"total":2}`, []string{`[1,3]`}, true},
		"cut":                 {`{"items":[1],"total":1000000,"next_cursor":"abc"}`, []string{`[1]`, "Showing 1 of 1000000. Next: cursor=abc"}, false},
		"no cursor in text":   {`{"items":[1],"total":7,"next_cursor":"abc"}`, []string{`[1]`, "Showing 1 of 7."}, true},
		"no cursor in data":   {`{"items":[1],"total":1}`, []string{`[1]`, "Showing 1 of 1. Next: cursor=abc"}, true},
		"no total in text":    {`{"items":[1],"total":7}`, []string{`[1]`}, true},
		"another total":       {`{"items":[1],"total":7}`, []string{`[1]`, "Showing the last 1 of 71."}, true},
		"warnings":            {`{"items":[1],"total":1,"warnings":["a","b"]}`, []string{`[1]`, "Warning: a\nWarning: b"}, false},
		"a warning missing":   {`{"items":[1],"total":1,"warnings":["one","two"]}`, []string{`[1]`, "Warning: one"}, true},
		"a warning too many":  {`{"items":[1],"total":1,"warnings":["one"]}`, []string{`[1]`, "Warning: one\nWarning: two"}, true},
		"unknown field":       {`{"items":[1],"total":1,"hint":"so"}`, []string{`[1]`}, true},
		"the list is missing": {`{"things":[1]}`, []string{`[]`, "[1]"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var content []map[string]string
			for _, b := range tt.blocks {
				content = append(content, map[string]string{"type": "text", "text": b})
			}
			result, err := json.Marshal(map[string]any{"content": content, "structuredContent": json.RawMessage(tt.structured)})
			if err != nil {
				t.Fatal(err)
			}
			if got := converse(t, string(result)); strings.Contains(got, "MISMATCH") != tt.differ {
				t.Errorf("shown as\n%s", got)
			}
		})
	}
}

// converse calls a tool of a server that answers with result.
func converse(t *testing.T, result string) string {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	go func() {
		for id, lines := 1, bufio.NewScanner(in); lines.Scan(); {
			if strings.Contains(lines.Text(), `"id"`) {
				fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%d,"result":%s}`+"\n", id, result)
				id++
			}
		}
		out.Close()
	}()
	transcript, err := mcptext.Run(mcptext.Legacy, "call x", toServer, fromServer, nil)
	toServer.Close()
	if err != nil {
		t.Fatal(err)
	}
	return transcript
}
