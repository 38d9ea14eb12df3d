package twig_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/rooted"
)

// put writes a state file below root.
func put(tb testing.TB, root, content string) {
	tb.Helper()
	path := twig.Path(root)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		tb.Fatal(err)
	}
}

func version(n string) string { return stateWith(`"version":` + n) }

func wantVersion(t *testing.T, s *twig.Store, want uint32) {
	t.Helper()
	state, err := s.Load()
	if err != nil || state.Version != want {
		t.Fatalf("Load() = %+v, %v; want version %d", state, err, want)
	}
}

func TestLoadFollowsTheFile(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	s := twig.NewStore(root, root)
	if _, err := s.Load(); !errors.Is(err, twig.ErrNoState) {
		t.Fatalf("no file: %v, want ErrNoState", err)
	}
	for _, v := range []string{"1", "2"} {
		put(t, root, version(v))
		wantVersion(t, s, uint32(v[0]-'0'))
	}
	put(t, root, "{}")
	_, err := s.Load()
	if _, ok := errors.AsType[*twig.BadStateError](err); !ok || err.Error() != ".twig/state.json: version: missing or null" {
		t.Fatalf("broken file: %v", err)
	}
	put(t, root, version("3"))
	wantVersion(t, s, 3)
	if err := os.RemoveAll(filepath.Join(root, ".twig")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(); !errors.Is(err, twig.ErrNoState) {
		t.Fatalf("removed file: %v, want ErrNoState", err)
	}
}

func TestLinkedWorktree(t *testing.T) {
	t.Parallel()
	linked, main := t.TempDir(), t.TempDir()
	s := twig.NewStore(linked, main)
	if _, err := s.Load(); !errors.Is(err, twig.ErrNoState) {
		t.Fatalf("no file anywhere: %v, want ErrNoState", err)
	}
	put(t, main, version("1"))
	wantVersion(t, s, 1)
	put(t, linked, version("2"))
	wantVersion(t, s, 2)
	put(t, linked, "")
	if _, err := s.Load(); err == nil || err.Error() != ".twig/state.json: the file is empty" {
		t.Fatalf("an own broken file must not be passed over: %v", err)
	}
	if err := os.Remove(twig.Path(linked)); err != nil {
		t.Fatal(err)
	}
	wantVersion(t, s, 1)
}

func TestUnusableFile(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.MkdirAll(twig.Path(root), 0o700); err != nil {
		t.Fatal(err)
	}
	s := twig.NewStore(root, "")
	_, err := s.Load()
	if _, ok := errors.AsType[*cachedfile.NotRegularError](err); !ok || err.Error() != ".twig/state.json: is a directory, not a regular file" {
		t.Errorf("directory: %v", err)
	}

	if err := os.Remove(twig.Path(root)); err != nil {
		t.Fatal(err)
	}
	put(t, root, "")
	if err := os.Truncate(twig.Path(root), twig.MaxSize+1); err != nil {
		t.Fatal(err)
	}
	_, err = s.Load()
	if _, ok := errors.AsType[*cachedfile.TooLargeError](err); !ok {
		t.Errorf("large file: %v", err)
	}

	if err := os.RemoveAll(filepath.Join(root, ".twig")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, ".twig"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = s.Load()
	if err == nil || strings.Contains(err.Error(), root) {
		t.Errorf("a file in the folder's place: %v", err)
	}
}

// The short way to the data of a file leads to the same file as the one that nothing leaves, and
// follows no link.
func TestStatStaysInside(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		make func(root, outside string) error
		want error // nil for the file
	}{
		"file": {func(root, _ string) error { return os.Mkdir(filepath.Join(root, ".twig"), 0o700) }, nil},
		"directory is a link to the inside": {func(root, _ string) error {
			return errors.Join(os.Mkdir(filepath.Join(root, "real"), 0o700), os.Symlink("real", filepath.Join(root, ".twig")))
		}, nil},
		"directory is a link to the outside": {func(root, outside string) error {
			return os.Symlink(outside, filepath.Join(root, ".twig"))
		}, rooted.ErrOutside},
		"file is a link": {func(root, outside string) error {
			return errors.Join(os.Mkdir(filepath.Join(root, ".twig"), 0o700), os.Symlink(filepath.Join(outside, "state.json"), twig.Path(root)))
		}, twig.ErrLink},
		"nothing": {nil, fs.ErrNotExist},
	} {
		root, outside := t.TempDir(), t.TempDir()
		if err := os.WriteFile(filepath.Join(outside, "state.json"), []byte(version("1")), 0o600); err != nil {
			t.Fatal(err)
		}
		if tt.make != nil {
			if err := tt.make(root, outside); err != nil {
				t.Fatal(err)
			}
			put(t, root, version("1"))
		}
		got, err := twig.Stat(root)
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", name, err, tt.want)
		}
		if want, _ := os.Stat(twig.Path(root)); tt.want == nil && !os.SameFile(got, want) {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func TestErrorsKeepTheirCause(t *testing.T) {
	t.Parallel()
	err := error(&twig.BadStateError{Err: fs.ErrPermission})
	if !errors.Is(err, fs.ErrPermission) || err.Error() != ".twig/state.json: permission denied" {
		t.Error(err)
	}
	if got, want := twig.ErrNoState.Error(), ".twig/state.json: no such file"; got != want {
		t.Errorf("ErrNoState is %q, want %q", got, want)
	}
}

func BenchmarkLoadUnchanged(b *testing.B) {
	root := b.TempDir()
	put(b, root, string(bigState(10_000)))
	s := twig.NewStore(root, "")
	for b.Loop() {
		if _, err := s.Load(); err != nil {
			b.Fatal(err)
		}
	}
}

// The program twig writes its file in place: for some moments it is empty, or cut
// anywhere. A reader never sees that.
func TestHalfWritten(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	whole := version("7")
	put(t, root, whole)
	s := twig.NewStore(root, root)
	wantVersion(t, s, 7)
	s.SetPatience(time.Minute) // as long as a busy machine can need
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 100 {
			file, err := os.Create(twig.Path(root))
			if err != nil {
				t.Error(err)
				return
			}
			_, err = file.WriteString(whole[:i%len(whole)])
			time.Sleep(time.Millisecond)
			_, rest := file.WriteString(whole[i%len(whole):])
			if err := errors.Join(err, rest, file.Close()); err != nil {
				t.Error(err)
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	reads := 0
	for {
		select {
		case <-done:
			if reads == 0 {
				t.Error("nothing was read meanwhile")
			}
			return
		default:
			wantVersion(t, s, 7)
			reads++
		}
	}
}

// A file that nobody writes keeps no reader waiting.
func TestAbandoned(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	s := twig.NewStore(root, root)
	for _, text := range []string{"", `{"version":1`, "{\"version\":\"\xc3"} {
		put(t, root, text)
		long := time.Now().Add(-time.Minute)
		if err := os.Chtimes(twig.Path(root), long, long); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		for range 200 {
			if _, err := s.Load(); err == nil {
				t.Fatalf("%q is read", text)
			}
		}
		if took := time.Since(begun); took > 5*time.Second { // 10 s if each one waits
			t.Errorf("%q: 200 reads took %s", text, took)
		}
	}
}
