// Package adf converts Atlassian Document Format, the JSON in which Jira Cloud stores rich text, to
// Markdown for a reader without Jira: a model, or a person at a terminal.
//
// Use [Markdown]. It accepts any value of a rich text field and never fails: it reduces unknown
// nodes to their text. The result is CommonMark with GitHub's tables, task lists, and
// strikethrough; text that would read as markup is escaped, and control, bidi, and ANSI characters
// are removed.
//
// The node and mark names are those of the JSON schema at https://go.atlassian.com/adf-json-schema,
// including the experimental ones.
package adf

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
)

// Limits of a document. Jira's own are far lower: a few levels, and 32,767 characters. Each level of
// quotes and lists repeats a prefix on each line, so Markdown can be much longer than its document.
const (
	// maxDepth is the number of levels of nodes that are rendered; deeper nodes are reduced to their
	// text.
	maxDepth = 30
	// maxDocument is the size of the largest document that is rendered, in bytes of JSON; larger ones
	// are reduced to their text.
	maxDocument = 1 << 20
	// maxNested is how much of a text is quoted or indented, in bytes: otherwise each level would copy
	// and lengthen all of it.
	maxNested = 64 << 10
)

// nested returns the part of a text that is quoted or indented.
func nested(text string) string { return cleantext.Head(text, maxNested) }

// Markdown returns the Markdown of raw, the JSON value of a rich text field: a document, or null. A
// JSON string (the wiki text of Jira's older API) is returned unchanged, but cleaned. Anything
// else, including broken JSON, is "".
func Markdown(raw []byte) string {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return ""
	}
	switch v := v.(type) {
	case string:
		return cleantext.Block(v)
	case map[string]any:
		if len(raw) > maxDocument {
			return renderer{}.paragraph([]node{{"type": "text", "text": plainText(v)}})
		}
		return join(renderer{}.flow([]node{v}), false)
	}
	return ""
}

// node is one JSON object of a document. Its methods treat values that are missing, null, or of the
// wrong type as empty.
type node map[string]any

func (n node) kind() string { return str(n["type"]) }

// attr returns the attribute as text, numbers in their written form.
func (n node) attr(name string) string {
	attrs, _ := n["attrs"].(map[string]any)
	return str(attrs[name])
}

// data returns the JSON-LD object that cards may carry instead of a URL.
func (n node) data() node {
	attrs, _ := n["attrs"].(map[string]any)
	d, _ := attrs["data"].(map[string]any)
	return d
}

func (n node) children() []node { return nodes(n["content"]) }

func (n node) marks() []node { return nodes(n["marks"]) }

func nodes(v any) []node {
	list, _ := v.([]any)
	out := make([]node, 0, len(list))
	for _, v := range list {
		if m, ok := v.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func str(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

// plainText returns all text below n, by a walk without a limit of depth.
func plainText(n node) string {
	type place struct {
		node
		follows bool // another text of the same parent
	}
	var out strings.Builder
	stack := []place{{node: n}}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if text := str(n.node["text"]); text != "" {
			if out.Len() > 0 && !n.follows {
				out.WriteByte(' ')
			}
			out.WriteString(text)
		}
		children := n.children()
		for i, c := range slices.Backward(children) {
			stack = append(stack, place{c, i > 0 && str(c["text"]) != "" && str(children[i-1]["text"]) != ""})
		}
	}
	return out.String()
}
