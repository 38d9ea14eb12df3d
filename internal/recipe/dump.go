package recipe

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
)

// module is what "just --dump --dump-format json" prints of a justfile or a module.
type module struct {
	Aliases map[string]struct {
		Target     string      `json:"target"`
		Attributes []attribute `json:"attributes"`
	} `json:"aliases"`
	Modules map[string]module `json:"modules"`
	Recipes map[string]struct {
		Attributes []attribute `json:"attributes"`
		Doc        *string     `json:"doc"`
		Private    bool        `json:"private"`
		Parameters []struct {
			Name    string          `json:"name"`
			Kind    string          `json:"kind"`
			Default json.RawMessage `json:"default"`
			Long    *string         `json:"long"`
			Short   *string         `json:"short"`
		} `json:"parameters"`
	} `json:"recipes"`
	Source string `json:"source"`
}

// attribute is a name, or an object with one name and its value.
type attribute struct{ name, value string }

func (a *attribute) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &a.name) == nil {
		return nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	for name, value := range fields {
		a.name = name
		_ = json.Unmarshal(value, &a.value) // not every attribute has text
	}
	return nil
}

// parseDump reads what just printed.
func parseDump(data []byte) (recipes []Recipe, sources []string, err error) {
	var m module
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, nil, fmt.Errorf("read what just tells of the justfile: %w", err)
	}
	recipes, sources = m.all("")
	slices.SortFunc(recipes, func(a, b Recipe) int {
		// Those of modules come last, as just lists them.
		if inA, inB := strings.Count(a.Name, "::"), strings.Count(b.Name, "::"); inA != inB {
			return inA - inB
		}
		return strings.Compare(a.Name, b.Name)
	})
	return recipes, sources, nil
}

// all are the public recipes of a module and those in it, and the files they are from.
func (m module) all(prefix string) (recipes []Recipe, sources []string) {
	if m.Source != "" {
		sources = append(sources, m.Source)
	}
	for name, found := range m.Recipes {
		if found.Private || strings.HasPrefix(name, "_") {
			continue
		}
		r := Recipe{Name: prefix + name}
		if found.Doc != nil {
			r.Doc = cleantext.Line(*found.Doc)
		}
		for _, a := range found.Attributes {
			switch a.name {
			case "group":
				r.Groups = append(r.Groups, a.value)
			case "confirm":
				r.Confirm = true
			}
		}
		for _, p := range found.Parameters {
			param := Parameter{Name: p.Name, Default: value(p.Default), Many: p.Kind == "plus" || p.Kind == "star"}
			param.Optional = param.Default != "" || p.Kind == "star"
			switch {
			case p.Long != nil:
				param.Option = "--" + *p.Long
			case p.Short != nil:
				param.Option = "-" + *p.Short
			}
			r.Parameters = append(r.Parameters, param)
		}
		for alias, a := range m.Aliases {
			private := strings.HasPrefix(alias, "_") || slices.ContainsFunc(a.Attributes, func(a attribute) bool { return a.name == "private" })
			if a.Target == name && !private {
				r.Aliases = append(r.Aliases, prefix+alias)
			}
		}
		slices.Sort(r.Aliases)
		recipes = append(recipes, r)
	}
	for name, sub := range m.Modules {
		more, files := sub.all(prefix + name + "::")
		recipes, sources = append(recipes, more...), append(sources, files...)
	}
	return recipes, sources
}

// value is a default as a justfile has it: text in quotes, other expressions as "…".
func value(raw json.RawMessage) string {
	var text string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return ""
	case json.Unmarshal(raw, &text) == nil:
		return "'" + cleantext.Line(text) + "'"
	}
	return "…"
}
