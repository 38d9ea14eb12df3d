package recipe

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/xec"
)

func executable(t *testing.T, path string, lines ...string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+strings.Join(lines, "\n")+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// A shim that has no version outside the project is not an error of the justfile.
func TestShimWithoutVersion(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("it needs a shell script")
	}
	root := t.TempDir()
	executable(t, filepath.Join(root, "justfile"))
	shim := executable(t, filepath.Join(t.TempDir(), "just"), "echo 'mise ERROR No version is set for shim: just' >&2", "exit 1")
	j := New(root, xec.Env{"HOME=" + t.TempDir(), "PATH=" + filepath.Dir(shim) + ":/usr/bin:/bin"}, NewJournal("", root), Options{})
	_, err := j.Recipes(t.Context())
	if err == nil || !strings.HasPrefix(err.Error(), "`just` does not start in your home directory, where copse starts it: \"mise ERROR No version is set for shim: just\". If") {
		t.Error(err)
	}
}

// A just that only the project has does not start, and the error names it.
func TestProgramOfTheProject(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	own := executable(t, filepath.Join(root, ".venv", "bin", "just"))
	executable(t, filepath.Join(root, "justfile"))
	j := New(root, xec.Env{"HOME=" + t.TempDir(), "PATH=" + filepath.Dir(own), "PATHEXT=."}, NewJournal("", root), Options{})
	if path, err := j.program(t.Context()); err == nil || runtime.GOOS != "windows" && !strings.Contains(err.Error(), "only in the project, at "+strconv.Quote(own)) {
		t.Errorf("got %s, %v", path, err)
	}
}
