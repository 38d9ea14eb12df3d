package git_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
)

// BenchmarkLocalBranches lists 10,000 branches: with a new Repo (cold), again
// with the same one (warm), and, to compare, with the git program.
func BenchmarkLocalBranches(b *testing.B) {
	const branches = 10_000
	for _, form := range []string{"loose", "packed"} {
		g := gittest.New(b)
		dir := g.Init()
		commit := g.Commit(dir, "first")
		heads := join(dir, ".git", "refs", "heads")
		for i := range branches - 1 {
			gittest.Write(b, join(heads, fmt.Sprintf("feature-%05d", i)), commit+"\n")
		}
		if form == "packed" {
			g.Run(dir, "pack-refs", "--all")
		}
		past := time.Now().Add(-time.Hour)
		for _, path := range []string{heads, join(dir, ".git", "packed-refs")} {
			if err := os.Chtimes(path, past, past); err != nil && !os.IsNotExist(err) {
				b.Fatal(err)
			}
		}
		list := func(b *testing.B, r *git.Repo) {
			names, err := r.LocalBranches(b.Context())
			if err != nil || len(names) != branches {
				b.Fatalf("%d branches, %v", len(names), err)
			}
		}
		b.Run(form+"/cold", func(b *testing.B) {
			for b.Loop() {
				list(b, discover(b, g, dir))
			}
		})
		b.Run(form+"/warm", func(b *testing.B) {
			r := discover(b, g, dir)
			list(b, r)
			for b.Loop() {
				list(b, r)
			}
		})
		b.Run(form+"/git", func(b *testing.B) {
			for b.Loop() {
				out := g.Run(dir, "for-each-ref", "--format=%(refname)", "refs/heads")
				if n := strings.Count(out, "\n") + 1; n != branches {
					b.Fatalf("%d branches", n)
				}
			}
		})
	}
}

// BenchmarkRead measures what a server asks on each call.
func BenchmarkRead(b *testing.B) {
	g := gittest.New(b)
	dir := g.Init()
	g.Commit(dir, "first")
	g.Run(dir, "remote", "add", "origin", "git@github.com:o/r.git")
	gittest.Write(b, join(g.Home, ".gitconfig"), "[user]\n\tname = Ada\n[url \"https://github.com/\"]\n\tinsteadOf = gh:\n"+
		"[includeIf \"gitdir:~/work/\"]\n\tpath = work\n")
	r := discover(b, g, dir)
	ctx := b.Context()
	for name, call := range map[string]func() error{
		"Discover": func() error {
			_, err := git.Discover(ctx, dir, git.Options{Env: g.Env})
			return err
		},
		"Head":          func() error { _, err := r.Head(ctx); return err },
		"HasBranch":     func() error { _, err := r.HasBranch(ctx, "main"); return err },
		"RemoteURL":     func() error { _, err := r.RemoteURL(ctx, "origin"); return err },
		"DefaultBranch": func() error { _, err := r.DefaultBranch(ctx); return err },
		"Status":        func() error { _, err := r.Status(ctx); return err },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := call(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
