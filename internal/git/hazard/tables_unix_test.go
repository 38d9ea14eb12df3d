//go:build unix

package hazard_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/copse-dev/copse/internal/git/hazard"
	"github.com/copse-dev/copse/internal/regular"
)

// Git waits some seconds for a table of refs that is a named pipe.
func TestTables(t *testing.T) {
	t.Parallel()
	main := t.TempDir()
	linked := filepath.Join(main, "worktrees", "linked")
	for _, dir := range []string{main, linked} {
		tables := filepath.Join(dir, "reftable")
		err := errors.Join(os.MkdirAll(tables, 0o700), os.WriteFile(filepath.Join(tables, "tables.list"), []byte("a.ref\nb.ref\n"), 0o600),
			os.WriteFile(filepath.Join(tables, "a.ref"), []byte("REFT"), 0o600))
		if err != nil {
			t.Fatal(err)
		}
	}
	check := func(dir string) error { return new(hazard.Checker).Check(hazard.Layout{GitDir: dir, CommonDir: main}) }
	if err := check(linked); err != nil {
		t.Fatalf("a table that does not exist is the matter of git: %v", err)
	}
	pipe := filepath.Join(linked, "reftable", "b.ref")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for what, dir := range map[string]string{"another worktree": main, "the worktree": linked} { // git lists the HEAD of each
		if _, ok := errors.AsType[*regular.NotRegularError](check(dir)); !ok {
			t.Errorf("the table of %s is a named pipe: %v", what, check(dir))
		}
	}
	if err := os.Rename(pipe, filepath.Join(main, "reftable", "b.ref")); err != nil {
		t.Fatal(err)
	}
	if _, ok := errors.AsType[*regular.NotRegularError](check(main)); !ok {
		t.Errorf("the table is a named pipe: %v", check(main))
	}
}

// A table in another directory is one of another repository.
func TestTablesElsewhere(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"../../other/.git/reftable/a.ref", "sub/a.ref", "/other/a.ref", "#a.ref", "..", "a.ref\r", "a.ref\x00b"} {
		dir := t.TempDir()
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, "reftable"), 0o700), os.WriteFile(filepath.Join(dir, "reftable", "tables.list"), []byte("a.ref\n"+name+"\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
		if err := new(hazard.Checker).Check(hazard.Layout{GitDir: dir, CommonDir: dir}); err == nil || !strings.Contains(err.Error(), strconv.Quote(name)) {
			t.Errorf("%q is accepted: %v", name, err)
		}
		// What git writes.
		if err := os.WriteFile(filepath.Join(dir, "reftable", "tables.list"), []byte("0x000000000001-0x00000000002a-1f2e3d4c.ref\n000000000001-000000000002-9b.log\n\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := new(hazard.Checker).Check(hazard.Layout{GitDir: dir, CommonDir: dir}); err != nil {
			t.Error(err)
		}
	}
}
