package netrc_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/copse-dev/copse/internal/netrc"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestPath(t *testing.T) {
	t.Parallel()
	empty, dot, underscore, both := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	for _, p := range []string{filepath.Join(dot, ".netrc"), filepath.Join(underscore, "_netrc"),
		filepath.Join(both, ".netrc"), filepath.Join(both, "_netrc")} {
		write(t, p, "")
	}
	tests := []struct{ name, goos, env, home, want string }{
		{"variable", "linux", "/x/mine", dot, "/x/mine"},
		{"variable on Windows", "windows", "/x/mine", underscore, "/x/mine"},
		{"home", "linux", "", dot, filepath.Join(dot, ".netrc")},
		{"home without a file", "linux", "", empty, filepath.Join(empty, ".netrc")},
		{"underscore is for Windows only", "linux", "", underscore, filepath.Join(underscore, ".netrc")},
		{"underscore on Windows", "windows", "", underscore, filepath.Join(underscore, "_netrc")},
		{"both on Windows", "windows", "", both, filepath.Join(both, ".netrc")},
		{"neither on Windows", "windows", "", empty, filepath.Join(empty, ".netrc")},
		{"no home", "linux", "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			getenv := func(name string) string {
				if name == "NETRC" {
					return tt.env
				}
				return ""
			}
			if got := netrc.Path(tt.goos, getenv, tt.home); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good, large := filepath.Join(dir, "good"), filepath.Join(dir, "large")
	write(t, good, "machine a login u password p")
	write(t, large, string(make([]byte, netrc.MaxSize+1)))

	f, err := netrc.Read(good)
	if err != nil || both(f) != "u:p -" {
		t.Errorf("good file: %v", err)
	}
	if f, err := netrc.Read(os.DevNull); err != nil || both(f) != "- -" {
		t.Errorf("null device: %v", err)
	}
	for path, want := range map[string]error{
		filepath.Join(dir, "none"): fs.ErrNotExist,
		dir:                        netrc.ErrNotRegular,
		large:                      netrc.ErrTooLarge,
	} {
		if _, err := netrc.Read(path); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", filepath.Base(path), err, want)
		}
	}
}
