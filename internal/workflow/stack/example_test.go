package stack_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/workflow/stack"
)

// A surface opens a session and asks where the current branch is in its stack.
func Example() {
	dir, err := os.MkdirTemp("", "stack")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	const commit = "0123456789abcdef0123456789abcdef01234567\n"
	for name, text := range map[string]string{
		".git/HEAD": "ref: refs/heads/tests\n", ".git/config": "[core]\n\trepositoryformatversion = 0\n", ".git/objects/info/none": "",
		".git/refs/heads/main": commit, ".git/refs/heads/login": commit, ".git/refs/heads/tests": commit,
		".twig/state.json": `{
  "version": 1, "updated_at": "2026-01-02T03:04:05Z", "worktrees": [],
  "branches": {"login": {"branch": "login", "jira_issue": "PROJ-12", "github_pr": 34, "created_at": "2026-01-02T03:04:05Z"}},
  "dependencies": [
    {"id": "1", "child": "login", "parent": "main", "created_at": "2026-01-02T03:04:05Z"},
    {"id": "2", "child": "tests", "parent": "login", "created_at": "2026-01-02T03:04:05Z"}
  ],
  "root_branches": [{"id": "3", "branch": "main", "is_default": true, "created_at": "2026-01-02T03:04:05Z"}]
}`,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			panic(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			panic(err)
		}
	}

	branches := stack.New(session.New(session.Options{Dir: dir}), nil)
	ctx := context.Background()
	current, err := branches.Current(ctx)
	if err != nil {
		panic(err)
	}
	entries, err := branches.Stack(ctx, current.Branch)
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		fmt.Printf("%s (issue %q, pull request %d) on %q\n", e.Branch, e.JiraIssue, e.PRNumber, e.ParentBranch)
	}
	_, err = branches.Stack(ctx, "gone")
	fmt.Println(err)
	// Output:
	// tests (issue "", pull request 0) on "login"
	// login (issue "PROJ-12", pull request 34) on "main"
	// main (issue "", pull request 0) on ""
	// Branch 'gone' not found
}
