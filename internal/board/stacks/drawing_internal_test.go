package stacks

import (
	"testing"

	"github.com/copse-dev/copse/internal/workflow/verdict"
)

// The panel offers a command that works where the person is: git cannot check out a branch of
// another worktree.
func TestCheckout(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change     func(*verdict.Branch)
		next, want string
	}{
		"nowhere":        {func(*verdict.Branch) {}, "", "git switch b"},
		"elsewhere":      {func(b *verdict.Branch) { b.Worktree = &verdict.Worktree{Path: "/w"} }, "", "cd /w"},
		"here":           {func(b *verdict.Branch) { b.Worktree = &verdict.Worktree{Path: "/w", Current: true} }, "", ""},
		"missing":        {func(b *verdict.Branch) { b.Missing = true }, "", ""},
		"of a tool":      {func(b *verdict.Branch) { b.Source = "git-spice" }, "", "gs branch checkout b"},
		"the same again": {func(*verdict.Branch) {}, "git switch b", ""},
	} {
		b := verdict.Branch{}
		b.Branch = "b"
		tt.change(&b)
		if got := checkout(b, "main", tt.next); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}
