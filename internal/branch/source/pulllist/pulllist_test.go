package pulllist_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/branch/source/pulllist"
)

type repo struct{}

func (repo) CommonDir() string { return "/repo/.git" }

func (repo) RemoteURL(context.Context, string) (string, error) { return "https://github.com/a/b", nil }

// A list is never written larger than it is read.
func TestLongNames(t *testing.T) {
	t.Parallel()
	dir := pulllist.Dir(filepath.Join(t.TempDir(), "run", "pulls"))
	var l pulllist.List
	for range pulllist.MaxPulls {
		l.Pulls = append(l.Pulls, pulllist.Pull{Number: 7, Head: strings.Repeat("h", 10_000)})
	}
	if err := dir.Write(t.Context(), repo{}, l); err != nil {
		t.Fatal(err)
	}
	if got, err := dir.Read(t.Context(), repo{}); err != nil || len(got.Pulls) < 100 {
		t.Errorf("%d pull requests: %v", len(got.Pulls), err)
	}
}
