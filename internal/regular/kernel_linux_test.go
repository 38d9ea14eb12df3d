package regular_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/copse-dev/copse/internal/regular"
)

// A file of the kernel looks regular, and has no end.
func TestFilesOfTheKernel(t *testing.T) {
	t.Parallel()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("/proc/self/pagemap", link); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/proc/self/pagemap", link} {
		_, err := regular.Read(path, 1<<20)
		if found, ok := errors.AsType[*regular.NotRegularError](err); !ok || regular.Kind(found.Mode) != "special file" {
			t.Errorf("%s: %v", path, err)
		}
	}
	if data, err := regular.Read(empty, 10); err != nil || len(data) > 0 {
		t.Errorf("an empty file: %q, %v", data, err)
	}
}
