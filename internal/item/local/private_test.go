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
		if shared {
			checkUnowned(t, search, private, journal)
		}
		private("exchange.json", []byte(`{"remove":[`+strings.Repeat(`"",`, 1<<20+1)+`""]}`))
		if _, err := s.Create(t.Context(), item.Draft{Title: "y"}); (err != nil) != shared || err != nil && !strings.Contains(err.Error(), "delete it") {
			t.Errorf("%s: a journal with many elements: %v", name, err)
		}
	}
}

// checkUnowned checks that nothing follows the journal in a shared store that came with an archive, and
// that a change follows it when the user has requested a sync.
func checkUnowned(t *testing.T, search location.Search, private func(string, []byte), journal []byte) {
	t.Helper()
	private("exchange.json", journal)
	planted := filepath.Join(search.Shared, "items", "7.md")
	if err := os.Remove(planted); err != nil {
		t.Fatal(err)
	}
	owned := false
	search.Owned = func() bool { return owned }
	s := local.New(search, time.Now)
	defer s.Close()
	_, err := s.Create(t.Context(), item.Draft{Title: "x"})
	if err == nil || !strings.Contains(err.Error(), "unfinished sync") || !strings.Contains(err.Error(), "copse item sync") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(planted); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the journal of an archive was followed: %v", err)
	}
	owned = true
	if _, err := s.Create(t.Context(), item.Draft{Title: "x"}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(planted); err != nil {
		t.Errorf("the journal was not followed: %v", err)
	}
}
