package toolset

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/copse-dev/copse/internal/jsonshape"
)

// field is one property of an input type.
type field struct {
	name        string
	index       int
	jsonType    string
	itemType    string // of an array
	description string
	required    bool
	nullable    bool // null is a value, not absence
	own         bool // its type reads JSON itself
	noZero      bool // 0 is not a valid value, although the schema has no minimum
	digits      bool // a number counts as its digits
	enum        []string
	min, max    *float64
	fallback    json.RawMessage // the default, for people to know
}

// input is [New]'s data about an input type: the source of its schema and of its checks, so the two
// cannot disagree.
type input struct {
	fields []field
}

// inputOf reads the tags of In. Schemas are flat on purpose: no $ref, no unions, no null, which
// some clients do not support.
func inputOf[In any]() input {
	t := reflect.TypeFor[In]()
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("toolset: input %v is not a struct", t))
	}
	var in input
	for i := range t.NumField() {
		sf := t.Field(i)
		name, omissible := jsonshape.Field(sf)
		if name == "" {
			panic(fmt.Sprintf("toolset: field %v.%s has no JSON name", t, sf.Name))
		}
		f := field{
			name:        name,
			index:       i,
			description: sf.Tag.Get("description"),
			noZero:      sf.Tag.Get("zero") == "none",
			digits:      sf.Tag.Get("number") == "text",
			required:    !omissible,
		}
		t := sf.Type
		if o, ok := reflect.TypeAssert[optional](reflect.Zero(t)); ok {
			f.nullable, t = true, o.value().Type()
		}
		f.jsonType, f.itemType = jsonType(t)
		f.own = reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
		if e := sf.Tag.Get("enum"); e != "" {
			f.enum = strings.Split(e, ",")
		}
		f.min = bound(t, sf, "min")
		f.max = bound(t, sf, "max")
		if d := sf.Tag.Get("default"); d != "" {
			f.fallback = json.RawMessage(d)
			if !json.Valid(f.fallback) {
				panic(fmt.Sprintf("toolset: tag default of %v.%s is not JSON", t, sf.Name))
			}
		}
		in.fields = append(in.fields, f)
	}
	return in
}

func bound(t reflect.Type, sf reflect.StructField, tag string) *float64 {
	s := sf.Tag.Get(tag)
	if s == "" {
		return nil
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(fmt.Sprintf("toolset: tag %s of %v.%s: %v", tag, t, sf.Name, err))
	}
	return &n
}

func (in input) schema() *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object"}
	for _, f := range in.fields {
		p := &jsonschema.Schema{
			Type:        f.jsonType,
			Description: f.description,
			Minimum:     f.min,
			Maximum:     f.max,
			Default:     f.fallback,
		}
		if f.itemType != "" {
			p.Items = &jsonschema.Schema{Type: f.itemType}
		}
		valued := p
		if f.itemType != "" {
			valued = p.Items
		}
		for _, e := range f.enum {
			valued.Enum = append(valued.Enum, e)
		}
		if s.Properties == nil {
			s.Properties = make(map[string]*jsonschema.Schema)
		}
		s.Properties[f.name] = p
		s.PropertyOrder = append(s.PropertyOrder, f.name)
		if f.required {
			s.Required = append(s.Required, f.name)
		}
	}
	return s
}

// jsonType returns the JSON type of a Go type, and of its elements for an array. A type that
// marshals itself counts as a string or an object, by its kind.
func jsonType(t reflect.Type) (typ, item string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Implements(reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]()) &&
		!t.Implements(reflect.TypeFor[json.Marshaler]()) {
		return "string", ""
	}
	switch t.Kind() {
	case reflect.String:
		return "string", ""
	case reflect.Bool:
		return "boolean", ""
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "integer", ""
	case reflect.Float32, reflect.Float64:
		return "number", ""
	case reflect.Slice, reflect.Array:
		item, _ = jsonType(t.Elem())
		return "array", item
	case reflect.Struct, reflect.Map:
		return "object", ""
	}
	panic(fmt.Sprintf("toolset: type %v has no JSON schema", t))
}
