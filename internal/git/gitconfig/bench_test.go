package gitconfig_test

import (
	"path/filepath"
	"testing"

	"github.com/copse-dev/copse/internal/git/gitconfig"
	"github.com/copse-dev/copse/internal/git/gittest"
)

// BenchmarkLoad compares reading a repository's configuration in the process with asking git.
func BenchmarkLoad(b *testing.B) {
	g := gittest.New(b)
	dir := g.Init()
	g.Run(dir, "remote", "add", "origin", "git@github.com:o/r.git")
	gittest.Write(b, filepath.Join(g.Home, ".gitconfig"), "[user]\n\tname = Ada\n[url \"https://github.com/\"]\n\tinsteadOf = gh:\n")
	s := gitconfig.Sources{
		Lookup: g.Env.Lookup, Home: g.Home, CommonDir: filepath.Join(dir, ".git"), GitDir: filepath.Join(dir, ".git"),
		Branch: func() string { return "main" },
	}
	b.Run("reader", func(b *testing.B) {
		for b.Loop() {
			if _, err := gitconfig.Load(s); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("git", func(b *testing.B) {
		for b.Loop() {
			g.Run(dir, "config", "--list", "--show-origin", "-z")
		}
	})
}
