package page_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/page"
)

var numbers = page.List[int]{Key: strconv.Itoa, Compare: page.Numeric}

func TestCut(t *testing.T) {
	t.Parallel()
	words := page.List[string]{
		Key:    func(s string) string { return s },
		Size:   func(s string) int { return len(s) },
		Budget: 10,
	}
	tests := []struct {
		name  string
		limit int
		in    []string
		want  []string // pages, elements joined with blanks
	}{
		{"empty", 2, nil, []string{""}},
		{"one page", 3, []string{"a", "b", "c"}, []string{"a b c"}},
		{"by limit", 2, []string{"a", "b", "c", "d", "e"}, []string{"a b", "c d", "e"}},
		{"limit divides", 2, []string{"a", "b", "c", "d"}, []string{"a b", "c d"}},
		{"by budget", 9, []string{"aaaa", "bbbb", "cccc"}, []string{"aaaa bbbb", "cccc"}},
		{"one too large", 9, []string{"aaaaaaaaaaaaaaaa", "b", "c"}, []string{"aaaaaaaaaaaaaaaa", "b c"}},
		{"too large behind", 9, []string{"a", "bbbbbbbbbbbbbbbb", "c"}, []string{"a", "bbbbbbbbbbbbbbbb", "c"}},
		{"empty key", 1, []string{"", "a"}, []string{"", "a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			req := page.Request{Limit: &tt.limit}
			for {
				w, err := limits.Open(req, "q")
				if err != nil {
					t.Fatal(err)
				}
				p := words.Cut(w, tt.in)
				if p.Items == nil || p.Total == nil || *p.Total != len(tt.in) {
					t.Fatalf("items %v, total %v", p.Items, p.Total)
				}
				got = append(got, strings.Join(p.Items, " "))
				if req.Cursor = p.Next; p.Next == "" || len(got) > len(tt.in) {
					break
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCutUsesTheDefaultBudget(t *testing.T) {
	t.Parallel()
	list := page.List[int]{Key: strconv.Itoa, Compare: page.Numeric, Size: func(int) int { return 1023 }}
	if got := len(list.Cut(open(t, "q"), make([]int, 50)).Items); got != page.DefaultBudget/1024 {
		t.Errorf("%d elements of 1 KiB on a page, want %d", got, page.DefaultBudget/1024)
	}
}

func TestCutDoesNotShareItsInput(t *testing.T) {
	t.Parallel()
	in := []int{1, 2, 3}
	numbers.Cut(open(t, "q"), in).Items[0] = 9
	if in[0] != 1 {
		t.Error("changing a page changed the list")
	}
}

func TestFit(t *testing.T) {
	t.Parallel()
	size := func(n int) int { return n }
	for _, tt := range []struct {
		items        []int
		budget, want int
	}{
		{nil, 10, 0}, {[]int{9}, 10, 1}, {[]int{10}, 10, 1}, {[]int{4, 4}, 10, 2}, {[]int{4, 5}, 10, 1}, {[]int{1}, 0, 1},
	} {
		if got := page.Fit(tt.items, size, tt.budget); got != tt.want {
			t.Errorf("Fit(%v, %d) = %d, want %d", tt.items, tt.budget, got, tt.want)
		}
	}
}

// TestPagingWhileTheDataChanges pages through a list that others add to and
// remove from between the calls, with another limit each time.
func TestPagingWhileTheDataChanges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := numbers
		list.Size = func(n int) int { return n % 50 }
		list.Budget = rapid.IntRange(0, 300).Draw(t, "budget")
		descending := rapid.Bool().Draw(t, "descending")
		if descending {
			list.Compare = func(a, b string) int { return page.Numeric(b, a) }
		}
		number := rapid.IntRange(0, 120)
		data := map[int]bool{}
		for _, n := range rapid.SliceOf(number).Draw(t, "data") {
			data[n] = true
		}
		stayed := map[int]bool{}
		for n := range data {
			stayed[n] = true
		}
		var seen []int
		req := page.Request{}
		for {
			req.Limit = new(rapid.IntRange(1, 20).Draw(t, "limit"))
			w, err := limits.Open(req, "q")
			if err != nil {
				t.Fatal(err)
			}
			sorted := make([]int, 0, len(data))
			for n := range data {
				sorted = append(sorted, n)
			}
			slices.Sort(sorted)
			if descending {
				slices.Reverse(sorted)
			}
			p := list.Cut(w, sorted)
			if len(p.Items) > *req.Limit || *p.Total != len(data) || p.Next != "" && len(p.Items) == 0 {
				t.Fatalf("page %v, total %d of %d, next %q", p.Items, *p.Total, len(data), p.Next)
			}
			seen = append(seen, p.Items...)
			if p.Next == "" {
				break
			}
			req.Cursor = p.Next
			for _, n := range rapid.SliceOfN(number, 0, 10).Draw(t, "toggled") {
				data[n] = !data[n]
				if !data[n] {
					delete(data, n)
					delete(stayed, n)
				}
			}
		}
		count := map[int]int{}
		for _, n := range seen {
			count[n]++
			if count[n] > 1 {
				t.Fatalf("%d was shown twice: %v", n, seen)
			}
		}
		for n := range stayed {
			if count[n] != 1 {
				t.Fatalf("%d was there all the time and shown %d times: %v", n, count[n], seen)
			}
		}
	})
}

// TestNumeric also holds Numeric to being an order on texts that are not numbers, since a position
// may be anything.
func TestNumeric(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Uint32().Draw(t, "a"), rapid.Uint32().Draw(t, "b")
		got := page.Numeric(strconv.FormatUint(uint64(a), 10), strconv.FormatUint(uint64(b), 10))
		if (got < 0) != (a < b) || (got == 0) != (a == b) {
			t.Fatalf("Numeric(%d, %d) = %d", a, b, got)
		}
		x, y, z := rapid.String().Draw(t, "x"), rapid.String().Draw(t, "y"), rapid.String().Draw(t, "z")
		if page.Numeric(x, y) != -page.Numeric(y, x) || page.Numeric(x, y) <= 0 && page.Numeric(y, z) <= 0 && page.Numeric(x, z) > 0 {
			t.Fatalf("no order: %q, %q, %q", x, y, z)
		}
	})
}

func BenchmarkCut(b *testing.B) {
	elements := make([]int, 10_000)
	for i := range elements {
		elements[i] = i
	}
	first, err := limits.Open(page.Request{}, "q")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		w, err := limits.Open(page.Request{Cursor: first.Cursor("5000")}, "q")
		if err != nil {
			b.Fatal(err)
		}
		numbers.Cut(w, elements)
	}
}
