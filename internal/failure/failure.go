// Package failure is the error value of everything that the surfaces share: what
// kind of failure it is, what went wrong, and what to do next.
//
// An [Error] is neutral: its texts are [Phrase]s, which a surface completes with its
// own [Words]. The tools of twig-mcp name commands of twig, those of copse name
// commands of copse, and the command line names no tool. Use [Of] to turn any error
// into an Error at the edge of a surface.
package failure

import "errors"

// Kind is what sort of failure an error is. The set is closed.
type Kind int

// The kinds.
const (
	// Internal is a fault of the program, or of the files that it reads.
	Internal Kind = iota
	// NoRepository means that there is no git repository, or none that can be used.
	NoRepository
	// NoState means that the branch state is missing or unreadable.
	NoState
	// NoCredentials means that a service needs a login that was not found.
	NoCredentials
	// NotFound means that the thing that was named does not exist.
	NotFound
	// Invalid means that an argument is wrong or missing.
	Invalid
	// Unreachable means that a service did not answer, or refused.
	Unreachable
	// Busy means that something else is running that must end first.
	Busy
	// RateLimited means that a service asked to wait.
	RateLimited
)

// Words are what a surface calls the things that phrases mention.
type Words struct {
	// Program is the name of the program: "copse", "twig-mcp".
	Program string
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
	// What is what went wrong, a sentence without its period.
	What Phrase
	// Do is what to do next; nil if What says it.
	Do Phrase
	// Err is the cause, for errors.Is; it is not shown.
	Err error
}

// Error returns what went wrong, without a surface's words.
func (e *Error) Error() string { return e.Message(Words{}) }

func (e *Error) Unwrap() error { return e.Err }

// Message returns what went wrong.
func (e *Error) Message(w Words) string { return e.What(w) }

// Hint returns what to do next, "" for nothing.
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
