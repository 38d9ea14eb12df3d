package project_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/project"
	"github.com/copse-dev/copse/internal/xec"
)

// open makes the project of a repository of tests.
func open(t testing.TB, g *gittest.Git, dir string) *project.Project {
	t.Helper()
	return project.New(dir, func(ctx context.Context) (project.Repository, error) {
		return git.Discover(ctx, dir, git.Options{Env: g.Env})
	})
}

const everything = 1 << 30

// files lists all files of a project, by path.
func files(t *testing.T, p *project.Project) []string {
	t.Helper()
	listing, err := p.List(t.Context(), "", project.Range{Depth: 100, Max: everything})
	if err != nil {
		t.Fatal(err)
	}
	if listing.Warnings != nil {
		t.Errorf("warnings: %q", listing.Warnings)
	}
	var paths []string
	for _, e := range listing.Entries {
		if e.Type != project.Directory {
			paths = append(paths, e.Path)
		}
	}
	slices.Sort(paths)
	return paths
}

// known returns the files that git shows: what it tracks, and what it does not ignore.
func known(t *testing.T, g *gittest.Git, dir string) []string {
	t.Helper()
	out, err := xec.Run(t.Context(), xec.Command{
		Name: "git", Args: []string{"ls-files", "-z", "--cached", "--others", "--exclude-standard"}, Dir: dir, Env: g.Env,
	})
	if err != nil {
		t.Fatal(err)
	}
	paths := strings.Split(strings.TrimSuffix(string(out.Stdout), "\x00"), "\x00")
	slices.Sort(paths)
	return slices.Compact(paths)
}

// TestListAgreesWithGit compares listings of generated trees, in which some ignored
// files are tracked.
func TestListAgreesWithGit(t *testing.T) {
	t.Parallel()
	rounds := 40
	if testing.Short() {
		rounds = 5
	}
	g := gittest.New(t)
	names := []string{"a", "b", "src", "build", "x.o", "y.txt", "keep", "Z"}
	lines := []string{"*.o", "build/", "/a", "!keep", "b", "src/**/x.o", "!x.o", "**/Z", "y.txt", "/src/*", "!/src/a", "*"}
	for round := range rounds {
		r := rand.New(rand.NewPCG(uint64(round), 3)) //nolint:gosec // a counter
		dir := g.Init()
		var paths []string
		var grow func(at string, depth int)
		grow = func(at string, depth int) {
			if r.IntN(3) == 0 {
				text := ""
				for range 1 + r.IntN(3) {
					text += lines[r.IntN(len(lines))] + "\n"
				}
				gittest.Write(t, filepath.Join(dir, at, ".gitignore"), text)
			}
			for _, name := range names {
				switch path := filepath.Join(at, name); {
				case r.IntN(3) == 0:
				case depth < 3 && !strings.Contains(name, ".") && r.IntN(2) == 0:
					grow(path, depth+1)
				default:
					gittest.Write(t, filepath.Join(dir, path), "")
					paths = append(paths, path)
				}
			}
		}
		grow("", 0)
		gittest.Write(t, filepath.Join(dir, ".git", "info", "exclude"), lines[r.IntN(len(lines))]+"\n")
		if r.IntN(2) == 0 {
			gittest.Write(t, filepath.Join(g.Home, "mine"), "!keep\nb\n")
			g.Run(dir, "config", "core.excludesFile", "~/mine")
		}
		for _, path := range paths {
			if r.IntN(6) == 0 {
				g.Run(dir, "add", "-f", path)
			}
		}
		if diff := cmp.Diff(known(t, g, dir), files(t, open(t, g, dir))); diff != "" {
			t.Errorf("round %d in %s (-git +listed):\n%s", round, dir, diff)
		}
	}
}

// TestListAgreesInRealRepositories checks the sources of two modules out and leaves
// there what builds leave.
func TestListAgreesInRealRepositories(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	for _, module := range []string{"github.com/spf13/cobra", "github.com/goccy/go-yaml"} {
		res, err := xec.Run(t.Context(), xec.Command{Name: "go", Args: []string{"list", "-m", "-f", "{{.Dir}}", module}, Dir: ".", Env: os.Environ()})
		if err != nil {
			t.Fatal(err)
		}
		dir := g.Init()
		source := strings.TrimSpace(string(res.Stdout))
		if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
			t.Fatal(err)
		}
		err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() != ".git" {
				return os.Chmod(path, 0o755) //nolint:gosec // the module cache is read-only
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range []string{
			"_obj/a", "cobra.test", "bin/x", "x.swp", "tags", "y.o", ".idea/workspace.xml", "deep/down/_test/z", "_cgo_defun.c", ".DS_Store", "vendor/v.go",
			"cover.out", "node_modules/m/index.js", "docs/_site/index.html", "cmd/ycat/ycat",
		} {
			gittest.Write(t, filepath.Join(dir, name), fmt.Sprint(i))
		}
		g.Run(dir, "add", ".")
		g.Run(dir, "add", "-f", "bin/x", "deep/down/_test/z")
		want := known(t, g, dir)
		if diff := cmp.Diff(want, files(t, open(t, g, dir))); diff != "" || len(want) < 50 {
			t.Errorf("%s, %d files (-git +listed):\n%s", module, len(want), diff)
		}
	}
}
