// Package command models a registry: the prompts of an agent, as described by
// the file registry.json.
//
// [Parse] reads the content of such a file; [Registry] has its commands, each
// once, and finds one by its name. A [Command] encodes to the JSON object that
// describes it, with unknown members unchanged.
//
// The format is climpt's (github.com/tettuan/climpt, 2025 to 2026). Its generator
// copies the front matter of templates unchecked, and writes an empty string
// for every missing value, so Parse reads values by their meaning:
//
//   - a string may be a number or a boolean, which mean their spelling;
//   - a list may be one string; elements that cannot be entries are ignored;
//   - a switch may be a word ("yes", "false") or a list of switches;
//   - uv may be a list of objects, one object, a list of names, or one name;
//   - "" and null mean no value, whatever the type, and so does an
//     array instead of the options, which old files have;
//   - a byte order mark is skipped, and of two members with one name, the last one is used.
//
// The generator writes one entry for each template, so several may have the same
// name. They are one command, with the first entry's texts, switches, and variables,
// and the editions and adaptations of all.
package command

import (
	"encoding/json"
	"strings"
)

// ID is the full name of a command. It is case-sensitive. A part is empty if the generator rejected
// the front matter's value.
type ID struct {
	C1 string // domain: "git"
	C2 string // action: "group-commit"
	C3 string // target: "unstaged-changes"
}

// String returns the name as a person writes it, "git group-commit unstaged-changes".
func (id ID) String() string { return id.C1 + " " + id.C2 + " " + id.C3 }

// Command is a prompt.
type Command struct {
	ID
	Description string
	Usage       string
	Options     Options
	UV          []Variable
	Unknown     []Field // members of the entry that are not above, in its order
}

// SearchText returns the text for searches: name and description.
func (c Command) SearchText() string {
	return strings.Join([]string{c.C1, c.C2, c.C3, c.Description}, " ")
}

// Options describes the options of a command.
type Options struct {
	Edition     []string // the editions there are, without repetition
	Adaptation  []string // likewise
	File        bool     // an input file
	Stdin       bool     // a text on standard input
	Destination bool     // a path for its output
	Unknown     []Field  // members that are not above, in their order
}

// Variable is a value that the template asks for.
type Variable struct {
	Name        string `json:"name"` // without "uv-"
	Description string `json:"description"`
}

// Field is a member of a JSON object.
type Field struct {
	Name  string
	Value json.RawMessage // valid, without insignificant spaces
}

// Registry is the commands of one file. It is immutable and safe for concurrent use.
type Registry struct {
	Commands []Command // in the order of their first entries

	index map[ID]int // in Commands
}

// Find returns the command with exactly that name.
func (r *Registry) Find(id ID) (Command, bool) {
	i, ok := r.index[id]
	if !ok {
		return Command{}, false
	}
	return r.Commands[i], true
}
