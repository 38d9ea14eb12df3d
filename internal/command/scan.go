package command

import (
	"bytes"
	"encoding/json"
	"iter"

	"github.com/copse-dev/copse/internal/jsonfile"
)

// value is a JSON value in a valid document. It is walked in place: members keep their order, and
// errors can name their position.
type value struct {
	doc      []byte
	from, to int
}

// document returns the single value of a document.
func document(doc []byte) value {
	from := skipSpace(doc, 0)
	return value{doc, from, skipValue(doc, from)}
}

func (v value) bytes() []byte { return v.doc[v.from:v.to] }

// is reports whether the value's text begins with one of the bytes: '{' for an
// object, '[' for an array, '"' for a string.
func (v value) is(first ...byte) bool {
	return v.from < v.to && bytes.IndexByte(first, v.doc[v.from]) >= 0
}

// isNothing reports whether the value is null or an empty string.
func (v value) isNothing() bool { return v.is('n') || string(v.bytes()) == `""` }

// string decodes the value, which is a string.
func (v value) string() string {
	text := v.bytes()
	if bytes.IndexByte(text, '\\') < 0 {
		return string(text[1 : len(text)-1])
	}
	var s string
	if json.Unmarshal(text, &s) != nil { // a control character, which only encoding/json refuses
		return string(text[1 : len(text)-1])
	}
	return s
}

// members yields the members of the value; none if it is not an object.
func (v value) members() iter.Seq2[string, value] {
	return func(yield func(string, value) bool) {
		if !v.is('{') {
			return
		}
		at := skipSpace(v.doc, v.from+1)
		for at < v.to && v.doc[at] == '"' {
			key := value{v.doc, at, skipValue(v.doc, at)}
			from := skipSpace(v.doc, skipSpace(v.doc, key.to)+1) // after the colon
			member := value{v.doc, from, skipValue(v.doc, from)}
			if !yield(key.string(), member) {
				return
			}
			at = skipSpace(v.doc, skipSpace(v.doc, member.to)+1) // after the comma
		}
	}
}

// elements yields the elements of the value; none if it is not an array.
func (v value) elements() iter.Seq2[int, value] {
	return func(yield func(int, value) bool) {
		if !v.is('[') {
			return
		}
		at := skipSpace(v.doc, v.from+1)
		for i := 0; at < v.to && v.doc[at] != ']'; i++ {
			element := value{v.doc, at, skipValue(v.doc, at)}
			if !yield(i, element) {
				return
			}
			at = skipSpace(v.doc, element.to)
			if at < v.to && v.doc[at] == ',' {
				at = skipSpace(v.doc, at+1)
			}
		}
	}
}

// wrong returns the error for a value of a type other than want.
func (v value) wrong(path, want string) *jsonfile.TypeError {
	got := "a number"
	switch {
	case v.is('{'):
		got = "an object"
	case v.is('['):
		got = "an array"
	case v.is('"'):
		got = "a string"
	case v.is('t', 'f'):
		got = "true or false"
	case v.is('n'):
		got = "null"
	}
	return &jsonfile.TypeError{Path: path, Want: want, Got: got, At: jsonfile.PositionOf(v.doc, int64(v.from))}
}

func skipSpace(doc []byte, at int) int {
	for at < len(doc) && (doc[at] == ' ' || doc[at] == '\n' || doc[at] == '\t' || doc[at] == '\r') {
		at++
	}
	return min(at, len(doc))
}

// skipValue returns the end of the value that begins at an offset.
func skipValue(doc []byte, at int) int {
	depth := 0
	for at < len(doc) {
		switch doc[at] {
		case '"':
			at = skipString(doc, at)
		case '{', '[':
			depth++
			at++
		case '}', ']':
			depth--
			at++
		case ' ', '\n', '\t', '\r', ',', ':':
			at++
			continue // between values of a container
		default:
			at = skipWord(doc, at)
		}
		if depth <= 0 {
			return at
		}
	}
	return len(doc)
}

func skipString(doc []byte, at int) int {
	for at++; at < len(doc); at++ {
		switch doc[at] {
		case '"':
			return at + 1
		case '\\':
			at++
		}
	}
	return len(doc)
}

// skipWord returns the end of the number, true, false, or null that begins at an offset.
func skipWord(doc []byte, at int) int {
	for at < len(doc) && bytes.IndexByte([]byte(" \n\t\r,:]}"), doc[at]) < 0 {
		at++
	}
	return at
}
