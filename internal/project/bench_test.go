package project_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/project"
)

// large makes a repository of 100,000 files in 2,110 directories.
func large(b *testing.B) *project.Project {
	b.Helper()
	g := gittest.New(b)
	dir := g.Init()
	for i := range 1000 {
		at := filepath.Join(dir, fmt.Sprintf("pkg%d/mod%d/sub%d", i/100, i/10%10, i%10))
		if err := os.MkdirAll(filepath.Join(at, "inner"), 0o700); err != nil {
			b.Fatal(err)
		}
		for n := range 100 {
			name := fmt.Sprintf("file%d.go", n)
			if n%5 == 0 {
				name = filepath.Join("inner", name)
			}
			if err := os.WriteFile(filepath.Join(at, name), nil, 0o600); err != nil {
				b.Fatal(err)
			}
		}
	}
	gittest.Write(b, filepath.Join(dir, ".gitignore"), "node_modules/\n*.log\n/dist\n*.o\nbuild/\n.env*\n/pkg0/mod0/*\n")
	return open(b, g, dir)
}

func BenchmarkList(b *testing.B) {
	p := large(b)
	for _, depth := range []int{1, 5} {
		b.Run(fmt.Sprint(depth), func(b *testing.B) {
			for b.Loop() {
				if _, err := p.List(b.Context(), ".", project.Range{Depth: depth, Max: 500}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	dir := b.TempDir()
	gittest.Write(b, filepath.Join(dir, "a", "b.txt"), fmt.Sprintf("%04096d", 1))
	p := plain(dir)
	for b.Loop() {
		if _, err := p.Read(b.Context(), "a/b.txt", project.Lines{}); err != nil {
			b.Fatal(err)
		}
	}
}
