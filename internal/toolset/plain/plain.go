// Package plain implements the result shape of tools that return their data as plain JSON, without
// an envelope: an object unchanged, a list as a JSON array.
//
// Use [Object] for a tool that returns an object, and [Rows] for one that returns a [List]: the
// text half shows the array of its rows and, in a second block, the [ListInfo] in words; the
// structured half is an object with both. Each row is encoded once. Errors are their message, as
// text, and in a second block the next step if the message does not contain it. Messages and
// warnings are [foreign.Notice]s.
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

// Style is shared by the tools of one toolset. The zero value is compact, and shows errors
// unchanged.
type Style struct {
	// Indent is one step of the text's indentation; "" makes it compact.
	Indent string
	// Message returns the text of an error; nil leaves it unchanged.
	Message func(error) string
	// NextStep returns the next step for an error whose message does not contain it, "" for none.
	// nil is for none.
	NextStep func(error) string
	// Failure returns the result of an error in the toolset's own form, instead of the above. nil
	// is for none.
	Failure func(error) toolset.Result
}

// Object returns a tool whose output is shown unchanged.
func Object[In, Out any](s Style, spec toolset.Spec, run func(context.Context, In) (Out, error)) toolset.Tool {
	return toolset.New(object[Out]{s}, spec, run)
}

// Rows returns a tool whose output is a list. field is the name of the rows in the structured half,
// and hint the next step for omitted rows that no cursor leads to.
func Rows[In, Row any](s Style, field, hint string, spec toolset.Spec, run func(context.Context, In) (List[Row], error)) toolset.Tool {
	return toolset.New(rows[Row]{s, field, hint}, spec, run)
}

// List is the output of a tool that answers with rows.
type List[Row any] struct {
	Rows []Row
	ListInfo
}

// Document returns the list as a document: an object with the rows in a member, as in the structured
// half of a result.
func (l List[Row]) Document(s Style, field string) (string, error) {
	_, doc, err := l.encode(field)
	return s.text(doc), err
}

// encode returns the rows, and the object that has them in a member.
func (l List[Row]) encode(field string) (rows, doc json.RawMessage, err error) {
	if l.Rows == nil {
		l.Rows = []Row{} // null is not a list
	}
	if rows, err = toolset.Marshal(l.Rows); err != nil {
		return nil, nil, err
	}
	info, err := toolset.Marshal(l.ListInfo)
	if err != nil {
		return nil, nil, err
	}
	doc = make(json.RawMessage, 0, len(rows)+len(info)+len(field)+len(`{"":,`))
	doc = append(append(append(doc, `{"`...), field...), `":`...)
	doc = append(doc, rows...)
	if members := info[1:]; len(members) > 1 {
		return rows, append(append(doc, ','), members...), nil
	}
	return rows, append(doc, '}'), nil
}

// ListInfo is a list's data besides its rows.
type ListInfo struct {
	// Total is the number of rows including hidden ones, nil for lists that were not counted. The
	// text contains it if it differs from the displayed number.
	Total *int `json:"total,omitempty"`
	// NextCursor is set if there are more.
	NextCursor string `json:"next_cursor,omitempty"`
	// Omitted is the number of rows that no cursor leads to.
	Omitted int `json:"omitted,omitempty"`
	// Warnings are about possibly missing rows.
	Warnings []string `json:"warnings,omitempty"`
}

// notice returns the information in words, "" if there is none.
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
	return toolset.Result{Text: []string{s.text(data)}, Structured: data, OwnWorktree: hasWorktree(reflect.ValueOf(out))}, nil
}

// hasWorktree reports whether an object is encoded with a member "worktree".
func hasWorktree(object reflect.Value) bool {
	if object.Kind() != reflect.Struct {
		return false
	}
	for _, f := range reflect.VisibleFields(object.Type()) {
		if name, options, _ := strings.Cut(f.Tag.Get("json"), ","); name == "worktree" {
			value, err := object.FieldByIndexErr(f.Index)
			return err == nil && (options == "" || !value.IsZero())
		}
	}
	return false
}

// Schema describes only an object.
func (object[Out]) Schema() *jsonschema.Schema { return &jsonschema.Schema{Type: "object"} }

// rows is the shape of [Rows].
type rows[Row any] struct {
	Style
	field, hint string
}

// OK encodes the rows, and puts them into both halves.
func (s rows[Row]) OK(out List[Row]) (toolset.Result, error) {
	list, doc, err := out.encode(s.field)
	if err != nil {
		return toolset.Result{}, err
	}
	res := toolset.Result{Text: []string{s.text(list)}, Structured: doc}
	if notice := out.notice(len(out.Rows), s.hint); notice != "" {
		res.Text = append(res.Text, notice)
	}
	return res, nil
}

// Schema describes only an object.
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
