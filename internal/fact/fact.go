// Package fact distinguishes three answers that look alike:
// a value is known, there is no value, or it is unavailable.
//
// Create a [Fact] with [Known], [None], or [Unavailable]; the zero value is
// unavailable because nobody asked. In JSON, it is one of
//
//	{"state":"known","value":…,"source":"GitHub","as_of":"2026-01-02T15:04:05Z"}
//	{"state":"none","source":"GitHub","as_of":"2026-01-02T15:04:05Z"}
//	{"state":"unavailable","reason":"…","hint":"…"}
//
// where source, as_of, and hint are omitted if they are empty.
package fact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
)

// State is the kind of a fact.
type State string

// The three kinds.
const (
	StateKnown       State = "known"
	StateNone        State = "none"
	StateUnavailable State = "unavailable"
)

// NotFetched is the reason of a fact that is not cached, if the caller asked only for cached facts.
const NotFetched = "not fetched yet"

// Fact is a value of type T, or the reason why there is none. Its fields are for reading, and for
// the JSON schema; see Get and Why.
type Fact[T any] struct {
	State State `json:"state"`
	// Value is the value, if State is StateKnown.
	Value T `json:"value,omitempty"`
	// Source is the origin of the value, in a word or two: "GitHub", "~/.netrc".
	Source string `json:"source,omitempty"`
	// AsOf is the time of the source's answer. JSON has it in UTC and whole seconds.
	AsOf time.Time `json:"as_of,omitzero"`
	// Reason is why the fact is unavailable, and Hint the next step.
	Reason string `json:"reason,omitempty"`
	Hint   string `json:"hint,omitempty"`
	// Unasked means that no request was sent, for example because there is no login, and Absent that
	// the source has nothing to be asked about. Retry is how long the source asked clients to wait.
	Unasked bool          `json:"-"`
	Absent  bool          `json:"-"`
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

// Unavailable returns an unavailable fact. The hint may be empty.
func Unavailable[T any](reason, hint string) Fact[T] {
	return Fact[T]{State: StateUnavailable, Reason: reason, Hint: hint}
}

// Get returns the value, and whether it is known.
func (f Fact[T]) Get() (T, bool) { return f.Value, f.State == StateKnown }

// Why returns the reason why the fact is unavailable, "" otherwise.
func (f Fact[T]) Why() string {
	switch {
	case f.State == StateKnown || f.State == StateNone:
		return ""
	case f.Reason == "":
		return "not asked"
	}
	return f.Reason
}

// MarshalJSON writes the fields that belong to the state, including a known value that is zero.
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

// Age describes for a person how long before now a time was: "just now", "3 min ago", "2 h ago", "5
// days ago". It is empty for the zero time.
func Age(asOf, now time.Time) string {
	age := now.Sub(asOf)
	switch {
	case asOf.IsZero():
		return ""
	case age < -time.Minute:
		return "some time ago"
	case age < time.Minute:
		return "just now"
	case age < time.Hour:
		return fmt.Sprintf("%d min ago", age/time.Minute)
	case age < 48*time.Hour:
		return fmt.Sprintf("%d h ago", age/time.Hour)
	}
	return cleantext.Count(int(age/(24*time.Hour)), "day") + " ago"
}
