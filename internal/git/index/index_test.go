package index_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/git/index"
)

var files = []string{"a", "a.txt", "a-b", "a/b", "a/c/d", "a0", "é/ü", "long/" + strings.Repeat("x", 200), "z z/\"q\""}

func TestParseAgreesWithGit(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	for _, format := range []string{"sha1", "sha256"} {
		for _, version := range []string{"2", "3", "4"} {
			repo := g.Init("--object-format=" + format)
			g.Run(repo, "config", "index.version", version)
			for _, name := range files {
				if name == "a" {
					continue // it is a directory too
				}
				gittest.Write(t, filepath.Join(repo, name), name)
			}
			gittest.Write(t, filepath.Join(repo, "later"), "")
			g.Run(repo, "add", ".")
			g.Run(repo, "rm", "-q", "--cached", "later")
			g.Run(repo, "add", "-N", "later") // an entry with the extended flags of version 3
			g.Run(repo, "update-index", "--skip-worktree", "a0", "a/c/d")
			data, err := os.ReadFile(filepath.Join(repo, ".git", "index"))
			if err != nil {
				t.Fatal(err)
			}
			size := 20
			if format == "sha256" {
				size = 32
			}
			paths, err := index.Parse(data, size)
			if err != nil {
				t.Fatalf("%s, version %s: %v", format, version, err)
			}
			listed := index.FromList([]byte(g.Run(repo, "ls-files", "-z", "-t")))
			if fmt.Sprint(paths) != fmt.Sprint(listed) || paths.Len() != len(files) {
				t.Errorf("%s, version %s: %v, git says %v", format, version, paths, listed)
			}
			if got := fmt.Sprint(paths.Skipped().All()); got != "[a/c/d a0]" {
				t.Errorf("%s, version %s: skipped are %s", format, version, got)
			}
			for name, want := range map[string][2]bool{
				"a": {false, true}, "a/c": {false, true}, "a/c/d": {true, true}, "a-": {false, false}, "a0": {true, true}, "é": {false, true},
				"": {false, false}, "zz": {false, false}, "a/c/d/e": {false, false}, "later": {true, true},
			} {
				if got := [2]bool{paths.Has(name), paths.HasBelow(name)}; got != want {
					t.Errorf("%q: %v, want %v", name, got, want)
				}
			}
		}
	}
}

func TestWhatOnlyGitReads(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	repo := g.Init()
	gittest.Write(t, filepath.Join(repo, "sub", "a"), "")
	g.Run(repo, "add", ".")
	g.Run(repo, "update-index", "--split-index")
	data, err := os.ReadFile(filepath.Join(repo, ".git", "index"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := index.Parse(data, 20); !errors.Is(err, index.ErrNeedsGit) {
		t.Errorf("a split index: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	g := gittest.New(f)
	for _, version := range []string{"2", "4"} {
		repo := g.Init()
		g.Run(repo, "config", "index.version", version)
		gittest.Write(f, filepath.Join(repo, "sub", "a"), "")
		gittest.Write(f, filepath.Join(repo, "sub", "ab"), "")
		g.Run(repo, "add", ".")
		data, err := os.ReadFile(filepath.Join(repo, ".git", "index"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		paths, err := index.Parse(data, 20)
		if err == nil && paths.Len() > len(data) {
			t.Errorf("%d paths of %d bytes", paths.Len(), len(data))
		}
		paths.HasBelow("sub")
	})
}

// Names of version 4 share their beginnings. A small index whose names are long together is refused
// before it uses memory.
func TestLongNames(t *testing.T) {
	t.Parallel()
	build := func(length, entries int) []byte {
		data := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("DIRC"), 4), uint32(entries))
		for i := range entries {
			data = append(append(data, make([]byte, 40+20)...), 0x0f, 0xff)
			if i == 0 {
				data = append(append(data, 0), strings.Repeat("a", length-6)+"000000\x00"...)
				continue
			}
			data = append(append(data, 6), fmt.Sprintf("%06d\x00", i)...)
		}
		return append(data, make([]byte, 20)...)
	}
	if paths, err := index.Parse(build(4096, 100), 20); err != nil || paths.Len() != 100 {
		t.Error(paths.Len(), err)
	}
	for _, data := range [][]byte{build(4097, 2), build(250_000, 3500), build(4096, 100_000)} {
		if _, err := index.Parse(data, 20); !errors.Is(err, index.ErrBroken) {
			t.Error(err)
		}
	}
}
