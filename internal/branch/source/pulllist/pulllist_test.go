package pulllist_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/branch/source/pulllist"
)

// A list is never written larger than it is read.
func TestLongNames(t *testing.T) {
	t.Parallel()
	dir := pulllist.Dir(filepath.Join(t.TempDir(), "run", "pulls"))
	var l pulllist.List
	for range pulllist.MaxPulls {
		l.Pulls = append(l.Pulls, pulllist.Pull{Number: 7, Head: strings.Repeat("h", 10_000)})
	}
	if err := dir.Write("/repo/.git", l); err != nil {
		t.Fatal(err)
	}
	if got, err := dir.Read("/repo/.git"); err != nil || len(got.Pulls) < 100 {
		t.Errorf("%d pull requests: %v", len(got.Pulls), err)
	}
}
