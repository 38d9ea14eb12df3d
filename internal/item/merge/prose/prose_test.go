package prose_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/item/merge/prose"
)

func TestMerge(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, base, ours, theirs, want string
		both                           bool
	}{
		{"different lines", "a\nb\nc", "A\nb\nc", "a\nb\nC", "A\nb\nC", false},
		{"the same change", "a\nb", "A\nb", "A\nb", "A\nb", false},
		{"the same line", "a\nb\nc", "a\nB1\nc", "a\nB2\nc", "a\nB1\n\n(another version:)\n\nB2\nc", true},
		{"both append", "a", "a\n\nx", "a\n\ny", "a\n\nx\n\n(another version:)\n\ny", true},
		{"dropped and changed", "a\nb\nc", "a\nc", "a\nB\nc", "a\nB\nc", false},
		{"blank lines", "a\nb", "a\n\nb", "a\nb\nc", "a\n\nb\nc", false},
		{"nothing there before", "", "x", "y", "x\n\n(another version:)\n\ny", true},
		{"emptied and changed", "a", "", "b", "b", false},
	} {
		got, both := prose.Merge(test.base, test.ours, test.theirs)
		if got != test.want || both != test.both {
			t.Errorf("%s: %q, %v", test.name, got, both)
		}
	}
}

func TestMergeUnrelated(t *testing.T) {
	t.Parallel()
	got, both := prose.MergeUnrelated("a\nb\nc", "a\nc\nd")
	if want := "a\nb\nc\nd"; got != want || both {
		t.Errorf("%q, %v; want %q", got, both, want)
	}
}

// version draws a version of base in which every line that is new is unique.
func version(t *rapid.T, base []string, name string) string {
	var lines []string
	for i := 0; i <= len(base); i++ {
		for j := range rapid.IntRange(0, 2).Draw(t, name+" adds") {
			lines = append(lines, name+strconv.Itoa(i)+"."+strconv.Itoa(j))
			if rapid.Bool().Draw(t, "blank") {
				lines = append(lines, "")
			}
		}
		if i < len(base) && rapid.IntRange(0, 3).Draw(t, name+" drops") > 0 {
			lines = append(lines, base[i])
		}
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

func merge(base, ours, theirs string) string {
	merged, _ := prose.Merge(base, ours, theirs)
	return merged
}

func TestMergeProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var lines []string
		for i := range rapid.IntRange(0, 6).Draw(t, "lines") {
			lines = append(lines, "base "+strconv.Itoa(i))
		}
		base := strings.Join(lines, "\n")
		a, b, c := version(t, lines, "a"), version(t, lines, "b"), version(t, lines, "c")
		ab := merge(base, a, b)
		for _, law := range []struct{ name, got, want string }{
			{"commutative", merge(base, b, a), ab},
			{"idempotent", merge(base, a, a), a},
			{"merged twice", merge(base, ab, b), ab},
			{"merged with what came", merge(a, ab, a), ab},
			{"associative", merge(base, a, merge(base, b, c)), merge(base, ab, c)},
		} {
			if diff := cmp.Diff(law.want, law.got); diff != "" {
				t.Errorf("not %s (-want +got):\n%s\nbase %q\na %q\nb %q\nc %q", law.name, diff, base, a, b, c)
			}
		}
		merged := strings.Split(ab, "\n")
		for _, version := range []string{a, b} {
			for line := range strings.SplitSeq(version, "\n") {
				if line != "" && !slices.Contains(lines, line) && !slices.Contains(merged, line) {
					t.Errorf("%q is lost in %q", line, ab)
				}
			}
		}
	})
}
