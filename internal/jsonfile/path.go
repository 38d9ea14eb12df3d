package jsonfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/copse-dev/copse/internal/cleantext"
)

// Key appends the member named key to the path of an object: "a" and "b" give
// "a.b", "a" and "b/c" give `a["b/c"]`.
func Key(path, key string) string {
	const longest = 80 // of a key that is shown
	if plain(key) {
		if path == "" {
			return key
		}
		return path + "." + key
	}
	if len(key) > longest {
		key = cleantext.Head(key, longest)
	}
	return path + "[" + strconv.QuoteToGraphic(key) + "]"
}

// Index appends the element at i to the path of an array.
func Index(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// plain reports whether key needs no quotes in a path.
func plain(key string) bool {
	for _, r := range key {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') {
			return false
		}
	}
	return key != "" && len(key) <= 80
}

// container is an object or array that contains the current position of pathAt.
type container struct {
	array bool
	index int    // of the element, in an array
	key   string // of the member, in an object
	keyed bool   // the key was read, and its value follows
}

// passed moves on to the value after the one that was read.
func (c *container) passed() {
	c.index++
	c.keyed = false
}

// pathAt returns the path of the value whose text, or opening bracket, ends at end.
func pathAt(data []byte, end int64) string {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var open []container
	for {
		token, err := dec.Token()
		if err != nil {
			return ""
		}
		if bracket, ok := token.(json.Delim); ok && (bracket == '}' || bracket == ']') {
			open = open[:len(open)-1]
			if len(open) > 0 {
				open[len(open)-1].passed()
			}
			continue
		}
		if len(open) > 0 {
			inside := &open[len(open)-1]
			if key, ok := token.(string); ok && !inside.array && !inside.keyed {
				inside.key, inside.keyed = key, true
				continue
			}
		}
		if dec.InputOffset() >= end {
			return join(open)
		}
		if bracket, ok := token.(json.Delim); ok {
			open = append(open, container{array: bracket == '['})
		} else if len(open) > 0 {
			open[len(open)-1].passed()
		}
	}
}

func join(open []container) string {
	path := ""
	for _, c := range open {
		if c.array {
			path = Index(path, c.index)
		} else {
			path = Key(path, c.key)
		}
	}
	return path
}
