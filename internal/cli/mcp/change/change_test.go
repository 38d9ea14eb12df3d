package change_test

import (
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/cli/mcp/change"
	"github.com/copse-dev/copse/internal/clientconfig"
)

// A change shows the words that copse writes, wherever the lines of the file end.
func TestOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, after, want string }{
		"new file":        {"", "{\n  \"copse\": {\n    \"command\": \"copse\"\n  }\n}\n", "+{\n+  \"copse\": {\n+    \"command\": \"copse\"\n+  }\n+}\n"},
		"one line":        {`{"s":{"other":{"env":{"A":"s3cret"}}}}`, `{"s":{"other":{"env":{"A":"s3cret"}},"copse":{"args":["a","b"]}}}`, `+…,"copse":{"args":["a","b"]}` + "\n"},
		"a line for each": {"{\n  \"other\": {\"A\": \"s3cret\"}\n}\n", "{\n  \"other\": {\"A\": \"s3cret\"},\n  \"copse\": {}\n}\n", "+  \"copse\": {}\n"},
		"a value":         {"{\n  \"command\": \"/old\",\n  \"A\": \"s3cret\"\n}\n", "{\n  \"command\": \"/new\",\n  \"A\": \"s3cret\"\n}\n", "-  \"command\": \"/old\"\n+  \"command\": \"/new\"\n"},
		"a list":          {`{"args": ["mcp", "serve"], "A": "s3cret"}`, `{"args": ["mcp", "serve", "--read-only"], "A": "s3cret"}`, `+…, "--read-only"` + "\n"},
		"TOML":            {"[s.other]\nA = \"s3cret\"\n", "[s.other]\nA = \"s3cret\"\n\n[s.copse]\ncommand = \"copse\"\nargs = [\"mcp\"]\n", "+[s.copse]\n+command = \"copse\"\n+args = [\"mcp\"]\n"},
		"a table of TOML": {`s = { other = { A = 's3cret, x' } }`, `s = { other = { A = 's3cret, x' }, copse = { command = "copse" } }`, `+…, copse = { command = "copse" }` + "\n"},
		"two places": {
			`{"a":[{"A":"s3cret"},{"B":"s3cret2","C":"s3cret3"}],"b":[{"D":"s3cret"}]}`,
			`{"a":["copse",{"A":"s3cret"},{"B":"s3cret2","C":"s3cret3"}],"b":["hook",{"D":"s3cret"}]}`, "",
		},
		"a comment": {"{\"a\": \"b\"\n  // \"other\": \"s3cret\"\n}\n", "{\"a\": \"b\" /* s3cret */, \"copse\": {}\n}\n", "+… …, \"copse\": {}\n"},
		"a token":   {"{\n  \"Authorization\": \"Bearer old\"\n}\n", "{\n  \"Authorization\": \"Bearer new\"\n}\n", "-  \"Authorization\": \"Bearer …\"\n+  \"Authorization\": \"Bearer …\"\n"},
		"a login":   {"", "{\"url\": \"http://ada:s3cret@localhost\"}\n", "+{\"url\": \"http://…@localhost\"}\n"},
		"a key":     {"", "api_key = \"s3cret\"\n", "+api_key = \"…\"\n"},
	} {
		got := string(change.Of([]byte(c.before), []byte(c.after)))
		if c.want != "" && got != c.want || strings.Contains(got, "s3cret") || !strings.ContainsAny(got, "+-") {
			t.Errorf("%s:\n%swant\n%s", name, got, c.want)
		}
		got = string(change.Of([]byte(c.after), []byte(c.before)))
		if strings.Contains(got, "s3cret") {
			t.Errorf("%s, removed:\n%s", name, got)
		}
	}
}

// No change of copse's entry shows another server, in every form of a file.
func TestOthers(t *testing.T) {
	t.Parallel()
	const other = `"other": {"command": "x", "args": ["s3cret", "a b"], "env": {"A": "s3cret", "B": "s3cret"}}`
	for _, id := range clientconfig.IDs() {
		client, err := clientconfig.Lookup(id)
		if err != nil {
			t.Fatal(err)
		}
		printed, err := client.Print([]clientconfig.Named{{Name: "mine", Server: clientconfig.Server{Command: "copse", Args: []string{"mcp"}}}, {Name: "other", Server: clientconfig.Server{Command: "s3cret", Args: []string{"s3cret"}}}})
		if err != nil {
			t.Fatal(err)
		}
		for _, before := range []string{string(printed), strings.ReplaceAll(string(printed), "\n", " "), "{" + other + "}", "{\n" + other + "\n}"} {
			if id == "codex" && before != string(printed) {
				continue // TOML needs its lines
			}
			added, err := client.Set([]byte(before), "copse", clientconfig.Server{Command: "copse", Args: []string{"mcp", "serve"}})
			if err != nil {
				t.Fatal(id, err)
			}
			changed, err := client.Set(added, "copse", clientconfig.Server{Command: "copse", Args: []string{"mcp", "serve", "--read-only"}})
			if err != nil {
				t.Fatal(id, err)
			}
			for _, pair := range [][2]string{{before, string(added)}, {string(added), string(changed)}, {string(changed), before}} {
				got := string(change.Of([]byte(pair[0]), []byte(pair[1])))
				if strings.Contains(got, "s3cret") || got == "" {
					t.Errorf("%s:\n%s\nto\n%s\nshows\n%s", id, pair[0], pair[1], got)
				}
			}
		}
	}
}

// No token appears, however the file quotes it.
func TestTokens(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`"Authorization": "Bearer s3cret",`:                `"Authorization": "Bearer …",`,
		`Authorization = 'Bearer s3cret' # "a"`:            `Authorization = 'Bearer …' …`,
		`x = 'Bearer s3"cret', y = "Bearer s3cret" # it's`: `x = 'Bearer …', y = "Bearer …" …`,
		`"""Bearer s3cret`:                                 `"""Bearer …`,
	} {
		if got := string(change.Of(nil, []byte(line+"\n"))); got != "+"+want+"\n" {
			t.Errorf("%s\n got %s\nwant %s", line, got, want)
		}
	}
}

// A quotation mark in a comment or in a string of several lines begins no string, and so hides no end of one: another
// server on the same line is not part of the change.
func TestOddQuotationMarks(t *testing.T) {
	t.Parallel()
	json, toml := `"other": {"command": "s3cret", "args": ["s3cret", "a b"], "env": {"A": "s3cret"}}`, `other = { command = "s3cret", args = ['s3cret', "s3cret"], env = { A = 's3cret' } }`
	var texts []string
	for _, comment := range []string{`/* 5" */`, "/* don't */", "/* it's\n5\" */", "// 5\"\n", "// a /* 5\"\n", "/* s3cret */", "// s3cret\n", `/* // " */`, `/*"*/`, `/**/`, `/* "a": */`, "/* \\\" */"} {
		texts = append(texts, `{"s": {`+comment+"OWN, "+json+"}}\n", `{"s": {`+json+", "+comment+"OWN, "+json+"}}\n", `{"s": {OWN, `+comment+json+comment+"}}\n", "{\n"+comment+`"s": {`+comment+json+comment+", OWN}}\n")
	}
	for _, begin := range []string{
		"note = \"\"\"\na \"b\nc 5\" \"\"\", ", "note = '''\nit's # \"\n''', ", "note = \"\"\"\n// /* # \\\"\"\"\"\"\", ", "note = \"\"\"\"\"\", note2 = '''''', ", "x = ['a', 's3cret, \"x'], ", "# it's 5\"\n", "'a\"' = 1, ",
	} {
		texts = append(texts, "s = { "+begin+"OWN, "+toml+" } # 5\"\n", "s = { "+toml+", "+begin+"OWN, "+toml+" } # don't\n", "s = { OWN, "+begin+toml+" } # s3cret\n")
	}
	for _, text := range texts {
		forms := []string{`"copse": {"command": "/old", "args": ["mcp"]}`, `"copse": {"command": "/new", "args": ["mcp", "--read-only"]}`, ""}
		if strings.HasPrefix(text, "s = ") {
			forms = []string{`copse = { command = "/old", args = ["mcp"] }`, `copse = { command = "/new", args = ["mcp", '--read-only'] }`, ""}
		}
		for _, before := range forms {
			for _, after := range forms {
				got := string(change.Of([]byte(strings.Replace(text, "OWN", before, 1)), []byte(strings.Replace(text, "OWN", after, 1))))
				if strings.Contains(got, "s3cret") || (got == "") != (before == after) {
					t.Errorf("%s\nfrom %s to %s shows\n%s", text, before, after, got)
				}
			}
		}
	}
}

// Comments and strings without an end take linear time.
func TestWithoutEnd(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"/* ", `"""x`, "'''x", "# ", "// ", `"a": `} {
		change.Of([]byte(strings.Repeat(text, 30_000)), []byte(strings.Repeat(text, 30_000)+"x"))
	}
}
