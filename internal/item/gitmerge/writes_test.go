package gitmerge_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/item/gitmerge"
)

// Git that writes the index or the configuration ends by itself: if it is killed, it can leave a lock.
func TestWritesAreNotInterrupted(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	file := filepath.Join(dir, ".tic", "items", "1.md")
	commit := func(text string) {
		gittest.Write(t, file, text)
		g.Run(dir, "add", "-A")
		g.Run(dir, "commit", "-qm", "x")
	}
	commit("base\n")
	g.Run(dir, "checkout", "-qb", "other")
	commit("theirs\n")
	g.Run(dir, "checkout", "-q", "main")
	commit("ours\n")
	if _, err := g.Try(dir, "merge", "other"); err == nil {
		t.Fatal("no conflict")
	}
	gittest.Write(t, file, "merged\n")

	added, stopAdd := context.WithCancel(t.Context())
	adds := g.During("add", stopAdd)
	set, stopSet := context.WithCancel(t.Context())
	sets := g.During("merge.copse.name", stopSet)
	repo, err := gitmerge.OpenRepo(t.Context(), filepath.Join(dir, ".tic"), git.Options{Env: g.Env})
	if err != nil {
		t.Fatal(err)
	}
	m, err := repo.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Add(added); err != nil || adds() != 1 {
		t.Errorf("%d runs, %v", adds(), err)
	}
	if left := g.Run(dir, "ls-files", "--unmerged"); left != "" {
		t.Errorf("unmerged: %s", left)
	}
	// The name and the program belong together.
	if err := repo.SetDriver(set, "copse", "copse item merge-driver"); err != nil || sets() != 1 {
		t.Errorf("%d runs, %v", sets(), err)
	}
	if driver := g.Run(dir, "config", "merge.copse.driver"); !strings.HasPrefix(driver, "copse item merge-driver ") {
		t.Errorf("the driver is %q", driver)
	}
}
