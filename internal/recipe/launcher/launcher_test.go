package launcher_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/recipe/launcher"
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

// npm's launcher would turn the argument 1.10 into 1.1, however it is installed.
func TestLauncher(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a batch file launches just there")
	}
	dir := t.TempDir()
	just := executable(t, filepath.Join(dir, "store", "just"), "[ $7 = --evaluate ] && echo $0")
	script := executable(t, filepath.Join(dir, "script", "just"), "exec "+just+" \"$@\"")
	silent := executable(t, filepath.Join(dir, "silent", "just"), "exit 3")
	shim := filepath.Join(dir, "shim", "just")
	if err := os.Mkdir(filepath.Dir(shim), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(executable(t, filepath.Join(dir, "mise"), "exec "+just+" \"$@\""), shim); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{script: just, shim: just, silent: silent} {
		var found launcher.Found
		env := xec.Env{"HOME=" + t.TempDir(), "PATH=/usr/bin:/bin"}
		for range 2 {
			if got := found.Find(t.Context(), path, env); got != want {
				t.Errorf("%s: got %s, want %s", path, got, want)
			}
		}
	}
}
