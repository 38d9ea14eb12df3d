package jsonfile_test

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/jsonfile"
)

type document struct {
	Name  string          `json:"name"`
	Count uint32          `json:"count"`
	Items []item          `json:"items"`
	ByKey map[string]item `json:"by_key"`
}

type item struct {
	Text string `json:"text"`
	On   bool   `json:"on"`
}

func TestDecode(t *testing.T) {
	t.Parallel()
	got, err := jsonfile.Decode[document]([]byte(`{"items":[{"text":"é"},{"on":true}],"count":4294967295,"other":1,"NAME":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got.Count != 1<<32-1 || len(got.Items) != 2 || got.Items[0].Text != "é" || !got.Items[1].On || got.Name != "" {
		t.Errorf("got %+v", got)
	}
}

func TestDecodeErrors(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long key ", 100)
	tests := []struct{ name, data, want string }{
		{"empty", "", "the file is empty"},
		{"blank", " \n\t\r\n", "the file is empty"},
		{"byte order mark", "\uFEFF{}", "the file begins with a byte order mark; save it as UTF-8 without one"},
		{"not UTF-8", "{\n\"é\":\"\xff\"}", "line 2, column 6: not UTF-8 text"},
		{"truncated", "{\n  \"name\": \"x\",\n", "line 2, column 15: unexpected end of JSON input"},
		{"trailing text", "{}\n{}", "line 2, column 1: invalid character '{' after top-level value"},
		{"trailing comma", `{"items":[1,]}`, "line 1, column 13: invalid character ']' looking for beginning of value"},
		{"after wide characters", `{"é漢": x}`, "line 1, column 8: invalid character 'x' looking for beginning of value"},
		{"top level", `[]`, "the file: expected an object, got an array (line 1, column 1)"},
		{"top-level scalar", ` 12`, "the file: expected an object, got a number (line 1, column 3)"},
		{"member", `{"name":1}`, "name: expected a string, got a number (line 1, column 9)"},
		{"member that is an object", `{"name":{}}`, "name: expected a string, got an object (line 1, column 9)"},
		{"below zero", `{"count":-1}`, "count: expected a whole number from 0 to 4294967295, got -1 (line 1, column 11)"},
		{"too large", `{"count": 4294967296}`, "count: expected a whole number from 0 to 4294967295, got 4294967296 (line 1, column 20)"},
		{"fraction", `{"count":1.5}`, "count: expected a whole number from 0 to 4294967295, got 1.5 (line 1, column 12)"},
		{"string for a number", `{"count":"1"}`, "count: expected a whole number from 0 to 4294967295, got a string (line 1, column 12)"},
		{"array", `{"items":{}}`, "items: expected an array, got an object (line 1, column 10)"},
		{"element", `{"items":[{},{},7]}`, "items[2]: expected an object, got a number (line 1, column 17)"},
		{"member of an element", "{\"items\":[\n {\"text\":\"a\"},\n {\"x\":[{},[1,2]],\"on\":\"yes\"}]}", "items[1].on: expected true or false, got a string (line 3, column 27)"},
		{"string for a key", `{"by_key":{"on":{"on":true},"a/b":{"text":false}}}`, `by_key["a/b"].text: expected a string, got true or false (line 1, column 47)`},
		{"key with a line break", `{"by_key":{"a\n\u202eb":{"text":1}}}`, `by_key["a\n\u202eb"].text: expected a string, got a number (line 1, column 33)`},
		{"long key", `{"by_key":{"` + long + `":1}}`, `by_key["` + long[:77] + `…"]: expected an object, got a number (line 1, column 915)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := jsonfile.Decode[document]([]byte(tt.data))
			if err == nil {
				t.Fatal("no error")
			}
			if err.Error() != tt.want {
				t.Errorf("got  %s\nwant %s", err, tt.want)
			}
		})
	}
}

func TestErrorTypes(t *testing.T) {
	t.Parallel()
	_, err := jsonfile.Decode[document]([]byte(`{"items":[{"on":1}]}`))
	wrong, ok := errors.AsType[*jsonfile.TypeError](err)
	if !ok || wrong.Path != "items[0].on" || wrong.At != (jsonfile.Position{Line: 1, Column: 17}) {
		t.Errorf("got %#v", err)
	}
	_, err = jsonfile.Decode[document]([]byte(`{`))
	if _, ok := errors.AsType[*json.SyntaxError](err); !ok {
		t.Errorf("got %#v", err)
	}
}

// The fast decoder has no limit to its recursion; a file must not reach the
// end of the stack, which nothing recovers from.
func TestDeepNesting(t *testing.T) {
	t.Parallel()
	nested := func(n int, open, shut string) []byte {
		return []byte(`{"name":"a","x":` + strings.Repeat(open, n) + "1" + strings.Repeat(shut, n) + "}")
	}
	for _, n := range []int{10, 999, 1000, 5000} {
		if got, err := jsonfile.Decode[document](nested(n, "[", "]")); err != nil || got.Name != "a" {
			t.Errorf("%d levels: %+v, %v", n, got, err)
		}
	}
	const many = 1 << 16
	tests := [][]byte{
		nested(many, "[", "]"),
		nested(many, `{"x":`, "}"),
		nested(many, `["]]]]",`, "]"),
		nested(many, `["\"]]]]",`, "]"),
	}
	for _, data := range tests {
		if _, err := jsonfile.Decode[document](data); err == nil {
			t.Errorf("%d levels are accepted: %s…", many, data[:40])
		}
	}
}

// Decode agrees with encoding/json, apart from keys in another case, and has a
// place for what it refuses.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"name":"a","count":1,"items":[{"text":"x","on":true}],"by_key":{"a/b":{}}}`,
		`{"items":[[],{"text":{"a":[1]}}]}`, `{"by_key":{"a":{"a":{"text":[1,2,{}]},"on":null,"ON":1}}}`, `3`, `"`, "\xff", "{", "[",
		`{"name":"\ud800\u00e9\"\\","count":1e2}`, "{}\f", `{"items":[{"text":"a"}],"items":[{}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := jsonfile.Decode[document](data)
		if wrong, ok := errors.AsType[*jsonfile.TypeError](err); ok {
			if wrong.At.Line < 1 || wrong.At.Column < 1 || wrong.Want == "" || wrong.Got == "" {
				t.Fatalf("incomplete: %#v", wrong)
			}
			if wrong.Path == "" && strings.HasPrefix(strings.TrimSpace(string(data)), "{") {
				t.Fatalf("no path: %v", wrong)
			}
		}
		if otherCase.Match(data) {
			return
		}
		var want document
		wantErr := json.Unmarshal(data, &want)
		if err == nil && wantErr != nil {
			t.Fatalf("encoding/json refuses it: %v", wantErr)
		}
		if err != nil && wantErr == nil && utf8.Valid(data) {
			t.Fatalf("encoding/json accepts it: %v", err)
		}
		if diff := cmp.Diff(want, got); err == nil && diff != "" {
			t.Fatalf("-encoding/json +got:\n%s", diff)
		}
	})
}

// otherCase matches whatever could make a key of document in another case.
var otherCase = regexp.MustCompile(`[A-Z\x{017F}\x{212A}]|\\u`)
