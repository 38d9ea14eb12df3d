// Package jsonedit changes members of a JSON text with comments and keeps everything else, byte for
// byte: the order, comments, trailing commas, indentation, and line endings.
//
// [Parse] reads a text, [Object.Set] and [Object.Remove] change its objects, and [Document.Text]
// returns the result. A text without a change is returned unchanged.
package jsonedit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/copse-dev/copse/internal/cleantext"
)

// ErrShape is the error for texts that are JSON but not a configuration.
var ErrShape = errors.New("the servers are not an object")

// Document is a text with an object.
type Document struct {
	value hujson.Value
	root  *Object
	// marked means that the text begins with a byte order mark, as some editors on Windows write it.
	marked bool
}

const byteOrderMark = "\uFEFF"

// Parse reads a text. An empty one is an empty object. It is an error if one of the keys, or one in their
// values, occurs twice in an object: this package changes the first, and other programs read the last.
func Parse(text []byte, keys ...string) (*Document, error) {
	text, marked := bytes.CutPrefix(text, []byte(byteOrderMark))
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	if err := checkNesting(text); err != nil {
		return nil, err
	}
	v, err := hujson.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	root, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, ErrShape
	}
	of := func(name string) bool { return slices.Contains(keys, name) }
	if key, twice := repeated(root, of); twice {
		return nil, fmt.Errorf("the key %q occurs twice in an object, and programs differ in which of them they use; remove one", cleantext.Cut(cleantext.Line(key), maxKey))
	}
	return &Document{value: v, root: &Object{root, styleOf(text), 1}, marked: marked}, nil
}

// maxKey limits the text of a key in an error.
const maxKey = 100

// repeated returns a key that occurs twice in an object: one of those for which the function returns true, or any
// key in their values.
func repeated(o *hujson.Object, of func(name string) bool) (key string, twice bool) {
	seen := make(map[string]bool, len(o.Members))
	for i, name := range (&Object{object: o}).Names() {
		if !of(name) {
			continue
		}
		if seen[name] {
			return name, true
		}
		seen[name] = true
		if key, twice = within(o.Members[i].Value); twice {
			return key, true
		}
	}
	return "", false
}

// within returns a key that occurs twice in an object in a value.
func within(v hujson.Value) (key string, twice bool) {
	switch inner := v.Value.(type) {
	case *hujson.Object:
		return repeated(inner, func(string) bool { return true })
	case *hujson.Array:
		for _, e := range inner.Elements {
			if key, twice = within(e); twice {
				return key, true
			}
		}
	}
	return "", false
}

// Root returns the object of the text.
func (d *Document) Root() *Object { return d.root }

// Text returns the text with the changes.
func (d *Document) Text() []byte {
	text := d.value.Pack()
	if d.marked {
		return append([]byte(byteOrderMark), text...)
	}
	return text
}

// EmptyObjects returns the names of the members that are objects without members and comments, nil for
// an invalid text.
func EmptyObjects(text []byte) []string {
	doc, err := Parse(text)
	if err != nil {
		return nil
	}
	var names []string
	for _, name := range doc.root.Names() {
		if inner, _ := doc.root.Object(name); inner != nil && inner.Empty() {
			names = append(names, name)
		}
	}
	return names
}

// Object is an object in a [Document].
type Object struct {
	object *hujson.Object
	style  style
	depth  int // of its members
}

// index returns the position of a member, -1 if there is none.
func (o *Object) index(name string) int {
	return slices.IndexFunc(o.object.Members, func(m hujson.ObjectMember) bool {
		literal, ok := m.Name.Value.(hujson.Literal)
		return ok && literal.String() == name
	})
}

// Len returns the number of members.
func (o *Object) Len() int { return len(o.object.Members) }

// Empty reports whether the object has neither members nor comments.
func (o *Object) Empty() bool { return o.Len() == 0 && len(bytes.TrimSpace(o.object.AfterExtra)) == 0 }

// Has reports whether the object has a member.
func (o *Object) Has(name string) bool { return o.index(name) >= 0 }

// Get returns a member as encoding/json decodes it, nil if there is none.
func (o *Object) Get(name string) any {
	var out any
	if json.Unmarshal(o.Raw(name), &out) != nil {
		return nil
	}
	return out
}

// Raw returns the JSON of a member without comments and trailing commas, nil if there is none.
func (o *Object) Raw(name string) []byte {
	i := o.index(name)
	if i < 0 {
		return nil
	}
	return standard(o.object.Members[i].Value)
}

// JSON returns the object without comments and trailing commas.
func (o *Object) JSON() []byte { return standard(hujson.Value{Value: o.object}) }

func standard(v hujson.Value) []byte {
	v = v.Clone()
	v.Standardize()
	return v.Pack()
}

// Object returns a member that is an object, nil if there is none.
func (o *Object) Object(name string) (*Object, error) {
	i := o.index(name)
	if i < 0 {
		return nil, nil
	}
	inner, ok := o.object.Members[i].Value.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("%w: %q", ErrShape, name)
	}
	return &Object{inner, o.style, o.depth + 1}, nil
}

// AddObject returns a member that is an object. It adds an empty one if there is none.
func (o *Object) AddObject(name string) (*Object, error) {
	if inner, err := o.Object(name); inner != nil || err != nil {
		return inner, err
	}
	return o.ReplaceObject(name), nil
}

// ReplaceObject sets a member to an empty object, and returns it.
func (o *Object) ReplaceObject(name string) *Object {
	inner := &hujson.Object{AfterExtra: hujson.Extra(o.style.line(o.depth))}
	o.put(name, inner)
	return &Object{inner, o.style, o.depth + 1}
}

// List returns a member that is a list, nil if there is none.
func (o *Object) List(name string) (*List, error) {
	i := o.index(name)
	if i < 0 {
		return nil, nil
	}
	inner, ok := o.object.Members[i].Value.Value.(*hujson.Array)
	if !ok {
		return nil, fmt.Errorf("%w: %q", ErrShape, name)
	}
	return &List{inner, o.style, o.depth + 1}, nil
}

// Set sets the value of a member. If both the old value and the new one are objects, it sets the
// members that differ, and the others stay.
func (o *Object) Set(name string, value any) {
	if members, ok := value.(map[string]any); ok {
		if inner, _ := o.Object(name); inner != nil { // of another form, it is replaced
			for _, key := range slices.Sorted(maps.Keys(members)) {
				if !inner.Has(key) || !reflect.DeepEqual(inner.Get(key), members[key]) {
					inner.Set(key, members[key])
				}
			}
			return
		}
	}
	o.put(name, o.style.value(value, o.depth).Value)
}

// put gives a member a value: in its place, or at the end of the object, formatted like its
// neighbors.
func (o *Object) put(name string, value hujson.ValueTrimmed) {
	if i := o.index(name); i >= 0 {
		o.object.Members[i].Value.Value = value
		return
	}
	// The end of the object stays as it is, so that Remove restores the text. A comment after the last
	// member stays in place, and so does a trailing comma.
	n := o.Len()
	comment := bytes.TrimRight(o.object.AfterExtra, " \t\r\n")
	end := o.object.AfterExtra[len(comment):]
	before := o.style.line(o.depth)
	switch oneLine := !bytes.Contains(end, []byte("\n")); {
	case oneLine && n > 0:
		before = " "
	case oneLine:
		end = hujson.Extra(o.style.line(o.depth - 1))
	}
	m := hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: append(bytes.Clone(comment), before...), Value: hujson.Literal(encoded(name))},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: value},
	}
	if n > 0 && o.object.Members[n-1].Value.AfterExtra != nil {
		m.Value.AfterExtra = hujson.Extra{}
	}
	o.object.Members = append(o.object.Members, m)
	o.object.AfterExtra = end
}

// Remove removes a member with the space before it; comments stay.
func (o *Object) Remove(name string) {
	i := o.index(name)
	if i < 0 {
		return
	}
	gone := o.object.Members[i]
	o.object.Members = slices.Delete(o.object.Members, i, i+1)
	after := &o.object.AfterExtra
	if i < o.Len() {
		after = &o.object.Members[i].Name.BeforeExtra
	} else if i > 0 {
		o.endAt(&o.object.Members[i-1].Value, gone.Value.AfterExtra != nil)
	}
	if before := bytes.TrimRight(gone.Name.BeforeExtra, " \t\r\n"); len(before) > 0 {
		if endsLine(before) && !bytes.HasPrefix(bytes.TrimLeft(*after, " \t\r"), []byte("\n")) {
			before = append(bytes.Clone(before), '\n')
		}
		*after = append(bytes.Clone(before), *after...)
	}
	if o.Empty() {
		o.object.AfterExtra = nil
	}
}

// endAt makes a value the last of the object, with a trailing comma or without. Without one, what
// was between the value and its comma becomes the end of the object.
func (o *Object) endAt(last *hujson.Value, comma bool) {
	switch {
	case comma && last.AfterExtra == nil:
		last.AfterExtra = hujson.Extra{}
	case !comma:
		o.object.AfterExtra = append(bytes.Clone(last.AfterExtra), o.object.AfterExtra...)
		last.AfterExtra = nil
	}
}

// endsLine reports whether a comment can end with its line, and not before.
func endsLine(comment []byte) bool {
	last := comment[bytes.LastIndexByte(comment, '\n')+1:]
	return !bytes.HasSuffix(last, []byte("*/")) || bytes.Contains(last, []byte("//"))
}

// Names returns the names of the members.
func (o *Object) Names() []string {
	names := make([]string, 0, o.Len())
	for _, m := range o.object.Members {
		if literal, ok := m.Name.Value.(hujson.Literal); ok {
			names = append(names, literal.String())
		}
	}
	return names
}

// List is a list in a [Document].
type List struct {
	array *hujson.Array
	style style
	depth int // of its elements
}

// Len returns the number of elements.
func (l *List) Len() int { return len(l.array.Elements) }

// Objects returns the elements that are objects.
func (l *List) Objects() iter.Seq[*Object] {
	return func(yield func(*Object) bool) {
		for _, e := range l.array.Elements {
			if inner, ok := e.Value.(*hujson.Object); ok && !yield(&Object{inner, l.style, l.depth + 1}) {
				return
			}
		}
	}
}

// Add adds an element at the end.
func (l *List) Add(value any) {
	v := l.style.value(value, l.depth)
	v.BeforeExtra = hujson.Extra(l.style.line(l.depth))
	l.array.Elements = append(l.array.Elements, v)
}

// RemoveObjects removes the elements that are objects for which the function returns true. It
// reports whether there were any.
func (l *List) RemoveObjects(gone func(*Object) bool) bool {
	n := l.Len()
	l.array.Elements = slices.DeleteFunc(l.array.Elements, func(v hujson.Value) bool {
		inner, ok := v.Value.(*hujson.Object)
		return ok && gone(&Object{inner, l.style, l.depth + 1})
	})
	return l.Len() != n
}

// style is the layout of a text.
type style struct{ newline, indent string }

// styleOf returns the style of the first indented line.
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

// line returns the beginning of a line at a depth.
func (s style) line(depth int) string { return s.newline + strings.Repeat(s.indent, max(depth, 0)) }

// value returns a value laid out at a depth.
func (s style) value(v any, depth int) hujson.Value {
	var b bytes.Buffer
	if err := json.Indent(&b, encoded(v), strings.Repeat(s.indent, depth), s.indent); err != nil { // it came from an encoder
		panic(err)
	}
	value, err := hujson.Parse(bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte(s.newline)))
	if err != nil {
		panic(err)
	}
	return value
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

// maxNesting limits how deep a text may nest values. The library that reads it needs a kilobyte for
// each level and has no limit of its own.
const maxNesting = 1000

// checkNesting refuses a text that nests too deep. What is in strings and comments does not count.
func checkNesting(text []byte) error {
	depth := 0
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		switch {
		case rest[0] == '"':
			for i++; i < len(text) && text[i] != '"' && text[i] != '\n'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case bytes.HasPrefix(rest, []byte("//")):
			i += through(rest, "\n")
		case bytes.HasPrefix(rest, []byte("/*")):
			i += 2 + through(rest[2:], "*/")
		case rest[0] == '[' || rest[0] == '{':
			if depth++; depth > maxNesting {
				return fmt.Errorf("it nests more than %d values", maxNesting)
			}
		case rest[0] == ']' || rest[0] == '}':
			depth = max(depth-1, 0)
		}
	}
	return nil
}

// through returns the position of the last byte of a mark, or of the text if it has none.
func through(text []byte, mark string) int {
	if i := bytes.Index(text, []byte(mark)); i >= 0 {
		return i + len(mark) - 1
	}
	return len(text) - 1
}
