package xec

import (
	"errors"
	"fmt"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
)

// ErrNotInstalled reports that the program is not in the PATH.
var ErrNotInstalled = errors.New("not installed or not on the PATH")

// SkippedError reports that the only such program is in a project, where copse starts none for itself. It is an
// [ErrNotInstalled].
type SkippedError struct{ Path string }

func (e *SkippedError) Error() string {
	return fmt.Sprintf("installed only in the project, at %q, and copse starts no program of the project for itself", e.Path)
}

// Unwrap returns ErrNotInstalled.
func (*SkippedError) Unwrap() error { return ErrNotInstalled }

// ErrProcessor reports that a program used up its processor time.
var ErrProcessor = errors.New("the processor time is used up")

// ExitError reports that a program ended with a status other than 0.
type ExitError struct {
	Program string
	// Code is the exit status, -1 when a signal ended the program.
	Code int
	// State describes the end: "exit status 1", "signal: killed".
	State string
	// Stderr is the end of what the program wrote to its standard error.
	Stderr string
}

// Error quotes what the program wrote, which can repeat text from the files that it read.
func (e *ExitError) Error() string {
	if e.Stderr == "" {
		return fmt.Sprintf("run %s: %s", e.Program, e.State)
	}
	return fmt.Sprintf("run %s: %s: %q", e.Program, e.State, cleantext.Line(e.Stderr))
}

// maxExcerpt is the size of the excerpt of the standard error in an ExitError. It is the end,
// because programs write their reason last.
const maxExcerpt = 1024

// excerpt returns the end of a program's standard error. A cut within a line leaves "…".
func excerpt(stderr *capture) string {
	text := strings.TrimSpace(strings.ToValidUTF8(stderr.kept.String(), "\uFFFD"))
	if stderr.cut {
		text += "…"
	}
	if over := len(text) - maxExcerpt; over > 0 {
		if nl := strings.IndexByte(text[over:], '\n'); nl >= 0 {
			return text[over+nl+1:]
		}
	}
	return cleantext.Tail(text, maxExcerpt)
}
