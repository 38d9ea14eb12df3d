package records

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/branch/source"
)

// Stamps hold exactly as long as no file appears, changes, or disappears.
func TestStampsHold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var paths []string
	for _, name := range []string{"a", "b", "d/e", "d/f", "d/g", "d/g/h", "d/g/i/j", "k/l/m"} {
		paths = append(paths, filepath.Join(dir, filepath.FromSlash(name)))
	}
	tick := time.Unix(1_000_000_000, 0)
	// trust makes files look old, so a later change of them is visible.
	trust := func() {
		_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, _ error) error {
			tick = tick.Add(time.Minute)
			return os.Chtimes(path, tick, tick)
		})
	}
	later := func() time.Time { return time.Now().Add(time.Hour) }
	changes := []func(path string) error{
		func(path string) error { return os.MkdirAll(filepath.Dir(path), 0o755) },
		func(path string) error { return os.WriteFile(path, []byte("x"), 0o600) },
		os.Remove,
		func(path string) error {
			if at := filepath.Dir(path); at != dir {
				path = at
			}
			return os.RemoveAll(path)
		},
		func(path string) error { return os.Rename(filepath.Dir(path), filepath.Join(dir, "k")) },
		func(path string) error { return os.Symlink(dir, path) },
		func(string) error { return os.WriteFile(filepath.Join(dir, "other"), nil, 0o600) },
	}
	exist := func() (found []bool) {
		for _, path := range paths {
			_, err := os.Lstat(path)
			found = append(found, err == nil)
		}
		return found
	}
	random := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // a sequence that repeats
	held, failed := 0, 0
	for range 500 {
		trust()
		s := stampsOf(paths, later())
		before := exist()
		for range 4 {
			trust() // which the stamps of files notice
			s.seen = stampsOf(paths, later()).seen
			if !s.hold(newLook(later())) {
				t.Fatal("the stamps do not hold, and nothing has changed")
			}
			path := paths[random.IntN(len(paths))]
			if err := changes[random.IntN(len(changes))](path); err != nil {
				var at *fs.PathError
				var link *os.LinkError
				if !errors.As(err, &at) && !errors.As(err, &link) {
					t.Fatal(err)
				}
			}
			same := true
			for i, there := range exist() {
				same = same && there == before[i]
			}
			if holds := s.hold(newLook(later())); holds && !same {
				t.Fatalf("the stamps hold after a change: %v, then %v", before, exist())
			} else if !holds {
				failed++
				break
			}
			held++
		}
		if err := os.RemoveAll(filepath.Join(dir, "k")); err != nil {
			t.Fatal(err)
		}
	}
	if held < 100 || failed < 100 {
		t.Errorf("they held %d times and failed %d times", held, failed)
	}
}

// One lookup answers for the gaps of a directory, until it changes.
func TestGaps(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := stampsOf([]string{filepath.Join(dir, "a"), filepath.Join(dir, "b", "c")}, time.Now().Add(time.Hour))
	if len(s.gaps) != 2 || s.gaps[0].dir != dir || s.gaps[1].dir != dir {
		t.Errorf("got %+v", s.gaps)
	}
	// A directory that changed a moment ago can change again without a trace.
	s = stampsOf([]string{filepath.Join(dir, "a")}, time.Now())
	if len(s.gaps) != 1 || s.gaps[0].dir != "" {
		t.Errorf("just now: got %+v", s.gaps)
	}
}

// A name with very many parts costs as many lookups as any other.
func TestGapOfManyParts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := newLook(time.Now().Add(time.Hour)) // the directory has not changed for long
	for parts, want := range map[int]string{1: dir, 20: dir, 100: "", 2000: ""} {
		path := filepath.Join(dir, filepath.FromSlash(strings.Repeat("x/", parts)+"y"))
		if missing, ok := l.gapAt(path); !ok || missing.dir != want {
			t.Errorf("%d parts: %q, %v", parts, missing.dir, ok)
		}
	}
}

// The names in a directory do not include those below it, of which there may be any number.
func TestStampsOfNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range maxDirectories + 1 {
		if err := os.MkdirAll(filepath.Join(dir, "a", strconv.Itoa(i)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	later := func() time.Time { return time.Now().Add(time.Hour) }
	if s := stampsOf([]string{dir}, later()); s.hold(newLook(later())) {
		t.Error("so many directories are not examined for each call")
	}
	s := stampsOf([]string{source.NamesIn(dir)}, later())
	if err := os.Mkdir(filepath.Join(dir, "a", "new"), 0o700); err != nil {
		t.Fatal(err)
	}
	if !s.hold(newLook(later())) {
		t.Error("a directory below counts")
	}
	if err := os.Mkdir(filepath.Join(dir, "new"), 0o700); err != nil {
		t.Fatal(err)
	}
	if s.hold(newLook(later())) {
		t.Error("a new name does not count")
	}
}
