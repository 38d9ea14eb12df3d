package command_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/command"
)

func parse(t *testing.T, data string) *command.Registry {
	t.Helper()
	r, err := command.Parse([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// registryWith returns a registry of these entries.
func registryWith(entries ...string) string {
	return `{"tools":{"commands":[` + strings.Join(entries, ",") + `]}}`
}

func sample(tb testing.TB) []byte {
	tb.Helper()
	data, err := os.ReadFile("testdata/registry.json")
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func TestParse(t *testing.T) {
	t.Parallel()
	want := []command.Command{
		{
			ID:          command.ID{C1: "git", C2: "split", C3: "large-commit"},
			Description: "Split one commit into several that each do one thing",
			Usage:       "climpt-git split large-commit",
			Options: command.Options{
				Edition:    []string{"default", "strict", "short"},
				Adaptation: []string{"default", "detailed"},
				Stdin:      true,
			},
			UV: []command.Variable{
				{Name: "max-commits", Description: "How many commits there may be"},
				{Name: "style", Description: "Style of the messages"},
			},
		},
		{
			ID:          command.ID{C1: "docs", C2: "translate", C3: "page"},
			Description: "文書を翻訳し、コードはそのまま残す <em>",
		},
		{ID: command.ID{C3: "note"}},
	}
	for _, bom := range []string{"", "\uFEFF"} {
		r := parse(t, bom+string(sample(t)))
		if diff := cmp.Diff(want, r.Commands); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

// Whatever an entry has in place of a list, a switch or a text.
func TestParseReadsByMeaning(t *testing.T) {
	t.Parallel()
	options := func(edit func(*command.Options)) command.Command {
		var c command.Command
		edit(&c.Options)
		return c
	}
	edition := func(names ...string) command.Command {
		return options(func(o *command.Options) { o.Edition = names })
	}
	file := func(on bool) command.Command { return options(func(o *command.Options) { o.File = on }) }
	uv := func(list ...command.Variable) command.Command { return command.Command{UV: list} }
	tests := []struct {
		name, entry string
		want        command.Command
	}{
		{"nothing", `{}`, command.Command{}},
		{"null everywhere", `{"c1":null,"usage":null,"options":null,"uv":null}`, command.Command{}},
		{"numbers and booleans as texts", `{"c1":5,"c2":-1.5e3,"c3":true}`, command.Command{ID: command.ID{C1: "5", C2: "-1.5e3", C3: "true"}}},
		{"escapes", `{"description":"a\"b\\c\nd\u00e9\ud83d\ude00"}`, command.Command{Description: "a\"b\\c\ndé😀"}},
		{"the last of equal members", `{"usage":"a","usage":"b"}`, command.Command{Usage: "b"}},
		{"another case", `{"C1":"x"}`, command.Command{Unknown: []command.Field{{Name: "C1", Value: json.RawMessage(`"x"`)}}}},

		{"one edition", `{"options":{"edition":"default"}}`, edition("default")},
		{"edition twice", `{"options":{"edition":["a","b","a"]}}`, edition("a", "b")},
		{"editions with numbers", `{"options":{"edition":[1,"","b",null,{},[],true]}}`, edition("1", "b")},
		{"editions that are a map", `{"options":{"edition":{}}}`, command.Command{}},
		{"options as a list", `{"options":["edition"]}`, command.Command{}},
		{"options as an empty list", `{"options":[]}`, command.Command{}},
		{"options as text", `{"options":""}`, command.Command{}},

		{"file yes", `{"options":{"file":"yes"}}`, file(true)},
		{"file NO", `{"options":{"file":"NO"}}`, file(false)},
		{"file 0", `{"options":{"file":0}}`, file(false)},
		{"file 1", `{"options":{"file":1}}`, file(true)},
		{"file in a list", `{"options":{"file":[true]}}`, file(true)},
		{"file not, in a list", `{"options":{"file":[false,"",[true]]}}`, file(false)},
		{"file as a map", `{"options":{"file":{"a":1}}}`, file(false)},

		{"no variables", `{"uv":""}`, command.Command{}},
		{"empty list of variables", `{"uv":[]}`, command.Command{}},
		{"variables as a map", `{"uv":{"b":"B","a":"A"}}`, uv(command.Variable{Name: "b", Description: "B"}, command.Variable{Name: "a", Description: "A"})},
		{"several in one object", `{"uv":[{"b":"B","a":""},{"c":null}]}`,
			uv(command.Variable{Name: "b", Description: "B"}, command.Variable{Name: "a"}, command.Variable{Name: "c"})},
		{"a variable's name alone", `{"uv":"a"}`, uv(command.Variable{Name: "a"})},
		{"names alone", `{"uv":["a","","uv-b"]}`, uv(command.Variable{Name: "a"}, command.Variable{Name: "b"})},
		{"named variables", `{"uv":[{"description":"A","name":"a"},{"name":"name"},{"name":"b","description":""}]}`,
			uv(command.Variable{Name: "a", Description: "A"}, command.Variable{Name: "name", Description: "name"}, command.Variable{Name: "b"})},
		{"prefixed variable", `{"uv":[{"uv-a":"A"}]}`, uv(command.Variable{Name: "a", Description: "A"})},
		{"variable without a name", `{"uv":[{"":"A"},{"uv-":"B"}]}`, command.Command{}},

		{"older options", `{"options":{"input":[ "a" ],"input_file":[false],"stdin":[true]}}`, options(func(o *command.Options) {
			o.Stdin = true
			o.Unknown = []command.Field{{Name: "input", Value: json.RawMessage(`["a"]`)}, {Name: "input_file", Value: json.RawMessage(`[false]`)}}
		})},
		{"unknown members", `{"z":1,"title":"T","a":{ "b" : [ 1, 2 ] },"z":2}`, command.Command{Unknown: []command.Field{
			{Name: "title", Value: json.RawMessage(`"T"`)},
			{Name: "a", Value: json.RawMessage(`{"b":[1,2]}`)},
			{Name: "z", Value: json.RawMessage(`2`)},
		}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := parse(t, registryWith(tt.entry))
			if diff := cmp.Diff([]command.Command{tt.want}, r.Commands, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, data, want string }{
		{"empty file", "", "the file is empty"},
		{"only a byte order mark", "\uFEFF", "the file is empty"},
		{"not JSON", "commands:\n", "line 1, column 1: invalid character 'c' looking for beginning of value"},
		{"truncated", "{\n\"tools\":{\"commands\":[", "line 2, column 21: unexpected end of JSON input"},
		{"not UTF-8", "{\"a\":\"\x93\"}", "line 1, column 7: not UTF-8 text"},
		{"an array", `[]`, "the file: expected an object, got an array (line 1, column 1)"},
		{"text", `"x"`, "the file: expected an object, got a string (line 1, column 1)"},
		{"no tools", `{"commands":[]}`, "tools: missing; the commands of a registry are at tools.commands"},
		{"tools as a list", "{\n  \"tools\": []\n}", "tools: expected an object, got an array (line 2, column 12)"},
		{"no commands", `{"tools":{}}`, "tools.commands: missing"},
		{"commands as a map", `{"tools":{"commands":{}}}`, "tools.commands: expected an array, got an object (line 1, column 22)"},
		{"commands null", `{"tools":{"commands":null}}`, "tools.commands: expected an array, got null (line 1, column 22)"},
		{"commands as text", `{"tools":{"commands":""}}`, "tools.commands: expected an array, got a string (line 1, column 22)"},
		{"entry as text", registryWith(`{}`, `"x"`), "tools.commands[1]: expected an object, got a string (line 1, column 26)"},
		{"name as a list", registryWith(`{}`, "\n"+`{"c2":["x"]}`), "tools.commands[1].c2: expected a string, got an array (line 2, column 7)"},
		{"description as a map", registryWith(`{"description":{}}`), "tools.commands[0].description: expected a string, got an object (line 1, column 38)"},
		{"options as a number", registryWith(`{"options":7}`), "tools.commands[0].options: expected an object, got a number (line 1, column 34)"},
		{"uv as a boolean", registryWith(`{"uv":true}`), "tools.commands[0].uv: expected an object of names and descriptions, got true or false (line 1, column 29)"},
		{"uv with a number", registryWith(`{"uv":["a",1]}`), "tools.commands[0].uv[1]: expected an object of names and descriptions, got a number (line 1, column 34)"},
		{"uv description as a list", registryWith(`{"uv":[{"a":"A"},{"b c":[]}]}`), `tools.commands[0].uv[1]["b c"]: expected a string, got an array (line 1, column 47)`},
		{"too many", registryWith(strings.Repeat("{},", command.MaxEntries) + "{}"), "tools.commands: more than 100000 entries, which is the limit"},
		{"too deep", registryWith(strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)), "exceeded max depth"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := command.Parse([]byte(tt.data))
			if err == nil {
				t.Fatal("no error")
			}
			if got := err.Error(); got != tt.want && (tt.name != "too deep" || !strings.Contains(got, tt.want)) {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	r := parse(t, registryWith(
		`{"c1":"climpt-git","c2":"a","c3":"b","description":"old"}`,
		`{"c1":"git","c2":"a","c3":"b","description":"one"}`,
		`{"c1":"git","c2":"a","c3":"b","description":"two","x":1}`,
	))
	for id, want := range map[command.ID]string{
		{C1: "git", C2: "a", C3: "b"}:        "one",
		{C1: "climpt-git", C2: "a", C3: "b"}: "old",
		{C1: "Git", C2: "a", C3: "b"}:        "",
		{C1: "git", C2: "a", C3: "b "}:       "",
		{C1: "git", C2: "a"}:                 "",
		{}:                                   "",
	} {
		c, ok := r.Find(id)
		if ok != (want != "") || c.Description != want {
			t.Errorf("%v: %q, %v; want %q", id, c.Description, ok, want)
		}
		if ok && c.ID != id || len(c.Unknown) > 0 {
			t.Errorf("%v: got %+v", id, c)
		}
	}
}

func TestMarshal(t *testing.T) {
	t.Parallel()
	r := parse(t, string(sample(t)))
	r.Commands = append(r.Commands, parse(t, registryWith(
		`{"title":"A <b> & c","options":{"input":["x"],"edition":["e"]},"c1":"a","z":{"b":[1, 2.50]}}`)).Commands...)
	var got bytes.Buffer
	enc := json.NewEncoder(&got)
	enc.SetEscapeHTML(false)
	for _, c := range r.Commands {
		if err := enc.Encode(c); err != nil {
			t.Fatal(err)
		}
	}
	want := `{"c1":"git","c2":"split","c3":"large-commit","description":"Split one commit into several that each do one thing","usage":"climpt-git split large-commit",` +
		`"options":{"edition":["default","strict","short"],"adaptation":["default","detailed"],"file":false,"stdin":true,"destination":false},` +
		`"uv":[{"name":"max-commits","description":"How many commits there may be"},{"name":"style","description":"Style of the messages"}]}
{"c1":"docs","c2":"translate","c3":"page","description":"文書を翻訳し、コードはそのまま残す <em>","usage":"",` +
		`"options":{"edition":[],"adaptation":[],"file":false,"stdin":false,"destination":false},"uv":[]}
{"c1":"","c2":"","c3":"note","description":"","usage":"",` +
		`"options":{"edition":[],"adaptation":[],"file":false,"stdin":false,"destination":false},"uv":[]}
{"c1":"a","c2":"","c3":"","description":"","usage":"",` +
		`"options":{"edition":["e"],"adaptation":[],"file":false,"stdin":false,"destination":false,"input":["x"]},"uv":[],"title":"A <b> & c","z":{"b":[1,2.50]}}
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A large registry of one name costs no more than one of many names.
func TestParseManyEntriesOfOneName(t *testing.T) {
	t.Parallel()
	entries := make([]string, command.MaxEntries)
	for i := range entries {
		entries[i] = fmt.Sprintf(`{"options":{"edition":"e%d"}}`, i)
	}
	r := parse(t, registryWith(entries...))
	if len(r.Commands) != 1 || len(r.Commands[0].Options.Edition) != len(entries) {
		t.Errorf("got %d commands", len(r.Commands))
	}
}

// Nothing makes Parse panic, names are found, and what was parsed encodes to a
// description that parses to the same.
func FuzzParse(f *testing.F) {
	f.Add(sample(f))
	f.Add([]byte(registryWith(`{"uv":[{"a":"b","":null}],"options":{"edition":[1,"x"],"file":"no","input":{}},"\u0000":"\ud800"}`)))
	f.Add([]byte(registryWith(`{"uv":{"name":"x","description":"y"},"x":[{}],"c1":-0}`, `{"c1":"-0","x":"`+"\x01"+`"}`)))
	f.Add([]byte(registryWith(`{"description":"a\u202eb\r\nc","usage":"\u0000","x":{"y\u200b":[1.50,"\\\"\udb40\udc41"]},"z\u200d":0}`)))
	f.Add([]byte(`{"tools":{"commands":[],"commands":[{"c1":"\"\\"}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := command.Parse(data)
		if err != nil {
			return
		}
		for i, c := range r.Commands {
			if found, ok := r.Find(c.ID); !ok || !cmp.Equal(found, r.Commands[i]) {
				t.Fatalf("%v is not found", c.ID)
			}
			if clean, err := json.Marshal(c.Clean()); err != nil || hidden(t, clean) {
				t.Errorf("the clean form is %s, %v", clean, err)
			}
		}
		encoded, err := json.Marshal(r.Commands)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Commands) == 0 {
			return
		}
		again, err := command.Parse(fmt.Appendf(nil, `{"tools":{"commands":%s}}`, encoded))
		if err != nil {
			t.Fatalf("%v\n%s", err, encoded)
		}
		reencoded, err := json.Marshal(again.Commands)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(encoded), string(reencoded)); diff != "" {
			t.Errorf("-first +second:\n%s", diff)
		}
	})
}

// hidden reports whether a text in the JSON of a command, other than the parts of its name, has hidden characters.
func hidden(t *testing.T, data []byte) bool {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	found := false
	for name := ""; ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		text, ok := token.(string)
		named := name == "c1" || name == "c2" || name == "c3"
		found = found || ok && !named && cleantext.Block(text) != text
		name = text
	}
}
