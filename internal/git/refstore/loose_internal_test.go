package refstore

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A store that caches returns what a new one returns, however the files of refs change.
func TestLooseValuesAreFresh(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	names := []string{"HEAD", "refs/heads/a", "refs/heads/b", "refs/heads/d/e", "refs/remotes/origin/HEAD"}
	texts := []string{"ref: refs/heads/a\n", "ref: refs/heads/b\n", "ref: refs/heads/d/e\n", hash + "\n", strings.Repeat("a", 40) + "\n", "damaged", ""}
	// The files look old enough to be trusted: each gets times of its own.
	tick := time.Unix(1_000_000_000, 0)
	write := func(path, text string, flags int) error {
		file, err := os.OpenFile(path, flags, 0o600)
		if err != nil {
			return err
		}
		_, err = file.WriteString(text)
		return errors.Join(err, file.Close())
	}
	changes := []func(path, text string) error{
		func(path, text string) error { return write(path, text, os.O_WRONLY|os.O_CREATE|os.O_TRUNC) },
		func(path, text string) error {
			return errors.Join(write(path+".lock", text, os.O_WRONLY|os.O_CREATE), os.Rename(path+".lock", path))
		},
		func(path, _ string) error { return os.Remove(path) },
		func(path, _ string) error {
			return errors.Join(os.Remove(path), os.Symlink("refs/heads/b", path))
		},
		func(path, text string) error {
			return write(filepath.Join(dir, "packed-refs"), fmt.Sprintf("%.40s refs/heads/a\n", hash), os.O_WRONLY|os.O_CREATE)
		},
	}
	for _, name := range names {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	kept := New(dir, dir, len(hash))
	kept.loose.now = func() time.Time { return time.Now().Add(time.Hour) }
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a sequence that repeats
	for range 2000 {
		path := filepath.Join(dir, names[random.IntN(len(names))])
		err := changes[random.IntN(len(changes))](path, texts[random.IntN(len(texts))])
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			t.Fatal(err)
		}
		tick = tick.Add(time.Minute)
		_ = os.Chtimes(path, tick, tick)
		for _, name := range names {
			got, gotErr := kept.Resolve(name)
			want, wantErr := New(dir, dir, len(hash)).Resolve(name)
			if got != want || errors.Is(gotErr, ErrBroken) != errors.Is(wantErr, ErrBroken) {
				t.Fatalf("%s is %v (%v), want %v (%v)", name, got, gotErr, want, wantErr)
			}
		}
	}
	if len(kept.loose.known) == 0 {
		t.Error("nothing is cached")
	}
}

// Many refs do not fill the memory.
func TestLooseValuesAreFew(t *testing.T) {
	t.Parallel()
	l := looseValues{known: map[string]looseValue{}}
	for i := range 3 * maxKnown {
		l.add(fmt.Sprint(i), looseValue{})
	}
	if len(l.known) > maxKnown {
		t.Errorf("%d values are cached", len(l.known))
	}
}
