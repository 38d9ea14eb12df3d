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
// It omits values with characters that control a terminal, because a shell shows and inserts values
// as they are, and those that the shell's script would show as a message of the program.
type completions struct{ w io.Writer }

// notice begins a line that the shell's script shows as a message.
const notice = "_activeHelp_ "

// Write writes one completion, with its description after a tab. The library calls it with a line.
func (c completions) Write(line []byte) (int, error) {
	value, about, described := strings.Cut(strings.TrimSuffix(string(line), "\n"), "\t")
	if cleantext.Line(value) != value || strings.HasPrefix(value, notice) {
		return len(line), nil
	}
	if described {
		value += "\t" + cleantext.Line(about)
	}
	_, err := fmt.Fprintln(c.w, value)
	return len(line), err
}
