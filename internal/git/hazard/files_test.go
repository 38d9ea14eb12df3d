package hazard_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/git/hazard"
	"github.com/copse-dev/copse/internal/regular"
)

// sparse creates a file of a size that takes no space.
func sparse(t *testing.T, path string, size int64) {
	t.Helper()
	err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600))
	if err = errors.Join(err, os.Truncate(path, size)); err != nil {
		t.Fatal(err)
	}
}

// Git reads a file of patterns in any directory, however large it is.
func TestLargePatternsBelow(t *testing.T) {
	t.Parallel()
	for _, name := range []string{".gitignore", ".gitattributes"} {
		root := t.TempDir()
		sparse(t, filepath.Join(root, "a", "b", name), 16<<20+1)
		err := hazard.Search(t.Context(), hazard.Layout{GitDir: filepath.Join(root, ".git"), CommonDir: filepath.Join(root, ".git"), Root: root})
		if _, ok := errors.AsType[*regular.TooLargeError](err); !ok || !strings.Contains(err.Error(), filepath.Join("a", "b", name)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A file that never ends counts more than patterns, with which git may finish.
func TestPatternsBeforeLargeFile(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	sparse(t, filepath.Join(root, "b", ".gitignore"), 16<<20+1)
	layout := hazard.Layout{GitDir: filepath.Join(root, ".git"), CommonDir: filepath.Join(root, ".git"), Root: root}
	for _, dir := range []string{root, filepath.Join(root, "a"), filepath.Join(root, ".git", "info")} {
		sparse(t, filepath.Join(dir, "x"), 0)
		for _, name := range []string{".gitignore", "exclude"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Repeat("**/", 100)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		err := hazard.Search(t.Context(), layout)
		if _, ok := errors.AsType[*regular.TooLargeError](err); !ok {
			t.Errorf("patterns in %s: %v", dir, err)
		}
	}
	if err := os.RemoveAll(filepath.Join(root, "b")); err != nil {
		t.Fatal(err)
	}
	if _, ok := errors.AsType[*hazard.ContentError](hazard.Search(t.Context(), layout)); !ok {
		t.Error("patterns alone are no error")
	}
}

// Git reads the lines of a reflog as a whole, and one can have any length.
func TestLargeLogs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"logs/refs/heads/main", "logs/refs/stash", "worktrees/a/logs/HEAD", "worktrees/a/logs/refs/worktree/x", "logs/HEAD"} {
		dir := t.TempDir()
		sparse(t, filepath.Join(dir, filepath.FromSlash(name)), 2<<20)
		layout := hazard.Layout{GitDir: dir, CommonDir: dir}
		if err := new(hazard.Checker).Check(layout); err != nil {
			t.Errorf("%s of 2 MiB: %v", name, err)
		}
		sparse(t, filepath.Join(dir, filepath.FromSlash(name)), 512<<20+1)
		if _, ok := errors.AsType[*regular.TooLargeError](new(hazard.Checker).Check(layout)); !ok {
			t.Errorf("%s: no error", name)
		}
	}
}

// Git reads a line in quotation marks as the path without them, with escapes.
func TestQuotedAlternates(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	list := filepath.Join(dir, "objects", "info", "alternates")
	for text, refused := range map[string]bool{"# a\n/x/a\n../a\n": false, "/x/a\n\"/x/\\141\"\n": true} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(list), 0o700), os.WriteFile(list, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		if err := new(hazard.Checker).Check(hazard.Layout{GitDir: dir, CommonDir: dir}); (err != nil) != refused || refused && !strings.Contains(err.Error(), list) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Git reads these as a whole, also those of worktrees in which it does not start.
func TestLargeFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"MERGE_AUTOSTASH", "objects/loose-object-idx", "objects/pack/multi-pack-index.d/multi-pack-index-chain", "reftable/tables.list",
		"worktrees/a/reftable/tables.list", "worktrees/a/refs/worktree/x", "worktrees/a/HEAD",
	} {
		dir := t.TempDir()
		layout := hazard.Layout{GitDir: dir, CommonDir: dir}
		sparse(t, filepath.Join(dir, filepath.FromSlash(name)), 100)
		if err := new(hazard.Checker).Check(layout); err != nil && filepath.Base(name) != "tables.list" { // which has no names
			t.Errorf("%s of 100 bytes: %v", name, err)
		}
		sparse(t, filepath.Join(dir, filepath.FromSlash(name)), 3<<30)
		if _, ok := errors.AsType[*regular.TooLargeError](new(hazard.Checker).Check(layout)); !ok {
			t.Errorf("%s: no error", name)
		}
	}
}

// Git creates the target of a dangling link, also for the stash, into which a switch of branches can put
// the changes of a merge.
func TestWritingLogs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"logs/refs/heads/x", "logs/refs/stash", "refs/stash", "logs/HEAD"} {
		dir := t.TempDir()
		layout := hazard.Layout{GitDir: dir, CommonDir: dir}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := hazard.Writing(layout, "refs/heads/x"); err != nil {
			t.Errorf("without %s: %v", name, err)
		}
		if err := os.Symlink(filepath.Join(t.TempDir(), "outside"), path); err != nil {
			t.Skip(err)
		}
		if _, ok := errors.AsType[*hazard.RedirectedError](hazard.Writing(layout, "refs/heads/x")); !ok {
			t.Errorf("%s: no error", name)
		}
	}
}
