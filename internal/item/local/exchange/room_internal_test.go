package exchange

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/lockedstore"
)

// A journal that was done, partly or completely, can be done again: the process may be killed at any
// point. Here it exchanges a file and a directory.
func TestDoneTwice(t *testing.T) {
	t.Parallel()
	for name, j := range map[string]journal{
		"a directory becomes a file": {Write: map[string][]byte{"x": nil}, Remove: []string{"x/y/z"}},
		"a file becomes a directory": {Write: map[string][]byte{"x/y/z": nil}, Remove: []string{"x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			before := filepath.Join(dir, filepath.FromSlash(j.Remove[0]))
			if err := os.MkdirAll(filepath.Dir(before), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(os.WriteFile(before, nil, 0o600), os.Mkdir(filepath.Join(dir, layout.Private), 0o755)); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := lockedstore.New(dir, layout.Lock, time.Second).Change(t.Context(), func(tx *lockedstore.Tx) error {
					if err := tx.Write(lockedstore.File{Name: JournalName}); err != nil {
						return err
					}
					return j.do(tx)
				}); err != nil {
					t.Fatal(err)
				}
			}
			for written := range j.Write {
				if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(written))); err != nil || !info.Mode().IsRegular() {
					t.Errorf("%s: %v, %v", written, info, err)
				}
			}
		})
	}
}
