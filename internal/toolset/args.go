package toolset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// ArgumentError reports a wrong argument of a call and the allowed values. Handlers also return it
// for rules that a schema cannot express.
type ArgumentError struct {
	// Name of the argument; "" if the arguments as a whole are wrong.
	Name string
	// Message is a complete sentence without the final period.
	Message string
	// Hint is the next step, "" if the message contains it.
	Hint string
}

func (e *ArgumentError) Error() string { return e.Message }

// decode checks raw against the fields and fills the struct that into points to. null counts as
// absent, and so do 0 and "" if they cannot be valid values: some clients send a value for every
// argument. Both are also an empty list, and 0 is an empty text.
func (in input) decode(raw json.RawMessage, into any) error {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		raw = []byte("{}")
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil {
		return &ArgumentError{Message: fmt.Sprintf("Arguments must be a JSON object, got %s", kindOf(raw))}
	}
	if err := in.refuseUnknown(values); err != nil {
		return err
	}
	v := reflect.ValueOf(into).Elem()
	for _, f := range in.fields {
		value, ok := values[f.name]
		if !ok || bytes.Equal(value, []byte("null")) && !f.nullable {
			if f.required {
				return &ArgumentError{Name: f.name, Message: fmt.Sprintf("Missing required argument %q (%s)", f.name, f.allowed())}
			}
			continue
		}
		value = f.plain(value)
		if f.none(value) {
			continue
		}
		target := v.Field(f.index)
		if err := json.Unmarshal(value, target.Addr().Interface()); err != nil {
			return f.wrong(err, value)
		}
		if err := f.check(target, value); err != nil {
			return err
		}
	}
	return nil
}

// plain returns a value in the form that its type reads, if the value has another usual form.
func (f field) plain(value json.RawMessage) json.RawMessage {
	switch {
	case f.jsonType == "integer":
		return plainInteger(value)
	case f.required || string(value) != `""` && string(value) != "0":
	case f.jsonType == "array" && !f.own:
		return json.RawMessage("[]")
	case f.jsonType == "string":
		return json.RawMessage(`""`)
	}
	if _, err := strconv.ParseUint(string(value), 10, 64); f.digits && err == nil && string(value) != "0" {
		return json.RawMessage(strconv.Quote(string(value)))
	}
	return value
}

// none reports whether a value of an optional argument means that there is none, although the
// argument has no such value.
func (f field) none(value json.RawMessage) bool {
	if f.required || f.nullable {
		return false
	}
	blank, zero := string(value) == `""`, string(value) == "0"
	switch f.jsonType {
	case "integer", "number":
		return blank || zero && (f.own || f.noZero || f.min != nil && *f.min > 0)
	case "boolean", "object":
		return blank || zero
	case "string":
		return blank && len(f.enum) > 0
	}
	return false
}

func (in input) refuseUnknown(values map[string]json.RawMessage) error {
	var unknown []string
	for name := range values {
		if !slices.ContainsFunc(in.fields, func(f field) bool { return f.name == name }) {
			unknown = append(unknown, strconv.Quote(name))
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	allowed := "this tool takes no arguments"
	if len(in.fields) > 0 {
		var names []string
		for _, f := range in.fields {
			names = append(names, f.name)
		}
		allowed = "allowed: " + strings.Join(names, ", ")
	}
	noun := "argument"
	if len(unknown) > 1 {
		noun = "arguments"
	}
	return &ArgumentError{Message: fmt.Sprintf("Unknown %s %s; %s", noun, strings.Join(unknown, ", "), allowed)}
}

// wrong explains why value did not fit. A type with its own rules explains it in its UnmarshalJSON,
// with an *ArgumentError if it has a hint.
func (f field) wrong(err error, value json.RawMessage) error {
	if own, ok := errors.AsType[*ArgumentError](err); ok {
		return &ArgumentError{Name: f.name, Message: fmt.Sprintf("Argument %q: %s", f.name, own.Message), Hint: own.Hint}
	}
	_, ofType := errors.AsType[*json.UnmarshalTypeError](err)
	_, ofSyntax := errors.AsType[*json.SyntaxError](err)
	if !ofType && !ofSyntax {
		return &ArgumentError{Name: f.name, Message: fmt.Sprintf("Argument %q: %v", f.name, err)}
	}
	if f.itemType != "" && value[0] == '[' {
		return f.refuse("the list " + clip(string(value)))
	}
	return f.refuse(kindOf(value))
}

func (f field) refuse(got string) error {
	return &ArgumentError{Name: f.name, Message: fmt.Sprintf("Argument %q must be %s, got %s", f.name, f.allowed(), got)}
}

// check checks a decoded value against enum and bounds.
func (f field) check(v reflect.Value, raw json.RawMessage) error {
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if o, ok := reflect.TypeAssert[optional](v); ok {
		if bytes.Equal(raw, []byte("null")) {
			return nil
		}
		v = o.value()
	}
	if len(f.enum) > 0 && !f.knows(v) {
		return f.refuse(clip(string(raw)))
	}
	if f.min == nil && f.max == nil {
		return nil
	}
	var n float64
	switch {
	case v.CanInt():
		n = float64(v.Int())
	case v.CanUint():
		n = float64(v.Uint())
	case v.CanFloat():
		n = v.Float()
	}
	if (f.min != nil && n < *f.min) || (f.max != nil && n > *f.max) {
		return f.refuse(clip(string(raw)))
	}
	return nil
}

// knows reports whether a value, or each element of a list, is in the enum.
func (f field) knows(v reflect.Value) bool {
	if v.Kind() != reflect.Slice {
		return slices.Contains(f.enum, v.String())
	}
	for i := range v.Len() {
		if !slices.Contains(f.enum, v.Index(i).String()) {
			return false
		}
	}
	return true
}

// allowed describes the values of f: `one of "open", "closed"`, `an integer from 1 to 100`.
func (f field) allowed() string {
	if len(f.enum) > 0 {
		quoted := make([]string, len(f.enum))
		for i, e := range f.enum {
			quoted[i] = strconv.Quote(e)
		}
		if f.itemType != "" {
			return "a list of " + strings.Join(quoted, ", ")
		}
		return "one of " + strings.Join(quoted, ", ")
	}
	s := map[string]string{
		"string": "a string", "boolean": "true or false", "integer": "an integer",
		"number": "a number", "array": "a list", "object": "an object",
	}[f.jsonType]
	if f.itemType != "" {
		s += " of " + f.itemType + "s"
	}
	switch {
	case f.min != nil && f.max != nil:
		s += fmt.Sprintf(" from %s to %s", number(*f.min), number(*f.max))
	case f.min != nil:
		s += " of at least " + number(*f.min)
	case f.max != nil:
		s += " of at most " + number(*f.max)
	}
	return s
}

func number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// plainInteger converts 5.0 and 1e3, which are integers in a JSON schema, and digits in a string,
// which some clients send, to a form that encoding/json accepts as an integer.
func plainInteger(raw json.RawMessage) json.RawMessage {
	if digits := bytes.Trim(raw, `"`); len(digits) == len(raw)-2 && len(bytes.Trim(digits, "0123456789")) == 0 && len(digits) > 0 && (digits[0] != '0' || len(digits) == 1) {
		return digits
	}
	if !bytes.ContainsAny(raw, ".eE") || len(raw) > 32 {
		return raw
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return raw
	}
	i, _ := big.NewFloat(f).Int(nil)
	return json.RawMessage(i.String())
}

// kindOf names the JSON type of raw, with a short value where that helps.
func kindOf(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "the string " + clip(string(raw))
	case 't', 'f':
		return string(raw)
	case 'n':
		return "null"
	}
	return clip(string(raw))
}

func clip(s string) string {
	const maxShown = 40
	if r := []rune(s); len(r) > maxShown {
		return string(r[:maxShown]) + "…"
	}
	return s
}
