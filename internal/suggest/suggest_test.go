package suggest_test

import (
	"slices"
	"testing"

	"github.com/copse-dev/copse/internal/suggest"
)

func TestNear(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		word  string
		names []string
		want  []string
	}{
		{"nwe", []string{"add", "new"}, []string{"new"}},                   // two neighbors in the wrong order
		{"lst", []string{"list", "last", "log"}, []string{"list", "last"}}, // a missing letter
		{"stats", []string{"start", "stack"}, nil},                         // two wrong letters of five
		{"contxet", []string{"conflicts", "context"}, []string{"context"}}, // case and order do not matter
		{"Worktree", []string{"worktrees"}, []string{"worktrees"}},         // one letter too few
		{"prio", []string{"parent", "priority"}, []string{"priority"}},     // a beginning
		{"tree", []string{"trees-of-all", "three"}, []string{"three"}},     // a slip before a beginning
		{"dep", []string{"delete", "del", "depends-on"}, []string{"del"}},  // also for a short word
		{"", []string{"a", "list"}, []string{"a"}},                         // of one letter
		{"help", []string{"http", "shell"}, nil},                           // neither is like it
		{"日本", []string{"日本語"}, []string{"日本語"}},                           // counted in characters
	} {
		if got := suggest.Near(test.word, test.names); !slices.Equal(got, test.want) {
			t.Errorf("Near(%q, %q) = %q, want %q", test.word, test.names, got, test.want)
		}
	}
}

func TestFlag(t *testing.T) {
	t.Parallel()
	flags := []string{"description", "help", "json", "labels", "limit", "status", "type"}
	for name, want := range map[string]string{
		"lables": "labels", "desc": "description", // like it
		"body": "description", "output": "json", "state": "status", "o": "json", "l": "labels", "n": "limit", "t": "type", // of other programs
		"http": "", "z": "", "yes": "", "d": "", // none: copse does not suggest --help, and one letter has no slips
	} {
		if got := suggest.Flag(name, flags); got != want {
			t.Errorf("Flag(%q) = %q, want %q", name, got, want)
		}
	}
}
