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

// start runs a watch until the test ends, and returns its reports.
func start(t *testing.T, paths watch.Paths) <-chan struct{} {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ready := make(chan struct{})
	changes := make(chan struct{}, 100)
	ended := make(chan error, 1)
	go func() {
		ended <- watch.Run(ctx, paths, func() { close(ready) }, func() { changes <- struct{}{} })
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	<-ready
	return changes
}

// patience is far longer than any report takes.
const patience = 30 * time.Second

// reported waits for a report.
func reported(t *testing.T, changes <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-changes:
	case <-time.After(patience):
		t.Fatalf("no report of %s", what)
	}
}

// Directories whose parents do not exist either are watched as soon as they appear, in
// whatever order they are named.
func TestRunLater(t *testing.T) {
	t.Parallel()
	for name, paths := range map[string]func(dir string) watch.Paths{
		"dirs": func(dir string) watch.Paths {
			return watch.Paths{Dirs: []string{filepath.Join(dir, "runs"), dir}}
		},
		"tree": func(dir string) watch.Paths { return watch.Paths{Trees: []string{dir}} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := filepath.Join(t.TempDir(), "state")
			dir := filepath.Join(state, "copse", "tasks")
			changes := start(t, paths(dir))
			for range 2 {
				for _, path := range []string{filepath.Join(dir, "runs", "1.json"), filepath.Join(dir, "runs", "2.json")} {
					write(t, path)
					reported(t, changes, path)
				}
				// It can go and come back.
				if err := os.RemoveAll(state); err != nil {
					t.Fatal(err)
				}
				reported(t, changes, "the removal")
			}
		})
	}
}

// Changes that follow each other without a pause are reported all the same.
func TestRunWithoutPause(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	changes := start(t, watch.Paths{Dirs: []string{dir}})
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		write(t, filepath.Join(dir, "file"))
		select {
		case <-changes:
			return
		default:
		}
	}
	t.Error("no report while files change all the time")
}

func TestRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	write(t, in("top", "file"))
	write(t, in("refs", "heads", "main"))

	changes := start(t, watch.Paths{
		Dirs:  []string{in("top"), in("top", "later"), in("missing")},
		Trees: []string{in("refs")},
	})
	for _, path := range []string{
		in("top", "file"),               // changed
		in("top", "new"),                // added
		in("refs", "heads", "a", "b"),   // in a directory that is new
		in("refs", "heads", "a", "b"),   // and again in it
		in("refs", "heads", "a", "c"),   // and another
		in("top", "later", "new"),       // a named directory appears
		in("top", "later", "new again"), // and is watched
	} {
		write(t, path)
		reported(t, changes, path)
	}
	if err := os.Remove(in("top", "new")); err != nil {
		t.Fatal(err)
	}
	reported(t, changes, "the removal")
}
