package workspace

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/project"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/plain"
)

// text is the shape of tools whose answer is text: a TextOut in one block or two.
type text struct{}

// OK shows the text, and notes about it in a second block.
func (text) OK(out TextOut) (toolset.Result, error) {
	res := toolset.Result{Text: []string{out.Text}}
	if out.Notice != "" {
		res.Text = append(res.Text, out.Notice)
	}
	return res, nil
}

// Fail returns the message of err.
func (text) Fail(err error) toolset.Result { return plain.Style{NextStep: nextStep}.Fail(err) }

// Schema returns nil: there is only text.
func (text) Schema() *jsonschema.Schema { return nil }

// nextStep returns the next step after a refusal.
func nextStep(err error) string {
	switch {
	case errors.Is(err, project.ErrOutside):
		return "Use a path inside the project, relative to its root."
	case errors.Is(err, project.ErrGit):
		return "Use the branch tools for data from git."
	}
	if e, ok := errors.AsType[*failure.Error](err); ok {
		return e.Hint(failure.Words{StopTask: `stop_task {"id": "ID"}`})
	}
	if missing, ok := errors.AsType[*project.NotFoundError](err); ok {
		if missing.Sparse {
			return "Read it with `git show HEAD:PATH`, or write its directory with `git sparse-checkout add DIRECTORY`."
		}
		return "Use list_directory to see the files."
	}
	return ""
}

// invisible warns of characters in a file that are invisible and that a reader may obey. The file
// is shown unchanged, because an edit must find its exact text.
func invisible(content string, first int) string {
	if cleantext.Block(content) == strings.ReplaceAll(content, "\r\n", "\n") {
		return ""
	}
	line := first
	for text := range strings.Lines(content) {
		body := strings.TrimRight(text, "\r\n")
		if clean := cleantext.Block(body); clean != body {
			return fmt.Sprintf("Warning: line %d has control or invisible characters, which this text includes unchanged; check the bytes of the file before you trust it.", line)
		}
		line++
	}
	return ""
}

// hidden names the invisible characters of an entry's name, and the path that opens it; "" for most
// names.
func hidden(name, path string) string {
	switch {
	case !foreign.Hidden(name):
		return ""
	case !utf8.ValidString(name):
		return "The name has " + foreign.Characters(name) + "; it cannot be opened by its name."
	}
	return "The name has invisible characters: " + foreign.Characters(name) + ". It can be opened as " + foreign.Spell(path) + "."
}

func joined(lines ...string) string {
	var all []string
	for _, l := range lines {
		if l != "" {
			all = append(all, l)
		}
	}
	return strings.Join(all, "\n")
}
