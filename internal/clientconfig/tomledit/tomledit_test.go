package tomledit_test

import (
	"fmt"
	"testing"

	"github.com/copse-dev/copse/internal/clientconfig/tomledit"
)

func Example() {
	const text = `# mine
[servers.copse] # ours
command = "old" # the program
args = ["a"]

[servers.copse.env]
A = "b"
`
	e, err := tomledit.Open([]byte(text), "servers", "copse")
	if err != nil {
		fmt.Println(err)
		return
	}
	e.Set("command", "new")
	e.Set("cwd", "/project")
	e.Remove("env")
	changed, err := e.Text()
	fmt.Printf("%s%v\n", changed, err)
	// Output:
	// # mine
	// [servers.copse] # ours
	// command = "new" # the program
	// args = ["a"]
	// cwd = "/project"
	//
	// <nil>
}

// An entry in a form that cannot be changed in place is refused, and does not change.
func TestRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"an inline table":      "[servers]\ncopse = { command = \"x\" }\n",
		"a dotted key":         "servers.copse.command = \"x\"\n",
		"a member with dots":   "[servers.copse]\nenv.A = \"b\"\n",
		"a member in a table":  "[servers.copse]\n[servers.copse.env]\nA = \"b\"\n",
		"a list of its tables": "[[servers.copse]]\ncommand = \"x\"\n",
		"no TOML":              "[[",
	} {
		e, err := tomledit.Open([]byte(text), "servers", "copse")
		if err == nil {
			e.Set("env", map[string]any{"B": "c"})
			_, err = e.Text()
		}
		if err == nil {
			t.Errorf("%s: it was changed", name)
		}
	}
}

// A text comes back byte for byte once the entry is removed again.
func TestComesBack(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "a = 1", "a = 1\n", "a = 1\n\n", "\n\na = 1\n\n\n", "# mine", "[x]\ny = 1", "a = 1\r\n", "a = 1\r\nb = 2", "[mcp_servers]\n", "[mcp_servers.x]\ncommand = \"y\"\n\n",
	} {
		e, err := tomledit.Open([]byte(text), "mcp_servers", "copse")
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		e.Set("command", "copse")
		with, err := e.Text()
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if e, err = tomledit.Open(with, "mcp_servers", "copse"); err != nil || e.Get("command") != "copse" {
			t.Errorf("%q became %q: %v", text, with, err)
			continue
		}
		e.Set("startup_timeout_sec", 9)
		if with, err = e.Text(); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if e, err = tomledit.Open(with, "mcp_servers", "copse"); err != nil {
			t.Errorf("%q became %q: %v", text, with, err)
		} else if got := e.Without(); string(got) != text {
			t.Errorf("%q came back as %q, and was %q", text, got, with)
		}
	}
}
