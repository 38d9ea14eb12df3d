// Package yamlmap edits a YAML mapping in place, in a front matter or a configuration file
// that people and programs write.
//
// [Parse] takes the text, [Map.Get] reads values, the Set methods change them,
// and [Map.Text] returns the text. It guarantees that
//
//   - only set values change: order, comments, quotes, line breaks, line endings,
//     and other keys stay, byte for byte;
//   - values are read by the YAML 1.2 core schema and returned as the written
//     text, so 1_000, yes, and 2026-01-01 are exactly that;
//   - values are written in the style of the yaml package of npm, which leaves
//     text plain if possible, and folds at the same places. Texts of several
//     lines are the exception: they are written in double quotes.
//
// A mapping whose values are strings, numbers, and block lists of these, which is
// what programs write, is read without a YAML library, which is faster and safer. Everything
// else (nested values, flow lists, anchors, tags) is read with a library; those values
// can be replaced, and stay if they are not.
package yamlmap

import (
	"fmt"
	"strings"
)

// maxKeys limits the work on a text that no program writes.
const maxKeys = 1000

// usualKeys is the capacity for the keys of most mappings.
const usualKeys = 14

// Map is a YAML mapping. It is not for concurrent use.
type Map struct {
	text    string
	newline string
	order   []string
	entries []entry
	// foreign means that the entries are not lines that begin with their key, for example
	// in a flow mapping, so only the library can read them.
	foreign bool
}

// entry is a key with its value.
type entry struct {
	key        string
	start, end int // of its lines in the text, with the last line break
	after      int // offset behind the colon
	value      Value
	span       span
}

// Kind is the kind of a value.
type Kind int

// Kinds of values.
const (
	Missing Kind = iota // there is no such key
	Null                // nothing, or null
	Scalar              // a text, number or boolean
	List                // a list of scalars and nulls
	Other               // a mapping, or a list of other things
)

// Value is the value of a key.
type Value struct {
	Kind Kind
	// Text is the text of a Scalar, without quotes and escapes.
	Text string
	// Items are the texts of a List; nulls are empty.
	Items []string
}

// SyntaxError reports that a text is not a usable mapping.
type SyntaxError struct {
	Line    int // from 1; 0 if it concerns the text as a whole
	Problem string
}

func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return e.Problem
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Problem)
}

// Parse reads a mapping. A key that is added later has the position that order gives it; a key that
// is not in order comes last. The error is a [*SyntaxError].
func Parse(text string, order ...string) (*Map, error) {
	m := &Map{text: text, order: order}
	if err := m.read(); err != nil {
		return nil, err
	}
	return m, nil
}

// read finds the entries of m.text and their values.
func (m *Map) read() error {
	m.newline = "\n"
	if i := strings.IndexByte(m.text, '\n'); i > 0 && m.text[i-1] == '\r' {
		m.newline = "\r\n"
	}
	m.foreign = false
	entries, ok := split(m.text, make([]entry, 0, usualKeys))
	m.entries = entries
	if len(entries) > maxKeys {
		return &SyntaxError{Problem: fmt.Sprintf("it has more than %d keys", maxKeys)}
	}
	simple := ok
	for i := range m.entries {
		e := &m.entries[i]
		if e.value, e.span, ok = decode(m.text[e.after:e.end]); !ok {
			simple = false
		}
		for _, other := range m.entries[:i] {
			if other.key == e.key {
				return &SyntaxError{Line: lineOf(m.text, e.start), Problem: fmt.Sprintf("the key %q appears twice", e.key)}
			}
		}
	}
	if simple {
		return nil
	}
	return m.readByLibrary()
}

func lineOf(text string, offset int) int { return strings.Count(text[:offset], "\n") + 1 }

// Text returns the text of the mapping.
func (m *Map) Text() string { return m.text }

// Get returns the value of key.
func (m *Map) Get(key string) Value {
	if e := m.find(key); e != nil {
		return e.value
	}
	return Value{}
}

// Keys returns the keys in the order of the text.
func (m *Map) Keys() []string {
	keys := make([]string, len(m.entries))
	for i, e := range m.entries {
		keys[i] = e.key
	}
	return keys
}

func (m *Map) find(key string) *entry {
	for i := range m.entries {
		if m.entries[i].key == key {
			return &m.entries[i]
		}
	}
	return nil
}
