// Package plain is the result shape of tools that promise their data as plain
// JSON, without an envelope: an object as it is, a list as a JSON array.
//
// A list tool answers with an object that has the list in one of its fields; see
// [Shape.List]. The text half shows the array, and in a second block what else
// there is to know, in words; the structured half is the object. Errors are their
// message, as text, and in a second block what to do where the message does not say it.
package plain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/copse-dev/copse/internal/jsonfile"
	"github.com/copse-dev/copse/internal/toolset"
)

// Shape implements [toolset.Shape].
type Shape struct {
	// Indent is one step of the text's indentation; "" makes it compact.
	Indent string
	// List is the field of the output that the text shows alone, "" for tools
	// whose text is the whole object. Beside it the output may have the fields of
	// [Rest], which the second block words.
	List string
	// Advice is what to do when elements were left out that no cursor leads to.
	Advice string
	// Message words an error; nil leaves it as it is.
	Message func(error) string
	// Next is what to do about an error whose message does not say it, "" for nothing; it
	// stands in a second block. nil is for none.
	Next func(error) string
}

var _ toolset.Shape = Shape{}

// Rest is what a list has to say besides its elements.
type Rest struct {
	// Total is how many elements there are with those not shown. The text says it
	// where that is not what it shows; 0 is for lists that were not counted.
	Total int `json:"total"`
	// NextCursor is set if there are more.
	NextCursor string `json:"next_cursor,omitempty"`
	// Omitted is how many elements no cursor leads to.
	Omitted int `json:"omitted,omitempty"`
	// Warnings are about what the list may lack.
	Warnings []string `json:"warnings,omitempty"`
}

// notice is rest in words, "" if there is nothing to say.
func (r Rest) notice(shown int, advice string) string {
	var lines []string
	switch {
	case r.NextCursor != "":
		lines = append(lines, fmt.Sprintf("Showing %d of %d. Next: cursor=%s", shown, r.Total, r.NextCursor))
	case r.Omitted > 0:
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("Left out: %d of %d. %s", r.Omitted, r.Total, advice)))
	case r.Total > shown:
		lines = append(lines, fmt.Sprintf("Showing the last %d of %d.", shown, r.Total))
	}
	for _, w := range r.Warnings {
		lines = append(lines, "Warning: "+w)
	}
	return strings.Join(lines, "\n")
}

// OK shows data.
func (s Shape) OK(data json.RawMessage) toolset.Result {
	if s.List == "" {
		return toolset.Result{Text: []string{s.text(data)}, Structured: data}
	}
	list, shown, rest, err := s.split(data)
	if err != nil {
		return s.Fail(fmt.Errorf("show the list %s: %w", s.List, err))
	}
	res := toolset.Result{Text: []string{s.text(list)}, Structured: data}
	if notice := rest.notice(shown, s.Advice); notice != "" {
		res.Text = append(res.Text, notice)
	}
	return res
}

// split takes data apart: the list, how many elements it has, and the rest. Each byte of the
// list is looked at once for that; most of a large answer is list.
func (s Shape) split(data json.RawMessage) (list json.RawMessage, shown int, rest Rest, err error) {
	fields, err := jsonfile.Decode[map[string]json.RawMessage](data)
	if err != nil {
		return nil, 0, rest, err
	}
	list = fields[s.List]
	elements, err := jsonfile.Decode[[]json.RawMessage](list)
	if err != nil {
		return nil, 0, rest, err
	}
	delete(fields, s.List)
	others, err := json.Marshal(fields)
	if err == nil {
		err = json.Unmarshal(others, &rest)
	}
	return list, len(elements), rest, err
}

func (s Shape) text(data json.RawMessage) string {
	if s.Indent == "" {
		return string(data)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", s.Indent); err != nil { // the data came from an encoder
		return string(data)
	}
	return b.String()
}

// Fail shows the message of err.
func (s Shape) Fail(err error) toolset.Result {
	message := err.Error()
	if arg, ok := errors.AsType[*toolset.ArgumentError](err); ok {
		if message = arg.Message; arg.Hint != "" {
			message += ". " + arg.Hint
		}
	} else if s.Message != nil {
		message = s.Message(err)
	}
	res := toolset.Result{Text: []string{message}, IsError: true}
	if s.Next != nil {
		if next := s.Next(err); next != "" {
			res.Text = append(res.Text, next)
		}
	}
	return res
}

// Schema says that there is an object.
func (s Shape) Schema() *jsonschema.Schema { return &jsonschema.Schema{Type: "object"} }
