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
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/copse"
	"github.com/copse-dev/copse/internal/jsonshape"
	"github.com/copse-dev/copse/internal/mcpserver"
	"github.com/copse-dev/copse/internal/mcpserver/route"
	"github.com/copse-dev/copse/internal/settings"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/wiring/full"
)

func toolsets(t *testing.T) []toolset.Toolset {
	t.Helper()
	all := full.Find(t.Context(), app.EmptyEnv(), "").Serve(slog.New(slog.DiscardHandler))
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

// listRequest is what a client sends to list the tools.
const listRequest = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`

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
	env.Stdin = strings.NewReader(listRequest)
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
		added := route.WorktreeArgument
		if tools[i].Input.Properties[added] != nil {
			added = route.AnsweredIn
		}
		if input, ok := listed.InputSchema.(map[string]any); ok {
			if properties, ok := input["properties"].(map[string]any); ok {
				if delete(properties, added); len(properties) == 0 {
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

// TestPreparedDefinitions writes the definitions that are prepared for a server, and compares the lists
// of a server with them and of one that derives them.
func TestPreparedDefinitions(t *testing.T) {
	t.Parallel()
	here := full.Find(t.Context(), app.EmptyEnv(), "")
	all := here.Serve(slog.New(slog.DiscardHandler))
	t.Cleanup(func() { _ = all.Close() })
	const views = `{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}`
	list := func(o mcpserver.Options, capabilities string) string {
		o.Name, o.Version, o.Worktrees, o.Logger = "copse", "1", here.Alone(all), slog.New(slog.DiscardHandler)
		var out bytes.Buffer
		request := strings.Replace(listRequest, `"capabilities":{}`, `"capabilities":`+capabilities, 1)
		if err := mcpserver.New(o).ServeStdio(t.Context(), strings.NewReader(request), &out); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		return lines[len(lines)-1]
	}
	var answer struct {
		Result struct{ Tools []json.RawMessage }
	}
	if err := json.Unmarshal([]byte(list(mcpserver.Options{Toolsets: all.Toolsets}, "{}")), &answer); err != nil {
		t.Fatal(err)
	}
	worktree := regexp.MustCompile(`"worktree":\{"type":"string"(,"description":"Path or branch of another[^"]*")?\}`)
	var defs []string
	for _, def := range answer.Result.Tools {
		var named struct {
			Name        string
			InputSchema struct{ Properties map[string]any }
		}
		if err := json.Unmarshal(def, &named); err != nil {
			t.Fatal(err)
		}
		if named.InputSchema.Properties[route.AnsweredIn] == nil {
			def = worktree.ReplaceAll(def, []byte(`"worktree":{}`))
		}
		defs = append(defs, fmt.Sprintf("\n%q:%s", named.Name, def))
	}
	prepared := "{" + strings.Join(defs, ",") + "\n}\n"
	golden(t, filepath.Join("internal", "wiring", "full", "definitions.json"), []byte(prepared))

	one := all.Toolsets[len(all.Toolsets)-1:]
	for name, o := range map[string]mcpserver.Options{
		"all": {Toolsets: all.Toolsets}, "read-only": {Toolsets: all.Toolsets, ReadOnly: true}, "one toolset": {Toolsets: one},
	} {
		for _, capabilities := range []string{"{}", views} {
			o.Definitions = ""
			want := list(o, capabilities)
			o.Definitions = prepared
			if diff := gocmp.Diff(want, list(o, capabilities)); diff != "" {
				t.Errorf("%s, %s (-derived +prepared):\n%s", name, capabilities, diff)
			}
		}
	}
}

// worktreeBudget is how many bytes of tools/list the argument that names a worktree may take in
// total.
const worktreeBudget = 600

// TestWorktreeArgumentBudget compares the lists of a server of several worktrees and of a server of
// one, with the same tools.
func TestWorktreeArgumentBudget(t *testing.T) {
	t.Parallel()
	here := full.Find(t.Context(), app.EmptyEnv(), "")
	all := here.Serve(slog.New(slog.DiscardHandler))
	t.Cleanup(func() { _ = all.Close() })
	list := func(several route.Worktrees) string {
		o := mcpserver.Options{Name: "copse", Version: "1", Toolsets: all.Toolsets, Logger: slog.New(slog.DiscardHandler)}
		if several != nil {
			o.Worktrees = several
		}
		var out bytes.Buffer
		if err := mcpserver.New(o).ServeStdio(t.Context(), strings.NewReader(listRequest), &out); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		return lines[len(lines)-1]
	}
	one, several := list(nil), list(here.Alone(all))
	if !strings.Contains(one, `"get_worktrees"`) || strings.Count(several, `"worktree":{"type":"string"`) <= strings.Count(one, `"worktree":{"type":"string"`) {
		t.Fatalf("the lists do not differ by the argument:\n%s\n%s", one, several)
	}
	if cost := len(several) - len(one); cost > worktreeBudget {
		t.Errorf("the argument takes %d bytes of tools/list, %d more than it may", cost, cost-worktreeBudget)
	} else {
		t.Logf("the argument takes %d bytes", cost)
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

A test runs each example. With --json, a command prints JSON in the form that its entry shows: "?"
marks a member that can be absent, and […] is a list of plain values. An error is then
` + "`{\"error\": text}`" + ` on stderr.
`)
	r := reference{shapes: make(map[string]string), flags: make(map[string]string)}
	for _, root := range roots() {
		for _, c := range described(root) {
			r.entry(&b, c)
		}
	}
	golden(t, filepath.Join("docs", "cli.md"), b.Bytes())
	golden(t, filepath.Join("docs", "settings.md"), append(settingsReference(), environmentReference()...))
}

func settingsReference() []byte {
	var b bytes.Buffer
	b.WriteString(`# Settings and environment variables

Generated from the program; do not edit.

## Settings

Your own settings are in ` + "`config.yml`" + `, and those of a repository in ` + "`.copse.yml`" + `. [On-disk formats](formats.md)
describes where the two files are and what they may contain.

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
` + "`{\"status\":\"error\",\"error\":{\"code\",\"message\",\"hint\"?}}`" + `, identical as text and as structured content. The
codes are no_repo, no_twig_state, credentials_missing, not_found, invalid_params, network_error,
rate_limited, and internal. A truncated list has ` + "`showing`" + ` and ` + "`next_cursor`" + `.

The tools of items return the object below as structured content and as indented JSON text. The text
of a list is only its array; a second block reports what was cut or could not be read. Their errors
are text.

In a repository with several worktrees, every answer names the worktree that it is about: an object
has the member ` + "`worktree`" + `, with the absolute path, and a text ends with a line
` + "`Worktree: PATH`" + `. If an object has its own ` + "`worktree`" + `, such as an item that is linked to one, the
member is ` + "`answered_in`" + `. Resources and prompts name the worktree in the same way. Each tool accepts the
argument ` + "`worktree`" + ` to ask about another worktree of the repository: its path, its branch, or the name
of its directory. In
[update_item](#update_item) that argument is the worktree of the item, and ` + "`answered_in`" + ` is the one to ask
about.
`)
	shapes := make(map[string]string)
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
			if first, seen := shapes[d.Result()]; seen && len(d.Result()) >= longShape {
				fmt.Fprintf(&b, "Returns the same as [%s](#%s).\n", first, first)
			} else {
				shapes[d.Result()] = d.Name
				fmt.Fprintf(&b, "Returns `%s`.\n", d.Result())
			}
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
		var values []string
		for _, v := range p.Enum {
			values = append(values, fmt.Sprint(v))
		}
		s += ", one of " + strings.Join(values, ", ")
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

// reference writes the entries of commands, and remembers what it wrote, to say it once.
type reference struct {
	// shapes are the commands by the form of their JSON, flags by the line that describes a
	// flag of a sibling.
	shapes, flags map[string]string
}

const (
	// longShape is the length from which a form of JSON is not repeated.
	longShape = 80
	// manyFlags is how many flags of another command are not repeated.
	manyFlags = 4
)

// anchored returns a link to the entry of a command.
func anchored(path string) string {
	return "[" + path + "](#" + strings.ReplaceAll(path, " ", "-") + ")"
}

func (r reference) entry(b *bytes.Buffer, c *cobra.Command) {
	path := c.CommandPath()
	fmt.Fprintf(b, "\n## %s\n\n", path)
	if arguments := strings.TrimSuffix(strings.TrimPrefix(c.UseLine(), path), " [flags]"); arguments != "" && c.Runnable() && !c.HasSubCommands() {
		fmt.Fprintf(b, "Usage: `%s%s`\n\n", path, arguments)
	}
	fmt.Fprintf(b, "%s\n", strings.TrimSpace(cmp.Or(c.Long, c.Short+".")))
	if c.Example != "" {
		fmt.Fprintf(b, "\n```sh\n%s\n```\n", strings.ReplaceAll(strings.TrimLeft(c.Example, " "), "\n  ", "\n"))
	}
	if f := c.Flags().Lookup("json"); f != nil {
		shaped, ok := f.Value.(interface{ Shape() reflect.Type })
		if !ok {
			panic(path + " does not say what its JSON is: add --json with output.JSONFlag")
		}
		shape := jsonshape.Describe(shaped.Shape())
		if first, seen := r.shapes[shape]; seen && len(shape) >= longShape {
			fmt.Fprintf(b, "\nJSON: see %s\n", anchored(first))
		} else {
			r.shapes[shape] = path
			fmt.Fprintf(b, "\nJSON: `%s`\n", shape)
		}
	}
	r.options(b, c)
	for _, sub := range c.Commands() {
		if same := sameAs(sub.CommandPath()); sub.IsAvailableCommand() && same != "" && !strings.HasPrefix(path, "copse server") {
			fmt.Fprintf(b, "\n`%s` is %s.\n", sub.CommandPath(), anchored(same))
		}
	}
}

// options writes the flags of a command. Many that a command above in the list has, too, are
// a reference to that command.
func (r reference) options(b *bytes.Buffer, c *cobra.Command) {
	var lines []string
	others := make(map[string][]string) // names of flags, by the command that describes them
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || f.Hidden {
			return
		}
		line := flagLine(f)
		lines = append(lines, line)
		if first, ok := r.flags[parentPath(c)+"\n"+line]; ok {
			others[first] = append(others[first], "`--"+f.Name+"`")
		}
	})
	if len(lines) > 0 {
		b.WriteString("\n")
	}
	var repeated []string
	for _, line := range lines {
		key := parentPath(c) + "\n" + line
		first, ok := r.flags[key]
		if !ok {
			r.flags[key] = c.CommandPath()
		}
		if len(others[first]) >= manyFlags {
			if !slices.Contains(repeated, first) {
				repeated = append(repeated, first)
			}
			continue
		}
		b.WriteString(line)
	}
	for _, first := range repeated {
		fmt.Fprintf(b, "- %s: see %s\n", strings.Join(others[first], ", "), anchored(first))
	}
}

func parentPath(c *cobra.Command) string {
	if c.HasParent() {
		return c.Parent().CommandPath()
	}
	return ""
}

func flagLine(f *pflag.Flag) string {
	name, usage := pflag.UnquoteUsage(f)
	line := fmt.Sprintf("- `--%s`", f.Name)
	if f.Shorthand != "" {
		line = fmt.Sprintf("- `-%s`, `--%s`", f.Shorthand, f.Name)
	}
	if name != "" && name != "count" {
		line += fmt.Sprintf(" *%s*", name)
	}
	return line + ": " + usage + "\n"
}

// TestCommandsAreExplained requires an example of every command that does something, and a
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
	for _, c := range roots() {
		visit(c)
	}
}
