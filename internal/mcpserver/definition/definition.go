// Package definition writes what clients read about the tools of a server.
//
// A client waits for this list at each start. The definition of a tool is therefore the same text in
// each list, except for its argument "worktree", so a program can have the texts prepared. The package
// derives the definition of any other tool from its type.
package definition

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/mcpserver/route"
	"github.com/copse-dev/copse/internal/mcpserver/wire"
	"github.com/copse-dev/copse/internal/toolset"
)

// Options say what a list contains.
type Options struct {
	// Tools are in the order of their names.
	Tools []toolset.Tool
	// Worktrees means that each tool accepts the argument "worktree", or "answered_in" if it has
	// another argument of that name.
	Worktrees bool
	// Located are the names of the tools that declare the argument "worktree". Declaring it everywhere
	// would cost each client a kilobyte.
	Located map[string]bool
	// Prepared are definitions for a list with Worktrees: a JSON object with a line for each tool, in
	// the order of their names. The argument "worktree" is an empty object in it. "" is for none.
	Prepared string
}

// List is the list of a server's tools. It is safe for concurrent use.
type List struct {
	o            Options
	plain, shown func() ([]byte, error) // without and with the pages of views
}

// New returns a list, which is written when a client first asks for it.
func New(o Options) *List {
	l := &List{o: o}
	l.plain = sync.OnceValues(func() ([]byte, error) { return l.write(false) })
	l.shown = sync.OnceValues(func() ([]byte, error) { return l.write(true) })
	return l
}

// Result returns the library's result with the tools of this list, whatever the library knows of them.
// For a client that shows views, the tools name their pages.
func (l *List) Result(ctx context.Context, res *mcp.ListToolsResult, views bool) (mcp.Result, error) {
	write := l.plain
	if views {
		write = l.shown
	}
	tools, err := write()
	if err != nil {
		return nil, err
	}
	return wire.NewToolList(ctx, res, tools), nil
}

// write returns the list as a JSON array.
func (l *List) write(views bool) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 0, len(l.o.Prepared)+len(l.o.Prepared)/8))
	b.WriteByte('[')
	prepared, argument := l.o.Prepared, firstWorktree
	for i, t := range l.o.Tools {
		if i > 0 {
			b.WriteByte(',')
		}
		var text string
		if text, prepared = l.prepared(t.Name, prepared); text == "" {
			derived, err := l.derive(t)
			if err != nil {
				return nil, err
			}
			text = string(derived)
		}
		if t.View != nil && t.View.URI != "" && views {
			page, err := toolset.Marshal(mcp.Meta{"ui": map[string]any{"resourceUri": t.View.URI}})
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(b, `{"_meta":%s,`, page)
			text = text[len("{"):]
		}
		before, after, found := strings.Cut(text, worktree)
		b.WriteString(before)
		if found {
			b.WriteString(argument)
			argument = nextWorktree
		}
		b.WriteString(after)
	}
	b.WriteByte(']')
	return b.Bytes(), nil
}

// The argument "worktree" in a definition, and what replaces it: only the first tool describes it.
const (
	worktree      = `"` + route.WorktreeArgument + `":{}`
	firstWorktree = `"` + route.WorktreeArgument + `":{"type":"string","description":"Path or branch of another worktree. All other tools take it"}`
	nextWorktree  = `"` + route.WorktreeArgument + `":{"type":"string"}`
)

// prepared returns the prepared definition of a tool, "" if there is none, and the definitions after it.
func (l *List) prepared(name, from string) (text, rest string) {
	if !l.o.Worktrees {
		return "", from
	}
	_, after, found := strings.Cut(from, "\n"+strconv.Quote(name)+":")
	end := strings.IndexByte(after, '\n')
	if !found || end < 0 {
		return "", from
	}
	return strings.TrimSuffix(after[:end], ","), after[end:]
}

// derive returns the definition of a tool, with an empty argument "worktree" if the tool declares it.
func (l *List) derive(t toolset.Tool) (json.RawMessage, error) {
	input := t.Input()
	switch {
	case !l.o.Worktrees:
	case HasWorktree(t):
		input = with(input, route.AnsweredIn, &jsonschema.Schema{Type: "string"})
	case l.o.Located[t.Name]:
		input = with(input, route.WorktreeArgument, &jsonschema.Schema{})
	}
	return toolset.Marshal(of(t, input))
}

// Of returns the definition of a tool without the arguments that the server adds.
func Of(t toolset.Tool) *mcp.Tool { return of(t, t.Input()) }

func of(t toolset.Tool, input *jsonschema.Schema) *mcp.Tool {
	def := &mcp.Tool{
		Name:        t.Name,
		Title:       t.Title,
		Description: t.Description,
		InputSchema: wire.SchemaJSON(input),
		Annotations: annotations(t.Hints),
	}
	if t.Output() != nil {
		def.OutputSchema = wire.SchemaJSON(t.Output())
	}
	return def
}

// HasWorktree reports whether a tool has an argument "worktree" of its own: work items are linked to
// worktrees.
func HasWorktree(t toolset.Tool) bool { return t.Input().Properties[route.WorktreeArgument] != nil }

// with returns a schema with an additional argument.
func with(s *jsonschema.Schema, name string, argument *jsonschema.Schema) *jsonschema.Schema {
	wider := *s
	wider.Properties = map[string]*jsonschema.Schema{name: argument}
	maps.Copy(wider.Properties, s.Properties)
	wider.PropertyOrder = append(slices.Clone(s.PropertyOrder), name)
	return &wider
}

func annotations(h toolset.Hints) *mcp.ToolAnnotations {
	a := &mcp.ToolAnnotations{ReadOnlyHint: h.ReadOnly, IdempotentHint: h.Idempotent}
	if !h.OpenWorld { // the default that clients assume
		a.OpenWorldHint = &h.OpenWorld
	}
	if !h.ReadOnly { // it has no meaning for the others
		a.DestructiveHint = &h.Destructive
	}
	return a
}
