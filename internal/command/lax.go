package command

import (
	"strings"

	"github.com/copse-dev/copse/internal/jsonfile"
)

// textOf reads a string. A number or a boolean in the front matter means its spelling.
func textOf(v value) (string, *jsonfile.TypeError) {
	switch {
	case v.is('"'):
		return v.string(), nil
	case v.is('n'):
		return "", nil
	case v.is('{', '['):
		return "", v.wrong("", "a string")
	}
	return string(v.bytes()), nil
}

// listOf reads a list of names; a name alone is a list of one. Nothing but strings
// and numbers can be a name.
func listOf(v value) []string {
	if !v.is('[') {
		return appendName(nil, v)
	}
	var list []string
	for _, element := range v.elements() {
		list = appendName(list, element)
	}
	return list
}

func appendName(list []string, v value) []string {
	if v.is('{', '[', 'n', 't', 'f') || v.isNothing() {
		return list
	}
	name, _ := textOf(v)
	return append(list, name)
}

// switchOf reads a boolean. Words for no are false, other words true. A list is true if one of its
// elements is.
func switchOf(v value) bool {
	switch {
	case v.is('['):
		for _, element := range v.elements() {
			if !element.is('[') && switchOf(element) {
				return true
			}
		}
		return false
	case v.is('{'):
		return false
	}
	word, _ := textOf(v)
	switch strings.ToLower(word) {
	case "", "false", "no", "off", "0":
		return false
	}
	return true
}

// variablesOf reads the variables of a command. The generator writes an object for each, {"name":
// "description"}; an object with only the members name and description means these.
func variablesOf(v value) ([]Variable, *jsonfile.TypeError) {
	if !v.is('[') {
		return appendVariables(nil, v)
	}
	var list []Variable
	var err *jsonfile.TypeError
	for i, element := range v.elements() {
		if list, err = appendVariables(list, element); err != nil {
			err.Path = joined(jsonfile.Index("", i), err.Path)
			return nil, err
		}
	}
	return list, nil
}

func appendVariables(list []Variable, v value) ([]Variable, *jsonfile.TypeError) {
	switch {
	case v.isNothing():
		return list, nil
	case v.is('"'):
		return appendVariable(list, Variable{Name: v.string()}), nil
	case !v.is('{'):
		return nil, v.wrong("", "an object of names and descriptions")
	}
	first := len(list)
	for name, description := range v.members() {
		text, err := textOf(description)
		if err != nil {
			err.Path = jsonfile.Key("", name)
			return nil, err
		}
		list = appendVariable(list, Variable{name, text})
	}
	if described, ok := described(list[first:]); ok {
		list = appendVariable(list[:first], described)
	}
	return list, nil
}

// appendVariable appends v without the prefix that its placeholder has, unless
// nothing is left of its name.
func appendVariable(list []Variable, v Variable) []Variable {
	v.Name = strings.TrimPrefix(v.Name, "uv-")
	if v.Name == "" {
		return list
	}
	return append(list, v)
}

// described returns the variable whose own name and description are the values of members with
// these keys.
func described(members []Variable) (Variable, bool) {
	if len(members) != 2 {
		return Variable{}, false
	}
	name, description := members[0], members[1]
	if name.Name == "description" {
		name, description = description, name
	}
	if name.Name != "name" || description.Name != "description" || name.Description == "" {
		return Variable{}, false
	}
	return Variable{name.Description, description.Description}, true
}
