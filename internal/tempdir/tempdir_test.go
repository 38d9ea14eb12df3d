package tempdir_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/tempdir"
)

// A new directory removes those that killed processes left, and nothing else.
func TestLeft(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Setenv("TMP", temporary) // on Windows
	at := func(name string) string { return filepath.Join(temporary, name) }
	long := time.Now().Add(-time.Hour)
	directory := func(name string, mode fs.FileMode, locked time.Time) {
		t.Helper()
		if err := os.Mkdir(at(name), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(at(name), mode); err != nil {
			t.Fatal(err)
		}
		lock := filepath.Join(at(name), tempdir.LockName)
		if err := os.WriteFile(lock, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(lock, locked, locked); err != nil {
			t.Fatal(err)
		}
	}
	directory("copse-x-left", 0o700, long)
	directory("copse-x-new", 0o700, time.Now())
	directory("copse-y-left", 0o700, long)
	directory("target", 0o700, long)
	if err := os.Mkdir(at("copse-x-other"), 0o700); err != nil {
		t.Fatal(err)
	}
	kept := []string{"copse-x-new", "copse-y-left", "target", "copse-x-other"}
	if runtime.GOOS != "windows" {
		directory("copse-x-shared", 0o755, long) // possibly of somebody else, who can fill and change it
		if err := os.Symlink("target", at("copse-x-link")); err != nil {
			t.Fatal(err)
		}
		kept = append(kept, "copse-x-shared", "copse-x-link")
	}

	first, err := tempdir.New("copse-x-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(filepath.Join(first.Path, tempdir.LockName), long, long); err != nil {
		t.Fatal(err)
	}
	second, err := tempdir.New("copse-x-")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(kept, filepath.Base(first.Path), filepath.Base(second.Path)) {
		if _, err := os.Lstat(at(name)); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Lstat(at("copse-x-left")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory of a killed process is still there: %v", err)
	}
	for _, d := range []*tempdir.Dir{first, second} {
		if info, err := os.Stat(d.Path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
			t.Errorf("%v, %v", info, err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(d.Path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a closed directory is still there: %v", err)
		}
	}
}

// Any user of the machine can create many directories with the same prefix. New examines few.
func TestManyNames(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Setenv("TMP", temporary) // on Windows
	long := time.Now().Add(-time.Hour)
	const all = 300
	for i := range all {
		lock := filepath.Join(temporary, fmt.Sprintf("copse-x-%d", i), tempdir.LockName)
		if err := errors.Join(os.Mkdir(filepath.Dir(lock), 0o700), os.WriteFile(lock, nil, 0o600), os.Chtimes(lock, long, long)); err != nil {
			t.Fatal(err)
		}
	}
	d, err := tempdir.New("copse-x-")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(temporary)
	if removed := all - len(left); err != nil || removed != 100 {
		t.Errorf("New examined and removed %d directories, %v; want 100", removed, err)
	}
}
