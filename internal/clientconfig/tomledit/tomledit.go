// Package tomledit changes members of an entry in a TOML text, such as mcp_servers.copse, and keeps
// everything else, byte for byte: comments, the order, and the form of other values.
//
// [Open] finds an entry. [Entry.Set] and [Entry.Remove] change its members, and [Entry.Text] returns
// the text with the changes. [Entry.Without] returns the text without the entry.
package tomledit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/lazyregexp"
)

// errInline is the error for entries that are not tables of their own.
var errInline = errors.New("copse cannot edit the existing entry in this form; change it manually")

// quote returns a basic string.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r > 0xffff && cleantext.Hidden(r):
			fmt.Fprintf(&b, `\U%08X`, r)
		case cleantext.Hidden(r):
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// bareKey is a key that needs no quotes.
var bareKey = lazyregexp.New(`^[A-Za-z0-9_-]+$`)

func keyText(name string) string {
	if bareKey.Get().MatchString(name) {
		return name
	}
	return quote(name)
}

// span is a part of a text.
type span struct{ from, to int }

// member is a member of an entry: its path below the entry, and its position from its key to the
// end of its value.
type member struct {
	path []string
	span
}

// table is a table of an entry: its path below the entry, and its position, up to the comments
// before the next table.
type table struct {
	path []string
	span
	body    int // after the header's line
	members []member
}

// ErrShape is the error for texts that are TOML but not a configuration.
var ErrShape = errors.New("the servers are not an object")

// Decode decodes a text, as a library does, but not one that nests too deep.
func Decode(text []byte, to any) error {
	if err := checkNesting(text); err != nil {
		return err
	}
	if err := toml.Unmarshal(text, to); err != nil {
		return fmt.Errorf("it is not TOML: %w", err)
	}
	return nil
}

// JSON returns a member of a text as JSON, null if there is none.
func JSON(text []byte, key string) ([]byte, error) {
	var file map[string]any
	if err := Decode(text, &file); err != nil {
		return nil, err
	}
	data, err := json.Marshal(file[key])
	if err != nil {
		return nil, fmt.Errorf("it is not a configuration: %w", err)
	}
	return data, nil
}

// Entry is an entry of a text while it is changed.
type Entry struct {
	text            []byte
	header, newline string
	tables          []table        // none if the entry is new
	members         map[string]any // of the entry, decoded
	changes         []change
	lines           strings.Builder // new members
	err             error
}

// Open finds the entry key.name of a text, which may have none. It fails for an entry that is not a
// table of its own.
func Open(text []byte, key, name string) (*Entry, error) {
	tables, inline, err := tablesOf(text, key, name)
	if err != nil {
		return nil, err
	}
	if inline {
		return nil, errInline
	}
	e := &Entry{text: text, tables: tables, newline: "\n"}
	if bytes.Contains(text, []byte("\r\n")) {
		e.newline = "\r\n"
	}
	e.header = "[" + key + "." + keyText(name) + "]" + e.newline
	var file map[string]map[string]map[string]any
	if toml.Unmarshal(joined(text, tables), &file) != nil {
		e.err = fmt.Errorf("%w: %q", ErrShape, key)
	}
	e.members = file[key][name]
	return e, nil
}

// Get returns a member, nil if there is none.
func (e *Entry) Get(key string) any { return e.members[key] }

// Set sets the value of a member: a string, a boolean, a list, or an object.
func (e *Entry) Set(key string, value any) {
	line := key + " = " + literal(value)
	switch at, ok := memberOf(e.tables, key); {
	case ok:
		e.changes = append(e.changes, change{at, line})
	case e.members[key] != nil: // in a table of its own, or with dots
		e.err = errInline
	default:
		e.lines.WriteString(line + e.newline)
	}
}

// Remove removes a member, and its tables.
func (e *Entry) Remove(key string) {
	for _, t := range e.tables {
		if len(t.path) > 0 && t.path[0] == key {
			e.changes = append(e.changes, change{span: t.span})
			continue
		}
		for _, m := range t.members {
			if len(t.path) == 0 && m.path[0] == key {
				e.changes = append(e.changes, change{span: span{m.from, endOfLine(e.text, m.to)}})
			}
		}
	}
}

// Text returns the text with the changes. A new entry is at its end.
func (e *Entry) Text() ([]byte, error) {
	if e.err != nil {
		return nil, e.err
	}
	if len(e.tables) == 0 {
		return e.appended(), nil
	}
	changes := slices.Clone(e.changes)
	if e.lines.Len() > 0 {
		changes = append(changes, e.insertion())
	}
	slices.SortFunc(changes, func(a, b change) int { return b.from - a.from })
	out := bytes.Clone(e.text)
	for _, c := range changes {
		out = slices.Concat(out[:c.from], []byte(c.with), out[c.to:])
	}
	return out, nil
}

// appended returns the text with the new entry at its end, after an empty line. A text without a line
// break at its end stays one, so that Without restores it.
func (e *Entry) appended() []byte {
	out := bytes.Clone(e.text)
	whole := len(out) == 0 || out[len(out)-1] == '\n'
	if !whole {
		out = append(out, e.newline...)
	}
	if len(out) > 0 {
		out = append(out, e.newline...)
	}
	out = append(append(out, e.header...), e.lines.String()...)
	if !whole {
		out = bytes.TrimSuffix(out, []byte(e.newline))
	}
	return out
}

// Without returns the text without the tables of the entry, and without the empty line before each.
func (e *Entry) Without() []byte {
	out, at := []byte{}, 0
	for _, t := range e.tables {
		from := t.from
		for _, newline := range []string{"\r\n", "\n"} {
			if bytes.HasSuffix(e.text[:from], []byte(newline+newline)) {
				from -= len(newline)
				break
			}
		}
		out = append(out, e.text[at:from]...)
		at = t.to
	}
	if at > 0 && at == len(e.text) && !bytes.HasSuffix(e.text, []byte("\n")) {
		return bytes.TrimSuffix(out, []byte(e.newline))
	}
	return append(out, e.text[at:]...)
}

// tablesOf finds the tables of key.name and below; inline means that the entry has another form.
func tablesOf(text []byte, key, name string) (found []table, inline bool, err error) {
	if err := Decode(text, &map[string]any{}); err != nil {
		return nil, false, err
	}
	var p unstable.Parser
	p.Reset(text)
	var all []table
	var ours []bool
	for p.NextExpression() {
		e := p.Expression()
		path, first := keyPath(e)
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			from, mine := bytes.LastIndexByte(text[:first], '\n')+1, len(path) >= 2 && path[0] == key && path[1] == name
			if n := len(all); n > 0 {
				all[n-1].to = from
			}
			all, ours = append(all, table{path: path, span: span{from, len(text)}, body: endOfLine(text, first)}), append(ours, mine)
		case unstable.KeyValue:
			n := len(all) - 1
			if n >= 0 && ours[n] {
				at := int(e.Raw.Offset)
				all[n].members = append(all[n].members, member{path, span{at, at + int(e.Raw.Length)}})
				continue
			}
			full := path
			if n >= 0 {
				full = slices.Concat(all[n].path, path)
			}
			inline = inline || len(full) >= 2 && full[0] == key && full[1] == name
		default:
		}
	}
	if err := p.Error(); err != nil {
		return nil, false, fmt.Errorf("it is not TOML: %w", err)
	}
	for i, t := range all {
		if !ours[i] {
			continue
		}
		// Comments directly before the next table belong to it.
		t.path, t.to = t.path[2:], beforeComments(text, t.from, t.to)
		found = append(found, t)
	}
	return found, inline, nil
}

// keyPath returns the names of an expression's key, and the position of the first one.
func keyPath(e *unstable.Node) (path []string, first int) {
	first = -1
	for it := e.Key(); it.Next(); {
		node := it.Node()
		path = append(path, string(node.Data))
		if first < 0 {
			first = int(node.Raw.Offset)
		}
	}
	return path, first
}

// endOfLine returns the end of the line at an offset, after its newline.
func endOfLine(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// beforeComments returns the end of a table: after its last line that is neither empty nor a
// comment.
func beforeComments(text []byte, from, to int) int {
	end := from
	at := from
	for line := range bytes.Lines(text[from:to]) {
		at += len(line)
		if trimmed := bytes.TrimSpace(line); len(trimmed) > 0 && trimmed[0] != '#' {
			end = at
		}
	}
	return end
}

// change is a replacement of a part of a text.
type change struct {
	span
	with string
}

// memberOf returns the position of a member of the entry itself.
func memberOf(tables []table, key string) (span, bool) {
	for _, t := range tables {
		for _, m := range t.members {
			if len(t.path) == 0 && len(m.path) == 1 && m.path[0] == key {
				return m.span, true
			}
		}
	}
	return span{}, false
}

// insertion inserts the new lines after the last member of the entry itself, or after its header.
func (e *Entry) insertion() change {
	lines := e.lines.String()
	for _, t := range e.tables {
		if len(t.path) > 0 {
			continue
		}
		at := t.body
		if n := len(t.members); n > 0 {
			at = endOfLine(e.text, t.members[n-1].to)
		}
		if at > 0 && e.text[at-1] != '\n' { // the end of a text without a line break there
			lines = e.newline + strings.TrimSuffix(lines, e.newline)
		}
		return change{span{at, at}, lines}
	}
	at := e.tables[0].from
	return change{span{at, at}, e.header + lines + e.newline}
}

// literal returns a value on one line.
func literal(v any) string {
	switch v := v.(type) {
	case string:
		return quote(v)
	case bool:
		return strconv.FormatBool(v)
	case []string:
		parts := make([]string, len(v))
		for i, s := range v {
			parts[i] = quote(s)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case []any:
		parts := make([]string, len(v))
		for i, s := range v {
			parts[i] = literal(s)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]string:
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, keyText(k)+" = "+quote(v[k]))
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case map[string]any:
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, keyText(k)+" = "+literal(v[k]))
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	}
	text, err := toml.Marshal(map[string]any{"v": v}) // a number or a date that a person wrote
	if err != nil {
		return `""`
	}
	return strings.TrimSpace(strings.TrimPrefix(string(text), "v = "))
}

// joined returns only the tables.
func joined(text []byte, tables []table) []byte {
	var out []byte
	for _, t := range tables {
		out = append(out, text[t.from:t.to]...)
	}
	return out
}
