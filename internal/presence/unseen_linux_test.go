package presence_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/presence"
	"github.com/copse-dev/copse/internal/test/otheruser"
)

// A lock that cannot be examined may be that of a running server, whose files stay.
func TestUnseenLock(t *testing.T) {
	t.Parallel()
	otheruser.ObeyModes(t)
	dir := filepath.Join(t.TempDir(), "run", "presence")
	r := presence.NewRegister(dir, time.Now, func(error) {})
	r.Seen("agent", "/work", "claim_item")
	eventually(t, dir, "agent claim_item")
	locks, err := filepath.Glob(filepath.Join(dir, "*.lock"))
	if err != nil || len(locks) != 1 {
		t.Fatalf("got %v, %v", locks, err)
	}
	if err := os.Chmod(locks[0], 0); err != nil {
		t.Fatal(err)
	}
	if _, err := presence.List(dir, time.Now()); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("left %v, %v", left, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
