package app

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/cleantext"
)

// completing reports whether a shell asks for completions.
func completing(args []string) bool {
	return len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
}

// completions writes what a shell offers to a person, who may be in a repository that nobody vetted.
// It omits values that are not plain text, because some scripts insert them into the command line as
// they are and evaluate it at the next completion, and those that a script would show as a message of
// the program.
type completions struct {
	w      io.Writer
	offers map[string]bool // what it has written, in lower case
}

// notice begins a line that the shell's script shows as a message.
const notice = "_activeHelp_ "

// Write writes one completion, with its description after a tab. The library calls it with a line.
func (c completions) Write(line []byte) (int, error) {
	value, about, described := strings.Cut(strings.TrimSuffix(string(line), "\n"), "\t")
	if !cleantext.Completion(value) || strings.HasPrefix(value, notice) {
		return len(line), nil
	}
	// bash inserts what all candidates begin with. That must not include a description, which
	// follows the value, where two values are the same to a shell that ignores case.
	same := c.offers[strings.ToLower(value)]
	c.offers[strings.ToLower(value)] = true
	if described && !same {
		value += "\t" + cleantext.Line(about)
	}
	_, err := fmt.Fprintln(c.w, value)
	return len(line), err
}
