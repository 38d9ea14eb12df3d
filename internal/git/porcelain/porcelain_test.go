package porcelain_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/git/porcelain"
)

const status = "# branch.oid 1\x00# branch.ab +1 -2\x00" +
	"1 .M N... 100644 100644 100755 a a edited\x00" +
	"1 D. N... 100644 000000 000000 a 0 deleted\x00" +
	"1 .M SC.. 160000 160000 160000 a b module\x00" +
	"2 R. N... 100644 100644 100644 a a R100 new name\x00old name\x00" +
	"2 C. N... 100644 100644 100644 a a C75 copy\x00edited\x00" +
	"u UU N... 1 2 3 4 a b c both\x00? new file\x00? repository/\x00"

func TestParse(t *testing.T) {
	t.Parallel()
	counts, err := porcelain.ParseStatus([]byte(status))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(porcelain.Status{Ahead: 1, Behind: 2, Staged: 3, Modified: 2, Untracked: 2, Conflicted: 1}, counts); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	edits, err := porcelain.ParseEdits([]byte(status))
	if err != nil {
		t.Fatal(err)
	}
	want := porcelain.Edits{Changed: 5, Conflicted: 1, InConflict: "both", Repositories: []string{"repository/"}, Files: []porcelain.Edit{
		{Path: "deleted"}, {Path: "old name"}, {Path: "edited", Mode: porcelain.ModeExecutable},
		{Path: "module", Mode: porcelain.ModeSubmodule, Commit: "b"}, {Path: "new name", Mode: porcelain.ModeFile},
		{Path: "copy", Mode: porcelain.ModeFile}, {Path: "new file", Untracked: true},
	}}
	if diff := cmp.Diff(want, edits); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(status)
	f.Add("# branch.oid (initial)\x00# branch.ab +1 -2\x001 M. N... a\x002 R. N... b\x00c\x00u UU d\x00? e\x00")
	f.Add("1 \x002 R.")
	f.Add("1\t2\tfile\x00")
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := porcelain.ParseStatus([]byte(text)); err == nil && s.Staged+s.Modified+s.Untracked+s.Conflicted > 2*len(text) {
			t.Errorf("status %+v of %q counts too much", s, text)
		}
		if changes, err := porcelain.ParseChanges([]byte(text)); err == nil && len(changes) > len(text) {
			t.Errorf("%d changes in %q", len(changes), text)
		}
		if edits, err := porcelain.ParseEdits([]byte(text)); err == nil && len(edits.Files)+edits.Conflicted+len(edits.Repositories) > len(text) {
			t.Errorf("edits %+v of %q are too many", edits, text)
		}
		_ = porcelain.ParseNumstat([]byte(text))
	})
}
