package render

import (
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/command"
	"github.com/copse-dev/copse/internal/lazyregexp"
)

// Args are the arguments of a command, in the given order.
type Args []arg

// arg is one argument: an option, a variable, or a word.
type arg struct {
	name     option
	written  string // "--edition", "-e"; a word whole
	value    string
	hasValue bool
	flag     bool // written as a flag, whose form is checked, too
}

// option is the meaning of an argument.
type option int

const (
	unknownShort option = iota
	unknownLong
	word
	edition
	adaptation
	inputFile
	destination
	variable
	ignored // known, and without meaning here
	switches
)

// options returns the names of options.
func options(written string) option {
	switch written {
	case "--edition", "-e", "--input", "-i":
		return edition
	case "--adaptation", "-a":
		return adaptation
	case "--from", "-f":
		return inputFile
	case "--destination", "-o":
		return destination
	case "--config", "-c":
		return ignored
	case "--help", "-h", "--version", "-v":
		return switches
	}
	switch {
	case strings.HasPrefix(written, "--uv-"):
		return variable
	case strings.HasPrefix(written, "--"):
		return unknownLong
	case strings.HasPrefix(written, "-"):
		return unknownShort
	}
	return word
}

// ParseFlags reads arguments in the form of the original's command line: "--edition=alt",
// "--uv-name=value". Render reports errors in them.
func ParseFlags(flags []string) Args {
	var args Args
	for _, f := range flags {
		a := arg{name: word, written: f, flag: true}
		if strings.HasPrefix(f, "-") {
			a.written, a.value, a.hasValue = strings.Cut(f, "=")
			a.name = options(a.written)
			if a.name == inputFile || a.name == destination {
				// The original drops spaces at the end of paths, and nowhere else.
				a.value = strings.TrimRightFunc(a.value, isSpace)
			}
		}
		args = append(args, a)
	}
	return args
}

// Bare returns the first argument without a value that needs one, "" if there is none. The original
// ignores such an option, and takes what follows it for something else.
func (args Args) Bare() string {
	for _, a := range args {
		if !a.hasValue && a.name != switches {
			return a.written
		}
	}
	return ""
}

// Options are the same by their names. Empty ones are omitted.
type Options struct {
	Edition, Adaptation, InputFile, Destination string
	Variables                                   []Value
}

// Value is the value of a variable, whose name is with or without "uv-".
type Value struct {
	Name, Value string
}

// Args returns the options as arguments.
func (o Options) Args() Args {
	var args Args
	for _, a := range []arg{
		{name: edition, written: "--edition", value: o.Edition}, {name: adaptation, written: "--adaptation", value: o.Adaptation},
		{name: inputFile, written: "--from", value: o.InputFile}, {name: destination, written: "--destination", value: o.Destination},
	} {
		if a.hasValue = true; a.value != "" {
			args = append(args, a)
		}
	}
	for _, v := range o.Variables {
		args = append(args, arg{name: variable, written: "--uv-" + strings.TrimPrefix(v.Name, "uv-"), value: v.Value, hasValue: true})
	}
	return args
}

// Flags returns the arguments in the form of the original's command line.
func (args Args) Flags() []string {
	flags := make([]string, len(args))
	for i, a := range args {
		flags[i] = a.raw()
	}
	return flags
}

func (a arg) raw() string {
	if a.hasValue {
		return a.written + "=" + a.value
	}
	return a.written
}

// last returns the value of the last occurrence of an option.
func (args Args) last(name option) string {
	value := ""
	for _, a := range args {
		if a.name == name && a.hasValue {
			value = a.value
		}
	}
	return value
}

// check checks arguments and names, in the original's order.
func (args Args) check(p *profile, id command.ID) error {
	if err := args.checkForm(id); err != nil {
		return err
	}
	if err := p.accepts(id); err != nil {
		return err
	}
	return args.checkOptions(p)
}

// checkForm checks each argument in isolation.
func (args Args) checkForm(id command.ID) error {
	if err := args.checkCharacters(id); err != nil {
		return err
	}
	if err := args.checkPaths(); err != nil {
		return err
	}
	for _, a := range args {
		if a.name == word {
			return refuse("An option is written as --name=value; %q is not an option.\nToo many arguments. Maximum 2 arguments are allowed", a.written)
		}
	}
	return nil
}

// forbidden are characters that shells interpret. No shell runs here, but the original refuses
// them, and runs if this is configured.
const forbidden = ";|&<>"

func (args Args) checkCharacters(id command.ID) error {
	for _, name := range []string{id.C2, id.C3} {
		if strings.ContainsAny(name, forbidden) {
			return refuse("Security error: shellInjection violation in positional")
		}
	}
	for _, a := range args {
		if !strings.ContainsAny(a.written+a.value, forbidden) {
			continue
		}
		switch a.name {
		case word:
			return refuse("Security error: shellInjection violation in positional")
		case variable:
			return refuse("Security error: shellInjection violation in argument")
		default:
			return refuse("Security error: shellInjection violation in option %s", strings.TrimLeft(a.written, "-"))
		}
	}
	for _, a := range args {
		if a.name == switches {
			if a.hasValue {
				return refuse("Flag option %s should not have a value", a.written)
			}
			return refuse("Option %s shows help of the original program and creates no prompt", a.written)
		}
	}
	return nil
}

var parent = lazyregexp.New(`\.\.[/\\]|\.\.$`)

// checkPaths checks paths that only appear in the prompt: the assistant that reads the prompt would
// follow them.
func (args Args) checkPaths() error {
	for _, a := range args {
		context := map[option]string{inputFile: "from", destination: "destination"}[a.name]
		if context == "" || !a.hasValue {
			continue
		}
		violation := ""
		switch v := a.value; {
		case strings.HasPrefix(v, "/") || strings.HasPrefix(v, `\`) || len(v) > 1 && v[1] == ':':
			violation = "absolutePath"
		case v == "~" || strings.HasPrefix(v, "~/"):
			violation = "homeExpansion"
		case parent.Get().MatchString(v):
			violation = "parentTraversal"
		case strings.ContainsFunc(v, isControl):
			violation = "specialChars"
		}
		if violation != "" {
			return refuse("Security error: %s violation in option %s", violation, context)
		}
	}
	return nil
}

var variablePattern = lazyregexp.New(`^uv-[a-zA-Z][a-zA-Z0-9_-]*$`)

func (args Args) checkOptions(p *profile) error {
	for _, a := range args {
		long := strings.HasPrefix(a.written, "--")
		if a.flag && long && a.hasValue && (a.value == "" || a.value[0] == '=') {
			return refuse("Empty value not allowed for option: %s", a.raw())
		}
	}
	var unknown []string
	for _, a := range args {
		if a.name == unknownLong || !p.allows(a) {
			unknown = append(unknown, a.raw())
		}
	}
	if len(unknown) > 0 {
		return refuse("Invalid options for two parameters: %s", strings.Join(unknown, ", "))
	}
	for _, a := range args {
		if name := strings.TrimPrefix(a.written, "--"); a.name == variable && !variablePattern.Get().MatchString(name) {
			return refuse("Invalid user variable format: %s", name)
		}
	}
	return args.checkVariables()
}

func (args Args) checkVariables() error {
	reserved := []string{"uv-input_text", "uv-input_text_file", "uv-destination_path", "uv-schema_file"}
	for _, a := range args {
		if a.name != variable {
			continue
		}
		name := strings.TrimPrefix(a.written, "--")
		switch {
		case slices.Contains(reserved, name):
			return refuse("ReservedVariableName: %s", name)
		case trim(a.value) == "":
			return refuse("EmptyVariableValue: %s", name)
		}
	}
	return nil
}

// The maximum lengths of names, and their characters.
const (
	longestC2 = 20
	longestC3 = 30
)

var nameCharacters = lazyregexp.New(`^[a-z0-9_][a-z0-9_-]*$`)

// checkName checks a name that a pattern has accepted.
func checkName(kind, name string, longest int) error {
	if len(name) > longest {
		return refuse("Failed to create %s: %s %q exceeds maximum length of %d characters", kind, kind, name, longest)
	}
	if !nameCharacters.Get().MatchString(name) {
		return refuse("Failed to create %s: %q has characters other than lower-case letters, digits, hyphens, and underscores", kind, name)
	}
	return nil
}
