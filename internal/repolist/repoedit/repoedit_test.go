package repoedit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/copse-dev/copse/internal/repolist/repoedit"
)

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestAddAndRemove(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "twig", "registry.json")
	if added, err := repoedit.Add(t.Context(), file, "/src/a&b"); err != nil || !added {
		t.Fatal(added, err)
	}
	const one = "[\n  {\n    \"path\": \"/src/a&b\",\n    \"name\": \"a&b\",\n    \"last_fetch\": null\n  }\n]"
	if got := read(t, file); got != one {
		t.Errorf("got %s", got)
	}
	if added, err := repoedit.Add(t.Context(), file, "/src/a&b"); err != nil || added || read(t, file) != one {
		t.Errorf("added twice: %t, %v", added, err)
	}
	// What others wrote stays.
	if err := os.WriteFile(file, []byte(`[{"path":"/x","name":"x","last_fetch":"2026-01-02T03:04:05+00:00","more":{"a":[1]}}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := repoedit.Add(t.Context(), file, "/y"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, file); !strings.Contains(got, `"more": {`) || !strings.Contains(got, `"last_fetch": "2026-01-02T03:04:05+00:00"`) || strings.Index(got, `"/x"`) > strings.Index(got, `"/y"`) {
		t.Errorf("got %s", got)
	}
	if removed, err := repoedit.Remove(t.Context(), file, "/nowhere"); err != nil || removed {
		t.Errorf("removed %t, %v", removed, err)
	}
	for _, path := range []string{"/y", "/x"} {
		if removed, err := repoedit.Remove(t.Context(), file, path); err != nil || !removed {
			t.Errorf("removed %t, %v", removed, err)
		}
	}
	if got := read(t, file); got != "[]" {
		t.Errorf("got %s", got)
	}
	// What is not understood is not changed.
	for _, broken := range []string{"{", `{"a":1}`, "null x"} {
		if err := os.WriteFile(file, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := repoedit.Add(t.Context(), file, "/z"); err == nil || read(t, file) != broken {
			t.Errorf("%s: %v, %s", broken, err, read(t, file))
		}
	}
}

// Others can neither read the list nor write it, whatever the umask is.
func TestListIsPrivate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes mean nothing here")
	}
	file := filepath.Join(t.TempDir(), "twig", "registry.json")
	if _, err := repoedit.Add(t.Context(), file, "/a"); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{file: 0o600, filepath.Dir(file): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
}

// Many that add at once all find their place.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "registry.json")
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if added, err := repoedit.Add(t.Context(), file, fmt.Sprintf("/r%d", i)); err != nil || !added {
				t.Error(added, err)
			}
		})
	}
	all.Wait()
	if n := strings.Count(read(t, file), `"path"`); n != 20 {
		t.Errorf("%d are there", n)
	}
}
