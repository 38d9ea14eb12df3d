package commands

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/command/render"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/toolset"
)

// Options are the options of a command: an object by names, or a list of flags in the form of the
// original's command line.
type Options struct {
	args      render.Args
	inputText string
}

// object is the form with names.
type object struct {
	Edition     choice                     `json:"edition"`
	Adaptation  choice                     `json:"adaptation"`
	InputText   string                     `json:"input_text"`
	InputFile   string                     `json:"input_file"`
	Destination string                     `json:"destination"`
	UV          map[string]json.RawMessage `json:"uv"`
}

// choice is a string, or a list of one: describe answers with lists.
type choice string

// UnmarshalJSON accepts both forms.
func (c *choice) UnmarshalJSON(data []byte) error {
	if !bytes.HasPrefix(data, []byte("[")) {
		return json.Unmarshal(data, (*string)(c))
	}
	var list []string
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	switch len(list) {
	case 0:
		*c = ""
	case 1:
		*c = choice(list[0])
	default:
		return wrong(fmt.Sprintf("choose one of %s", line(strings.Join(list, ", "))))
	}
	return nil
}

// allowed are the names in an object.
const allowed = "edition, adaptation, input_text, input_file, destination (strings) and uv (an object of names and values)"

// UnmarshalJSON accepts both forms.
func (o *Options) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte("[")) {
		var flags []string
		if err := json.Unmarshal(data, &flags); err != nil {
			return wrong(`a list must be of flags, such as "--edition=alt" or "--uv-name=value"`)
		}
		o.args = render.ParseFlags(flags)
		if bare := o.args.Bare(); bare != "" {
			return wrong(fmt.Sprintf(`%q has no value: give each option of a list its value, as in "--edition=alt" or "--uv-name=value"`, line(bare)))
		}
		return nil
	}
	var in object
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		if several, ok := errors.AsType[*toolset.ArgumentError](err); ok {
			return several
		}
		return wrong("use " + allowed)
	}
	options := render.Options{Edition: string(in.Edition), Adaptation: string(in.Adaptation), InputFile: in.InputFile, Destination: in.Destination}
	for _, name := range slices.Sorted(maps.Keys(in.UV)) {
		value, err := textOf(in.UV[name])
		if err != nil {
			return wrong(fmt.Sprintf("the value of uv %q must be a string", name))
		}
		options.Variables = append(options.Variables, render.Value{Name: name, Value: value})
	}
	o.args, o.inputText = options.Args(), in.InputText
	return nil
}

func wrong(message string) error { return &toolset.ArgumentError{Message: message} }

// textOf returns a text; a number or a boolean is its spelling.
func textOf(raw json.RawMessage) (string, error) {
	var text string
	if err := json.Unmarshal(raw, &text); err == nil {
		return text, nil
	}
	if len(raw) == 0 || raw[0] == '{' || raw[0] == '[' || raw[0] == 'n' {
		return "", wrong("no text")
	}
	return string(raw), nil
}

// listVariables names the variables without a value, "" if all have one.
func listVariables(missing []string) string {
	if len(missing) == 0 {
		return ""
	}
	return "Variables without a value, left unchanged: " + foreign.Notice(strings.Join(missing, ", ")) + ". Give them in options: uv-NAME as uv: {NAME: …}, the others as input_text, input_file, destination."
}

// line returns foreign text on one line.
func line(s string) string {
	const maxLength = 300
	return cleantext.Cut(cleantext.Line(s), maxLength)
}
