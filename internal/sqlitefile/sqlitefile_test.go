package sqlitefile_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/sqlitefile"
)

// example is a database that SQLite wrote: 512-byte pages, so that its table has several
// levels, with a row that overflows and a column that was added later.
func example(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/branches.db")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestTable(t *testing.T) {
	t.Parallel()
	rows, err := sqlitefile.Table(example(t), "branch_metadata")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]map[string]string{}
	for _, row := range rows {
		got[row["branch_name"]] = row
	}
	if len(rows) != 62 || len(got) != 62 {
		t.Fatalf("got %d rows", len(rows))
	}
	for i := range 60 {
		parent := "main"
		if i > 0 {
			parent = fmt.Sprintf("feat/%02d", i-1)
		}
		name := fmt.Sprintf("feat/%02d", i)
		want := map[string]string{
			"branch_name": name, "parent_branch_name": parent, "parent_branch_revision": fmt.Sprintf("%040x", i+1), "validation_result": "VALID",
		}
		if diff := cmp.Diff(want, got[name]); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	long := got["long/"+strings.Repeat("x", 200)]
	if long["parent_branch_revision"] != strings.Repeat("z", 2000) || got["main"]["validation_result"] != "TRUNK" || got["main"]["parent_branch_name"] != "" {
		t.Errorf("got %v and %v", long, got["main"])
	}
}

func TestNoTable(t *testing.T) {
	t.Parallel()
	if _, err := sqlitefile.Table(example(t), "none"); !errors.Is(err, sqlitefile.ErrNoTable) {
		t.Errorf("got error %v", err)
	}
	for _, data := range []string{"", "SQLite format 3\x00", strings.Repeat("x", 5000)} {
		if _, err := sqlitefile.Table([]byte(data), "x"); err == nil {
			t.Errorf("%.20q is read", data)
		}
	}
}

// A damaged file never panics, and never takes more than its size allows.
func FuzzTable(f *testing.F) {
	data := example(f)
	f.Add(data, 0, byte(0))
	f.Add(data, 108, byte(5))
	f.Add(data, 512, byte(13))
	f.Add(data[:600], 20, byte(255))
	f.Fuzz(func(t *testing.T, data []byte, at int, with byte) {
		if at >= 0 && at < len(data) {
			data = append([]byte(nil), data...)
			data[at] = with
		}
		rows, err := sqlitefile.Table(data, "branch_metadata")
		if err == nil && len(rows) > len(data) {
			t.Errorf("%d rows in %d bytes", len(rows), len(data))
		}
	})
}
