package local_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/exchange"
)

// A sync is killed after each of its files. A list then has all items of the sync, and not only those whose
// files are in place: where item 2 got number 3, because the remote has another item 2, it would be missing.
func TestKilledSyncIsFinishedByReaders(t *testing.T) {
	t.Parallel()
	s, search := inGit(t)
	_, _, err := s.InitShared(t.Context())
	must(t, err)
	in := func(name string) string { return filepath.Join(search.Shared, filepath.FromSlash(name)) }
	text, err := os.ReadFile(in("items/2.md"))
	must(t, err)
	before := string(text)
	two := strings.NewReplacer("title: two", "title: theirs", "created: 2", "created: 3").Replace(before)
	three := strings.Replace(before, `id: "2"`, `id: "3"`, 1)
	journal, err := json.Marshal(map[string]map[string][]byte{"write": {"items/2.md": []byte(two), "items/3.md": []byte(three)}})
	must(t, err)
	const want = "1 one, 2 theirs, 3 two"
	killed := func(first string) {
		t.Helper()
		_ = os.Remove(in("items/3.md")) // of the last time
		must(t, os.WriteFile(in("items/2.md"), []byte(first), 0o600))
		must(t, os.WriteFile(in(exchange.JournalName), journal, 0o600))
	}
	for _, first := range []string{before, two} {
		killed(first)
		if got, _ := titles(t, s); got != want {
			t.Errorf("a list of %.40q has %q", first, got)
		}
		if _, err := os.Lstat(in(exchange.JournalName)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the journal is left: %v", err)
		}
		killed(first)
		if it, err := s.Item(t.Context(), 3); err != nil || it.Title != "two" {
			t.Errorf("item 3 beside %.40q is %q, %v", first, it.Title, err)
		}
	}
	// Nothing follows the journal of an archive, and the list says that it is not complete.
	killed(two)
	search.Owned = func() bool { return false }
	foreign := local.New(search, time.Now)
	defer foreign.Close()
	if got, _ := titles(t, foreign); got != "1 one, 2 theirs" {
		t.Errorf("the journal of an archive was followed: %q", got)
	}
	config, err := foreign.Config(t.Context())
	if err != nil || len(config.Warnings) != 1 || !strings.Contains(config.Warnings[0].Reason, "unfinished sync") {
		t.Errorf("got %+v, %v", config.Warnings, err)
	}
}
