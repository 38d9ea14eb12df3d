package toolset

import (
	"encoding/json"
	"reflect"
)

// Optional is an argument for which null differs from absence: it clears a value. In the schema it
// is a T; the description must explain null.
type Optional[T any] struct {
	// Set is false if the argument was absent.
	Set bool
	// Value is the zero value for null.
	Value T
}

// UnmarshalJSON accepts null or a T.
func (o *Optional[T]) UnmarshalJSON(data []byte) error {
	o.Set = true
	if string(data) == "null" {
		return nil
	}
	return json.Unmarshal(data, &o.Value)
}

func (o Optional[T]) value() reflect.Value { return reflect.ValueOf(o.Value) }

// optional is an Optional of any type.
type optional interface{ value() reflect.Value }
