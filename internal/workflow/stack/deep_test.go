package stack_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/workflow/stack"
)

// A state can declare a stack of thousands of branches, or several of them. The text of a tree grows
// with the square of its depth, so all trees together have a limit.
func TestDeepTrees(t *testing.T) {
	t.Parallel()
	const depth, roots, limit = 4000, 5, 6 << 20
	var dependencies, declared []string
	for root := range roots {
		declared = append(declared, fmt.Sprintf(`{"id": "r%d", "branch": "c%d-0", "is_default": %t, "created_at": "2026-01-02T03:04:05Z"}`, root, root, root == 0))
		for i := range depth {
			dependencies = append(dependencies, fmt.Sprintf(`{"id": "%d-%d", "child": "c%d-%d", "parent": "c%d-%d", "created_at": "2026-01-02T03:04:05Z"}`, root, i, root, i+1, root, i))
		}
	}
	dir := t.TempDir()
	files := map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n\trepositoryformatversion = 0\n", ".git/objects/info/none": "",
		".git/refs/heads/main": "0123456789abcdef0123456789abcdef01234567\n",
		".twig/state.json": `{"version": 1, "updated_at": "2026-01-02T03:04:05Z", "worktrees": [], "branches": {}, "root_branches": [` +
			strings.Join(declared, ",") + `], "dependencies": [` + strings.Join(dependencies, ",") + `]}`,
	}
	for root := range roots {
		files[fmt.Sprintf(".git/refs/heads/c%d-0", root)] = files[".git/refs/heads/main"]
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	trees, err := stack.New(session.New(session.Options{Dir: dir}), nil).Trees(t.Context(), "")
	if err != nil || len(trees) != roots {
		t.Fatalf("%d trees, %v", len(trees), err)
	}
	size := 0
	for _, tree := range trees {
		text := tree.MarkedText()
		size += len(text)
		if !strings.Contains(text, "… ") {
			t.Errorf("the tree of %s does not say that branches are missing", tree.Branch)
		}
	}
	if size > limit {
		t.Errorf("the trees take %d bytes, more than %d", size, limit)
	}
}
