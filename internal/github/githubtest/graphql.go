package githubtest

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

//go:embed schema.graphql
var schemaText string

// schema is the part of GitHub's schema that this server knows.
var schema = sync.OnceValue(func() *ast.Schema { //nolint:gochecknoglobals // computed once
	return gqlparser.MustLoadSchema(&ast.Source{Name: "schema.graphql", Input: schemaText})
})

// teamScope is GitHub's message about the names of teams, which require a token with one more
// scope.
const teamScope = "Your token has not been granted the required scopes to execute this query. " +
	"The 'slug' field requires one of the following scopes: ['read:org', 'read:discussion']."

// answerGraphQL validates and executes a document, as GitHub does: errors come with
// status 200.
func (s *Server) answerGraphQL(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	fixture := s.fixture
	s.mu.Unlock()
	if fixture.RESTOnly {
		s.notFound(w, r)
		return
	}
	var q struct {
		Query     string         `json:"query"`
		Variables map[string]any `json:"variables"`
	}
	if json.NewDecoder(r.Body).Decode(&q) != nil {
		s.problem(w, http.StatusBadRequest, "Problems parsing JSON", "https://docs.github.com/graphql")
		return
	}
	document, err := s.document(q.Query)
	if err != nil {
		s.send(w, http.StatusOK, object{"errors": []object{{"message": err.Error(), "extensions": object{"code": "undefinedField"}}}})
		return
	}
	for _, unknown := range fixture.UnknownFields {
		if mentions(document, unknown) {
			s.send(w, http.StatusOK, object{"errors": []object{{
				"message":    "Field '" + unknown + "' doesn't exist on type 'PullRequest'",
				"path":       []string{"fragment core", unknown},
				"extensions": object{"code": "undefinedField", "typeName": "PullRequest", "fieldName": unknown},
			}}})
			return
		}
	}
	if fixture.NoOrgScope && mentions(document, "slug") && strings.Contains(q.Query, "Team") {
		s.send(w, http.StatusOK, object{"errors": []object{{"type": "INSUFFICIENT_SCOPES", "message": teamScope}}})
		return
	}
	x := &execution{server: s, document: document, variables: q.Variables, forbidden: fixture.ForbiddenFields}
	data := x.object(s.queryValue(), document.Operations[0].SelectionSet, nil)
	answer := object{"data": data}
	if len(x.errors) > 0 {
		answer["errors"] = x.errors
	}
	s.mu.Lock()
	s.used++
	s.mu.Unlock()
	w.Header().Set("X-RateLimit-Resource", "graphql")
	s.send(w, http.StatusOK, answer)
}

// document parses and validates a document on its first occurrence.
func (s *Server) document(text string) (*ast.QueryDocument, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.documents[text]; d != nil {
		return d, nil
	}
	d, errs := gqlparser.LoadQueryWithRules(schema(), text, rules.NewDefaultRules())
	if len(errs) > 0 {
		return nil, errs
	}
	s.documents[text] = d
	return d, nil
}

// mentions reports whether a document selects a field.
func mentions(d *ast.QueryDocument, field string) bool {
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
	for _, f := range d.Fragments {
		if in(f.SelectionSet) {
			return true
		}
	}
	return in(d.Operations[0].SelectionSet)
}

// value is an object of the graph: its type and its fields, which are plain values,
// values, lists of values, lists with pages, or functions of the arguments.
type value struct {
	kind   string
	fields map[string]any
}

// connection is a list with pages.
type connection []*value

// resolver is a field with arguments.
type resolver func(arguments map[string]any) any

// execution is the execution of one document.
type execution struct {
	server    *Server
	document  *ast.QueryDocument
	variables map[string]any
	forbidden []string
	errors    []object
}

// object returns the selected fields of a value.
func (x *execution) object(v *value, set ast.SelectionSet, path []any) object {
	out := object{}
	x.collect(v, set, path, out)
	return out
}

func (x *execution) collect(v *value, set ast.SelectionSet, path []any, out object) {
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
func (x *execution) fits(v *value, name string) bool {
	if name == "" || name == v.kind {
		return true
	}
	for _, t := range schema().PossibleTypes[name] {
		if t.Name == v.kind {
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

func (x *execution) field(v *value, f *ast.Field, path []any, out object) {
	if f.Name == "__typename" {
		out[f.Alias] = v.kind
		return
	}
	if slices.Contains(x.forbidden, f.Name) {
		x.errors = append(x.errors, object{"type": "FORBIDDEN", "path": path, "message": "Resource not accessible by personal access token"})
		out[f.Alias] = nil
		return
	}
	arguments := f.ArgumentMap(x.variables)
	got := v.fields[f.Name]
	if call, ok := got.(resolver); ok {
		got = call(arguments)
	}
	switch got := got.(type) {
	case *value:
		if got == nil {
			out[f.Alias] = nil
			return
		}
		out[f.Alias] = x.object(got, f.SelectionSet, path)
	case connection:
		out[f.Alias] = x.object(got.page(arguments), f.SelectionSet, path)
	case []*value:
		list := []any{}
		for i, element := range got {
			list = append(list, x.object(element, f.SelectionSet, append(slices.Clip(path), i)))
		}
		out[f.Alias] = list
	case missing:
		x.errors = append(x.errors, object{"type": "NOT_FOUND", "path": path, "message": string(got)})
		out[f.Alias] = nil
	default:
		out[f.Alias] = got
	}
}

// missing is the error of a field with an unknown name.
type missing string

// page returns a part of a list, with the cursors of the neighboring parts. The cursor of an
// element is its index.
func (c connection) page(arguments map[string]any) *value {
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
	return &value{fields: map[string]any{
		"totalCount": len(c), "nodes": []*value(c[from:max(from, to)]), "pageInfo": &value{kind: "PageInfo", fields: info},
	}}
}
