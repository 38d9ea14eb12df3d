package page_test

import (
	"encoding/base64"
	"errors"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/page"
)

const (
	damaged = "cursor is damaged or not from this program; call again without cursor"
	foreign = "cursor belongs to another query; call again without cursor"
	version = "cursor is from another version of the program; call again without cursor"
)

var limits = page.Limits{Default: 50, Max: 200}

// open returns the window for a query without a cursor.
func open(t *testing.T, query string) page.Window {
	t.Helper()
	w, err := limits.Open(page.Request{}, query)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestOpenLimit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		limit *int
		want  int
		err   string
	}{
		{"left out", nil, 50, ""},
		{"least", new(1), 1, ""},
		{"most", new(200), 200, ""},
		{"zero", new(0), 0, "limit 0 is out of range; use 1 to 200"},
		{"negative", new(-3), 0, "limit -3 is out of range; use 1 to 200"},
		{"too large", new(201), 0, "limit 201 is out of range; use 1 to 200"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w, err := limits.Open(page.Request{Limit: tt.limit}, "q")
			if tt.err != "" {
				if _, ok := errors.AsType[*page.LimitError](err); !ok || err.Error() != tt.err {
					t.Fatalf("got error %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil || w.Limit != tt.want {
				t.Errorf("got limit %d, error %v; want %d", w.Limit, err, tt.want)
			}
		})
	}
}

func TestCursorCarriesAnyPosition(t *testing.T) {
	t.Parallel()
	w := open(t, "q")
	for _, position := range []string{"", "42", "feature/ä b", "page=3&last=17", "\x00\xff\n", strings.Repeat("x", 4000)} {
		next, err := limits.Open(page.Request{Cursor: w.Cursor(position), Limit: new(7)}, "q")
		if err != nil || next.After != position || next.Limit != 7 {
			t.Errorf("position %.20q came back as %.20q, limit %d, error %v", position, next.After, next.Limit, err)
		}
	}
}

func TestOpenRefusesCursor(t *testing.T) {
	t.Parallel()
	good := open(t, "q").Cursor("position")
	raw, err := base64.RawURLEncoding.DecodeString(good)
	if err != nil {
		t.Fatal(err)
	}
	// later is a well-formed cursor of version 2.
	later := append([]byte{2}, raw[1:len(raw)-4]...)
	sum := crc32.ChecksumIEEE(later)
	later = append(later, byte(sum>>24), byte(sum>>16), byte(sum>>8), byte(sum))

	tests := []struct{ name, cursor, want string }{
		{"other query", open(t, "other").Cursor("position"), foreign},
		{"later version", base64.RawURLEncoding.EncodeToString(later), version},
		{"truncated", good[:len(good)-1], damaged},
		{"half", good[:len(good)/2], damaged},
		{"one character", "A", damaged},
		{"one character changed", "B" + good[1:], damaged},
		{"longer", good + "A", damaged},
		{"padded", good + "=", damaged},
		{"line break inside", good[:4] + "\n" + good[4:], damaged},
		{"blanks around", " " + good, damaged},
		{"a service's own token", "Y3Vyc29yOnYyOpHOUH8B7g==", damaged},
		{"a number", "2", damaged},
		{"oversized", strings.Repeat("A", 1<<20), damaged},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := limits.Open(page.Request{Cursor: tt.cursor}, "q")
			if _, ok := errors.AsType[*page.CursorError](err); !ok || err.Error() != tt.want {
				t.Errorf("got error %v, want %s", err, tt.want)
			}
		})
	}
}

// The form of a cursor may only change together with its version: people and
// models keep cursors while a program is updated.
func TestCursorForm(t *testing.T) {
	t.Parallel()
	if got, want := open(t, "list_items").Cursor("42"), "AcVZyTKKdjQyORqhig"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzCursor(f *testing.F) {
	w, err := limits.Open(page.Request{}, "q")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(w.Cursor("42"), "42", "other")
	f.Add("", "", "q")
	f.Fuzz(func(t *testing.T, cursor, position, query string) {
		got, err := limits.Open(page.Request{Cursor: cursor}, "q")
		if _, ok := errors.AsType[*page.CursorError](err); err != nil && !ok {
			t.Fatalf("error %v is no CursorError", err)
		}
		if err == nil && cursor != "" && got.Cursor(got.After) != cursor {
			t.Fatalf("%q was accepted, but is not the cursor of %q", cursor, got.After)
		}
		if len(position) > 10_000 {
			t.Skip()
		}
		next := w.Cursor(position)
		if again, err := limits.Open(page.Request{Cursor: next}, "q"); err != nil || again.After != position {
			t.Fatalf("position %q came back as %q, error %v", position, again.After, err)
		}
		if _, err := limits.Open(page.Request{Cursor: next}, query); (err == nil) != (query == "q") {
			t.Fatalf("query %q with the cursor of q: error %v", query, err)
		}
	})
}

func TestWords(t *testing.T) {
	t.Parallel()
	three := []int{1, 2, 3}
	tests := []struct {
		name    string
		page    page.Page[int]
		showing string
	}{
		{"cut", page.Page[int]{Items: three, Total: new(312), Next: "abc"}, "3 of 312"},
		{"whole", page.Page[int]{Items: three, Total: new(3)}, "3 of 3"},
		{"unknown total", page.Page[int]{Items: three, Next: "abc"}, "3, more with cursor"},
		{"unknown total, last", page.Page[int]{Items: three}, "3"},
		{"empty", page.Page[int]{Total: new(0)}, "0 of 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.page.Showing(); got != tt.showing {
				t.Errorf("got %q, want %q", got, tt.showing)
			}
		})
	}
}
