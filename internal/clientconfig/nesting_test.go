package clientconfig_test

import (
	"fmt"
	"strings"
	"testing"
)

// A configuration nests as deep as people write, and no deeper than is read in little
// memory. What is in strings and comments does not count.
func TestNesting(t *testing.T) {
	t.Parallel()
	open := strings.Repeat("[", 2000)
	tests := map[string]struct {
		client, text string
		refused      bool
	}{
		"JSON":                   {"cursor", `{"x": ` + open, true},
		"JSON objects":           {"cursor", strings.Repeat(`{"a":`, 2000), true},
		"JSON closed":            {"cursor", `{"x": ` + open + strings.Repeat("]", 2000) + "}", true},
		"JSON not deep":          {"cursor", `{"x": [` + strings.Repeat("[],", 2000) + `[]]}`, false},
		"JSON string":            {"cursor", `{"x": "\"` + open + `"}`, false},
		"JSON after a string":    {"cursor", `{"x": "\\", "y": ` + open, true},
		"JSON comments":          {"cursor", "{} // " + open + "\n/* \" " + open + " */", false},
		"JSON after a comment":   {"cursor", "/* \" */ //\n" + open, true},
		"TOML":                   {"codex", "x = " + open, true},
		"TOML key":               {"codex", strings.Repeat("a.", 2000) + "b = 1", true},
		"TOML table":             {"codex", "[" + strings.Repeat("a.", 2000) + "b]", true},
		"TOML many keys":         {"codex", strings.Repeat("[a.b]\n", 1) + strings.Repeat("# a.b\n", 3000) + "x = 1.5\n", false},
		"TOML long string":       {"codex", "x = [\"\"\"\n\"\"\", " + open, true},
		"TOML long literal":      {"codex", "x = ['''\n''''', " + open, true},
		"TOML escape":            {"codex", "x = [\"\"\"\\\"\"\"\n\"\"\", " + open, true},
		"TOML in a long string":  {"codex", "x = \"\"\"\n" + open + "\n\"\"\"\ny = '''\n" + open + "'''", false},
		"TOML open string":       {"codex", "x = \"a\ny = " + open, true},
		"TOML string":            {"codex", `x = "` + open + "\"\ny = '" + open + "'", false},
		"TOML comment":           {"codex", "# \" " + open + "\n", false},
		"TOML numbers in a list": {"codex", "x = [" + strings.Repeat("1.5, ", 2000) + "]", false},
	}
	for name, tt := range tests {
		c := lookup(t, tt.client)
		_, entriesErr := c.Entries([]byte(tt.text))
		_, setErr := c.Set([]byte(tt.text), "copse", stdio)
		for _, err := range []error{entriesErr, setErr} {
			if refused := err != nil && strings.Contains(err.Error(), "nests more than 1000 values"); refused != tt.refused || !tt.refused && err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// Set writes no text that Entries does not read; AllEntries and Remove work on one.
func TestSetIsRead(t *testing.T) {
	t.Parallel()
	for id, line := range map[string]string{"cursor": "%s\"x%d\":{\"command\":\"x\"}", "codex": "%s[mcp_servers.x%d]\ncommand = \"x\"\n"} {
		full, separator := "", ""
		for i := range 100 {
			if id == "cursor" && i > 0 {
				separator = ","
			}
			full += fmt.Sprintf(line, separator, i)
		}
		if id == "cursor" {
			full = `{"mcpServers":{` + full + "}}"
		}
		c := lookup(t, id)
		if got, err := c.Set([]byte(full), "copse", stdio); err == nil || !strings.Contains(err.Error(), `with the entry "copse", it has 101 servers; copse reads at most 100`) || got != nil {
			t.Errorf("%s: one server too many: %v", id, err)
		}
		if _, err := c.Set([]byte(full), "x7", stdio); err != nil {
			t.Errorf("%s: another command: %v", id, err)
		}
		over := strings.Replace(full, `{"mcpServers":{`, `{"mcpServers":{"copse":{"command":"copse"},`, 1)
		if id == "codex" {
			over += "[mcp_servers.copse]\ncommand = \"copse\"\n"
		}
		all, err := c.AllEntries([]byte(over))
		if err != nil || len(all) != 101 {
			t.Errorf("%s: %d entries of 101, %v", id, len(all), err)
		}
		if got, err := c.Remove([]byte(over), "copse"); err != nil || string(got) != full {
			t.Errorf("%s: the file without the entry: %q, %v", id, got, err)
		}
	}
	keys := "x = [" + strings.Repeat("{},", 9_997) + "]\n"
	if _, err := lookup(t, "codex").Set([]byte(keys), "copse", stdio); err == nil || !strings.Contains(err.Error(), "it has more than 10000 keys") {
		t.Errorf("one key too many: %v", err)
	}
}

// A text has as many servers and keys as people write, and no more than are read in little time.
func TestMany(t *testing.T) {
	t.Parallel()
	servers := func(n int) string {
		var b strings.Builder
		b.WriteString(`{"mcpServers":{"x":{}`)
		for i := range n - 1 {
			fmt.Fprintf(&b, `,"e%d":{"command":"copse","args":["mcp","serve"]}`, i)
		}
		return b.String() + "}}"
	}
	lines := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format+"\n", i)
		}
		return b.String()
	}
	tests := map[string]struct{ client, text, want string }{
		"servers":           {"cursor", servers(99), ""},
		"too many servers":  {"cursor", servers(101), "it has 101 servers; copse reads at most 100"},
		"too many tables":   {"codex", lines("[mcp_servers.x%d]\ncommand = 'a'", 101), "it has 101 servers; copse reads at most 100"},
		"keys":              {"codex", lines("k%d = 1", 9_990), ""},
		"too many keys":     {"codex", lines("k%d = 1", 10_001), "it has more than 10000 keys"},
		"dotted keys":       {"codex", lines("a.b%d.c = 1", 4_000), "it has more than 10000 keys"},
		"inline tables":     {"codex", "x = [" + strings.Repeat("{},", 10_000) + "]", "it has more than 10000 keys"},
		"headers of tables": {"codex", lines("[t%d]", 10_001), "it has more than 10000 keys"},
		"text in strings":   {"codex", "x = \"" + strings.Repeat("=", 20_000) + "\"\ny = '''\n" + strings.Repeat("[=.", 9_000) + "'''", ""},
	}
	for name, tt := range tests {
		c := lookup(t, tt.client)
		_, entriesErr := c.Entries([]byte(tt.text))
		_, setErr := c.Set([]byte(tt.text), "copse", stdio)
		for _, err := range []error{entriesErr, setErr} {
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v, want %q", name, err, tt.want)
			}
		}
	}
}
