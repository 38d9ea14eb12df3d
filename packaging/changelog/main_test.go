package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// CHANGELOG.md has all fragments.
func TestChangelogIsUpToDate(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	if os.Getenv("COPSE_UPDATE") != "" {
		if err := collect(root, "Unreleased"); err != nil {
			t.Fatal(err)
		}
	}
	want, _, err := page(root, "Unreleased")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil || string(got) != want {
		t.Errorf("CHANGELOG.md is out of date, %v: run go run ./packaging/changelog\n%s", err, cmp.Diff(string(got), want))
	}
}

// write makes a directory with files.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	fixed = "Fixed: it does not end.\n"
	added = "Added: `copse sing` sings.\n\nIt knows [two songs](../../docs/songs.md).\n\n- one\n- another\n"
)

func TestRelease(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"changes/unreleased/a.md": fixed, "changes/unreleased/b.md": added})
	if err := collect(dir, "Unreleased"); err != nil {
		t.Fatal(err)
	}
	if err := makeRelease(dir, "v1.2.3", "2026-01-02"); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "changes", "unreleased", "*")); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
	// The next change appears above the release, which stays.
	if err := os.WriteFile(filepath.Join(dir, "changes", "unreleased", "c.md"), []byte("Removed: all of it.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time changes nothing
		if err := collect(dir, "Unreleased"); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, "CHANGELOG.md"))
		if err != nil {
			t.Fatal(err)
		}
		want := preface + `
## Unreleased

### Removed

- All of it.

## v1.2.3, 2026-01-02

### Added

- ` + "`copse sing`" + ` sings.

  It knows [two songs](docs/songs.md).

  - one
  - another

### Fixed

- It does not end.
`
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Error(diff)
		}
	}
	var notes strings.Builder
	if err := printNotes(&notes, dir, "v1.2.3"); err != nil || !strings.HasPrefix(notes.String(), "### Added\n") || !strings.HasSuffix(notes.String(), "does not end.\n") {
		t.Errorf("got %q, %v", notes.String(), err)
	}
}

// A section has the areas of a kind in their own order, the general entry of an area first.
func TestAreas(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"changes/unreleased/a.md":         "Security (the page): it is closed.\n",
		"changes/unreleased/song-long.md": "Added (work items): they are long.\n\nVery long.\n",
		"changes/unreleased/song.md":      "Added (work items): they exist.\n",
		"changes/unreleased/z.md":         "Added (branches and stacks): `copse stack` exists.\n",
		"changes/unreleased/zz.md":        added,
	})
	if err := collect(dir, "Unreleased"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := preface + `
## Unreleased

### Added

- ` + "`copse sing`" + ` sings.

  It knows [two songs](docs/songs.md).

  - one
  - another

#### Branches and stacks

- ` + "`copse stack`" + ` exists.

#### Work items

- They exist.
- They are long.

  Very long.

### Security

#### The page

- It is closed.
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	if err := collect(write(t, map[string]string{"changes/unreleased/a.md": "Something happened.\n"}), "Unreleased"); err == nil || !strings.Contains(err.Error(), "a.md: the first line") {
		t.Errorf("a fragment without a kind: %v", err)
	}
	if err := collect(write(t, map[string]string{"changes/unreleased/a.md": "Added (songs): something.\n"}), "Unreleased"); err == nil || !strings.Contains(err.Error(), `a.md: there is no area "songs"; the areas are branches`) {
		t.Errorf("a fragment of an unknown area: %v", err)
	}
	empty := write(t, nil)
	if err := makeRelease(empty, "v1.2.3", "2026-01-02"); err == nil || !strings.Contains(err.Error(), "no fragments") {
		t.Errorf("a release of nothing: %v", err)
	}
	if err := makeRelease(empty, "1.2", "2026-01-02"); err == nil || !strings.Contains(err.Error(), "such as v1.2.3") {
		t.Errorf("a wrong version: %v", err)
	}
	dir := write(t, map[string]string{"CHANGELOG.md": preface})
	if err := printNotes(&strings.Builder{}, dir, "v9.9.9"); err == nil || !strings.Contains(err.Error(), "no section for v9.9.9") {
		t.Errorf("notes of a release that was not made: %v", err)
	}
}
