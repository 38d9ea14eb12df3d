package output

import (
	"errors"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/failure"
)

// Words returns the command line's names for the things in messages.
func Words() failure.Words {
	return failure.Words{Program: "copse", Person: true, Track: "copse branch init", Login: "copse mcp doctor --online", Branches: "copse branch list"}
}

// Explain returns an error as one line, with the next step as a command of copse. An error without
// a next step does not change.
func Explain(err error) error {
	e, ok := errors.AsType[*failure.Error](err)
	if !ok {
		return err
	}
	words := Words()
	text := strings.TrimSuffix(e.Message(words), ".")
	if advice := e.Hint(words); advice != "" {
		text += ". " + advice
	}
	return errors.New(cleantext.Line(text))
}
