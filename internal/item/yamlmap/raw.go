package yamlmap

import (
	"fmt"
	"strings"
)

// Raw returns the lines of key as they are written, with line feeds; ok is false if
// there is no such key, or if the mapping is not written in lines.
func (m *Map) Raw(key string) (lines string, ok bool) {
	e := m.find(key)
	if e == nil || m.foreign {
		return "", false
	}
	lines = strings.ReplaceAll(m.text[e.start:e.end], "\r\n", "\n")
	return strings.TrimSuffix(lines, "\n") + "\n", true
}

// SetRaw sets the lines of a key, which Raw has returned.
func (m *Map) SetRaw(key, lines string) error {
	one, err := Parse(lines)
	if err != nil || len(one.entries) != 1 || one.entries[0].key != key {
		return fmt.Errorf("set %q: %w", key, ErrNotEditable)
	}
	return m.replace(key, one.Get(key), strings.ReplaceAll(lines, "\n", m.newline))
}
