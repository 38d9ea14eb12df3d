// Package skill writes prompts as agent skills.
//
// A skill is a directory with a file [File], which begins with a name and a description in YAML and
// continues with instructions (agentskills.io). Assistants read the names and descriptions of all
// skills, and the instructions of one when they need it. [Names] returns the names, and [Document]
// the files.
package skill

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/command"
	"github.com/copse-dev/copse/internal/command/render"
	"github.com/copse-dev/copse/internal/foreign"
)

// File is the name of the file with the instructions.
const File = "SKILL.md"

const (
	// maxName is the longest name that the format allows.
	maxName = 64
	// maxDescription is a little less than the longest description that every client
	// accepts: Copilot CLI ignores a skill whose description has more than 1,024 characters.
	maxDescription = 1000
)

// Names assigns names to skills. The zero value is ready to use. No two commands of one Names get
// the same name, so the names depend on the order of the commands.
type Names struct {
	taken map[string]bool
	next  map[series]int // the first number that is not tried
}

// series are the names of a beginning with all numbers of some digits.
type series struct {
	stem   string
	digits int
}

// Of returns the name of a skill for words: lowercase letters, digits, and single hyphens.
func (n *Names) Of(words ...string) string {
	name := spelled(strings.Join(words, "-"))
	if name == "" { // no word has a letter that is allowed in a name
		sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
		name = "command-" + hex.EncodeToString(sum[:4])
	}
	if n.taken == nil {
		n.taken, n.next = make(map[string]bool), make(map[series]int)
	}
	unique := name
	for digits, first, end := 1, 2, 10; n.taken[unique]; digits, first, end = digits+1, end, end*10 {
		s := series{strings.TrimRight(name[:min(len(name), maxName-1-digits)], "-"), digits}
		for i := max(first, n.next[s]); i < end && n.taken[unique]; i++ {
			unique = s.stem + "-" + strconv.Itoa(i)
			n.next[s] = i + 1
		}
	}
	n.taken[unique] = true
	return unique
}

// spelled returns text in the characters of a name.
func spelled(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' {
			b.WriteRune(r)
		} else if b.Len() > 0 && !strings.HasSuffix(b.String(), "-") {
			b.WriteByte('-')
		}
	}
	name := b.String()
	return strings.Trim(name[:min(len(name), maxName)], "-")
}

// Description returns the front matter's description of a command. It is one line and never empty.
func Description(c command.Command) string {
	if text := strings.TrimSpace(cleantext.Line(c.Description)); text != "" {
		return cleantext.Cut(text, maxDescription)
	}
	return cleantext.Cut(cleantext.Line("The prompt "+c.String()), maxDescription)
}

// Document returns the file of a skill. prompt is the command's template, rendered without
// values: its placeholders are listed before the instructions.
func Document(name string, c command.Command, prompt render.Result) string {
	var b strings.Builder
	// The quotes of Go are those of YAML.
	fmt.Fprintf(&b, "---\nname: %s\ndescription: %s\n---\n\n", strconv.Quote(name), strconv.Quote(Description(c)))
	var lines []foreign.Line
	if warning := prompt.Hidden(); warning != "" {
		lines = append(lines, foreign.Own("Warning: ").Notice(warning), foreign.Line{})
	}
	if len(prompt.Missing) > 0 {
		lines = append(lines, foreign.Own("The instructions contain placeholders. Replace each of them first:"), foreign.Line{})
		for _, placeholder := range prompt.Missing {
			lines = append(lines, described(placeholder, c))
		}
	}
	if len(lines) > 0 {
		b.WriteString(strings.TrimRight(foreign.Markdown(lines), "\n") + "\n\nInstructions:\n\n")
	}
	b.WriteString(prompt.Prompt)
	return b.String()
}

// described returns the line about a placeholder.
func described(placeholder string, c command.Command) foreign.Line {
	line := foreign.Own("- ").Name("{" + placeholder + "}")
	switch placeholder {
	case "input_text":
		return line.Own(": the text to work on")
	case "input_text_file":
		return line.Own(": the path of the file to work on")
	case "destination_path":
		return line.Own(": the path to write the result to")
	}
	for _, v := range c.UV {
		if "uv-"+v.Name == placeholder && v.Description != "" {
			return line.Own(": ").Name(cleantext.Line(v.Description))
		}
	}
	return line
}
