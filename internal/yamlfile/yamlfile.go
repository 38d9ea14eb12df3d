// Package yamlfile decodes foreign YAML in limited time and memory.
//
// [Decode] decodes a text into a type, [Parse] returns its syntax tree, and [Keys]
// lists the keys of its mappings. All of them refuse a text
//
//   - of more than [MaxSize] bytes: for some texts, the YAML library takes time with the square
//     of their size, a tenth of a second at this limit;
//   - that nests more than [MaxDepth] collections, because the library is recursive;
//   - whose values have more than [MaxExpanded] bytes when each alias is replaced
//     with its anchor's value. Without this limit, 294 bytes of nested aliases
//     decode to gigabytes.
//
// The library sometimes panics on invalid input. Such a text is an error here.
package yamlfile

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

const (
	// MaxSize is the size of the largest text that is read.
	MaxSize = 16 << 10
	// MaxExpanded is how many bytes the values may have without aliases.
	MaxExpanded = 64 << 10

	// MaxDepth is how deeply collections may be nested.
	MaxDepth = 100
)

// Error describes the problem of a text, and its position.
type Error struct {
	Line    int // from 1; 0 if the error is about the whole text
	Problem string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Problem
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Problem)
}

// Decode decodes the first document of a text. Mappings that go into an interface
// are a yaml.MapSlice, which keeps their order. The error is an [*Error].
func Decode[T any](data []byte) (v T, err error) {
	defer recovered(&err)
	if _, err := Parse(data); err != nil {
		return v, err
	}
	if err := yaml.UnmarshalWithOptions(data, &v, yaml.UseOrderedMap()); err != nil {
		var none T
		return none, explain(err)
	}
	return v, nil
}

// Parse returns the syntax tree of a text that is within the limits. The error is an
// [*Error].
func Parse(data []byte) (file *ast.File, err error) {
	defer recovered(&err)
	if len(data) > MaxSize {
		return nil, &Error{Problem: fmt.Sprintf("it has %d bytes; the limit is %d", len(data), MaxSize)}
	}
	if deep(data) {
		return nil, tooDeep(0)
	}
	if file, err = parser.ParseBytes(data, 0); err != nil {
		return nil, explain(err)
	}
	if err := measure(file); err != nil {
		return nil, err
	}
	return file, nil
}

// deep reports whether a text opens more flow collections than may be nested. What
// is in quotes and comments counts as well, up to a number that no text needs.
func deep(data []byte) bool {
	depth, maximum := 0, 0
	for _, b := range data {
		switch b {
		case '[', '{':
			depth++
			maximum = max(maximum, depth)
		case ']', '}':
			depth = max(depth-1, 0)
		}
	}
	return maximum > MaxDepth
}

func tooDeep(line int) error {
	return &Error{Line: line, Problem: fmt.Sprintf("it nests more than %d collections", MaxDepth)}
}

// recovered turns a panic of the library into an error.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = &Error{Problem: fmt.Sprintf("it is not readable YAML (%v)", r)}
	}
}

// explain returns an error of the library in our words.
func explain(err error) error {
	if wrong, ok := errors.AsType[*yaml.TypeError](err); ok {
		return &Error{Line: wrong.Token.Position.Line, Problem: fmt.Sprintf("expected %s, got %s", kind(wrong.DstType), kind(wrong.SrcType))}
	}
	if wrong, ok := errors.AsType[*yaml.UnexpectedNodeTypeError](err); ok {
		return &Error{Line: wrong.Token.Position.Line, Problem: fmt.Sprintf("expected %s, got %s", nodeKind(wrong.Expected), nodeKind(wrong.Actual))}
	}
	if at, ok := errors.AsType[yaml.Error](err); ok {
		line := 0
		if at.GetToken() != nil {
			line = at.GetToken().Position.Line
		}
		return &Error{Line: line, Problem: firstLine(at.GetMessage())}
	}
	return &Error{Problem: "it is not YAML: " + firstLine(err.Error())}
}

// nodeKind returns what a person calls a type of nodes.
func nodeKind(t ast.NodeType) string {
	switch t {
	case ast.MappingType, ast.MappingValueType:
		return "a mapping"
	case ast.SequenceType:
		return "a list"
	case ast.StringType, ast.LiteralType:
		return "text"
	case ast.BoolType:
		return "true or false"
	case ast.NullType:
		return "nothing"
	case ast.IntegerType, ast.FloatType, ast.InfinityType, ast.NanType:
		return "a number"
	}
	return "something else"
}

// kind returns what a person calls the values of a type.
func kind(t reflect.Type) string {
	if t == nil {
		return "something else"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "text"
	case reflect.Slice, reflect.Array:
		if t == reflect.TypeFor[yaml.MapSlice]() {
			return "a mapping"
		}
		return "a list"
	case reflect.Map, reflect.Struct:
		return "a mapping"
	case reflect.Pointer:
		return kind(t.Elem())
	}
	return "a number"
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
