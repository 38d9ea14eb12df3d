package xec_test

import (
	"errors"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/xec"
)

// A program that reads an endless line gets no more memory than it may have.
func TestMaxMemory(t *testing.T) {
	t.Parallel()
	env := xec.Env{"PATH=/usr/bin:/bin", "LC_ALL=C"}
	if _, err := env.LookPath("tail"); err != nil {
		t.Skip(err)
	}
	_, err := xec.Run(t.Context(), xec.Command{Name: "tail", Args: []string{"-n", "1", "/dev/zero"}, Env: env, MaxMemory: 64 << 20})
	if _, ok := errors.AsType[*xec.ExitError](err); !ok {
		t.Errorf("error is %v, want that the program failed", err)
	}
}

// A program that never ends uses no more processor time than it may, however much it waits.
func TestMaxProcessor(t *testing.T) {
	t.Parallel()
	env := xec.Env{"PATH=/usr/bin:/bin", "LC_ALL=C"}
	for script, want := range map[string]error{"while :; do :; done": xec.ErrProcessor, "exit 3": nil} {
		_, err := xec.Run(t.Context(), xec.Command{Name: "sh", Args: []string{"-c", script}, Env: env, MaxProcessor: time.Second})
		if err == nil || want != nil && !errors.Is(err, want) || want == nil && errors.Is(err, xec.ErrProcessor) {
			t.Errorf("%s: %v", script, err)
		}
	}
}
