package gitmerge_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/item/gitmerge"
)

// A history in which three commits are merged again and again has exponentially many common commits
// of common commits. Finding the base of a merge takes a limited number of processes.
func TestManyBases(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	file := filepath.Join(dir, ".tic", "items", "1.md")
	gittest.Write(t, file, "base\n")
	g.Run(dir, "add", "-A")
	level := []string{g.Commit(dir, "first")}
	const levels, width = 12, 3
	for n := range levels {
		var next []string
		for i := range width {
			gittest.Write(t, file, fmt.Sprintf("text %d %d\n", n, i))
			g.Run(dir, "add", "-A")
			args := []string{"commit-tree", strings.TrimSpace(g.Run(dir, "write-tree")), "-m", "x"}
			for _, parent := range level {
				args = append(args, "-p", parent)
			}
			next = append(next, strings.TrimSpace(g.Run(dir, args...)))
		}
		level = next
	}
	g.Run(dir, "checkout", "-qf", level[0])
	_, _ = g.Try(dir, "merge", "-q", level[1]) // a conflict
	repo, err := gitmerge.OpenRepo(t.Context(), filepath.Join(dir, ".tic"), git.Options{Env: g.Env})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // it is minutes, without a limit
	defer cancel()
	m, err := repo.Find(ctx)
	if err != nil || m == nil || m.Base["items/1.md"] == "" {
		t.Errorf("found %+v, %v", m, err)
	}
}
