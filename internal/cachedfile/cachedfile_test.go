package cachedfile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/cachedfile"
)

const limit = 1 << 10

// bad is an error of the parse function.
type bad string

func (b bad) Error() string { return "bad content " + string(b) }

// upper returns a parse function: it refuses what begins with '!'.
func upper(data []byte) (string, error) {
	if strings.HasPrefix(string(data), "!") {
		return "", bad(data)
	}
	return strings.ToUpper(string(data)), nil
}

// counted returns upper with a count of its calls.
func counted(calls *atomic.Int64) func([]byte) (string, error) {
	return func(data []byte) (string, error) {
		calls.Add(1)
		return upper(data)
	}
}

func write(tb testing.TB, path, content string) {
	tb.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		tb.Fatal(err)
	}
}

func wantGet(t *testing.T, f *cachedfile.File[string], want string) {
	t.Helper()
	if got, err := f.Get(); err != nil || got != want {
		t.Fatalf("Get() = %q, %v; want %q", got, err, want)
	}
}

func TestUnchangedFileIsNotOpenedAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "one")
	var parses atomic.Int64
	opened := 0
	f := cachedfile.New(path, limit, counted(&parses))
	f.SetClock(time.Hour) // the edit is long ago
	f.OnOpen(func(n int) { opened = n })
	for range 5 {
		wantGet(t, f, "ONE")
	}
	if opened != 1 || parses.Load() != 1 {
		t.Errorf("opened %d times, parsed %d times; want 1 and 1", opened, parses.Load())
	}
	write(t, path, "three")
	wantGet(t, f, "THREE")
	if opened != 2 || parses.Load() != 2 {
		t.Errorf("after an edit: opened %d times, parsed %d times; want 2 and 2", opened, parses.Load())
	}
}

func TestFreshFileIsReadAgainButParsedOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "one")
	var parses atomic.Int64
	opened := 0
	f := cachedfile.New(path, limit, counted(&parses))
	f.SetWindow(time.Hour) // the edit is always just now
	f.OnOpen(func(n int) { opened = n })
	for range 5 {
		wantGet(t, f, "ONE")
	}
	if opened != 5 || parses.Load() != 1 {
		t.Errorf("opened %d times, parsed %d times; want 5 and 1", opened, parses.Load())
	}
}

func TestFileWithATimeInTheFuture(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "one")
	future := time.Now().Add(24 * time.Hour)
	f := cachedfile.New(path, limit, upper)
	for _, content := range []string{"one", "two", "six"} {
		write(t, path, content)
		if err := os.Chtimes(path, future, future); err != nil {
			t.Fatal(err)
		}
		wantGet(t, f, strings.ToUpper(content))
	}
}

func TestRefusedContentKeepsItsError(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "!x")
	var parses atomic.Int64
	f := cachedfile.New(path, limit, counted(&parses))
	for range 3 {
		if _, err := f.Get(); !errors.Is(err, bad("!x")) {
			t.Fatalf("Get() error = %v, want %v", err, bad("!x"))
		}
	}
	if parses.Load() != 1 {
		t.Errorf("parsed %d times, want 1", parses.Load())
	}
	write(t, path, "!y")
	if _, err := f.Get(); !errors.Is(err, bad("!y")) {
		t.Errorf("Get() error = %v, want %v", err, bad("!y"))
	}
	write(t, path, "y")
	wantGet(t, f, "Y")
}

func TestFileSystemErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "sub", "f")
	f := cachedfile.New(path, limit, upper)

	noPath := func(err error) {
		t.Helper()
		if strings.Contains(err.Error(), dir) {
			t.Errorf("the error text %q has the path", err)
		}
	}
	_, err := f.Get()
	if !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("missing folder: %v, want fs.ErrNotExist", err)
	}
	noPath(err)
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, path, "one")
	wantGet(t, f, "ONE")

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Get(); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("missing file: %v, want fs.ErrNotExist", err)
	}

	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err = f.Get()
	if irregular, ok := errors.AsType[*cachedfile.NotRegularError](err); !ok || !irregular.Mode.IsDir() {
		t.Fatalf("directory: %v, want a NotRegularError of a directory", err)
	}
	if got, want := err.Error(), "is a directory, not a regular file"; got != want {
		t.Errorf("directory: %q, want %q", got, want)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}

	write(t, path, strings.Repeat("x", limit))
	wantGet(t, f, strings.Repeat("X", limit))
	write(t, path, strings.Repeat("x", limit+1))
	_, err = f.Get()
	if large, ok := errors.AsType[*cachedfile.TooLargeError](err); !ok || large.Size != limit+1 || large.Limit != limit {
		t.Fatalf("large file: %v, want a TooLargeError of %d and %d", err, limit+1, limit)
	}
	if got, want := err.Error(), "has 1025 bytes; the limit is 1024"; got != want {
		t.Errorf("large file: %q, want %q", got, want)
	}
	write(t, path, "small")
	wantGet(t, f, "SMALL")
}

func TestPermissionIsTriedAgain(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("no permission can be taken from this user")
	}
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "one")
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	f := cachedfile.New(path, limit, upper)
	if _, err := f.Get(); !errors.Is(err, fs.ErrPermission) {
		t.Fatalf("Get() error = %v, want fs.ErrPermission", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	wantGet(t, f, "ONE")
}

func TestFileThatChangesWhileItIsOpened(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "one")
	f := cachedfile.New(path, limit, upper)
	f.SetClock(time.Hour)
	f.OnOpen(func(int) { write(t, path, strings.Repeat("x", limit+1)) })
	_, err := f.Get()
	if _, ok := errors.AsType[*cachedfile.TooLargeError](err); !ok {
		t.Errorf("Get() error = %v, want a TooLargeError", err)
	}
}

func TestReplacedFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, next := filepath.Join(dir, "f"), filepath.Join(dir, "next")
	write(t, path, "one")
	f := cachedfile.New(path, limit, upper)
	wantGet(t, f, "ONE")
	write(t, next, "two")
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
	wantGet(t, f, "TWO")
}

func TestPanicInParseDoesNotLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "one")
	first := true
	f := cachedfile.New(path, limit, func(data []byte) (string, error) {
		if first {
			first = false
			panic("parse")
		}
		return upper(data)
	})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic did not reach the caller")
			}
		}()
		_, _ = f.Get()
	}()
	wantGet(t, f, "ONE")
}

// Readers run against a writer that replaces the file with ever higher
// numbers. No reader may see a number lower than the one that was complete
// before it asked, nor one that was never written.
func TestConcurrentReadersSeeWhatWasWrittenBefore(t *testing.T) {
	t.Parallel()
	const last, readers = 200, 4
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	write(t, path, "0")
	var parses atomic.Int64
	f := cachedfile.New(path, limit, func(data []byte) (int64, error) {
		parses.Add(1)
		var n int64
		_, err := fmt.Sscanf(string(data), "%d", &n)
		return n, err
	})

	var written atomic.Int64
	var wait sync.WaitGroup
	for range readers {
		wait.Go(func() {
			for {
				least := written.Load()
				got, err := f.Get()
				if err != nil || got < least || got > last {
					t.Errorf("Get() = %d, %v; %d was there before", got, err, least)
					return
				}
				if got == last {
					return
				}
			}
		})
	}
	for n := int64(1); n <= last; n++ {
		next := filepath.Join(dir, "next")
		write(t, next, fmt.Sprint(n))
		if err := os.Rename(next, path); err != nil {
			t.Error(err)
			break
		}
		written.Store(n)
	}
	wait.Wait()
	if got := parses.Load(); got > last+1 {
		t.Errorf("%d contents were parsed %d times", last+1, got)
	}
}

// Whatever happens to the file, Get answers for what it holds. Short pauses
// let the file become trusted between the edits of one tick.
func TestGetIsNeverStale(t *testing.T) {
	t.Parallel()
	const window, pause = 20 * time.Millisecond, 25 * time.Millisecond
	base, runs := t.TempDir(), 0
	long := !testing.Short()
	past := time.Now().Add(-time.Hour)
	texts := rapid.SampledFrom([]string{"a", "b", "!", "aa", "bb", "!a", "!b", ""})
	rapid.Check(t, func(t *rapid.T) {
		runs++
		dir := filepath.Join(base, fmt.Sprint(runs))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		path, next := filepath.Join(dir, "f"), filepath.Join(dir, "next")
		must := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		var model *string // nil: no file
		f := cachedfile.New(path, limit, upper)
		f.SetWindow(window)

		actions := map[string]func(*rapid.T){
			"rewrite": func(t *rapid.T) {
				text := texts.Draw(t, "text")
				must(os.WriteFile(path, []byte(text), 0o600))
				model = &text
			},
			"replace": func(t *rapid.T) {
				text := texts.Draw(t, "text")
				must(os.WriteFile(next, []byte(text), 0o600))
				must(os.Rename(next, path))
				model = &text
			},
			"remove": func(t *rapid.T) {
				if model == nil {
					t.Skip()
				}
				must(os.Remove(path))
				model = nil
			},
			"": func(t *rapid.T) {
				got, err := f.Get()
				if model == nil {
					if !errors.Is(err, fs.ErrNotExist) {
						t.Fatalf("no file: Get() = %q, %v", got, err)
					}
					return
				}
				want, wantErr := upper([]byte(*model))
				if got != want || !errors.Is(err, wantErr) {
					t.Fatalf("content %q: Get() = %q, %v", *model, got, err)
				}
			},
		}
		if runtime.GOOS != "windows" { // no change time there
			actions["rewrite, old time"] = func(t *rapid.T) {
				actions["rewrite"](t)
				must(os.Chtimes(path, past, past))
			}
			actions["replace, old time"] = func(t *rapid.T) {
				actions["replace"](t)
				must(os.Chtimes(path, past, past))
			}
		}
		if long && rapid.IntRange(0, 7).Draw(t, "pauses") == 0 {
			actions["pause"] = func(*rapid.T) { time.Sleep(pause) }
		}
		t.Repeat(actions)
	})
}

func BenchmarkUnchanged(b *testing.B) {
	path := filepath.Join(b.TempDir(), "f")
	write(b, path, strings.Repeat("x", 2<<20))
	f := cachedfile.New(path, 4<<20, func(data []byte) (int, error) { return len(data), nil })
	f.SetClock(time.Hour)
	for b.Loop() {
		if _, err := f.Get(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkJustChanged(b *testing.B) {
	path := filepath.Join(b.TempDir(), "f")
	write(b, path, strings.Repeat("x", 2<<20))
	f := cachedfile.New(path, 4<<20, func(data []byte) (int, error) { return len(data), nil })
	f.SetWindow(time.Hour)
	for b.Loop() {
		if _, err := f.Get(); err != nil {
			b.Fatal(err)
		}
	}
}
