package wire

import (
	"encoding/json"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"
)

// SchemaJSON writes a schema as its MarshalJSON does, in a tenth of the time: at the start, a
// client mostly waits for the schemas of the tools. It supports the parts that toolsets use; a test
// compares it with MarshalJSON for all of them.
func SchemaJSON(s *jsonschema.Schema) json.RawMessage { return appendSchema(nil, s) }

func appendSchema(b []byte, s *jsonschema.Schema) []byte {
	o := object{b: append(b, '{')}
	if s.Type != "" {
		o.text("type", s.Type)
	}
	if s.Properties != nil {
		o.key("properties")
		inner := object{b: append(o.b, '{')}
		for _, name := range s.PropertyOrder {
			inner.key(name)
			inner.b = appendSchema(inner.b, s.Properties[name])
		}
		inner.b = append(inner.b, '}')
		o.b = inner.b
	}
	if s.Items != nil {
		o.key("items")
		o.b = appendSchema(o.b, s.Items)
	}
	if s.Description != "" {
		o.text("description", s.Description)
	}
	if s.Default != nil {
		o.key("default")
		o.b = append(o.b, s.Default...)
	}
	if s.Enum != nil {
		o.key("enum")
		o.value(s.Enum)
	}
	o.number("minimum", s.Minimum)
	o.number("maximum", s.Maximum)
	if s.Required != nil {
		o.key("required")
		o.value(s.Required)
	}
	return append(o.b, '}')
}

// object is a JSON object in progress.
type object struct {
	b     []byte
	begun bool
}

func (o *object) key(name string) {
	if o.begun {
		o.b = append(o.b, ',')
	}
	o.begun = true
	o.value(name)
	o.b = append(o.b, ':')
}

func (o *object) text(name, value string) {
	o.key(name)
	o.value(value)
}

func (o *object) number(name string, value *float64) {
	if value != nil {
		o.key(name)
		o.b = strconv.AppendFloat(o.b, *value, 'f', -1, 64)
	}
}

// value writes strings and lists of them, which always encode.
func (o *object) value(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	o.b = append(o.b, data...)
}
