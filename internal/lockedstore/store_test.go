package lockedstore_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/lockedstore"
)

const (
	lockName = "private/lock"
	patience = time.Minute // for what must not happen
)

func newStore(t *testing.T) (*lockedstore.Store, string) {
	t.Helper()
	dir := t.TempDir()
	return lockedstore.New(dir, lockName, patience), dir
}

func write(files ...lockedstore.File) func(*lockedstore.Tx) error {
	return func(tx *lockedstore.Tx) error { return tx.Write(files...) }
}

func file(name, data string) lockedstore.File {
	return lockedstore.File{Name: name, Data: []byte(data)}
}

// contents reads all files below dir but the lock.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		if rel = filepath.ToSlash(rel); rel != lockName {
			got[rel] = string(data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestChanges(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	err := store.Change(t.Context(), func(tx *lockedstore.Tx) error {
		if err := errors.Join(tx.MakeDir("a"), tx.MakeDir("a"), tx.MakeDir("b")); err != nil {
			return err
		}
		return tx.Write(file("one", "1"), file("a/two", "2"), file("a/three", "3"))
	})
	if err != nil {
		t.Fatal(err)
	}
	err = store.Change(t.Context(), func(tx *lockedstore.Tx) error {
		return errors.Join(
			tx.Write(file("one", "first")),
			tx.Move("a/two", "b/two"),
			tx.Remove("a/three"),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"one": "first", "b/two": "2"}
	if diff := cmp.Diff(want, contents(t, dir)); diff != "" {
		t.Errorf("after the changes (-want +got):\n%s", diff)
	}
}

func TestWriteKeepsPermissions(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Change(t.Context(), write(file("f", "new"))); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if before.Mode() != after.Mode() {
		t.Errorf("mode was %v, is %v", before.Mode(), after.Mode())
	}
	if os.SameFile(before, after) {
		t.Error("the file was changed in place: a reader could see half of it")
	}
}

// When one of the files cannot be written, no file is replaced.
func TestWriteIsAllOrNothing(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o777); err != nil {
		t.Fatal(err)
	}
	err := store.Change(t.Context(), write(file("good", "x"), file("folder", "x")))
	if err == nil {
		t.Fatal("a folder was replaced by a file")
	}
	if diff := cmp.Diff(map[string]string{}, contents(t, dir)); diff != "" {
		t.Errorf("something is left (-want +got):\n%s", diff)
	}
	checkNoPath(t, err, dir)
}

func TestErrorsOfTheFileSystem(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "out")); err != nil {
		t.Skip("symbolic links cannot be made here:", err)
	}
	if err := os.Symlink("target", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*lockedstore.Tx) error{
		"folder missing":      write(file("missing/f", "x")),
		"folder leads out":    write(file("out/f", "x")),
		"link is not written": write(file("link", "x")),
		"name leads out":      write(file("../f", "x")),
		"move of nothing":     func(tx *lockedstore.Tx) error { return tx.Move("missing", "f") },
		"remove of nothing":   func(tx *lockedstore.Tx) error { return tx.Remove("missing") },
		"folder is a link":    func(tx *lockedstore.Tx) error { return tx.MakeDir("link") },
	} {
		t.Run(name, func(t *testing.T) {
			err := store.Change(t.Context(), change)
			if err == nil {
				t.Fatal("no error")
			}
			checkNoPath(t, err, dir)
		})
	}
	if got := contents(t, outside); len(got) > 0 {
		t.Errorf("written outside: %v", got)
	}

	err := lockedstore.New(filepath.Join(dir, "missing"), lockName, patience).Change(t.Context(), write())
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing folder gives %v", err)
	}
	checkNoPath(t, err, dir)
}

func checkNoPath(t *testing.T, err error, dir string) {
	t.Helper()
	if strings.Contains(err.Error(), dir) || strings.Contains(err.Error(), filepath.Dir(dir)) {
		t.Errorf("the error names a path of this machine: %v", err)
	}
}

func TestLockMustBeAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), filepath.Join(dir, "lock")); err != nil {
		t.Skip("symbolic links cannot be made here:", err)
	}
	err := lockedstore.New(dir, "lock", patience).Change(t.Context(), write())
	if err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a link as the lock gives %v", err)
	}
}

// A file that a killed process has left does not disturb the next change.
func TestTemporaryFilesGiveWay(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	left := filepath.Join(dir, lockName+".new0")
	if err := os.MkdirAll(filepath.Dir(left), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(left, []byte("half a fi"), 0o400); err != nil {
		t.Fatal(err)
	}
	if err := store.Change(t.Context(), write(file("f", "whole"))); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"f": "whole"}, contents(t, dir)); diff != "" {
		t.Errorf("after the change (-want +got):\n%s", diff)
	}
}

func TestOneChangeAtATime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	shared := lockedstore.New(dir, lockName, patience)
	const writers, rounds = 4, 20
	var group sync.WaitGroup
	for i := range writers {
		store := shared
		if i%2 == 1 { // as another process would
			store = lockedstore.New(dir, lockName, patience)
		}
		group.Go(func() {
			for range rounds {
				if err := store.Change(t.Context(), increment); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	got := contents(t, dir)["counter"]
	if want := strconv.Itoa(writers * rounds); got != want {
		t.Errorf("counted to %s, want %s", got, want)
	}
}

func increment(tx *lockedstore.Tx) error {
	data, err := tx.Root().ReadFile("counter")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	n, _ := strconv.Atoi(string(data))
	return tx.Write(file("counter", strconv.Itoa(n+1)))
}

// Removing the lock file, as a cleaning program might, lets nobody in who
// comes after, and only loses those who came before.
func TestLockFileRemoved(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	for range 2 {
		if err := store.Change(t.Context(), increment); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(dir, "private")); err != nil {
			t.Fatal(err)
		}
	}
	if got := contents(t, dir)["counter"]; got != "2" {
		t.Errorf("counted to %s, want 2", got)
	}
}

func TestWaiting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	err := lockedstore.New(dir, lockName, patience).Change(t.Context(), func(*lockedstore.Tx) error {
		impatient := lockedstore.New(dir, lockName, time.Millisecond)
		busy, ok := errors.AsType[*lockedstore.BusyError](impatient.Change(t.Context(), increment))
		if !ok || busy.Waited != time.Millisecond {
			t.Errorf("waiting too long gives %v", busy)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := lockedstore.New(dir, lockName, patience).Change(ctx, increment); !errors.Is(err, context.Canceled) {
			t.Errorf("giving up gives %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := contents(t, dir); len(got) > 0 {
		t.Errorf("changed without the lock: %v", got)
	}
	// Those who gave up are still in the queue; they keep nobody out.
	for range 2 {
		if err := lockedstore.New(dir, lockName, patience).Change(t.Context(), increment); err != nil {
			t.Error(err)
		}
	}
}

func TestErrorOfTheChange(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	want := errors.New("refused")
	if err := store.Change(t.Context(), func(*lockedstore.Tx) error { return want }); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
	if err := store.Change(t.Context(), increment); err != nil {
		t.Errorf("the lock is still held: %v", err)
	}
}
