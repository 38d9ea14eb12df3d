// Package lines reads the lines of a recipe as just does.
package lines

import (
	"strings"
	"unicode"
)

// Joined returns the commands of a body that is not a script, as just passes them to the shell. A line
// whose last text ends with a backslash continues in the next one, whatever the shell makes of the
// backslash: just removes it, and the blanks at the start of the next line. just also removes the
// signs at the start of a command and, if the justfile says so, comments.
func Joined(body [][]any, ignoreComments bool) [][]any {
	var commands [][]any
	for len(body) > 0 {
		lines := body[:1]
		if ignoreComments && strings.HasPrefix(First(body[0]), "#") {
			body = body[1:]
			continue
		}
		for continues(lines[len(lines)-1]) && len(lines) < len(body) {
			lines = body[:len(lines)+1]
		}
		commands, body = append(commands, join(lines)), body[len(lines):]
	}
	return commands
}

// continues reports whether a line continues in the next one.
func continues(line []any) bool {
	if len(line) == 0 {
		return false
	}
	last, _ := line[len(line)-1].(string)
	return strings.HasSuffix(last, `\`)
}

// join returns the fragments of the command in lines.
func join(lines [][]any) []any {
	var command []any
	var text strings.Builder
	end := func() {
		if text.Len() > 0 {
			command = append(command, text.String())
			text.Reset()
		}
	}
	for i, line := range lines {
		for n, fragment := range line {
			part, ok := fragment.(string)
			if !ok {
				end()
				command = append(command, fragment)
				continue
			}
			switch {
			case n == 0 && i == 0:
				part = strings.TrimLeft(part, "@-?")
			case n == 0:
				part = strings.TrimLeftFunc(part, unicode.IsSpace)
			}
			if n == len(line)-1 && i < len(lines)-1 {
				part = strings.TrimSuffix(part, `\`)
			}
			text.WriteString(part)
		}
	}
	end()
	return command
}

// First returns the first text of a line.
func First(line []any) string {
	if len(line) == 0 {
		return ""
	}
	first, _ := line[0].(string)
	return first
}
