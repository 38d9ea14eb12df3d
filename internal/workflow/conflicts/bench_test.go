package conflicts_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/workflow/conflicts"
	"github.com/copse-dev/copse/internal/workflow/stack"
)

// BenchmarkReport looks for conflicts between 20 worktrees with uncommitted changes, in a
// repository of as many files as golang.org/x/tools has: cold, without a cache; and warm,
// when nothing changed.
func BenchmarkReport(b *testing.B) {
	const files, worktrees = 2844, 20
	g := gittest.New(b)
	root := g.Init()
	text := strings.Repeat("a line of text\n", 100)
	name := func(n int) string { return fmt.Sprintf("dir%02d/sub%02d/file%d.go", n%20, n/20%15, n) }
	for n := range files {
		gittest.Write(b, filepath.Join(root, name(n)), text)
	}
	g.Run(root, "add", ".")
	g.Commit(root, "start")
	for w := range worktrees {
		path := filepath.Join(g.Home, fmt.Sprintf("w%d", w))
		g.Run(root, "worktree", "add", "-q", "-b", fmt.Sprintf("b%d", w), path)
		for n := range 12 {
			gittest.Write(b, filepath.Join(path, name(w*7+n)), text+fmt.Sprint(w))
		}
		g.Run(path, "commit", "-q", "-a", "-m", "change")
		gittest.Write(b, filepath.Join(path, name(w+1000)), text+fmt.Sprint(w))
	}
	time.Sleep(4 * time.Second) // a change is told from a later one only after a while
	cache := filepath.Join(g.Home, "cache")
	radar := func() *conflicts.Radar {
		o := git.Options{Env: g.Env}
		s := session.New(session.Options{Dir: root, Git: o})
		return conflicts.New(conflicts.Options{Branches: stack.New(s, nil), CacheDir: cache, Git: o, Now: now})
	}
	run := func(b *testing.B, r *conflicts.Radar) {
		b.Helper()
		if _, err := r.Report(b.Context(), conflicts.Request{}); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			if err := os.RemoveAll(cache); err != nil {
				b.Fatal(err)
			}
			run(b, radar())
		}
	})
	b.Run("warm", func(b *testing.B) {
		r := radar()
		run(b, r)
		for b.Loop() {
			run(b, r)
		}
	})
}
