package xec_test

import (
	"errors"
	"testing"

	"github.com/copse-dev/copse/internal/xec"
)

// A program that reads a line without end gets no more memory than it may have.
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
