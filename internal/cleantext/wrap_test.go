package cleantext_test

import (
	"testing"

	"github.com/copse-dev/copse/internal/cleantext"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text                string
		column, hang, width int
		wrapped, filled     string
	}{
		{"one two three", 0, 2, 8, "one two\n  three", "one two\n  three"},
		{"one two three", 4, 4, 8, "one\n    two\n    three", "one\n    two\n    thre\n    e"},
		{"one  two", 0, 2, 0, "one two", "one two"},
		{"", 3, 2, 8, "", ""},
		{"日本 語", 0, 1, 5, "日本\n 語", "日本\n 語"},
		{"see /a/long/path", 0, 2, 6, "see\n  /a/long/path", "see\n  /a/l\n  ong/\n  path"},
	} {
		if got := cleantext.Wrap(test.text, test.column, test.hang, test.width); got != test.wrapped {
			t.Errorf("Wrap(%q, %d, %d, %d) = %q, want %q", test.text, test.column, test.hang, test.width, got, test.wrapped)
		}
		if got := cleantext.Fill(test.text, test.column, test.hang, test.width); got != test.filled {
			t.Errorf("Fill(%q, %d, %d, %d) = %q, want %q", test.text, test.column, test.hang, test.width, got, test.filled)
		}
	}
}
