// Package jsonshape describes the JSON form of a Go value on one line, for references:
// the names and nesting of the fields, with "?" after those that may be absent.
//
//	{stack: [{branch, jira_issue?, pr_number?}], showing?}
package jsonshape

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Describe describes the JSON of a type. A type that encodes itself describes its form in a method
// Describe.
func Describe(t reflect.Type) string { return describe(t, nil) }

func describe(t reflect.Type, above []reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if own, ok := reflect.TypeAssert[interface{ Describe() string }](reflect.Zero(t)); ok {
		return own.Describe()
	}
	switch {
	case t == reflect.TypeFor[json.RawMessage](): // any JSON
		return ""
	case t.Kind() == reflect.Slice:
		inner := describe(t.Elem(), above)
		if inner == "" {
			return "[…]"
		}
		return "[" + inner + "]"
	case t.Kind() != reflect.Struct || t.PkgPath() == "time":
		return ""
	case slices.Contains(above, t):
		return "…" // the same again
	}
	return "{" + strings.Join(describeFields(t, append(above, t), nil), ", ") + "}"
}

// describeFields lists the fields of t, with those of embedded structs in place. A field of an
// outer struct hides an inner one with the same name.
func describeFields(t reflect.Type, above []reflect.Type, hidden []string) []string {
	var own []string
	for f := range t.Fields() {
		if name, _ := Field(f); name != "" {
			own = append(own, name)
		}
	}
	var parts []string
	for f := range t.Fields() {
		name, optional := Field(f)
		switch {
		case f.Anonymous && name == "":
			parts = append(parts, describeFields(f.Type, above, append(slices.Clone(hidden), own...))...)
			continue
		case name == "" || slices.Contains(hidden, name):
			continue
		}
		part := name
		if optional {
			part += "?"
		}
		if inner := describe(f.Type, above); inner != "" {
			part = fmt.Sprintf("%s: %s", part, inner)
		}
		parts = append(parts, part)
	}
	return parts
}

// Field returns a field's name in JSON, "" if it has none, and whether it can be absent.
func Field(sf reflect.StructField) (name string, optional bool) {
	name, opts, _ := strings.Cut(sf.Tag.Get("json"), ",")
	if name == "-" {
		name = ""
	}
	optional = strings.Contains(","+opts+",", ",omitempty,") || strings.Contains(","+opts+",", ",omitzero,")
	return name, optional
}
