package clientconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/copse-dev/copse/internal/cleantext"
)

// errShape is the error for files that are JSON but not a configuration.
var errShape = errors.New("the servers are not an object")

// parse reads a text, which may have comments.
func parse(text []byte) (hujson.Value, *hujson.Object, error) {
	if err := checkNesting(text, false); err != nil {
		return hujson.Value{}, nil, err
	}
	v, err := hujson.Parse(text)
	if err != nil {
		return v, nil, fmt.Errorf("it is not JSON: %w", err)
	}
	root, ok := v.Value.(*hujson.Object)
	if !ok {
		return v, nil, errShape
	}
	return v, root, nil
}

// member finds a member of an object by its name.
func member(o *hujson.Object, name string) int {
	for i, m := range o.Members {
		if literal, ok := m.Name.Value.(hujson.Literal); ok && literal.String() == name {
			return i
		}
	}
	return -1
}

// setJSON applies an edit to the entry under key, or adds the entry.
func setJSON(text []byte, key, name string, e edit) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	file, root, err := parse(text)
	if err != nil {
		return nil, err
	}
	style := styleOf(text)
	at := member(root, key)
	if at < 0 {
		inner := hujson.Object{AfterExtra: hujson.Extra(style.line(1))}
		add(&inner, name, style.value(e.object(), 2), style, 2)
		add(root, key, hujson.Value{Value: &inner}, style, 1)
		return file.Pack(), nil
	}
	servers, ok := root.Members[at].Value.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("%w: %q", errShape, key)
	}
	i := member(servers, name)
	if i < 0 {
		add(servers, name, style.value(e.object(), 2), style, 2)
		return file.Pack(), nil
	}
	there, ok := servers.Members[i].Value.Value.(*hujson.Object)
	if !ok {
		servers.Members[i].Value.Value = style.value(e.object(), 2).Value
		return file.Pack(), nil
	}
	if !e.apply(there, style) {
		return text, nil
	}
	return file.Pack(), nil
}

// object returns the JSON of a new entry.
func (e edit) object() []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, s := range e.set {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encoded(s.key))
		b.WriteByte(':')
		b.Write(encoded(s.value))
	}
	b.WriteByte('}')
	return b.Bytes()
}

// apply changes an entry, and reports whether it differs.
func (e edit) apply(o *hujson.Object, style style) bool {
	changed := false
	for _, key := range e.drop {
		if i := member(o, key); i >= 0 {
			drop(o, i)
			changed = true
		}
	}
	for _, s := range e.set {
		var there any
		i := member(o, s.key)
		if i >= 0 {
			there = decoded(o.Members[i].Value)
		}
		value, differs := s.resolve(there)
		if !differs {
			continue
		}
		changed = true
		if i < 0 {
			add(o, s.key, style.value(encoded(value), 3), style, 3)
			continue
		}
		// Its members stay in place.
		inner, isObject := o.Members[i].Value.Value.(*hujson.Object)
		if want, ok := objectOf(s.value); ok && isObject {
			setMembersOf(inner, want, s.how, style)
			continue
		}
		o.Members[i].Value.Value = style.value(encoded(value), 3).Value
	}
	return changed
}

// setMembersOf changes the members of an object that is in an entry.
func setMembersOf(o *hujson.Object, want map[string]any, how how, style style) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		switch i := member(o, name); {
		case i < 0:
			add(o, name, style.value(encoded(want[name]), 4), style, 4)
		case how == setMembers:
			o.Members[i].Value.Value = style.value(encoded(want[name]), 4).Value
		}
	}
}

// decoded returns a value as encoding/json decodes it.
func decoded(v hujson.Value) any {
	clone := v.Clone()
	clone.Standardize()
	var out any
	if json.Unmarshal(clone.Pack(), &out) != nil {
		return nil
	}
	return out
}

// encoded returns JSON with escapes for hidden characters, and without HTML escapes.
func encoded(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // strings, lists, and maps of them always encode
		panic(err)
	}
	return cleantext.JSON(bytes.TrimSpace(b.Bytes()))
}

// removeJSON removes an entry, and the object if it is then empty and need not stay.
func removeJSON(text []byte, key, name string, keep bool) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return text, nil
	}
	file, root, err := parse(text)
	if err != nil {
		return nil, err
	}
	at := member(root, key)
	if at < 0 {
		return text, nil
	}
	servers, ok := root.Members[at].Value.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("%w: %q", errShape, key)
	}
	i := member(servers, name)
	if i < 0 {
		return text, nil
	}
	drop(servers, i)
	if !keep && len(servers.Members) == 0 && len(bytes.TrimSpace(servers.AfterExtra)) == 0 {
		drop(root, at)
	}
	return file.Pack(), nil
}

// add adds a member at the end of an object, formatted like its neighbors.
func add(o *hujson.Object, name string, v hujson.Value, style style, depth int) {
	quoted, err := json.Marshal(name)
	if err != nil { // a string always encodes
		panic(err)
	}
	m := hujson.ObjectMember{Name: hujson.Value{BeforeExtra: hujson.Extra(style.line(depth)), Value: hujson.Literal(cleantext.JSON(quoted))}, Value: v}
	m.Value.BeforeExtra = hujson.Extra(" ")
	// A comment after the last member stays in place, and so does a trailing comma.
	if trailing := bytes.TrimRight(o.AfterExtra, " \t\r\n"); len(trailing) > 0 {
		m.Name.BeforeExtra = append(bytes.Clone(trailing), m.Name.BeforeExtra...)
	}
	if n := len(o.Members); n > 0 && o.Members[n-1].Value.AfterExtra != nil {
		m.Value.AfterExtra = hujson.Extra{}
	}
	o.Members = append(o.Members, m)
	o.AfterExtra = hujson.Extra(style.line(depth - 1))
}

// drop removes a member with the space before it; comments stay.
func drop(o *hujson.Object, i int) {
	before := bytes.TrimRight(o.Members[i].Name.BeforeExtra, " \t\r\n")
	last := i == len(o.Members)-1
	o.Members = append(o.Members[:i], o.Members[i+1:]...)
	if len(before) > 0 {
		after := &o.AfterExtra
		if !last {
			after = &o.Members[i].Name.BeforeExtra
		}
		if !bytes.HasPrefix(bytes.TrimLeft(*after, " \t\r"), []byte("\n")) { // a comment can end with its line
			before = append(bytes.Clone(before), '\n')
		}
		*after = append(bytes.Clone(before), *after...)
	}
	if len(o.Members) == 0 && len(bytes.TrimSpace(o.AfterExtra)) == 0 {
		o.AfterExtra = nil
	}
}

// style is the layout of a file.
type style struct{ newline, indent string }

// styleOf detects the style from the first indented line.
func styleOf(text []byte) style {
	s := style{newline: "\n", indent: "  "}
	if bytes.Contains(text, []byte("\r\n")) {
		s.newline = "\r\n"
	}
	for line := range strings.Lines(string(text)) {
		trimmed := strings.TrimLeft(line, " \t")
		if indent := line[:len(line)-len(trimmed)]; indent != "" && strings.HasPrefix(trimmed, `"`) {
			s.indent = indent
			break
		}
	}
	return s
}

// line begins a line at a depth.
func (s style) line(depth int) string { return s.newline + strings.Repeat(s.indent, max(depth, 0)) }

// value returns JSON laid out at a depth.
func (s style) value(data []byte, depth int) hujson.Value {
	var b bytes.Buffer
	if err := json.Indent(&b, data, strings.Repeat(s.indent, depth), s.indent); err != nil { // it came from an encoder
		panic(err)
	}
	v, err := hujson.Parse(bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte(s.newline)))
	if err != nil {
		panic(err)
	}
	return v
}
