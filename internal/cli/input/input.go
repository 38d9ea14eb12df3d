// Package input reads standard input: a terminal, a file, a pipe with a writer, or a pipe that
// nobody writes to. A program that starts copse can leave it such a pipe, and waiting for its end
// would hang both.
package input

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/foreign"
)

// How long to wait for a silent pipe: if a text may come from it, if the command can work
// without one, and if it cannot.
const (
	Patience = time.Second
	Glance   = 200 * time.Millisecond
	Forever  = time.Duration(math.MaxInt64)
)

// Read reads standard input to its end, or a little more than limit bytes.
func Read(env app.Env, limit int) (string, error) { return readAll(env.Stdin, limit) }

func readAll(r io.Reader, limit int) (string, error) {
	data, err := io.ReadAll(io.LimitReader(r, int64(limit)+2)) // one for a line break at its end
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	return string(data), nil
}

// Try returns Read if input arrives within wait. Otherwise, and from a terminal, it returns "", and
// reports on stderr, with advice, that it did not wait for the pipe.
func Try(ctx context.Context, env app.Env, limit int, wait time.Duration, advice string) (string, error) {
	if env.Interactive() {
		return "", nil
	}
	type chunk struct {
		data []byte
		err  error
	}
	first := make(chan chunk, 1)
	go func() {
		buf := make([]byte, 4096)
		n, err := env.Stdin.Read(buf)
		first <- chunk{buf[:n], err}
	}()
	select {
	case c := <-first:
		if errors.Is(c.err, io.EOF) {
			return string(c.data), nil
		}
		if c.err != nil {
			return "", fmt.Errorf("read standard input: %w", c.err)
		}
		return readAll(io.MultiReader(bytes.NewReader(c.data), env.Stdin), limit)
	case <-time.After(wait):
		env.Note("note: no text arrived on standard input, so copse continued without it; " + advice)
		return "", nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// ErrEnd means that standard input ended before a person answered.
var ErrEnd = errors.New("standard input ended before an answer")

// ErrInterrupted means that a person interrupted the program instead of an answer.
var ErrInterrupted = errors.New("interrupted; no changes made")

// word returns the word that a letter of a question abbreviates, "" if there is none.
func word(letter string) string {
	switch letter {
	case "y":
		return "yes"
	case "n":
		return "no"
	case "c":
		return "choose"
	}
	return ""
}

// Choose asks a person at a terminal, on stderr, for one of some letters, and returns it. The
// words of these letters count as well. An empty line is fallback; after any other answer, Choose
// asks again.
func Choose(ctx context.Context, env app.Env, question, fallback string, others ...string) (string, error) {
	letters := append([]string{fallback}, others...)
	for {
		answer, err := Line(ctx, env, question)
		if err != nil {
			return "", err
		}
		if answer == "" {
			return fallback, nil
		}
		for _, l := range letters {
			if strings.EqualFold(answer, l) || strings.EqualFold(answer, word(l)) {
				return l, nil
			}
		}
		env.Notef("%q is not an answer; answer with %s", answer, strings.Join(letters, ", "))
	}
}

// Confirm asks a person a question with the answers yes and no. An empty line is fallback.
func Confirm(ctx context.Context, env app.Env, question string, fallback bool) (bool, error) {
	if fallback {
		answer, err := Choose(ctx, env, question+" [Y/n] ", "y", "n")
		return answer == "y", err
	}
	answer, err := Choose(ctx, env, question+" [y/N] ", "n", "y")
	return answer == "y", err
}

// Yes asks as [Confirm] does, for an action that requires a person's consent: an empty line and the
// end of the input mean no.
func Yes(ctx context.Context, env app.Env, question string) (bool, error) {
	yes, err := Confirm(ctx, env, question, false)
	if errors.Is(err, ErrEnd) {
		err = nil
	}
	return yes, err
}

// Line asks a person at a terminal for a line, on stderr, and returns it without spaces at
// its ends. It returns [ErrEnd] if the input ends first, and [ErrInterrupted] if the context does.
func Line(ctx context.Context, env app.Env, question string) (string, error) {
	question = strings.TrimSpace(question)
	if width := app.Width(env.Stderr); width > 0 {
		fmt.Fprint(env.Stderr, cleantext.Wrap(foreign.Notice(question), 0, 0, width)+" ")
	} else {
		fmt.Fprint(env.Stderr, foreign.Notice(question)+" ")
	}
	type answer struct {
		line string
		err  error
	}
	read := make(chan answer, 1)
	go func() { // a read of a terminal cannot be canceled
		line, err := line(env.Stdin)
		read <- answer{line, err}
	}()
	select {
	case a := <-read:
		if errors.Is(a.err, ErrEnd) {
			fmt.Fprintln(env.Stderr)
		}
		return a.line, a.err
	case <-ctx.Done():
		fmt.Fprintln(env.Stderr) // the terminal shows ^C behind the question
		return "", ErrInterrupted
	}
}

// line reads a line, without spaces at its ends.
func line(r io.Reader) (string, error) {
	// One byte at a time: the text after the line belongs to the next question.
	var line []byte
	for buf := make([]byte, 1); ; {
		n, err := r.Read(buf)
		if n > 0 && buf[0] == '\n' {
			break
		}
		line = append(line, buf[:n]...)
		if errors.Is(err, io.EOF) {
			if len(line) == 0 {
				return "", ErrEnd
			}
			break
		}
		if err != nil {
			return "", fmt.Errorf("read the answer: %w", err)
		}
	}
	return strings.TrimSpace(string(line)), nil
}
