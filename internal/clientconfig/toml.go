package clientconfig

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/copse-dev/copse/internal/cleantext"
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
var bareKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]+$`) })

func keyText(name string) string {
	if bareKey().MatchString(name) {
		return name
	}
	return quote(name)
}

// span is a part of a text.
type span struct{ from, to int }

// tomlMember is a member of an entry: its path below the entry, and its position from its key to the
// end of its value.
type tomlMember struct {
	path []string
	span
}

// tomlTable is a table of an entry: its path below the entry, and its position, up to the comments
// before the next table.
type tomlTable struct {
	path []string
	span
	body    int // after the header's line
	members []tomlMember
}

// tomlEntry finds the tables of key.name and below; inline means that the entry has another form.
func tomlEntry(text []byte, key, name string) (found []tomlTable, inline bool, err error) {
	if err := checkNesting(text, true); err != nil {
		return nil, false, err
	}
	if err := toml.Unmarshal(text, &map[string]any{}); err != nil {
		return nil, false, fmt.Errorf("it is not TOML: %w", err)
	}
	var p unstable.Parser
	p.Reset(text)
	var all []tomlTable
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
			all, ours = append(all, tomlTable{path: path, span: span{from, len(text)}, body: endOfLine(text, first)}), append(ours, mine)
		case unstable.KeyValue:
			n := len(all) - 1
			if n >= 0 && ours[n] {
				at := int(e.Raw.Offset)
				all[n].members = append(all[n].members, tomlMember{path, span{at, at + int(e.Raw.Length)}})
				continue
			}
			var table []string
			if n >= 0 {
				table = all[n].path
			}
			full := append(slices.Clone(table), path...)
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

// setTOML applies an edit to an entry, or adds the entry at the end.
func setTOML(text []byte, key, name string, e edit) ([]byte, error) {
	found, inline, err := tomlEntry(text, key, name)
	if err != nil {
		return nil, err
	}
	if inline {
		return nil, errInline
	}
	newline := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		newline = "\r\n"
	}
	header := "[" + key + "." + keyText(name) + "]" + newline
	if len(found) > 0 {
		var file map[string]map[string]map[string]any
		if err := toml.Unmarshal(joined(text, found), &file); err != nil {
			return nil, fmt.Errorf("%w: %q", errShape, key)
		}
		return e.applyTOML(text, found, file[key][name], header, newline)
	}
	out := bytes.Clone(text)
	if len(out) > 0 {
		if out[len(out)-1] != '\n' {
			out = append(out, newline...)
		}
		if !bytes.HasSuffix(out, []byte(newline+newline)) {
			out = append(out, newline...)
		}
	}
	out = append(out, header...)
	for _, s := range e.set {
		out = append(out, s.key+" = "+tomlValue(s.value)+newline...)
	}
	return out, nil
}

// change is a replacement of a part of a text.
type change struct {
	span
	with string
}

// applyTOML changes the existing tables of an entry.
func (e edit) applyTOML(text []byte, tables []tomlTable, there map[string]any, header, newline string) ([]byte, error) {
	var changes []change
	for _, t := range tables {
		if len(t.path) > 0 && slices.Contains(e.drop, t.path[0]) {
			changes = append(changes, change{span: t.span})
			continue
		}
		for _, m := range t.members {
			if len(t.path) == 0 && slices.Contains(e.drop, m.path[0]) {
				changes = append(changes, change{span: span{m.from, endOfLine(text, m.to)}})
			}
		}
	}
	var lines strings.Builder
	for _, s := range e.set {
		value, differs := s.resolve(there[s.key])
		if !differs {
			continue
		}
		line := s.key + " = " + tomlValue(value)
		switch at, ok := memberOf(tables, s.key); {
		case ok:
			changes = append(changes, change{at, line})
		case there[s.key] != nil: // in a table of its own, or with dots
			return nil, errInline
		default:
			lines.WriteString(line + newline)
		}
	}
	if lines.Len() > 0 {
		changes = append(changes, insertion(text, tables, lines.String(), header, newline))
	}
	slices.SortFunc(changes, func(a, b change) int { return b.from - a.from })
	out := bytes.Clone(text)
	for _, c := range changes {
		out = slices.Concat(out[:c.from], []byte(c.with), out[c.to:])
	}
	return out, nil
}

// memberOf returns the position of a member of the entry itself.
func memberOf(tables []tomlTable, key string) (span, bool) {
	for _, t := range tables {
		for _, m := range t.members {
			if len(t.path) == 0 && len(m.path) == 1 && m.path[0] == key {
				return m.span, true
			}
		}
	}
	return span{}, false
}

// insertion inserts lines after the last member of the entry itself, or after its header.
func insertion(text []byte, tables []tomlTable, lines, header, newline string) change {
	for _, t := range tables {
		if len(t.path) > 0 {
			continue
		}
		at := t.body
		if n := len(t.members); n > 0 {
			at = endOfLine(text, t.members[n-1].to)
		}
		if at > 0 && text[at-1] != '\n' {
			lines = newline + lines
		}
		return change{span{at, at}, lines}
	}
	at := tables[0].from
	return change{span{at, at}, header + lines + newline}
}

// tomlValue returns a value on one line.
func tomlValue(v any) string {
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
			parts[i] = tomlValue(s)
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
			parts = append(parts, keyText(k)+" = "+tomlValue(v[k]))
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	}
	text, err := toml.Marshal(map[string]any{"v": v}) // a number or a date that a person wrote
	if err != nil {
		return `""`
	}
	return strings.TrimSpace(strings.TrimPrefix(string(text), "v = "))
}

// removeTOML removes the tables of an entry, with the empty line before them.
func removeTOML(text []byte, key, name string) ([]byte, error) {
	tables, inline, err := tomlEntry(text, key, name)
	if err != nil {
		return nil, err
	}
	if inline {
		return nil, errInline
	}
	out, at := []byte{}, 0
	for _, t := range tables {
		from := t.from
		for _, newline := range []string{"\r\n", "\n"} {
			if bytes.HasSuffix(text[:from], []byte(newline+newline)) {
				from -= len(newline)
				break
			}
		}
		out = append(out, text[at:from]...)
		at = t.to
	}
	return append(out, text[at:]...), nil
}

// joined returns only the tables.
func joined(text []byte, tables []tomlTable) []byte {
	var out []byte
	for _, t := range tables {
		out = append(out, text[t.from:t.to]...)
	}
	return out
}
