package copse_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/copse"
	"github.com/copse-dev/copse/internal/cli/tic"
	"github.com/copse-dev/copse/internal/cli/twigmcp"
	"github.com/copse-dev/copse/internal/jsonshape"
	"github.com/copse-dev/copse/internal/settings"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/wiring/workspace"
)

func toolsets(t *testing.T) []toolset.Toolset {
	t.Helper()
	all := workspace.Find(t.Context(), app.EmptyEnv(), "").Serve(slog.New(slog.DiscardHandler))
	t.Cleanup(func() { _ = all.Close() })
	return all.Toolsets
}

// golden compares got with a committed file, or rewrites it with COPSE_UPDATE=1.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if os.Getenv("COPSE_UPDATE") != "" {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is out of date; look at the difference, then run COPSE_UPDATE=1 go test .\n%s", path, diff)
	}
}

// listBudget is how many bytes tools/list may take: every client pays for them
// at the start. All toolsets of the product together have 20 KB.
const listBudget = 20_000

// TestToolsList pins what clients read of the tools, and what it costs.
func TestToolsList(t *testing.T) {
	t.Parallel()
	type tool struct {
		Name, Title, Description string
		Hints                    toolset.Hints
		Input, Output            *jsonschema.Schema
	}
	var tools []tool
	for _, set := range toolsets(t) {
		for _, d := range set.Tools {
			tools = append(tools, tool{d.Name, d.Title, d.Description, d.Hints, d.Input(), d.Output()})
		}
	}
	var pretty bytes.Buffer
	enc := json.NewEncoder(&pretty)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(tools); err != nil {
		t.Fatal(err)
	}
	golden(t, filepath.Join("testdata", "tools.json"), pretty.Bytes())

	var stdout bytes.Buffer
	env := app.EmptyEnv()
	env.Args = []string{"mcp", "serve"}
	env.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`)
	env.Stdout = &stdout
	if code := copse.Run(t.Context(), env); code != app.OK {
		t.Fatalf("the server ended with %d", code)
	}
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	var answer struct {
		Result struct {
			Tools []struct{ InputSchema, OutputSchema any }
		}
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &answer); err != nil || len(answer.Result.Tools) != len(tools) {
		t.Fatalf("%d tools are listed, %v", len(answer.Result.Tools), err)
	}
	slices.SortFunc(tools, func(a, b tool) int { return strings.Compare(a.Name, b.Name) })
	for i, listed := range answer.Result.Tools {
		// The server writes schemas in a way of its own, and adds how to name a worktree.
		if input, ok := listed.InputSchema.(map[string]any); ok && tools[i].Input.Properties["worktree"] == nil {
			if properties, ok := input["properties"].(map[string]any); ok {
				if delete(properties, "worktree"); len(properties) == 0 {
					delete(input, "properties")
				}
			}
		}
		if diff := gocmp.Diff(decoded(t, tools[i].Input), listed.InputSchema) + gocmp.Diff(decoded(t, tools[i].Output), listed.OutputSchema); diff != "" {
			t.Errorf("%s: %s", tools[i].Name, diff)
		}
	}
	if size := len(lines[len(lines)-1]); size > listBudget {
		t.Errorf("tools/list takes %d bytes, %d more than it may", size, size-listBudget)
	}
}

// decoded returns the JSON of a schema, nil for none.
func decoded(t *testing.T, s *jsonschema.Schema) (v any) {
	t.Helper()
	if s == nil {
		return nil
	}
	data, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestReferences keeps the generated pages of docs true.
func TestReferences(t *testing.T) {
	t.Parallel()
	golden(t, filepath.Join("docs", "tools.md"), toolReference(toolsets(t)))
	var b bytes.Buffer
	b.WriteString(`# Command line

Generated from the programs; do not edit.

Results go to stdout, and everything else goes to stderr. The exit code is 0 for success, 1 for a
failure, and 2 for an invalid command line; "task run" returns the exit code of the task. In a pipe,
tables are tab-separated, without a header. With --json, a command prints JSON in the form that its
entry shows: "?" marks a member that can be absent, and […] is a list of plain values. An error is
then ` + "`{\"error\": text}`" + ` on stderr.
`)
	for _, c := range []*cobra.Command{copse.Command(app.EmptyEnv()), tic.Command(app.EmptyEnv()), twigmcp.Command(app.EmptyEnv())} {
		commandReference(&b, c)
	}
	golden(t, filepath.Join("docs", "cli.md"), b.Bytes())
	golden(t, filepath.Join("docs", "settings.md"), settingsReference())
}

func settingsReference() []byte {
	var b bytes.Buffer
	b.WriteString(`# Settings

Generated from the types; do not edit. [formats.md](formats.md) says where the two files are and
what else is allowed in them.

| key | value | default | your settings | .copse.yml | meaning |
|---|---|---|---|---|---|
`)
	for _, k := range settings.Keys() {
		repository := "ignored"
		if k.Shared {
			repository = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | yes | %s | %s |\n", k.Name, k.Form, k.Default, repository, k.Doc)
	}
	b.WriteString(`
` + "```yaml" + `
# ~/.config/copse/config.yml
commands:
  runner: native
items:
  directory:
    ~/src/shop: ~/notes/shop
tasks:
  pass_credentials: false
` + "```" + `
`)
	return b.Bytes()
}

func toolReference(sets []toolset.Toolset) []byte {
	var b bytes.Buffer
	b.WriteString(`# Tools

Generated from the toolsets; do not edit. In the shapes below, "?" marks a member that can be absent.

The result of a tool of branches, github, and jira is
` + "`{\"status\":\"ok\",\"data\":…}`" + ` or
` + "`{\"status\":\"error\",\"error\":{\"code\",\"message\",\"hint\"?}}`" + `, the same as text and as structured content. The
codes are no_repo, no_twig_state, credentials_missing, not_found, invalid_params, network_error,
rate_limited, and internal. A truncated list has ` + "`showing`" + ` and ` + "`next_cursor`" + `.

The tools of items return the object below as structured content and as indented JSON text. The text
of a list is only its array; a second block reports what was cut or could not be read. Their errors
are text.
`)
	for _, set := range sets {
		fmt.Fprintf(&b, "\n## %s\n", set.Name)
		for _, d := range set.Tools {
			fmt.Fprintf(&b, "\n### %s\n\n%s.\n\n", d.Name, strings.TrimSuffix(d.Description, "."))
			for _, name := range d.Input().PropertyOrder {
				p := d.Input().Properties[name]
				fmt.Fprintf(&b, "- `%s` (%s%s)%s\n", name, p.Type, bounds(p, d.Input().Required, name), describeProperty(p))
			}
			if len(d.Input().Properties) > 0 {
				b.WriteString("\n")
			}
			fmt.Fprintf(&b, "Returns `%s`.\n", d.Result())
		}
		if len(set.Prompts) > 0 {
			b.WriteString("\n### Prompts\n\n")
			for _, p := range set.Prompts {
				fmt.Fprintf(&b, "- `%s`: %s", p.Name, p.Description)
				for _, a := range p.Arguments {
					fmt.Fprintf(&b, " Argument `%s`: %s", a.Name, a.Description)
				}
				b.WriteString("\n")
			}
		}
		if len(set.Resources)+len(set.Templates) > 0 {
			b.WriteString("\n### Resources\n\n")
			for _, r := range set.Resources {
				also := ""
				if r.Watch != nil {
					also = " Clients can subscribe to it."
				}
				fmt.Fprintf(&b, "- `%s`: %s.%s\n", r.URI, r.Description, also)
			}
			for _, r := range set.Templates {
				fmt.Fprintf(&b, "- `%s`: %s.", r.URITemplate, r.Description)
				for _, v := range r.Variables {
					fmt.Fprintf(&b, " `%s`: %s", v.Name, v.Description)
				}
				b.WriteString("\n")
			}
		}
	}
	return b.Bytes()
}

func bounds(p *jsonschema.Schema, required []string, name string) string {
	var s string
	if p.Minimum != nil && p.Maximum != nil {
		s += fmt.Sprintf(" from %g to %g", *p.Minimum, *p.Maximum)
	} else if p.Minimum != nil {
		s += fmt.Sprintf(" of at least %g", *p.Minimum)
	}
	if len(p.Enum) > 0 {
		s += fmt.Sprintf(", one of %v", p.Enum)
	}
	if p.Default != nil {
		s += ", default " + string(p.Default)
	}
	for _, r := range required {
		if r == name {
			s += ", required"
		}
	}
	return s
}

func describeProperty(p *jsonschema.Schema) string {
	if p.Description == "" {
		return ""
	}
	return ": " + p.Description
}

func commandReference(b *bytes.Buffer, c *cobra.Command) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n", c.CommandPath(), strings.TrimSpace(cmp.Or(c.Long, c.Short+".")))
	if c.Example != "" {
		fmt.Fprintf(b, "\n```sh\n%s\n```\n", strings.ReplaceAll(strings.TrimLeft(c.Example, " "), "\n  ", "\n"))
	}
	if f := c.Flags().Lookup("json"); f != nil {
		shaped, ok := f.Value.(interface{ Shape() reflect.Type })
		if !ok {
			panic(c.CommandPath() + " does not say what its JSON is: add --json with output.JSONFlag")
		}
		fmt.Fprintf(b, "\nJSON: `%s`\n", jsonshape.Describe(shaped.Shape()))
	}
	first := true
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || f.Hidden {
			return
		}
		if first {
			b.WriteString("\n")
			first = false
		}
		name, usage := pflag.UnquoteUsage(f)
		if f.Shorthand != "" {
			fmt.Fprintf(b, "- `-%s`, `--%s`", f.Shorthand, f.Name)
		} else {
			fmt.Fprintf(b, "- `--%s`", f.Name)
		}
		if name != "" && name != "count" {
			fmt.Fprintf(b, " *%s*", name)
		}
		fmt.Fprintf(b, ": %s\n", usage)
	})
	for _, sub := range c.Commands() {
		switch path := sub.CommandPath(); {
		case !sub.IsAvailableCommand(), strings.HasPrefix(path, "copse server "):
		case strings.HasPrefix(path, "tic ") && !strings.HasPrefix(path, "tic mcp"):
			same := "copse item" + strings.TrimPrefix(strings.TrimPrefix(path, "tic"), " item")
			fmt.Fprintf(b, "\n`%s` is [%s](#%s).\n", path, same, strings.ReplaceAll(same, " ", "-"))
		default:
			commandReference(b, sub)
		}
	}
}

// TestCommandsAreExplained wants an example of every command that does something, and a
// description of every flag.
func TestCommandsAreExplained(t *testing.T) {
	t.Parallel()
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Name() == "help" || c.Name() == "completion" {
			return
		}
		if c.Example == "" {
			t.Errorf("%s has no example", c.CommandPath())
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("%s: --%s is not described", c.CommandPath(), f.Name)
			}
		})
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	for _, c := range []*cobra.Command{copse.Command(app.EmptyEnv()), tic.Command(app.EmptyEnv()), twigmcp.Command(app.EmptyEnv())} {
		visit(c)
	}
}
