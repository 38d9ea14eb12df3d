package stacks

import (
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/board/markup"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/workflow/verdict"
)

// The rows of a stack have keys of their own, whatever its branches are called: two elements with
// one ID break the updates of a page.
func TestKeysOfRows(t *testing.T) {
	t.Parallel()
	kit := markup.NewKit(markup.Options{Now: time.Now})
	d := drawing{Renderer: markup.Renderer{Kit: kit, Templates: kit.Parse(files, "stacks.tmpl")}, now: time.Now()}
	s := verdict.Status{Trunk: "main"}
	for _, name := range []string{"trunk", "main", "head"} {
		b := verdict.Branch{}
		b.Branch = name
		s.Branches = append(s.Branches, b)
	}
	keys := map[string]bool{}
	for _, row := range d.stack(s).Rows {
		if keys[row.Key] {
			t.Errorf("two rows have the key %q", row.Key)
		}
		keys[row.Key] = true
	}
	if len(keys) != len(s.Branches)+1 || d.Err != nil {
		t.Error(keys, d.Err)
	}
}

// The title of a stack has blanks for hyphens, so a secret must be removed before.
func TestSecretInTitle(t *testing.T) {
	t.Parallel()
	secrets := secret.New(nil)
	secrets.Add("ghp_so-secret")
	kit := markup.NewKit(markup.Options{Now: time.Now, Secrets: secrets})
	d := drawing{Renderer: markup.Renderer{Kit: kit, Templates: kit.Parse(files, "stacks.tmpl")}, now: time.Now()}
	b := verdict.Branch{}
	b.Branch = "feature/br<-ghp_so-secret"
	s := d.stack(verdict.Status{Trunk: "main", Branches: []verdict.Branch{b}})
	if got := s.Label + string(s.Head); strings.Contains(got, "secret") || !strings.Contains(got, "Br< [redacted]") {
		t.Error(got)
	}
}

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
