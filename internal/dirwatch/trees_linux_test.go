package dirwatch_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/copse-dev/copse/internal/dirwatch"
)

// Every change that is complete is counted at once, without a wait, and nothing else is.
func TestTrees(t *testing.T) {
	t.Parallel()
	root, other := t.TempDir(), t.TempDir()
	must(t, os.MkdirAll(filepath.Join(root, "a", "b"), 0o700))
	file := filepath.Join(root, "a", "b", "file")
	must(t, os.WriteFile(file, []byte("1"), 0o600))
	dirs := []string{".", "a", "a/b", "late", "late/er"}
	trees := dirwatch.NewTrees()
	defer trees.Close()
	last, ok := trees.Follow(root, dirs)
	if !ok {
		t.Skip("the file system of the temporary directory has no reliable events")
	}
	if _, ok := trees.Follow(other, []string{"."}); !ok {
		t.Fatal("the other tree is not watched")
	}
	if _, ok := trees.Count(filepath.Join(root, "a")); ok {
		t.Error("a directory that nobody follows has a count")
	}
	for _, step := range []struct {
		what string
		do   func() error
		same bool
	}{
		{"nothing", func() error { return nil }, true},
		{"reading", func() error { _, err := os.ReadFile(file); return err }, true},
		{"a change elsewhere", func() error { return os.WriteFile(filepath.Join(other, "x"), nil, 0o600) }, true},
		{"an edit of the same size", func() error { return os.WriteFile(file, []byte("2"), 0o600) }, false},
		{"permissions", func() error { return os.Chmod(file, 0o700) }, false},
		{"another name", func() error { return os.Rename(file, file+"2") }, false},
		{"a file", func() error { return os.WriteFile(file, []byte("2"), 0o600) }, false},
		{"a directory", func() error { return os.MkdirAll(filepath.Join(root, "late", "er"), 0o700) }, false},
		{"a file in it", func() error { return os.WriteFile(filepath.Join(root, "late", "er", "file"), nil, 0o600) }, false},
		{"a removal", func() error { return os.Remove(file) }, false},
		{"a directory goes", func() error { return os.RemoveAll(filepath.Join(root, "late")) }, false},
		{"a directory moves", func() error { return os.Rename(filepath.Join(root, "a"), filepath.Join(other, "a")) }, false},
		{"and another takes its place", func() error { return os.MkdirAll(filepath.Join(root, "a", "b"), 0o700) }, false},
		{"a file in that", func() error { return os.WriteFile(file, nil, 0o600) }, false},
	} {
		must(t, step.do())
		count, watched := trees.Count(root)
		if watched && (count == last) != step.same {
			t.Errorf("%s: the count was %d and is %d", step.what, last, count)
		}
		if last, ok = trees.Follow(root, dirs); !ok {
			t.Fatalf("%s: the tree is not watched any longer", step.what)
		}
	}
}

// Where events were lost, nobody claims to know.
func TestLost(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	trees := dirwatch.NewTrees()
	defer trees.Close()
	before, ok := trees.Follow(root, []string{"."})
	if !ok {
		t.Skip("the file system of the temporary directory has no reliable events")
	}
	var queue int
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	must(t, err)
	if _, err := fmt.Sscan(string(text), &queue); err != nil || queue > 100_000 {
		t.Skipf("the queue of this system has %q places", text)
	}
	names := []string{filepath.Join(root, "x"), filepath.Join(root, "y")}
	must(t, os.WriteFile(names[0], nil, 0o600))
	for i := range queue/2 + 1 { // a rename is two events, and equal ones after each other are one
		must(t, os.Rename(names[i%2], names[1-i%2]))
	}
	if count, ok := trees.Count(root); ok {
		t.Errorf("the count was %d and is %d", before, count)
	}
	after, ok := trees.Follow(root, []string{"."})
	if !ok || after == before {
		t.Errorf("followed again: %d, %v", after, ok)
	}
}

// A link is not followed: what it leads to can change, and be another directory.
func TestLinks(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	must(t, os.Mkdir(filepath.Join(root, "real"), 0o700))
	must(t, os.Symlink("real", filepath.Join(root, "link")))
	trees := dirwatch.NewTrees()
	defer trees.Close()
	if _, ok := trees.Follow(root, []string{".", "real"}); !ok {
		t.Skip("the file system of the temporary directory has no reliable events")
	}
	if _, ok := trees.Follow(root, []string{".", "link"}); ok {
		t.Error("a tree with a link is watched")
	}
	watch, err := dirwatch.Open()
	must(t, err)
	defer watch.Close()
	if _, err := watch.Add(filepath.Join(root, "link")); !errors.Is(err, dirwatch.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

// Two roots can share a directory, and one that is no longer followed costs nothing.
func TestShared(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	must(t, os.Mkdir(filepath.Join(root, "sub"), 0o700))
	trees := dirwatch.NewTrees()
	defer trees.Close()
	sub := filepath.Join(root, "sub")
	outer, ok := trees.Follow(root, []string{".", "sub"})
	if !ok {
		t.Skip("the file system of the temporary directory has no reliable events")
	}
	inner, _ := trees.Follow(sub, []string{"."})
	must(t, os.WriteFile(filepath.Join(sub, "file"), nil, 0o600))
	if now, _ := trees.Count(root); now == outer {
		t.Error("the outer tree missed a change")
	}
	if now, _ := trees.Count(sub); now == inner {
		t.Error("the inner tree missed a change")
	}
	outer, _ = trees.Follow(root, []string{"."}) // without what is shared
	inner, _ = trees.Count(sub)
	must(t, os.WriteFile(filepath.Join(sub, "file"), []byte("x"), 0o600))
	if now, _ := trees.Count(root); now != outer {
		t.Error("the outer tree counts what it does not follow")
	}
	if now, _ := trees.Count(sub); now == inner {
		t.Error("the inner tree missed a change after the outer one let go")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
