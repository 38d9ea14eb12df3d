package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

const when = "2026-01-02T03:04:05Z"

// repository makes a git repository with n branches besides main, all of them
// loose refs, and a state file that links each to an issue and a pull request.
// Ten branches make a stack, so that there are depth and width.
func repository(ctx context.Context, dir string, n int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := git(ctx, dir, "", "init", "-q", "-b", "main"); err != nil {
		return err
	}
	if err := git(ctx, dir, "", "commit", "-q", "--allow-empty", "-m", "start"); err != nil {
		return err
	}
	var refs bytes.Buffer
	for i := range n {
		fmt.Fprintf(&refs, "create refs/heads/%s HEAD\n", branch(i))
	}
	if err := git(ctx, dir, refs.String(), "update-ref", "--stdin"); err != nil {
		return err
	}
	if n > 0 {
		if err := git(ctx, dir, "", "symbolic-ref", "HEAD", "refs/heads/"+branch(min(n-1, 9))); err != nil {
			return err
		}
	}
	return writeState(dir, n)
}

func branch(i int) string { return fmt.Sprintf("feature/team-%02d/change-%05d", i/10%40, i) }

func writeState(dir string, n int) error {
	type object map[string]any
	branches := object{}
	deps := []object{}
	for i := range n {
		name, parent := branch(i), "main"
		if i%10 != 0 {
			parent = branch(i - 1)
		}
		branches[name] = object{"branch": name, "jira_issue": fmt.Sprintf("PROJ-%d", i+1), "github_pr": i + 1, "created_at": when}
		deps = append(deps, object{
			"id": fmt.Sprintf("00000000-0000-4000-8000-%012d", i), "child": name, "parent": parent, "created_at": when,
		})
	}
	data, err := json.MarshalIndent(object{
		"version": 1, "updated_at": when, "worktrees": []object{}, "branches": branches, "dependencies": deps,
		"root_branches": []object{{"id": "10000000-0000-4000-8000-000000000000", "branch": "main", "is_default": true, "created_at": when}},
	}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, ".twig"), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, ".twig", "state.json"), data, 0o644)
}
