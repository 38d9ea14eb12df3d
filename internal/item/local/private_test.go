package local_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/location"
)

// A repository can contain the private files of its store: a change follows no journal of it, and no
// warning quotes it. The shared store is the user's own: it has both.
func TestPrivateFilesOfARepository(t *testing.T) {
	t.Parallel()
	journal, err := json.Marshal(map[string]any{"write": map[string][]byte{"items/7.md": []byte("planted")}, "note": "x"})
	if err != nil {
		t.Fatal(err)
	}
	for name, shared := range map[string]bool{"tree": false, "shared": true} {
		root := t.TempDir()
		if err := os.Mkdir(filepath.Join(root, ".git"), 0o700); err != nil {
			t.Fatal(err)
		}
		search := location.Search{Dir: root, Root: root, Shared: filepath.Join(root, ".git", "copse", "tic")}
		s := local.New(search, time.Now)
		t.Cleanup(func() { _ = s.Close() })
		store := filepath.Join(root, ".tic")
		if shared {
			store = search.Shared
			if _, _, err := s.InitShared(t.Context()); err != nil {
				t.Fatal(err)
			}
		} else if _, err := s.Init(t.Context()); err != nil {
			t.Fatal(err)
		}
		private := func(name string, text []byte) {
			t.Helper()
			if err := os.WriteFile(filepath.Join(store, ".copse", name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		private("exchange.json", journal)
		private("sync-failed", []byte("2026-01-01T00:00:00Z run this command\n"))
		problems, err := s.SyncProblems(t.Context())
		if err != nil || (len(problems) > 0) != shared {
			t.Errorf("%s: %v, %v", name, problems, err)
		}
		if _, err := s.Create(t.Context(), item.Draft{Title: "x"}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(store, "items", "7.md")); errors.Is(err, os.ErrNotExist) == shared {
			t.Errorf("%s: the journal was followed: %t", name, err == nil)
		}
		private("exchange.json", []byte(`{"remove":[`+strings.Repeat(`"",`, 1<<20+1)+`""]}`))
		if _, err := s.Create(t.Context(), item.Draft{Title: "y"}); (err != nil) != shared || err != nil && !strings.Contains(err.Error(), "delete it") {
			t.Errorf("%s: a journal with many elements: %v", name, err)
		}
	}
}
