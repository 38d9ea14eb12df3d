// Package command is the model of a registry: the prompt commands that an agent
// has, as the file registry.json describes them.
//
// [Parse] reads the content of such a file; [Registry] has its commands, each
// once, and finds one by its name. A [Command] encodes to the JSON object that
// describes it, with what this package does not know as it was written.
//
// The format is climpt's (github.com/tettuan/climpt, 2025 to 2026). Its generator
// takes the front matter of templates as it finds it, and writes an empty string
// for whatever is missing there, so Parse reads values by what they mean:
//
//   - a text may be a number or a boolean, which stand for their spelling;
//   - a list may be one text; what cannot be an entry is left out;
//   - a switch may be a word ("yes", "false") or a list of switches;
//   - uv may be a list of objects, one object, a list of names, or one name;
//   - "" and null stand for nothing, whatever belongs there, and so does an
//     array in place of the options, which old files have;
//   - a byte order mark is skipped, and of two equal members the last counts.
//
// The generator writes one entry for each template, so several may have the same
// name. They are one command, with the first entry's text, switches and variables,
// and the editions and adaptations of all.
package command

import (
	"encoding/json"
	"strings"
)

// ID is the full name of a command. Case counts. A part is empty where the
// generator refused what the front matter said.
type ID struct {
	C1 string // domain: "git"
	C2 string // action: "group-commit"
	C3 string // target: "unstaged-changes"
}

// String returns the name as a person writes it, "git group-commit unstaged-changes".
func (id ID) String() string { return id.C1 + " " + id.C2 + " " + id.C3 }

// Command is a prompt command.
type Command struct {
	ID
	Description string
	Usage       string
	Options     Options
	UV          []Variable
	Unknown     []Field // members of the entry that are not above, in its order
}

// SearchText returns what the command is found by: its name and description.
func (c Command) SearchText() string {
	return strings.Join([]string{c.C1, c.C2, c.C3, c.Description}, " ")
}

// Options says what a command takes.
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

// Registry is the commands of one file. It is safe for concurrent use, and must
// not be changed.
type Registry struct {
	Commands []Command // in the order of their first entries

	place map[ID]int // in Commands
}

// Find returns the command with exactly that name.
func (r *Registry) Find(id ID) (Command, bool) {
	i, ok := r.place[id]
	if !ok {
		return Command{}, false
	}
	return r.Commands[i], true
}
