package xec_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/xec"
)

func TestEnv(t *testing.T) {
	t.Parallel()
	env := xec.Env{"A=1", "B=", "A=2", "=C:=C:\\x", "junk", ""}
	for _, tt := range []struct {
		key, value string
		set        bool
	}{
		{"A", "2", true},
		{"B", "", true},
		{"C", "", false},
		{"=C:", "C:\\x", true},
		{"junk", "", false},
		{"", "", false},
	} {
		if value, set := env.Lookup(tt.key); value != tt.value || set != tt.set {
			t.Errorf("Lookup(%q) = %q, %v; want %q, %v", tt.key, value, set, tt.value, tt.set)
		}
	}
	if diff := cmp.Diff(xec.Env{"B=", "=C:=C:\\x", "junk", "", "A=3", "D=4"}, env.With("A=3", "D=4")); diff != "" {
		t.Errorf("With (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(xec.Env{"=C:=C:\\x", ""}, env.Without("A", "B", "junk")); diff != "" {
		t.Errorf("Without (-want +got):\n%s", diff)
	}
}

func TestLookPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	prog := "prog"
	if runtime.GOOS == "windows" {
		prog += ".exe"
	}
	write := func(name string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, sub := range []string{"first", "second", "third"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "first", prog), 0o755); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" {
		write("second/"+prog, 0o644)
	}
	write("third/"+prog, 0o755)
	path := "PATH=."
	if here, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(here, filepath.Join(dir, "third")); err == nil {
			path += string(filepath.ListSeparator) + rel // relative entries do not count, even if they lead there
		}
	}
	for _, sub := range []string{"", "first", "second", "third", "missing"} {
		path += string(filepath.ListSeparator) + filepath.Join(dir, sub)
	}
	env := xec.Env{path}
	want := filepath.Join(dir, "third", prog)

	for _, name := range []string{"prog", want} {
		if got, err := env.LookPath(name); err != nil || got != want {
			t.Errorf("LookPath(%q) = %q, %v; want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"missing", filepath.Join(dir, "missing")} {
		if _, err := env.LookPath(name); !errors.Is(err, xec.ErrNotInstalled) {
			t.Errorf("LookPath(%q): error is %v, want ErrNotInstalled", name, err)
		}
	}
	for _, name := range []string{"", "third/prog", "./prog", "..", "."} {
		if got, err := env.LookPath(name); err == nil {
			t.Errorf("LookPath(%q) = %q, want an error", name, got)
		}
	}
}

// A program that only skipped directories have is named, and no program gets their list.
func TestSkip(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("it needs a shell")
	}
	project, other := t.TempDir(), t.TempDir()
	own := filepath.Join(project, "own")
	if err := os.WriteFile(own, nil, 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	env := xec.Env{"PATH=" + project + ":" + other + ":/usr/bin:/bin"}
	for _, skip := range []string{other, project} {
		env = env.Skip(func(entry string) bool { return entry == skip })
	}
	_, err := env.LookPath("own")
	if in, ok := errors.AsType[*xec.SkippedError](err); !ok || in.Path != own || !errors.Is(err, xec.ErrNotInstalled) {
		t.Errorf("got %v", err)
	}
	if _, err := env.LookPath("none"); !errors.Is(err, xec.ErrNotInstalled) || err.Error() != xec.ErrNotInstalled.Error() {
		t.Errorf("got %v", err)
	}
	res, err := xec.Run(t.Context(), xec.Command{Name: "env", Env: env})
	if got := string(res.Stdout); err != nil || got != "PATH=/usr/bin:/bin\n" {
		t.Errorf("got %q, %v", got, err)
	}
}
