package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/copse-dev/copse/internal/jsonfile"
)

// MaxEntries is the maximum number of entries in a registry. Authors of prompts have hundreds; the
// limit is for strangers' files.
const MaxEntries = 100_000

// commandsPath is the path of the entries.
const commandsPath = "tools.commands"

// Parse reads the content of a registry.json. An error names the problem and its position in the
// file.
func Parse(data []byte) (*Registry, error) {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	if _, err := jsonfile.Decode[json.RawMessage](data); err != nil {
		return nil, err
	}
	entries, err := entriesOf(document(data))
	if err != nil {
		return nil, err
	}
	r := &Registry{index: make(map[ID]int)}
	for i, entry := range entries.elements() {
		if i == MaxEntries {
			return nil, fmt.Errorf("%s: more than %d entries, which is the limit", commandsPath, MaxEntries)
		}
		c, err := commandOf(entry)
		if err != nil {
			err.Path = joined(jsonfile.Index(commandsPath, i), err.Path)
			return nil, err
		}
		r.add(c)
	}
	for i := range r.Commands {
		o := &r.Commands[i].Options
		o.Edition, o.Adaptation = distinct(o.Edition), distinct(o.Adaptation)
	}
	return r, nil
}

// entriesOf returns the array of commands in a document.
func entriesOf(file value) (value, error) {
	if !file.is('{') {
		return value{}, file.wrong("", "an object")
	}
	tools, ok := member(file, "tools")
	if !ok {
		return value{}, fmt.Errorf("tools: missing; the commands of a registry are at %s", commandsPath)
	}
	if !tools.is('{') {
		return value{}, tools.wrong("tools", "an object")
	}
	commands, ok := member(tools, "commands")
	if !ok {
		return value{}, fmt.Errorf("%s: missing", commandsPath)
	}
	if !commands.is('[') {
		return value{}, commands.wrong(commandsPath, "an array")
	}
	return commands, nil
}

// member returns the last member of an object with that key.
func member(object value, key string) (found value, ok bool) {
	for k, v := range object.members() {
		if k == key {
			found, ok = v, true
		}
	}
	return found, ok
}

// add adds an entry, to the command of the same name if there is one.
func (r *Registry) add(c Command) {
	i, known := r.index[c.ID]
	if !known {
		r.index[c.ID] = len(r.Commands)
		r.Commands = append(r.Commands, c)
		return
	}
	o := &r.Commands[i].Options
	o.Edition = append(o.Edition, c.Options.Edition...)
	o.Adaptation = append(o.Adaptation, c.Options.Adaptation...)
}

// distinct removes repetitions from a list, in place.
func distinct(list []string) []string {
	if len(list) < 2 {
		return list
	}
	seen := make(map[string]bool, len(list))
	return slices.DeleteFunc(list, func(s string) bool {
		before := seen[s]
		seen[s] = true
		return before
	})
}

// commandOf reads an entry. The path of its error is within the entry.
func commandOf(entry value) (Command, *jsonfile.TypeError) {
	if !entry.is('{') {
		return Command{}, entry.wrong("", "an object")
	}
	var c Command
	for key, v := range entry.members() {
		var err *jsonfile.TypeError
		switch key {
		case "c1":
			c.C1, err = textOf(v)
		case "c2":
			c.C2, err = textOf(v)
		case "c3":
			c.C3, err = textOf(v)
		case "description":
			c.Description, err = textOf(v)
		case "usage":
			c.Usage, err = textOf(v)
		case "options":
			c.Options, err = optionsOf(v)
		case "uv":
			c.UV, err = variablesOf(v)
		default:
			c.Unknown = append(c.Unknown, fieldOf(key, v))
		}
		if err != nil {
			err.Path = joined(key, err.Path)
			return Command{}, err
		}
	}
	c.Unknown = lastOfEach(c.Unknown)
	return c, nil
}

func optionsOf(v value) (Options, *jsonfile.TypeError) {
	switch {
	case v.isNothing() || v.is('['):
		return Options{}, nil
	case !v.is('{'):
		return Options{}, v.wrong("", "an object")
	}
	var o Options
	for key, v := range v.members() {
		switch key {
		case "edition":
			o.Edition = listOf(v)
		case "adaptation":
			o.Adaptation = listOf(v)
		case "file":
			o.File = switchOf(v)
		case "stdin":
			o.Stdin = switchOf(v)
		case "destination":
			o.Destination = switchOf(v)
		default:
			o.Unknown = append(o.Unknown, fieldOf(key, v))
		}
	}
	o.Unknown = lastOfEach(o.Unknown)
	return o, nil
}

func fieldOf(name string, v value) Field {
	var compact bytes.Buffer
	if err := json.Compact(&compact, v.bytes()); err != nil {
		// Only a string with a control character reaches this line. As text, it is complete.
		text, _ := json.Marshal(string(v.bytes())) // a string cannot fail
		return Field{name, text}
	}
	return Field{name, compact.Bytes()}
}

// lastOfEach leaves the last field of each name.
func lastOfEach(fields []Field) []Field {
	if len(fields) < 2 {
		return fields
	}
	last := make(map[string]int, len(fields))
	for i, f := range fields {
		last[f.Name] = i
	}
	i := -1
	return slices.DeleteFunc(fields, func(f Field) bool {
		i++
		return last[f.Name] != i
	})
}

// joined returns the path of a part of an entry; inside is empty, a member, or an index.
func joined(path, inside string) string {
	if inside == "" || inside[0] == '[' {
		return path + inside
	}
	return path + "." + inside
}
