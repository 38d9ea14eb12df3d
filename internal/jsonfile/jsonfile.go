// Package jsonfile decodes JSON files that another program writes and a person
// may have edited, and describes errors in them with their position.
//
// [Decode] accepts what encoding/json accepts, with four exceptions: the file must
// be UTF-8, it must not begin with a byte order mark, it must not have more than
// [MaxValues] values or [MaxContainers] arrays and objects, and the key of a struct's
// field must be identical to its tag. Of two equal keys, the last one is used. Errors
// begin with a position:
//
//	line 7, column 3: invalid character '}' looking for beginning of value
//	dependencies[3].child: expected a string, got a number (line 41, column 16)
package jsonfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	fastjson "github.com/segmentio/encoding/json"
)

// Decode decodes the one JSON value of data.
//
// The value comes from a decoder several times faster than encoding/json. If that one refuses the
// data, encoding/json decodes it again, for its precise errors.
func Decode[T any](data []byte) (T, error) {
	var v, none T
	switch {
	case len(bytes.Trim(data, space)) == 0:
		return none, errEmpty
	case bytes.HasPrefix(data, []byte("\uFEFF")):
		return none, errors.New("the file begins with a byte order mark; save it as UTF-8 without one")
	case !utf8.Valid(data):
		at := firstInvalid(data)
		if !utf8.FullRune(data[at:]) {
			return none, fmt.Errorf("%s: %w", PositionOf(data, at), errCut)
		}
		return none, fmt.Errorf("%s: not UTF-8 text", PositionOf(data, at))
	}
	size := Measure(data)
	if size.Values > MaxValues {
		return none, fmt.Errorf("the file has %d values; copse reads at most %d", size.Values, MaxValues)
	}
	if size.Containers > MaxContainers {
		return none, fmt.Errorf("the file has %d arrays and objects; copse reads at most %d", size.Containers, MaxContainers)
	}
	// The fast decoder is recursive and, unlike encoding/json, has no limit.
	if size.Depth <= deepest {
		rest, err := fastjson.Parse(data, &v, fastjson.DontMatchCaseInsensitiveStructFields)
		if err == nil && len(bytes.Trim(rest, space)) == 0 {
			return v, nil
		}
		v = none
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return none, explain(data, err)
	}
	return v, nil
}

const (
	space = " \t\r\n" // JSON's
	// MaxValues is the maximum number of values in data for [Decode]. The state of 100,000 branches
	// has a million.
	MaxValues = 2_000_000
	// MaxContainers is the maximum number of arrays and objects in data for [Decode]: decoded, each
	// takes up to a few hundred bytes. The state of 100,000 branches has 300,000.
	MaxContainers = 500_000
	deepest       = 1000
)

var (
	errEmpty = errors.New("the file is empty")
	errCut   = errors.New("the file ends in the middle of a character")
)

// Incomplete reports whether an error of [Decode] means that the data ended too early: it is empty,
// or a value in it has no end. A file that is being rewritten in place looks like this.
func Incomplete(err error) bool {
	if errors.Is(err, errEmpty) || errors.Is(err, errCut) {
		return true
	}
	// encoding/json has no other indication of it.
	broken, ok := errors.AsType[*json.SyntaxError](err)
	return ok && broken.Error() == "unexpected end of JSON input"
}

func explain(data []byte, err error) error {
	if broken, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("%s: %w", PositionOf(data, broken.Offset-1), broken)
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return &TypeError{
			Path: pathAt(data, wrong.Offset),
			Want: wanted(wrong.Type),
			Got:  found(wrong.Value),
			At:   PositionOf(data, wrong.Offset-1),
		}
	}
	return err
}

// TypeError reports that the value at Path has the wrong type.
type TypeError struct {
	Path      string // "dependencies[3].child"; empty for the whole document
	Want, Got string // "a string", "a number"
	At        Position
}

func (e *TypeError) Error() string {
	path := e.Path
	if path == "" {
		path = "the file"
	}
	return fmt.Sprintf("%s: expected %s, got %s (%s)", path, e.Want, e.Got, e.At)
}

// Position is a place in a text, counted in characters from 1.
type Position struct{ Line, Column int }

func (p Position) String() string { return fmt.Sprintf("line %d, column %d", p.Line, p.Column) }

// PositionOf returns the position of the byte at offset, for a caller that finds an error in data
// that Decode has accepted.
func PositionOf(data []byte, offset int64) Position {
	before := data[:max(0, min(offset, int64(len(data))))]
	return Position{
		Line:   bytes.Count(before, []byte("\n")) + 1,
		Column: utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1,
	}
}

func firstInvalid(data []byte) int64 {
	for at := 0; at < len(data); {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			return int64(at)
		}
		at += size
	}
	return int64(len(data))
}

// wanted describes the JSON that a Go type decodes from.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Uint32:
		return "a whole number from 0 to 4294967295"
	case reflect.Slice:
		return "an array"
	case reflect.Map, reflect.Struct:
		return "an object"
	default:
		return t.String()
	}
}

// found gives encoding/json's description of a value its article.
func found(value string) string {
	switch {
	case value == "bool":
		return "true or false"
	case value == "array" || value == "object":
		return "an " + value
	case strings.HasPrefix(value, "number "):
		return strings.TrimPrefix(value, "number ")
	default:
		return "a " + value
	}
}
