package remote

import (
	"os"
	"testing"
	"time"
)

// The same answer is written once, and again when the file has changed or is gone.
func TestStoreWritesSameAnswerOnce(t *testing.T) {
	t.Parallel()
	s := newStore(t.TempDir(), time.Now, nil)
	path := s.path("key")
	set := func(body string) os.FileInfo {
		t.Helper()
		s.Set("key", []byte(body))
		if got, ok := s.Get("key"); !ok || string(got) != body {
			t.Fatalf("the store has %q, want %q", got, body)
		}
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	first := set("one")
	if again := set("one"); !os.SameFile(first, again) {
		t.Error("the same answer was written again")
	}
	if other := set("two"); os.SameFile(first, other) {
		t.Error("another answer was not written by replacing the file")
	}
	s.Delete("key")
	set("two")
	if err := os.WriteFile(path, []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	set("two")
}
