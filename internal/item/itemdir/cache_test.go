package itemdir_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/item/itemdir"
	"github.com/copse-dev/copse/internal/rooted"
)

// many is enough files for a cache.
const many = 600

// itemNamed returns the content of a file: the length does not depend on the word.
func itemNamed(id int, word string) string {
	return fmt.Sprintf("---\nid: %d\ntitle: %5s\nlabels:\n  - %5s\ndepends_on:\n  - \"7\"\nparent: \"3\"\nassignee: Ana\n---\n%5s İstanbul\n", id, word, word, word)
}

func fill(t *testing.T, dir string) {
	t.Helper()
	for id := 1; id <= many; id++ {
		put(t, dir, id, itemNamed(id, "old"))
	}
}

func put(t *testing.T, dir string, id int, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.md", id)), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// later returns a time at which the stamps of all files count.
func later() time.Time { return time.Now().Add(time.Hour) }

func opened(t testing.TB, dir, cache string) []string {
	t.Helper()
	x, err := itemdir.Open(rooted.Dir{Wall: dir, Name: "."}, itemdir.Options{Name: "items", Cache: cache, Now: later})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	return all(x)
}

// An index that is opened with a cache says what the files say, whatever happened to them
// since the cache was written.
func TestCacheIsNeverWrong(t *testing.T) {
	t.Parallel()
	if !itemdir.ChangeTimes(t.TempDir()) {
		t.Skip("files have no times of change here, so nothing is kept")
	}
	for name, change := range map[string]func(t *testing.T, dir string){
		"nothing": func(*testing.T, string) {},
		"same size and time": func(t *testing.T, dir string) {
			path := filepath.Join(dir, "5.md")
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			put(t, dir, 5, itemNamed(5, "new"))
			if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
		},
		"replaced": func(t *testing.T, dir string) {
			put(t, dir, 5000, itemNamed(5, "new"))
			if err := os.Rename(filepath.Join(dir, "5000.md"), filepath.Join(dir, "5.md")); err != nil {
				t.Fatal(err)
			}
		},
		"exchanged": func(t *testing.T, dir string) {
			for _, move := range [][2]string{{"5.md", "x"}, {"6.md", "5.md"}, {"x", "6.md"}} {
				if err := os.Rename(filepath.Join(dir, move[0]), filepath.Join(dir, move[1])); err != nil {
					t.Fatal(err)
				}
			}
		},
		"removed and added": func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, "600.md")); err != nil {
				t.Fatal(err)
			}
			put(t, dir, 601, itemNamed(601, "new"))
		},
		"broken": func(t *testing.T, dir string) { put(t, dir, 9, "no item") },
		"many": func(t *testing.T, dir string) {
			for id := 100; id < 400; id++ {
				put(t, dir, id, itemNamed(id, "new"))
			}
		},
		"a link": func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, "4.md")); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("5.md", filepath.Join(dir, "4.md")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cache := itemdir.CacheFile(t.TempDir(), dir)
			fill(t, dir)
			first := opened(t, dir, cache)
			if _, err := os.Stat(cache); err != nil {
				t.Fatalf("the directory is large, and nothing is kept: %v", err)
			}
			time.Sleep(20 * time.Millisecond) // the next change falls into another tick
			change(t, dir)
			for range 2 { // the cache of the change, too
				if d := cmp.Diff(opened(t, dir, ""), opened(t, dir, cache)); d != "" {
					t.Fatalf("with a cache (+) it says something else than without (-):\n%s", d)
				}
			}
			if name == "nothing" {
				if d := cmp.Diff(first, opened(t, dir, cache)); d != "" {
					t.Error(d)
				}
			}
		})
	}
}

// The cache spares reading: what it has of a file that has not changed is used.
func TestCacheIsUsed(t *testing.T) {
	t.Parallel()
	if !itemdir.ChangeTimes(t.TempDir()) {
		t.Skip("files have no times of change here, so nothing is kept")
	}
	dir := t.TempDir()
	cache := itemdir.CacheFile(t.TempDir(), dir)
	fill(t, dir)
	opened(t, dir, cache)
	data, err := os.ReadFile(cache)
	if err != nil {
		t.Fatal(err)
	}
	x, err := itemdir.Open(rooted.Dir{Wall: dir, Name: "."}, itemdir.Options{Name: "items", Cache: cache, Now: later})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if got := itemdir.FromCache(x); got != many {
		t.Errorf("%d of %d files come from the cache", got, many)
	}
	if again, err := os.ReadFile(cache); err != nil || !bytes.Equal(data, again) {
		t.Error("a cache that was complete has changed")
	}
	info, err := os.Stat(cache)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others can read the cache: %v %v", info.Mode(), err)
	}
}

// What was written a moment ago can change again without a trace in its stamp, so it is
// not kept.
func TestFreshFilesAreNotKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cache := itemdir.CacheFile(t.TempDir(), dir)
	fill(t, dir)
	x, err := itemdir.Open(rooted.Dir{Wall: dir, Name: "."}, itemdir.Options{Name: "items", Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	x.Close()
	if _, err := os.Stat(cache); !os.IsNotExist(err) {
		t.Errorf("files of this moment are kept: %v", err)
	}
}

// FuzzCache opens a directory with a cache that someone has damaged.
func FuzzCache(f *testing.F) {
	dir := f.TempDir()
	for id := 1; id <= many; id++ {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.md", id)), []byte(itemNamed(id, "old")), 0o600); err != nil {
			f.Fatal(err)
		}
	}
	cache := itemdir.CacheFile(f.TempDir(), dir)
	opened(f, dir, cache)
	good, err := os.ReadFile(cache)
	if err != nil {
		f.Skip("files have no times of change here, so nothing is kept")
	}
	want := opened(f, dir, "")
	f.Add(0, 0, []byte{})
	f.Add(40, 1, []byte{0xff})
	f.Add(len(good)/2, len(good), []byte{})
	f.Add(60, 8, bytes.Repeat([]byte{0xff}, 8))
	f.Fuzz(func(t *testing.T, at, length int, with []byte) {
		at = min(max(at, 0), len(good))
		end := min(max(at+length, at), len(good))
		damaged := bytes.Join([][]byte{good[:at], with, good[end:]}, nil)
		path := filepath.Join(t.TempDir(), "cache")
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, opened(t, dir, path)); d != "" {
			t.Errorf("a damaged cache changes the index:\n%s", d)
		}
	})
}
