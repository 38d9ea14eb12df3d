// Package input reads texts from standard input, which may be a terminal, a file, a
// pipe that somebody writes to, or a pipe that nobody does: programs leave the last
// to those that they start, and waiting for its end would hang them.
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
	"github.com/copse-dev/copse/internal/foreign"
)

// How long a silent pipe is waited for: where a text may be meant to come from it,
// where there is enough to do without, and where nothing can be done without.
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

// Try is Read if something comes within wait; else, and from a terminal, it returns
// nothing. That a pipe was left alone is said on stderr, with advice.
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
		env.Note("note: nothing came on standard input, so it was left alone; " + advice)
		return "", nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// Yes asks a person at a terminal a question that is answered with yes or no, on stderr.
// No answer is no.
func Yes(env app.Env, question string) (bool, error) {
	answer, err := Line(env, question+" [y/N] ")
	answer = strings.ToLower(answer)
	return answer == "y" || answer == "yes", err
}

// Line asks a person at a terminal for a line, on stderr, and returns it without spaces at
// its ends.
func Line(env app.Env, question string) (string, error) {
	fmt.Fprint(env.Stderr, foreign.Notice(question))
	// A byte at a time: what comes after the line is for the next question.
	var line []byte
	for buf := make([]byte, 1); ; {
		n, err := env.Stdin.Read(buf)
		if n > 0 && buf[0] == '\n' || errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", fmt.Errorf("read the answer: %w", err)
		}
		line = append(line, buf[:n]...)
	}
	return strings.TrimSpace(string(line)), nil
}
