package wholefile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/copse-dev/copse/internal/wholefile"
)

func TestReplace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "cache")
	for _, text := range []string{"first", "second"} {
		if err := wholefile.Replace(path, ".new-*", wholefile.Bytes([]byte(text[:2]), []byte(text[2:]))); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("got %q, %v", got, err)
		}
	}
	broken := errors.New("broken")
	err := wholefile.Replace(path, ".new-*", func(w io.Writer) error {
		_, _ = w.Write([]byte("half"))
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "second" {
		t.Errorf("after an error there is %q, %v", got, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("there are %v, %v", left, err)
	}
}

func TestReplaceWithoutADirectory(t *testing.T) {
	t.Parallel()
	err := wholefile.Replace(filepath.Join(t.TempDir(), "missing", "cache"), ".new-*", wholefile.Bytes())
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
