package yamlmap

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ErrNotEditable reports that copse can read the form of a mapping, such as {a: b}, but not change
// it, or that the new value would change other values.
var ErrNotEditable = errors.New("copse cannot edit its YAML; write each value as a line `key: value`")

// SetText sets the value of a key to a text.
func (m *Map) SetText(key, text string) error {
	want := Value{Kind: Scalar, Text: text}
	e := m.find(key)
	if e == nil || !e.span.inline {
		return m.replace(key, want, key+": "+fold(encode(text), len(key)+len(": "), m.newline)+m.newline)
	}
	start, end := e.after+e.span.start, e.after+e.span.end
	value := encode(text)
	if strings.TrimRight(m.text[end:e.end], "\r\n") == "" { // otherwise, a comment would become part of the value
		value = fold(value, start-e.start, m.newline)
	}
	if start == e.after { // the value was empty
		value = " " + value
	}
	return m.splice(key, want, start, end, value)
}

// SetInt sets the value of a key to a number.
func (m *Map) SetInt(key string, n int64) error {
	number := strconv.FormatInt(n, 10)
	want := Value{Kind: Scalar, Text: number}
	e := m.find(key)
	if e == nil || !e.span.inline || e.span.start == 0 {
		return m.replace(key, want, key+": "+number+m.newline)
	}
	return m.splice(key, want, e.after+e.span.start, e.after+e.span.end, number)
}

// SetList sets the value of a key to a list.
func (m *Map) SetList(key string, items []string) error {
	var b strings.Builder
	b.WriteString(key + ":")
	if len(items) == 0 {
		b.WriteString(" []")
	}
	for _, item := range items {
		b.WriteString(m.newline + indent + "- " + encode(item))
	}
	b.WriteString(m.newline)
	return m.replace(key, Value{Kind: List, Items: items}, b.String())
}

// Append adds an item to the list of a key. In a block list, it adds a line.
func (m *Map) Append(key, item string) error {
	e := m.find(key)
	var items []string
	if e != nil {
		items = slices.Clone(e.value.Items)
	}
	items = append(items, item)
	if e == nil || e.span.lastItem == 0 {
		return m.SetList(key, items)
	}
	at := e.after + e.span.lastItem
	line := strings.Repeat(" ", e.span.indent) + "- " + encode(item) + m.newline
	if m.text[at-1] != '\n' {
		line = m.newline + line
	}
	return m.splice(key, Value{Kind: List, Items: items}, at, at, line)
}

// Delete removes key and its value.
func (m *Map) Delete(key string) error {
	if m.find(key) == nil {
		return nil
	}
	return m.replace(key, Value{}, "")
}

// replace replaces the lines of an entry, or adds them at the position of a new one.
func (m *Map) replace(key string, want Value, lines string) error {
	if e := m.find(key); e != nil {
		return m.splice(key, want, e.start, e.end, lines)
	}
	at := m.position(key)
	if at > 0 && m.text[at-1] != '\n' {
		lines = m.newline + lines
	}
	return m.splice(key, want, at, at, lines)
}

// position returns the offset for a new key: after the last key that precedes it in the order,
// otherwise before the first key that follows it, otherwise the end.
func (m *Map) position(key string) int {
	rank := slices.Index(m.order, key)
	behind, before := -1, -1
	for _, e := range m.entries {
		switch other := slices.Index(m.order, e.key); {
		case rank < 0 || other < 0:
		case other < rank:
			behind = e.end
		case before < 0:
			before = e.start
		}
	}
	switch {
	case behind >= 0:
		return behind
	case before >= 0:
		return before
	default:
		return len(m.text)
	}
}

// splice replaces m.text[start:end], if the key then has the value want and all others are
// unchanged.
func (m *Map) splice(key string, want Value, start, end int, text string) error {
	if m.foreign {
		return fmt.Errorf("set %q: %w", key, ErrNotEditable)
	}
	changed := &Map{text: m.text[:start] + text + m.text[end:], order: m.order}
	if err := changed.read(); err != nil || !changed.differsIn(m, key, want) {
		return fmt.Errorf("set %q: %w", key, ErrNotEditable)
	}
	*m = *changed
	return nil
}

// differsIn reports whether m has the value want for the key, and otherwise the values of old.
func (m *Map) differsIn(old *Map, key string, want Value) bool {
	if !sameValue(m.Get(key), want) {
		return false
	}
	count := len(old.entries)
	switch had := old.find(key) != nil; {
	case had && want.Kind == Missing:
		count--
	case !had && want.Kind != Missing:
		count++
	}
	return len(m.entries) == count && !slices.ContainsFunc(old.entries, func(e entry) bool {
		return e.key != key && !sameValue(m.Get(e.key), e.value)
	})
}

func sameValue(a, b Value) bool {
	return a.Kind == b.Kind && a.Text == b.Text && slices.Equal(a.Items, b.Items)
}
