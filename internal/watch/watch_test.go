package watch_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/watch"
)

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(path), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	write(t, in("top", "file"))
	write(t, in("refs", "heads", "main"))

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ready := make(chan struct{})
	changes := make(chan struct{}, 100)
	ended := make(chan error, 1)
	go func() {
		ended <- watch.Run(ctx, watch.Paths{
			Dirs:  []string{in("top"), in("top", "later"), in("missing")},
			Trees: []string{in("refs")},
		}, func() { close(ready) }, func() { changes <- struct{}{} })
	}()
	<-ready
	for _, path := range []string{
		in("top", "file"),               // changed
		in("top", "new"),                // added
		in("refs", "heads", "a", "b"),   // in a folder that is new
		in("refs", "heads", "a", "b"),   // and again in it
		in("refs", "heads", "a", "c"),   // and another
		in("top", "later", "new"),       // a named folder appears
		in("top", "later", "new again"), // and is watched
	} {
		write(t, path)
		select {
		case <-changes:
		case <-time.After(10 * time.Second):
			t.Fatalf("no report of %s", path)
		}
	}
	if err := os.Remove(in("top", "new")); err != nil {
		t.Fatal(err)
	}
	<-changes
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
