package app

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/secret"
)

// usualWidth is the width of a terminal that does not report one.
const usualWidth = 80

// Width returns the width in columns of the terminal w; 0 if w is not a terminal.
func Width(w io.Writer) int {
	switch w := secret.Raw(w).(type) {
	case interface{ Width() int }:
		return w.Width()
	case *os.File:
		if !term.IsTerminal(int(w.Fd())) {
			return 0
		}
		if width, _, err := term.GetSize(int(w.Fd())); err == nil && width > 0 {
			return width
		}
		return usualWidth
	}
	return 0
}

// printHelp writes the help of a command, wrapped to the width of the terminal. It omits aliases:
// they are earlier names, which still work.
func printHelp(cmd *cobra.Command, _ []string) {
	h := helpWriter{w: cmd.OutOrStdout()}
	h.width = Width(h.w)
	h.text(cmp.Or(cmd.Long, cmd.Short))
	h.printf("\nUsage:\n")
	if !cmd.HasAvailableSubCommands() {
		h.printf("  %s\n", cmd.UseLine())
	} else {
		h.printf("  %s [command]\n", cmd.CommandPath())
	}
	if cmd.HasExample() {
		h.printf("\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		h.commands(cmd)
	}
	h.flags("Flags:", cmd.LocalFlags())
	h.flags("Global flags:", cmd.InheritedFlags())
	if cmd.HasAvailableSubCommands() {
		h.hang("\n", fmt.Sprintf("Run \"%s [command] --help\" for more information about a command.", cmd.CommandPath()), 0)
	}
}

// helpWriter writes help. A width of 0 wraps nothing.
type helpWriter struct {
	w     io.Writer
	width int
}

func (h helpWriter) printf(format string, args ...any) { fmt.Fprintf(h.w, format, args...) }

// text writes paragraphs. Those with an indented line keep their lines.
func (h helpWriter) text(text string) {
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			h.printf("\n")
		}
		if h.width == 0 || strings.HasPrefix(paragraph, " ") {
			h.printf("%s\n", paragraph)
			continue
		}
		h.hang("", paragraph, 0)
	}
}

// hang writes a text behind a prefix, wrapped with a hanging indent.
func (h helpWriter) hang(prefix, text string, indent int) {
	h.printf("%s%s\n", prefix, cleantext.Wrap(text, indent, indent, h.width))
}

func (h helpWriter) commands(cmd *cobra.Command) {
	groups := append([]*cobra.Group{}, cmd.Groups()...)
	title := "Commands:"
	if len(groups) > 0 {
		title = "Other commands:"
	}
	for _, group := range append(groups, &cobra.Group{Title: title}) {
		first := true
		for _, c := range cmd.Commands() {
			if c.GroupID != group.ID || !c.IsAvailableCommand() && c.Name() != "help" {
				continue
			}
			if first {
				h.printf("\n%s\n", group.Title)
				first = false
			}
			name := fmt.Sprintf("  %-*s ", c.NamePadding(), c.Name())
			h.hang(name, c.Short, len(name))
		}
	}
}

func (h helpWriter) flags(title string, flags *pflag.FlagSet) {
	if flags.HasAvailableFlags() {
		h.printf("\n%s\n%s\n", title, strings.TrimRight(flags.FlagUsagesWrapped(h.width), " \n"))
	}
}
