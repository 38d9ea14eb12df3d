// Package graph executes GraphQL documents over a graph of values, by the part of GitHub's schema that
// the test server knows.
package graph

import (
	_ "embed"
	"slices"
	"strconv"
	"sync"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

//go:embed schema.graphql
var schemaText string

// schema is the part of GitHub's schema that the server knows.
var schema = sync.OnceValue(func() *ast.Schema { //nolint:gochecknoglobals // computed once
	return gqlparser.MustLoadSchema(&ast.Source{Name: "schema.graphql", Input: schemaText})
})

// Document is a valid document.
type Document struct{ parsed *ast.QueryDocument }

// Parse parses and validates a document.
func Parse(text string) (Document, error) {
	parsed, errs := gqlparser.LoadQueryWithRules(schema(), text, rules.NewDefaultRules())
	if len(errs) > 0 {
		return Document{}, errs
	}
	return Document{parsed}, nil
}

// Mentions reports whether the document selects a field.
func (d Document) Mentions(field string) bool {
	var in func(ast.SelectionSet) bool
	in = func(set ast.SelectionSet) bool {
		for _, sel := range set {
			switch sel := sel.(type) {
			case *ast.Field:
				if sel.Name == field || in(sel.SelectionSet) {
					return true
				}
			case *ast.InlineFragment:
				if in(sel.SelectionSet) {
					return true
				}
			}
		}
		return false
	}
	for _, f := range d.parsed.Fragments {
		if in(f.SelectionSet) {
			return true
		}
	}
	return in(d.parsed.Operations[0].SelectionSet)
}

// Value is an object of the graph: its type and its fields, which are plain values, values, lists of
// values, lists with pages, or functions of the arguments.
type Value struct {
	Kind   string
	Fields map[string]any
}

// Of returns a value.
func Of(kind string, fields map[string]any) *Value { return &Value{Kind: kind, Fields: fields} }

// Connection is a list with pages.
type Connection []*Value

// Resolver is a field with arguments.
type Resolver func(arguments map[string]any) any

// Missing is the error of a field with an unknown name.
type Missing string

type object = map[string]any

// Execute returns what a document selects of a graph, and the errors of fields. forbidden are the
// fields that the client may not see.
func (d Document) Execute(root *Value, variables map[string]any, forbidden []string) (data map[string]any, errors []map[string]any) {
	x := &execution{variables: variables, forbidden: forbidden}
	return x.object(root, d.parsed.Operations[0].SelectionSet, nil), x.errors
}

// execution is the execution of one document.
type execution struct {
	variables map[string]any
	forbidden []string
	errors    []object
}

// object returns the selected fields of a value.
func (x *execution) object(v *Value, set ast.SelectionSet, path []any) object {
	out := object{}
	x.collect(v, set, path, out)
	return out
}

func (x *execution) collect(v *Value, set ast.SelectionSet, path []any, out object) {
	for _, sel := range set {
		switch sel := sel.(type) {
		case *ast.Field:
			if x.included(sel.Directives) {
				x.field(v, sel, append(slices.Clip(path), sel.Alias), out)
			}
		case *ast.InlineFragment:
			if x.included(sel.Directives) && x.fits(v, sel.TypeCondition) {
				x.collect(v, sel.SelectionSet, path, out)
			}
		case *ast.FragmentSpread:
			if x.included(sel.Directives) && x.fits(v, sel.Definition.TypeCondition) {
				x.collect(v, sel.Definition.SelectionSet, path, out)
			}
		}
	}
}

// fits reports whether a value is of a type, an interface or a union.
func (x *execution) fits(v *Value, name string) bool {
	if name == "" || name == v.Kind {
		return true
	}
	for _, t := range schema().PossibleTypes[name] {
		if t.Name == v.Kind {
			return true
		}
	}
	return false
}

func (x *execution) included(directives ast.DirectiveList) bool {
	for _, d := range directives {
		on, err := d.Arguments.ForName("if").Value.Value(x.variables)
		if err == nil && (d.Name == "include") != (on == true) {
			return false
		}
	}
	return true
}

func (x *execution) field(v *Value, f *ast.Field, path []any, out object) {
	if f.Name == "__typename" {
		out[f.Alias] = v.Kind
		return
	}
	if slices.Contains(x.forbidden, f.Name) {
		x.errors = append(x.errors, object{"type": "FORBIDDEN", "path": path, "message": "Resource not accessible by personal access token"})
		out[f.Alias] = nil
		return
	}
	arguments := f.ArgumentMap(x.variables)
	got := v.Fields[f.Name]
	if call, ok := got.(Resolver); ok {
		got = call(arguments)
	}
	switch got := got.(type) {
	case *Value:
		if got == nil {
			out[f.Alias] = nil
			return
		}
		out[f.Alias] = x.object(got, f.SelectionSet, path)
	case Connection:
		out[f.Alias] = x.object(got.page(arguments), f.SelectionSet, path)
	case []*Value:
		list := []any{}
		for i, element := range got {
			list = append(list, x.object(element, f.SelectionSet, append(slices.Clip(path), i)))
		}
		out[f.Alias] = list
	case Missing:
		x.errors = append(x.errors, object{"type": "NOT_FOUND", "path": path, "message": string(got)})
		out[f.Alias] = nil
	default:
		out[f.Alias] = got
	}
}

// page returns a part of a list, with the cursors of the neighboring parts. The cursor of an
// element is its index.
func (c Connection) page(arguments map[string]any) *Value {
	place := func(name string, fallback int) int {
		if text, ok := arguments[name].(string); ok {
			if n, err := strconv.Atoi(text); err == nil {
				return n
			}
		}
		return fallback
	}
	size := func(name string) (int, bool) {
		switch n := arguments[name].(type) {
		case int64:
			return int(n), true
		case float64:
			return int(n), true
		}
		return 0, false
	}
	from, to := place("after", -1)+1, place("before", len(c))
	from, to = min(max(from, 0), len(c)), min(max(to, 0), len(c))
	if n, ok := size("first"); ok {
		to = min(to, from+n)
	}
	if n, ok := size("last"); ok {
		from = max(from, to-n)
	}
	info := map[string]any{"hasPreviousPage": from > 0, "hasNextPage": to < len(c), "startCursor": nil, "endCursor": nil}
	if from < to {
		info["startCursor"], info["endCursor"] = strconv.Itoa(from), strconv.Itoa(to-1)
	}
	return &Value{Fields: object{
		"totalCount": len(c), "nodes": []*Value(c[from:max(from, to)]), "pageInfo": Of("PageInfo", info),
	}}
}
