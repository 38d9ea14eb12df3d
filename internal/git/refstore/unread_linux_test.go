package refstore

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A branch whose file cannot be read is there: what its absence would allow may destroy what is known
// about it. When the file can be read again, a kept store sees it, although its directory is unchanged.
func TestUnreadBranch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	heads := filepath.Join(dir, "refs", "heads")
	closed := filepath.Join(heads, "closed")
	if err := os.MkdirAll(heads, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{filepath.Join(heads, "open"): strings.Repeat("a", 40) + "\n", closed: ""} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(heads, past, past); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{closed: 0, dir: 0o755, filepath.Dir(dir): 0o755} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	s := New(dir, dir, 40)
	asStranger(t, func() {
		names, err := s.Branches(t.Context())
		if err != nil || strings.Join(names, " ") != "closed open" {
			t.Errorf("with a closed file: %q, %v", names, err)
		}
		if has, err := s.HasBranch("closed"); has || err == nil {
			t.Errorf("with a closed file: HasBranch = %v, %v", has, err)
		}
	})
	// Only the content says that it is a broken ref.
	if err := os.Chmod(closed, 0o644); err != nil {
		t.Fatal(err)
	}
	if names, err := s.Branches(t.Context()); err != nil || strings.Join(names, " ") != "open" {
		t.Errorf("with an open file: %q, %v", names, err)
	}
}

// asStranger calls do with the access of another account, if this one is root, to whom nothing is closed.
func asStranger(t *testing.T, do func()) {
	t.Helper()
	if os.Geteuid() == 0 {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := unix.Setfsuid(65534); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = unix.Setfsuid(0) }()
	}
	do()
}
