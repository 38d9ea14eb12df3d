package gather_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/branch/source/records"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/workflow/stack"
	"github.com/copse-dev/copse/internal/workflow/verdict/gather"
)

// All shows each branch once, the stack of the selected branch first, and continues where a page
// ended.
func TestAll(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	g.Run(dir, "commit", "-q", "--allow-empty", "-m", "start")
	const id, at = `"id": "6ba7b810-9dad-11d1-80b4-00c04fd430c8", `, `"created_at": "2026-01-02T03:04:05Z"`
	state := `{"version": 1, "repo_path": "/r", "created_at": "2026-01-02T03:04:05Z", "updated_at": "2026-01-02T03:04:05Z", "branches": {}, "worktrees": [],
		"root_branches": [{` + id + `"branch": "main", "is_default": true, ` + at + `}], "dependencies": [`
	for i := range 30 {
		g.Run(dir, "branch", fmt.Sprintf("a%02d", i))
		g.Run(dir, "branch", fmt.Sprintf("b%02d", i))
		if i > 0 {
			state += ","
		}
		state += fmt.Sprintf(`{%s"parent": "main", "child": "a%02d", %s}, {%s"parent": "a%02d", "child": "b%02d", %s}`, id, i, at, id, i, i, at)
	}
	g.Run(dir, "branch", "loose")
	gittest.Write(t, dir+"/.twig/state.json", state+`]}`)
	s := session.New(session.Options{Dir: dir, Git: git.Options{Env: g.Env}})
	v := gather.New(gather.Options{
		Branches: stack.New(s, records.New(records.Options{})), Now: time.Now,
	})
	var names []string
	pages := 0
	for from := 0; pages == 0 || from > 0; pages++ {
		all, err := v.All(t.Context(), gather.Selection{Branch: "b17", From: from, Limit: 20}, gather.Cached)
		if err != nil {
			t.Fatal(err)
		}
		if all.Branches != 61 || all.Total != 31 {
			t.Fatalf("%d branches in %d stacks", all.Branches, all.Total)
		}
		for _, s := range all.Stacks {
			for _, b := range s.Branches {
				names = append(names, b.Branch)
			}
		}
		for _, b := range all.Loose {
			names = append(names, b.Branch)
		}
		from = all.Next
	}
	if pages != 4 || len(names) != 61 || !strings.HasPrefix(strings.Join(names, " "), "a17 b17 a00 b00 a01") || names[60] != "loose" {
		t.Errorf("%d pages: %v", pages, names)
	}
	seen := map[string]bool{}
	for _, n := range names {
		if seen[n] {
			t.Errorf("%s is shown twice", n)
		}
		seen[n] = true
	}
}
