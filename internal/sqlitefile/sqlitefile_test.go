package sqlitefile_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/sqlitefile"
)

// example returns a database that SQLite wrote: 512-byte pages, so that its table has several
// levels, with a row that overflows and a column that was added later.
func example(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/branches.db")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

var columns = []string{"branch_name", "parent_branch_name", "parent_branch_revision", "validation_result", "none"}

func TestTable(t *testing.T) {
	t.Parallel()
	// The table does not have the last column.
	rows, err := sqlitefile.Table(example(t), "branch_metadata", columns...)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, row := range rows {
		got[row[0]] = row
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
		want := []string{name, parent, fmt.Sprintf("%040x", i+1), "VALID", ""}
		if diff := cmp.Diff(want, got[name]); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	long := got["long/"+strings.Repeat("x", 200)]
	if long[2] != strings.Repeat("z", 2000) || got["main"][3] != "TRUNK" || got["main"][1] != "" {
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

// A file can say that all rows of a page are one and the same, whose content goes round and
// round through a single page. The file would then take much more memory than its size.
func TestRowsShareNothing(t *testing.T) {
	t.Parallel()
	const page = 1 << 16
	data := slices.Concat(first(page, "CREATE TABLE t (a text)"), sameRows(page, 70_000), bytes.Repeat([]byte{0, 0, 0, 3}, page/4))
	if rows, err := sqlitefile.Table(data, "t", "a"); err == nil {
		t.Errorf("%d rows are read", len(rows))
	}
}

// Each row of a table with many columns costs no more than its stored part.
func TestManyColumns(t *testing.T) {
	t.Parallel()
	const page = 1 << 16
	columns := strings.TrimSuffix(strings.Repeat("c,", 20_000), ",")
	data := slices.Concat(first(page, "CREATE TABLE t ("+columns+")"), sameRows(page, 1))
	if rows, err := sqlitefile.Table(data, "t", "a"); err == nil {
		t.Errorf("%d rows are read", len(rows))
	}
}

// first returns the first page of a database with one table, whose tree is page 2.
func first(size int, sql string) []byte {
	page := make([]byte, size)
	copy(page, "SQLite format 3\x00")
	binary.BigEndian.PutUint16(page[16:], uint16(size%(1<<16-1))) // 1 stands for 65536
	binary.BigEndian.PutUint32(page[56:], 1)
	row := []byte{0, 23, 15, 15, 1}
	row = append(row, varint(13+2*len(sql))...)
	row[0] = byte(len(row))
	row = append(append(append(row, "table"...), "tt"...), 2)
	return leaf(page, 100, 1, append(row, sql...))
}

// sameRows returns a leaf all of whose rows are one text, which continues on page 3.
func sameRows(size, length int) []byte {
	head := varint(13 + 2*length)
	row := append(append([]byte{byte(1 + len(head))}, head...), make([]byte, length)...)
	return leaf(make([]byte, size), 0, 2000, row)
}

// leaf puts a row into a leaf as often as n says.
func leaf(page []byte, at, n int, row []byte) []byte {
	local, usable := len(row), len(page)
	if most := usable - 35; local > most {
		least := (usable-12)*32/255 - 23
		if local = least + (len(row)-least)%(usable-4); local > most {
			local = least
		}
	}
	cell := append(append(varint(len(row)), 1), row[:local]...)
	cell = binary.BigEndian.AppendUint32(cell, 3)
	start := usable - len(cell)
	copy(page[start:], cell)
	page[at] = 13
	binary.BigEndian.PutUint16(page[at+3:], uint16(n))
	for i := range n {
		binary.BigEndian.PutUint16(page[at+8+2*i:], uint16(start))
	}
	return page
}

func varint(n int) []byte {
	out := []byte{byte(n & 0x7f)}
	for n >>= 7; n > 0; n >>= 7 {
		out = append([]byte{byte(n&0x7f | 0x80)}, out...)
	}
	return out
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
		rows, err := sqlitefile.Table(data, "branch_metadata", columns...)
		size := 0
		for _, row := range rows {
			size += len(strings.Join(row, ""))
		}
		if err == nil && (len(rows) > len(data) || size > len(data)) {
			t.Errorf("%d rows with %d bytes in %d bytes", len(rows), size, len(data))
		}
	})
}
