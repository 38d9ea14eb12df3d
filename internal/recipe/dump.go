package recipe

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/credential"
	"github.com/copse-dev/copse/internal/recipe/dotenv"
	"github.com/copse-dev/copse/internal/recipe/justsource"
	"github.com/copse-dev/copse/internal/recipe/splice"
)

// module is the output of "just --dump --dump-format json" for a justfile or a module.
type module struct {
	Aliases map[string]struct {
		Target     string      `json:"target"`
		Attributes []attribute `json:"attributes"`
	} `json:"aliases"`
	Modules  map[string]module `json:"modules"`
	Recipes  map[string]dumped `json:"recipes"`
	Source   string            `json:"source"`
	Settings dotenv.Settings   `json:"settings"`
}

// dumped is a recipe in just's output.
type dumped struct {
	Attributes []attribute     `json:"attributes"`
	Body       json.RawMessage `json:"body"`
	Doc        *string         `json:"doc"`
	Private    bool            `json:"private"`
	Parameters []struct {
		Name    string          `json:"name"`
		Kind    string          `json:"kind"`
		Default json.RawMessage `json:"default"`
		Long    *string         `json:"long"`
		Short   *string         `json:"short"`
	} `json:"parameters"`
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

// parseDump reads just's output. Recipes inherit the variables with the names of environment.
func parseDump(data []byte, s *justsource.Sources, copies string, environment []string) ([]Recipe, []dotenv.Search, error) {
	var m module
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, nil, fmt.Errorf("read the output of just about the justfile: %w", err)
	}
	if err := m.contained(s, copies); err != nil {
		return nil, nil, err
	}
	recipes := m.all("")
	spliced, err := splice.Analyze(data, splice.Known{Functions: s.Functions(), Interpreter: s.Interpreter(len(m.Modules) > 0), Environment: environment})
	if err != nil {
		return nil, nil, err
	}
	for _, r := range recipes {
		for i := range r.Parameters {
			r.Parameters[i].Spliced = spliced[r.Name][r.Parameters[i].Name]
		}
	}
	slices.SortFunc(recipes, func(a, b Recipe) int {
		// Recipes of modules come last, as in just's list.
		if inA, inB := strings.Count(a.Name, "::"), strings.Count(b.Name, "::"); inA != inB {
			return inA - inB
		}
		return strings.Compare(a.Name, b.Name)
	})
	return recipes, m.searches(copies), nil
}

// all returns the public recipes of a module and those in it.
func (m module) all(prefix string) (recipes []Recipe) {
	for name, found := range m.Recipes {
		if found.Private || strings.HasPrefix(name, "_") {
			continue
		}
		r := found.recipe()
		r.Name = prefix + name
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
		recipes = append(recipes, sub.all(prefix+name+"::")...)
	}
	return recipes
}

// recipe returns a recipe without its names.
func (d dumped) recipe() Recipe {
	r := Recipe{credentials: credential.Named(string(d.Body))}
	if d.Doc != nil {
		r.Doc = cleantext.Line(*d.Doc)
	}
	for _, a := range d.Attributes {
		switch a.name {
		case "group":
			r.Groups = append(r.Groups, a.value)
		case "confirm":
			r.Confirm = true
		}
	}
	for _, p := range d.Parameters {
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
	return r
}

// contained refuses modules that are not copies, and settings with which just itself would read files, or work,
// outside the project. The settings are relative to the file of the module, whose copy is below copies.
func (m module) contained(s *justsource.Sources, copies string) error {
	file := "justfile"
	if m.Source != "" { // an older just has none
		var err error
		if file, err = justsource.Original(m.Source, copies); err != nil {
			return &justsource.FileError{Problem: "The justfile cannot be used: " + err.Error()}
		}
	}
	for name, raw := range map[string]json.RawMessage{
		"dotenv-filename": m.Settings.Filename, "dotenv-path": m.Settings.Path, "working-directory": m.Settings.Directory,
	} {
		if len(raw) == 0 || string(raw) == "null" {
			continue
		}
		var text string
		if json.Unmarshal(raw, &text) != nil {
			return &justsource.FileError{Problem: "The justfile cannot be used: the setting " + name + " is an expression; write a plain string"}
		}
		if err := s.Inside(file, text); err != nil {
			return &justsource.FileError{Problem: fmt.Sprintf("The justfile cannot be used: the setting %s is %s, which points outside the project; use a path in it", name, justsource.Quote(text))}
		}
	}
	for _, sub := range m.Modules {
		if err := sub.contained(s, copies); err != nil {
			return err
		}
	}
	return nil
}

// searches returns where just searches for variables, for a module and those in it. The settings are contained.
func (m module) searches(copies string) []dotenv.Search {
	dir := "."
	if file, err := justsource.Original(m.Source, copies); err == nil && m.Source != "" {
		dir = path.Dir(file)
	}
	all := m.Settings.Searches(dir)
	for _, sub := range m.Modules {
		all = append(all, sub.searches(copies)...)
	}
	return all
}

// value returns a default in the form of a justfile: text in quotes, other expressions as "…".
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
