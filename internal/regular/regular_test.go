package regular_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/regular"
)

// What is read is what was written, up to the limit and not a byte beyond.
func TestRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Byte(), 0, 3000).Draw(t, "content")
		limit := rapid.Int64Range(0, 3000).Draw(t, "limit")
		if err := os.WriteFile(path, want, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := regular.Read(path, limit)
		if int64(len(want)) <= limit {
			if err != nil || string(got) != string(want) {
				t.Fatalf("Read(%d bytes, limit %d) = %d bytes, %v", len(want), limit, len(got), err)
			}
			return
		}
		if large, ok := errors.AsType[*regular.TooLargeError](err); !ok || large.Limit != limit {
			t.Fatalf("Read(%d bytes, limit %d) error = %v, want a TooLargeError", len(want), limit, err)
		}
	})
}

// A file that hides its size, as those of the kernel do, is read to its end or the limit.
func TestReadWithoutSize(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	for limit, ok := range map[int64]bool{9: false, 10: true, 11: true} {
		file, err := regular.Open(path, 10)
		if err != nil {
			t.Fatal(err)
		}
		data, err := regular.ReadAll(file, 0, limit)
		_ = file.Close()
		if ok != (err == nil) || ok && string(data) != "0123456789" {
			t.Errorf("limit %d: %q, %v", limit, data, err)
		}
	}
}

// A file that does not end takes no more memory than the limit, whatever size it reports.
func TestEndless(t *testing.T) { //nolint:paralleltest // it measures what the process allocates
	const limit = 8 << 20
	path := filepath.Join(t.TempDir(), "f")
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 2*limit)); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int64{0, limit / 2, limit} {
		file, err := regular.Open(path, 2*limit)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = regular.ReadAll(file, size, limit)
		runtime.ReadMemStats(&after)
		_ = file.Close()
		if _, ok := errors.AsType[*regular.TooLargeError](err); !ok {
			t.Errorf("size %d: error = %v, want a TooLargeError", size, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > limit+1<<20 {
			t.Errorf("size %d: a file above the limit of %d took %d bytes", size, limit, took)
		}
	}
}

func TestNotThere(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	for _, read := range []func() error{
		func() error { _, err := regular.Read(path, 1); return err },
		func() error { _, err := regular.Open(path, 1); return err },
	} {
		if err := read(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error = %v, want fs.ErrNotExist", err)
		}
	}
}

func TestDirectory(t *testing.T) {
	t.Parallel()
	wantNotRegular(t, t.TempDir(), "directory")
}

func wantNotRegular(t *testing.T, path, kind string) {
	t.Helper()
	_, err := regular.Read(path, 1<<20)
	special, ok := errors.AsType[*regular.NotRegularError](err)
	if !ok || special.Error() != "is a "+kind+", not a regular file" {
		t.Errorf("Read error = %v, want that it is a %s", err, kind)
	}
	if about, ok := errors.AsType[*fs.PathError](err); !ok || about.Path != path {
		t.Errorf("Read error = %v, want one that names %q", err, path)
	}
	if file, err := regular.Open(path, 1<<20); err == nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(file, 1))
		_ = file.Close()
		t.Errorf("a %s was opened", kind)
	}
}
