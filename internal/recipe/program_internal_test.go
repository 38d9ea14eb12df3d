package recipe

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/xec"
)

func executable(t *testing.T, path string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// npm's launcher would turn the argument 1.10 into 1.1.
func TestBinary(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("npm has other launchers there")
	}
	arch := strings.NewReplacer("amd64", "x64", "386", "ia32").Replace(runtime.GOARCH)
	name := filepath.Join("rust-just-"+runtime.GOOS+"-"+arch, "bin", "just")
	for form, below := range map[string]string{"installed for the account": "rust-just/node_modules", "installed in a directory": "."} {
		modules := filepath.Join(t.TempDir(), "node_modules")
		launcher := executable(t, filepath.Join(modules, "rust-just", "lib", "index.mjs"))
		link := filepath.Join(modules, "just")
		if err := os.Symlink(launcher, link); err != nil {
			t.Fatal(err)
		}
		if got := binary(link); got != link {
			t.Errorf("%s, without the program: got %s", form, got)
		}
		want := executable(t, filepath.Join(modules, filepath.FromSlash(below), name))
		executable(t, filepath.Join(modules, "rust-just-plan9-"+arch, "bin", "just"))
		if got, err := filepath.EvalSymlinks(binary(link)); err != nil || got != resolved(t, want) {
			t.Errorf("%s: got %s, %v; want %s", form, got, err, want)
		}
		if got := binary(want); got != want {
			t.Errorf("%s: the program itself becomes %s", form, got)
		}
	}
}

func resolved(t *testing.T, path string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

// A just that only the project has does not start, and the error names it.
func TestProgramOfTheProject(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	own := executable(t, filepath.Join(root, ".venv", "bin", "just"))
	executable(t, filepath.Join(root, "justfile"))
	j := New(root, xec.Env{"HOME=" + t.TempDir(), "PATH=" + filepath.Dir(own), "PATHEXT=."}, NewJournal("", root), Options{})
	if path, err := j.program(); err == nil || runtime.GOOS != "windows" && !strings.Contains(err.Error(), "only in the project, at "+own) {
		t.Errorf("got %s, %v", path, err)
	}
}
