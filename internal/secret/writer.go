package secret

import (
	"io"
	"strings"
	"sync"
)

// Writer removes the secrets from its input, even if a secret arrives in several pieces.
type Writer struct {
	set *Set
	to  io.Writer

	mu   sync.Mutex
	held string // the end of the input, which may be the beginning of a secret
}

// Writer returns a writer to w. Close writes the text that it holds back.
func (s *Set) Writer(w io.Writer) *Writer { return &Writer{set: s, to: w} }

// Raw returns the writer below w, from which w removes the secrets: w itself, if it is not a
// Writer. It is for output that must not change: a protocol that redacts itself, a child process, a
// secret that the user has requested.
func Raw(w io.Writer) io.Writer {
	if redacting, ok := w.(*Writer); ok {
		return redacting.to
	}
	return w
}

// Write writes p, except for an end that may be the beginning of a secret.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	forms := w.set.all()
	if len(forms.texts) == 0 && w.held == "" {
		return w.to.Write(p)
	}
	text := w.set.Redact(w.held + string(p))
	keep := 0
	if len(forms.texts) > 0 {
		keep = unfinished(forms, text[strings.LastIndexByte(text, '\n')+1:])
	}
	w.held = text[len(text)-keep:]
	if _, err := io.WriteString(w.to, text[:len(text)-keep]); err != nil {
		return 0, err
	}
	return len(p), nil
}

// beginning returns the length of the longest end of a line that is the beginning of one of forms.
// No secret has a line break, so complete lines are never held back.
func beginning(text string, forms []string) int {
	for keep := min(len(text), len(forms[0])-1); keep > 0; keep-- {
		for _, form := range forms {
			if len(form) > keep && strings.HasPrefix(form, text[len(text)-keep:]) {
				return keep
			}
		}
	}
	return 0
}

// WriteJSON writes a JSON document, which remains valid.
func (w *Writer) WriteJSON(document []byte) error {
	if err := w.Close(); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.to.Write(w.set.JSON(document))
	return err
}

// Close writes the text that is held back. It does not close the writer below.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	held := w.held
	if held == "" {
		return nil // an empty write would wait for the reader of a pipe
	}
	w.held = ""
	_, err := io.WriteString(w.to, held)
	return err
}
