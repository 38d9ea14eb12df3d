package exchange

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/lockedstore"
)

// A journal that was done, partly or completely, can be done again: the process may be killed at any
// point. Here it exchanges a file and a directory.
func TestDoneTwice(t *testing.T) {
	t.Parallel()
	for name, j := range map[string]journal{
		"a directory becomes a file": {Write: map[string][]byte{"x": nil}, Remove: []string{"x/y/z"}},
		"a file becomes a directory": {Write: map[string][]byte{"x/y/z": nil}, Remove: []string{"x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			before := filepath.Join(dir, filepath.FromSlash(j.Remove[0]))
			if err := os.MkdirAll(filepath.Dir(before), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(os.WriteFile(before, nil, 0o600), os.Mkdir(filepath.Join(dir, layout.Private), 0o755)); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := lockedstore.New(dir, layout.Lock, time.Second).Change(t.Context(), func(tx *lockedstore.Tx) error {
					if err := tx.Write(lockedstore.File{Name: JournalName}); err != nil {
						return err
					}
					return j.do(tx)
				}); err != nil {
					t.Fatal(err)
				}
			}
			for written := range j.Write {
				if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(written))); err != nil || !info.Mode().IsRegular() {
					t.Errorf("%s: %v, %v", written, info, err)
				}
			}
		})
	}
}

// Files that are one on some file systems are refused before anything is written.
func TestDistinguishable(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		names []string
		ok    bool
	}{
		{[]string{"items/1.md", "items/2.md", "config.yml", "trash/1.md", "history/2026-11-23T13:00:00Z.md", "items/á.md", "notes/Read.md", "notes/deep/x"}, true},
		{[]string{"Items/1.md"}, false}, // even alone: it becomes a file of the items
		{[]string{"CONFIG.YML"}, false},
		{[]string{"items/1.md", "items/1.MD"}, false},
		{[]string{"items/1.md", "items/1.md."}, false},
		{[]string{"items/1.md", "items/1.md "}, false},
		{[]string{"trash/1.md", "trash/1.\u200bmd"}, false},
		{[]string{"items/á.md", "items/a\u0301.md"}, false},
		{[]string{"\u212aeep/x", "keep/y"}, false}, // the sign of the unit kelvin
		{[]string{"co\ufb01g.yml", "cofig.yml"}, false},
		{[]string{"stra\u00dfe/x", "strasse/x"}, false},
		{[]string{"notes/x", "Notes/y"}, false},
	} {
		files := Files{}
		for _, name := range tt.names {
			files[name] = ""
		}
		if err := distinguishable(files); (err == nil) != tt.ok {
			t.Errorf("%q: %v", tt.names, err)
		}
	}
}

// A replacement that the check refuses changes nothing.
func TestRefusedByName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, layout.Private), 0o755); err != nil {
		t.Fatal(err)
	}
	err := lockedstore.New(dir, layout.Lock, time.Second).Change(t.Context(), func(tx *lockedstore.Tx) error {
		return Replace(tx, Files{}, Files{"items/1.md": "a", "items/1.MD": "b"}, "note")
	})
	if _, missing := os.Lstat(filepath.Join(dir, layout.Items)); err == nil || missing == nil {
		t.Errorf("got %v, and the directory %v", err, missing)
	}
}

func TestNamesOfEverySystem(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"notes/what?.md", "notes/a<b", "notes/a>b", `notes/"a"`, "notes/a|b", "notes/a*b", "notes/a\x1fb", "notes/a\\b", "notes/a:b",
		"notes/a.", "notes/a ", "aux.md", "notes/CON", "notes/nul .tar.gz", "Prn/x", "com1", "notes/LPT9.md",
	} {
		if IsFile(name) {
			t.Errorf("%q is a file of a store, and Windows has no such file", name)
		}
	}
	for _, name := range []string{"items/1.md", "config.yml", "notes/auxiliary.md", "notes/com.md", "notes/coma", "notes/a b.c d", "notes/ä(1)&%.md", "console/x"} {
		if !IsFile(name) {
			t.Errorf("%q is no file of a store", name)
		}
	}
}
