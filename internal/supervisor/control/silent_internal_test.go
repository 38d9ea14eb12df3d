package control

import (
	"context"
	"errors"
	"os"
	"runtime"
	"testing"
	"time"
)

// A process that was stopped accepts connections and does not answer: every request ends soon, and
// names it.
func TestStopped(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "c") //nolint:usetesting // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket, err := Take(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	client := NewClient(dir)
	client.patience = 20 * time.Millisecond
	for name, ask := range map[string]func(context.Context) error{
		"status": func(ctx context.Context) error { _, err := client.Status(ctx); return err },
		"join":   func(ctx context.Context) error { return client.Join(ctx, dir) },
		"board":  func(ctx context.Context) error { _, err := client.Board(ctx, dir, false); return err },
		"stop":   client.Stop,
	} {
		err := ask(t.Context())
		silent, ok := errors.AsType[*SilentError](err)
		if !ok || runtime.GOOS == "linux" && silent.PID != os.Getpid() {
			t.Errorf("%s: %v", name, err)
		}
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := client.Stop(canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled request: %v", err)
	}
}
