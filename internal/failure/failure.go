// Package failure is the error type that all surfaces share. An error has a kind, a description,
// and a next step.
//
// An [Error] is neutral: its texts are [Phrase]s, which a surface completes with its own [Words].
// The tools of twig-mcp name commands of twig, those of copse name commands of copse, and the
// command line names no tool. Use [Of] to convert any error at the edge of a surface.
package failure

import "errors"

// Kind is the kind of an error. The set is closed.
type Kind int

// The kinds.
const (
	// Internal is a fault of the program, or of the files that it reads.
	Internal Kind = iota
	// NoRepository means that there is no usable git repository.
	NoRepository
	// NoState means that the branch state is missing or unreadable.
	NoState
	// NoCredentials means that a service needs a login that was not found.
	NoCredentials
	// NotFound means that the named thing does not exist.
	NotFound
	// Invalid means that an argument is wrong or missing.
	Invalid
	// Unreachable means that a service did not answer, or refused the request.
	Unreachable
	// Busy means that another operation must end first.
	Busy
	// RateLimited means that a service asked to wait.
	RateLimited
)

// Words are a surface's names for the things that phrases mention.
type Words struct {
	// Program is the name of the program: "copse", "twig-mcp".
	Program string
	// Person means that a person at a command line reads the message, who knows the directories of
	// this machine.
	Person bool
	// Track is the command that starts to track branches: "copse branch init".
	Track string
	// Login is the command that explains credentials.
	Login string
	// StopTask is how to stop the running task ID: "`copse task stop ID`".
	StopTask string
	// Branches is how to list the tracked branches: the name of a tool, or a command.
	Branches string
}

// Phrase is a text that a surface completes with its words.
type Phrase func(Words) string

// Text returns a phrase that is the same on every surface.
func Text(s string) Phrase { return func(Words) string { return s } }

// Error is a failure.
type Error struct {
	Kind Kind
	// What describes the failure, as a sentence without its period.
	What Phrase
	// Do is the next step; nil if What contains it.
	Do Phrase
	// Err is the cause, for errors.Is; no surface shows it.
	Err error
}

// Error returns the description, without a surface's words.
func (e *Error) Error() string { return e.Message(Words{}) }

func (e *Error) Unwrap() error { return e.Err }

// Message returns the description.
func (e *Error) Message(w Words) string { return e.What(w) }

// Hint returns the next step, "" for none.
func (e *Error) Hint(w Words) string {
	if e.Do == nil {
		return ""
	}
	return e.Do(w)
}

// New returns a failure whose text is the same on every surface.
func New(kind Kind, what, do string) *Error {
	e := &Error{Kind: kind, What: Text(what)}
	if do != "" {
		e.Do = Text(do)
	}
	return e
}

// Of returns the failure in err's chain, and one of kind Internal for any other error.
func Of(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Kind: Internal, What: Text(err.Error()), Do: Text("This is a bug. Report it."), Err: err}
}
