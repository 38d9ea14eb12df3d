package project_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/project"
)

// paths returns a Names whose values are the paths of files, and counts the directories
// that it reads.
func paths(p *project.Project) (n *project.Names[[]string], read *[]string) {
	read = new([]string)
	return project.NewNames(p, func(dir string, files []string) []string {
		*read = append(*read, dir)
		all := make([]string, len(files))
		for i, f := range files {
			all[i] = path.Join(dir, f)
		}
		return all
	}), read
}

func all(t testing.TB, n *project.Names[[]string]) []string {
	t.Helper()
	values, warnings, err := n.Get(t.Context())
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%v, warnings %q", err, warnings)
	}
	return slices.Sorted(slices.Values(slices.Concat(values...)))
}

// Whatever happens to files, patterns, and the index: the names are those that a listing
// has that was made for them alone.
func TestNamesAreThoseOfAListing(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	rapid.Check(t, func(rt *rapid.T) {
		dir := g.Init()
		p := open(t, g, dir)
		n, _ := paths(p)
		n.SetClock(rapid.SampledFrom([]time.Duration{0, time.Hour}).Draw(rt, "clock"))
		places := rapid.SampledFrom([]string{".", "a", "a/b", "a/b/c", "build", "build/out"})
		names := rapid.SampledFrom([]string{"x.go", "y.log", "z.txt", "build"})
		for range rapid.IntRange(1, 6).Draw(rt, "steps") {
			for range rapid.IntRange(1, 4).Draw(rt, "changes") {
				at := filepath.Join(dir, places.Draw(rt, "directory"))
				name := filepath.Join(at, names.Draw(rt, "name"))
				switch rapid.IntRange(0, 5).Draw(rt, "change") {
				case 0, 1:
					if os.MkdirAll(at, 0o700) == nil {
						_ = os.WriteFile(name, nil, 0o600) // unless it is a directory
					}
				case 2:
					_ = os.RemoveAll(name)
				case 3:
					if at != dir {
						_ = os.RemoveAll(at)
					}
				case 4:
					patterns := rapid.SampledFrom([]string{"*.log\n", "build/\n", "*\n!x.go\n", "", "/b\n"}).Draw(rt, "patterns")
					if os.MkdirAll(at, 0o700) == nil {
						_ = os.WriteFile(filepath.Join(at, ".gitignore"), []byte(patterns), 0o600)
					}
				case 5:
					if _, err := os.Lstat(name); err == nil {
						g.Run(dir, "add", "-f", name)
					}
				}
			}
			listing, err := p.List(t.Context(), ".", project.Range{Depth: 10, Max: 1000})
			if err != nil {
				rt.Fatal(err)
			}
			want := []string{}
			for _, e := range listing.Entries {
				if e.Type == project.File || e.Type == project.Symlink {
					want = append(want, e.Path)
				}
			}
			slices.Sort(want)
			if diff := cmp.Diff(want, append([]string{}, all(t, n)...)); diff != "" {
				rt.Fatalf("(-listed +named):\n%s", diff)
			}
		}
	})
}

// A directory that did not change is not read again, and one that changed is, alone.
func TestNamesReadWhatChanged(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	for _, name := range []string{"a/1", "a/b/2", "c/3", "d/4"} {
		gittest.Write(t, filepath.Join(dir, name), "")
	}
	n, read := paths(open(t, g, dir))
	n.SetClock(time.Hour)
	want := func(what string, wantRead []string, wantAll ...string) {
		t.Helper()
		*read = nil
		if diff := cmp.Diff(wantAll, all(t, n)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
		if diff := cmp.Diff(wantRead, *read); diff != "" {
			t.Errorf("%s: directories that are read (-want +got):\n%s", what, diff)
		}
	}
	want("first", []string{"a", "c", "d", "a/b"}, "a/1", "a/b/2", "c/3", "d/4")
	want("again", nil, "a/1", "a/b/2", "c/3", "d/4")
	gittest.Write(t, filepath.Join(dir, "a/b/new"), "")
	want("a new file", []string{"a/b"}, "a/1", "a/b/2", "a/b/new", "c/3", "d/4")
	gittest.Write(t, filepath.Join(dir, "a/b/new"), "other content")
	want("other content", nil, "a/1", "a/b/2", "a/b/new", "c/3", "d/4")
	gittest.Write(t, filepath.Join(dir, "c/e/5"), "")
	want("a new directory", []string{"c", "c/e"}, "a/1", "a/b/2", "a/b/new", "c/3", "c/e/5", "d/4")
	if err := os.RemoveAll(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	want("a directory less", nil, "c/3", "c/e/5", "d/4")
	n, read = paths(open(t, g, dir))
	all(t, n)
	*read = nil
	all(t, n)
	if !slices.Contains(*read, "d") {
		t.Errorf("a directory whose time can be that of a later change is not read again: %q", *read)
	}
}

// A link that takes the place of a directory leads nowhere.
func TestNamesStayInside(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	gittest.Write(t, filepath.Join(outside, "secret"), "")
	gittest.Write(t, filepath.Join(dir, "sub", "file"), "")
	n, _ := paths(plain(dir))
	if got := all(t, n); !slices.Equal(got, []string{"sub/file"}) {
		t.Fatal(got)
	}
	if err := os.RemoveAll(filepath.Join(dir, "sub")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "sub")); err != nil {
		t.Skip(err)
	}
	if got := all(t, n); !slices.Equal(got, []string{"sub"}) {
		t.Errorf("got %q", got)
	}
}

func BenchmarkNames(b *testing.B) {
	p := large(b)
	n := project.NewNames(p, func(_ string, files []string) string { return strings.Join(files, "/") })
	if _, _, err := n.Get(b.Context()); err != nil {
		b.Fatal(err)
	}
	n.SetClock(time.Hour)
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			if dirs, _, err := n.Get(b.Context()); err != nil || len(dirs) < 1000 {
				b.Fatal(len(dirs), err)
			}
		}
	})
	b.Run("changed", func(b *testing.B) {
		i := 0
		for b.Loop() {
			i++
			gittest.Write(b, filepath.Join(p.Root(), fmt.Sprintf("pkg1/mod%d/new%d", i%10, i)), "")
			if _, _, err := n.Get(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
