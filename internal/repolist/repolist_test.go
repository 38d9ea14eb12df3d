package repolist_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/repolist"
)

// newList returns the list of a user whose directories are empty, and its path.
func newList(t *testing.T) (list *repolist.List, path string) {
	t.Helper()
	home := t.TempDir()
	none := func(string) string { return "" }
	path, err := repolist.Path(runtime.GOOS, none, home)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	return repolist.New(runtime.GOOS, none, home), path
}

func TestLoad(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, content string
		want          []repolist.Repository
	}{
		{"fresh", "[]", []repolist.Repository{}},
		{"as twig writes it", `[
  {
    "path": "/src/zoo",
    "name": "zoo",
    "last_fetch": "2026-11-20T23:28:36.523108391+00:00"
  },
  {
    "path": "/src/app",
    "name": "app",
    "last_fetch": null
  }
]`, []repolist.Repository{
			{Name: "zoo", Path: "/src/zoo", LastFetch: "2026-11-20T23:28:36.523108391+00:00"},
			{Name: "app", Path: "/src/app"},
		}},
		{"unknown and absent members", `[{"name":"a","path":"/a","stars":[1]}]`, []repolist.Repository{{Name: "a", Path: "/a"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			list, path := newList(t)
			if err := os.WriteFile(path, []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := list.Load()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestLoadErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, content, want string }{
		{"empty", "", "registry.json: the file is empty"},
		{"object", `{}`, "registry.json: the file: expected an array, got an object (line 1, column 1)"},
		{"null", `null`, "registry.json: the file: expected an array, got null"},
		{"no path", `[{"path":"/a","name":"a"},{"name":"b"}]`, "registry.json: [1].path: missing or null"},
		{"no name", `[{"path":"/a","name":null}]`, "registry.json: [0].name: missing or null"},
		{"name as a number", "[\n{\"path\":\"/a\",\"name\":7}]", "registry.json: [0].name: expected a string, got a number (line 2, column 21)"},
		{"truncated", `[{"path":"/a"`, "registry.json: line 1, column 13: unexpected end of JSON input"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			list, path := newList(t)
			if err := os.WriteFile(path, []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := list.Load()
			if err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestLoadFollowsTheFile(t *testing.T) {
	t.Parallel()
	list, path := newList(t)
	wantNames := func(want ...string) {
		t.Helper()
		repositories, err := list.Load()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range repositories {
			got = append(got, r.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
	}
	wantNames()
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(path, []byte(`[{"path":"/x","name":"`+name+`"}]`), 0o600); err != nil {
			t.Fatal(err)
		}
		wantNames(name)
	}
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	_, err := list.Load()
	if _, ok := errors.AsType[*cachedfile.NotRegularError](err); !ok || strings.Contains(err.Error(), filepath.Dir(path)) {
		t.Errorf("directory: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	wantNames()
}

func TestNoPlaceForTheList(t *testing.T) {
	t.Parallel()
	list := repolist.New("linux", func(string) string { return "" }, "")
	if got, err := list.Load(); err == nil {
		t.Errorf("Load() = %v, want an error", got)
	}
}

func TestPath(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, goos string
		env        map[string]string
		home, want string
	}{
		{"Linux", "linux", nil, "/home/me", "/home/me/.local/share/twig/registry.json"},
		{"Linux with XDG_DATA_HOME", "linux", map[string]string{"XDG_DATA_HOME": "/data/"}, "/home/me", "/data/twig/registry.json"},
		{"relative XDG_DATA_HOME", "linux", map[string]string{"XDG_DATA_HOME": "data"}, "/home/me", "/home/me/.local/share/twig/registry.json"},
		{"empty XDG_DATA_HOME", "linux", map[string]string{"XDG_DATA_HOME": ""}, "/home/me", "/home/me/.local/share/twig/registry.json"},
		{"XDG_DATA_HOME without a home", "linux", map[string]string{"XDG_DATA_HOME": "/data"}, "", "/data/twig/registry.json"},
		{"no home", "linux", nil, "", ""},
		{"FreeBSD", "freebsd", nil, "/home/me", "/home/me/.local/share/twig/registry.json"},
		{"macOS", "darwin", map[string]string{"XDG_DATA_HOME": "/data"}, "/Users/me", "/Users/me/Library/Application Support/eddieland.twig/registry.json"},
		{"macOS without a home", "darwin", nil, "", ""},
		{"Windows", "windows", map[string]string{"APPDATA": `C:\Users\me\AppData\Roaming`}, `C:\Users\me`, `C:\Users\me\AppData\Roaming\twig\data\registry.json`},
		{"Windows without APPDATA", "windows", nil, `C:\Users\me\`, `C:\Users\me\AppData\Roaming\twig\data\registry.json`},
		{"Windows with neither", "windows", nil, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := repolist.Path(tt.goos, func(name string) string { return tt.env[name] }, tt.home)
			if got != tt.want || (err == nil) != (tt.want != "") {
				t.Errorf("Path() = %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}
