package gitignore_test

import (
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/gitignore"
)

// Each kind of costly pattern uses up the effort, and nothing is ignored from then on.
func TestEffort(t *testing.T) {
	t.Parallel()
	name := strings.Repeat("a", 200)
	for _, hostile := range []string{
		strings.Repeat("?b\n", 1000),
		strings.Repeat("*b\n", 1000),
		strings.Repeat("/x\n", 1000),
		strings.Repeat("*a", 60) + "b",
		strings.Repeat("["+strings.Repeat("b", 3000)+"]\n", 20),
		strings.Repeat("A\n", 1000),
	} {
		effort := gitignore.NewEffort(10_000, 100_000)
		rules := gitignore.New(false).Within(effort).With(gitignore.Parse([]byte(hostile + "\nz")))
		if !rules.Ignored("z", false) || effort.Spent() {
			t.Errorf("%.20q: the first name is spent", hostile)
		}
		for range 20 {
			rules.Ignored(name, false)
			rules.Ignored("a", false)
		}
		if !effort.Spent() || rules.Ignored("z", false) {
			t.Errorf("%.20q: spent is %t", hostile, effort.Spent())
		}
	}
}

func TestEffortOfFiles(t *testing.T) {
	t.Parallel()
	effort := gitignore.NewEffort(1000, 3)
	patterns := gitignore.Parse([]byte("a\nb\n"))
	rules := gitignore.New(false).Within(effort).With(patterns)
	if !rules.Ignored("a", false) || effort.Spent() {
		t.Error("two of three patterns do not count")
	}
	if rules = rules.Below("d").With(patterns); !effort.Spent() || rules.Ignored("a", false) {
		t.Error("four of three patterns count")
	}
}

func TestMaxPatterns(t *testing.T) {
	t.Parallel()
	for n, cut := range map[int]bool{gitignore.MaxPatterns: false, gitignore.MaxPatterns + 1: true} {
		if p := gitignore.Parse([]byte(strings.Repeat("a\n", n))); p.Cut() != cut || p.Len() != gitignore.MaxPatterns {
			t.Errorf("%d patterns: %d count, cut %t", n, p.Len(), p.Cut())
		}
	}
}
