// Package fact distinguishes three answers that look alike:
// a value is known, there is none, or it could not be learned.
//
// Make a [Fact] with [Known], [None] or [Unavailable]; its zero value is
// unavailable since nobody asked. In JSON it is one of
//
//	{"state":"known","value":…,"source":"GitHub","as_of":"2026-01-02T15:04:05Z"}
//	{"state":"none","source":"GitHub","as_of":"2026-01-02T15:04:05Z"}
//	{"state":"unavailable","reason":"…","hint":"…"}
//
// where source, as_of and hint are left out when they are empty.
package fact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// State is which of the three answers a fact is.
type State string

// The three answers.
const (
	StateKnown       State = "known"
	StateNone        State = "none"
	StateUnavailable State = "unavailable"
)

// NotFetched is the reason of a fact that is not at hand, where only what is at
// hand was asked for.
const NotFetched = "not fetched yet"

// Fact is a value of type T, or why there is none. Its fields are for reading,
// and for the JSON schema that is made from them; see Get and Why.
type Fact[T any] struct {
	State State `json:"state"`
	// Value is the value, if State is StateKnown.
	Value T `json:"value,omitempty"`
	// Source is who said so, in a word or two: "GitHub", "~/.netrc".
	Source string `json:"source,omitempty"`
	// AsOf is when the source said so. JSON has it in UTC and whole seconds.
	AsOf time.Time `json:"as_of,omitzero"`
	// Reason is why the fact is unavailable, and Hint what to do about it.
	Reason string `json:"reason,omitempty"`
	Hint   string `json:"hint,omitempty"`
	// Unasked says that nobody was asked, as where there is nobody to ask. Retry is how long
	// the source asked to be left alone.
	Unasked bool          `json:"-"`
	Retry   time.Duration `json:"-"`
}

// Known returns a fact with a value.
func Known[T any](value T, source string, asOf time.Time) Fact[T] {
	return Fact[T]{State: StateKnown, Value: value, Source: source, AsOf: asOf}
}

// None returns the fact that there is no value.
func None[T any](source string, asOf time.Time) Fact[T] {
	return Fact[T]{State: StateNone, Source: source, AsOf: asOf}
}

// Unavailable returns a fact that could not be learned. The hint may be empty.
func Unavailable[T any](reason, hint string) Fact[T] {
	return Fact[T]{State: StateUnavailable, Reason: reason, Hint: hint}
}

// Get returns the value, and whether it is known.
func (f Fact[T]) Get() (T, bool) { return f.Value, f.State == StateKnown }

// Why returns why the fact is unavailable, and is empty for one that is not.
func (f Fact[T]) Why() string {
	switch {
	case f.State == StateKnown || f.State == StateNone:
		return ""
	case f.Reason == "":
		return "not asked"
	}
	return f.Reason
}

// MarshalJSON writes the fields that belong to the state, a known value also when
// it is zero.
func (f Fact[T]) MarshalJSON() ([]byte, error) {
	out := struct {
		State  State     `json:"state"`
		Value  *T        `json:"value,omitempty"`
		Source string    `json:"source,omitempty"`
		AsOf   time.Time `json:"as_of,omitzero"`
		Reason string    `json:"reason,omitempty"`
		Hint   string    `json:"hint,omitempty"`
	}{State: f.State, Source: f.Source, AsOf: f.AsOf.UTC().Truncate(time.Second)}
	switch f.State {
	case StateKnown:
		out.Value = &f.Value
	case StateNone:
	default:
		out.State, out.Reason, out.Hint = StateUnavailable, f.Why(), f.Hint
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // the encoder that called decides
	if err := enc.Encode(out); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Age says for a person how long before now something was so: "just now",
// "3 min ago", "2 h ago", "5 days ago". It is empty for the zero time.
func Age(asOf, now time.Time) string {
	age := now.Sub(asOf)
	switch {
	case asOf.IsZero():
		return ""
	case age < time.Minute: // or a clock ahead of ours
		return "just now"
	case age < time.Hour:
		return fmt.Sprintf("%d min ago", age/time.Minute)
	case age < 48*time.Hour:
		return fmt.Sprintf("%d h ago", age/time.Hour)
	}
	return fmt.Sprintf("%d days ago", age/(24*time.Hour))
}
