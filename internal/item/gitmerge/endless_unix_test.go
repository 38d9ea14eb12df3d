//go:build unix

package gitmerge_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/item/gitmerge"
)

// A named pipe in place of a file about a rebase is not waited for.
func TestEndlessRebase(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	g.Commit(dir, "first")
	store := filepath.Join(dir, ".tic")
	if err := os.Mkdir(store, 0o755); err != nil {
		t.Fatal(err)
	}
	repo, err := gitmerge.OpenRepo(t.Context(), store, git.Options{Env: g.Env})
	if err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(dir, ".git", "rebase-apply")
	if err := os.Mkdir(state, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"orig-head", "onto"} {
		if err := syscall.Mkfifo(filepath.Join(state, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, ok := repo.Rewritten(); ok {
		t.Errorf("got %v", got)
	}
}
