package clientconfig_test

import (
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
