package input_test

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/copse-dev/copse/internal/cli/input"
)

// An input that stays open is not waited for, with a value or without one.
func TestEvent(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{`{"cwd": "/a"}`: "/a", `{"cwd": "/a"} more`: "/a", `{"cwd":`: "", "": "", "{": "", `[]`: ""} {
		for _, open := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				var in io.Reader = strings.NewReader(text)
				if open {
					r, w := io.Pipe()
					defer w.Close()
					go io.WriteString(w, text)
					in = r
				}
				var event struct{ Cwd string }
				begun := time.Now()
				if ok := input.Event(in, &event); ok != (want != "") || event.Cwd != want {
					t.Errorf("%s (open: %v): got %v, %q", text, open, ok, event.Cwd)
				}
				if waited := time.Since(begun); waited > input.Patience {
					t.Errorf("%s (open: %v): waited %s", text, open, waited)
				}
			})
		}
	}
}
