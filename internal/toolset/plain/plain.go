// Package plain is the result shape of tools that promise their data as plain
// JSON, without an envelope: an object as it is, a list as a JSON array.
//
// Use [Object] for a tool that answers with an object, and [Rows] for one that
// answers with a [List]: the text half shows the array of its rows and, in a second
// block, the [ListInfo] in words; the structured half is an object with both. Each row
// is encoded once. Errors are their message, as text, and in a second block what to
// do where the message does not say it. Messages and warnings are [foreign.Notice]s.
package plain

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/jsonshape"
	"github.com/copse-dev/copse/internal/toolset"
)

// Style is what the tools of one toolset share. The zero value is compact, and shows
// errors as they are.
type Style struct {
	// Indent is one step of the text's indentation; "" makes it compact.
	Indent string
	// Message returns the text of an error; nil leaves it as it is.
	Message func(error) string
	// NextStep returns what to do about an error whose message does not say it, "" for
	// nothing. nil is for none.
	NextStep func(error) string
	// Failure returns the result of an error in the toolset's own form, instead of the
	// above. nil is for none.
	Failure func(error) toolset.Result
}

// Object returns a tool whose output is shown as it is.
func Object[In, Out any](s Style, spec toolset.Spec, run func(context.Context, In) (Out, error)) toolset.Tool {
	return toolset.New(object[Out]{s}, spec, run)
}

// Rows returns a tool whose output is a list. field is the name of the rows in the
// structured half, and hint what to do about rows that were left out and that no
// cursor leads to.
func Rows[In, Row any](s Style, field, hint string, spec toolset.Spec, run func(context.Context, In) (List[Row], error)) toolset.Tool {
	return toolset.New(rows[Row]{s, field, hint}, spec, run)
}

// List is the output of a tool that answers with rows.
type List[Row any] struct {
	Rows []Row
	ListInfo
}

// ListInfo is what a list says besides its rows.
type ListInfo struct {
	// Total is how many rows there are with those not shown, nil for lists that were
	// not counted. The text says it where that is not what it shows.
	Total *int `json:"total,omitempty"`
	// NextCursor is set if there are more.
	NextCursor string `json:"next_cursor,omitempty"`
	// Omitted is how many rows no cursor leads to.
	Omitted int `json:"omitted,omitempty"`
	// Warnings are about what the list may lack.
	Warnings []string `json:"warnings,omitempty"`
}

// notice returns the information in words, "" if there is nothing to say.
func (r ListInfo) notice(shown int, hint string) string {
	total := shown
	if r.Total != nil {
		total = *r.Total
	}
	var lines []string
	switch {
	case r.NextCursor != "":
		lines = append(lines, fmt.Sprintf("Showing %d of %d. Next: cursor=%s", shown, total, r.NextCursor))
	case r.Omitted > 0:
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("Left out: %d of %d. %s", r.Omitted, total, hint)))
	case total > shown:
		lines = append(lines, fmt.Sprintf("Showing the last %d of %d.", shown, total))
	}
	for _, w := range r.Warnings {
		lines = append(lines, "Warning: "+foreign.Notice(w))
	}
	return strings.Join(lines, "\n")
}

// object is the shape of [Object].
type object[Out any] struct{ Style }

// OK shows out in both halves.
func (s object[Out]) OK(out Out) (toolset.Result, error) {
	data, err := toolset.Marshal(out)
	if err != nil {
		return toolset.Result{}, err
	}
	return toolset.Result{Text: []string{s.text(data)}, Structured: data}, nil
}

// Schema says that there is an object.
func (object[Out]) Schema() *jsonschema.Schema { return &jsonschema.Schema{Type: "object"} }

// rows is the shape of [Rows].
type rows[Row any] struct {
	Style
	field, hint string
}

// OK encodes the rows, and puts them into both halves.
func (s rows[Row]) OK(out List[Row]) (toolset.Result, error) {
	if out.Rows == nil {
		out.Rows = []Row{} // null is no list
	}
	list, err := toolset.Marshal(out.Rows)
	if err != nil {
		return toolset.Result{}, err
	}
	info, err := toolset.Marshal(out.ListInfo)
	if err != nil {
		return toolset.Result{}, err
	}
	doc := make(json.RawMessage, 0, len(list)+len(info)+len(s.field)+len(`{"":,`))
	doc = append(append(append(doc, `{"`...), s.field...), `":`...)
	doc = append(doc, list...)
	if members := info[1:]; len(members) > 1 {
		doc = append(append(doc, ','), members...)
	} else {
		doc = append(doc, '}')
	}
	res := toolset.Result{Text: []string{s.text(list)}, Structured: doc}
	if notice := out.notice(len(out.Rows), s.hint); notice != "" {
		res.Text = append(res.Text, notice)
	}
	return res, nil
}

// Schema says that there is an object.
func (rows[Row]) Schema() *jsonschema.Schema { return &jsonschema.Schema{Type: "object"} }

// Describe describes the structured half.
func (s rows[Row]) Describe() string {
	info := jsonshape.Describe(reflect.TypeFor[ListInfo]())
	return "{" + s.field + ": " + jsonshape.Describe(reflect.TypeFor[[]Row]()) + ", " + info[1:]
}

func (s Style) text(data json.RawMessage) string {
	if s.Indent == "" {
		return string(data)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", s.Indent); err != nil { // the data came from an encoder
		return string(data)
	}
	return b.String()
}

// Fail returns the message of err as a result.
func (s Style) Fail(err error) toolset.Result {
	if s.Failure != nil {
		return s.Failure(err)
	}
	message := err.Error()
	if arg, ok := errors.AsType[*toolset.ArgumentError](err); ok {
		if message = arg.Message; arg.Hint != "" {
			message += ". " + arg.Hint
		}
	} else if s.Message != nil {
		message = s.Message(err)
	}
	res := toolset.Result{Text: []string{foreign.Notice(message)}, IsError: true}
	if s.NextStep != nil {
		if next := s.NextStep(err); next != "" {
			res.Text = append(res.Text, foreign.Notice(next))
		}
	}
	return res
}
