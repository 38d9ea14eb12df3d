//go:build unix

package regular_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/copse-dev/copse/internal/regular"
)

// A named pipe or device in place of a directory is an immediate error.
func TestSpecialDirectories(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := errors.Join(unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600), os.Mkdir(filepath.Join(dir, "real"), 0o700)); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	openers := map[string]func(name string) (interface{ Close() error }, error){
		"OpenRoot": func(name string) (interface{ Close() error }, error) {
			return regular.OpenRoot(filepath.Join(dir, name))
		},
		"OpenRootIn": func(name string) (interface{ Close() error }, error) { return regular.OpenRootIn(root, name) },
		"OpenDirAt": func(name string) (interface{ Close() error }, error) {
			return regular.OpenDirAt(filepath.Join(dir, name))
		},
		"OpenDir": func(name string) (interface{ Close() error }, error) { return regular.OpenDir(root, name) },
	}
	if _, err := regular.ReadDir(filepath.Join(dir, "pipe")); !errors.As(err, new(*regular.NotDirectoryError)) {
		t.Errorf("ReadDir of a pipe: %v", err)
	}
	if _, err := regular.ReadDirIn(root, "pipe"); !errors.As(err, new(*regular.NotDirectoryError)) {
		t.Errorf("ReadDirIn of a pipe: %v", err)
	}
	for opener, open := range openers {
		_, err := open("pipe")
		if _, ok := errors.AsType[*regular.NotDirectoryError](err); !ok || !strings.HasSuffix(err.Error(), "is a named pipe, not a directory") {
			t.Errorf("%s of a pipe: %v", opener, err)
		}
		if _, err := open("none"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s of nothing: %v", opener, err)
		}
		real, err := open("real")
		if err != nil {
			t.Errorf("%s of a directory: %v", opener, err)
			continue
		}
		_ = real.Close()
	}
}
