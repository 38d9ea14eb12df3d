package copse_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/copse-dev/copse/internal/github/githubtest"
)

// generate is the command that writes files that are too long for an archive:
//
//	generate branches N REPOSITORY   N branches team/0000… at main, where
//	                                 every tenth is stacked on the one ten before
//	generate pulls N FIXTURE         a GitHub with N pull requests that have long
//	                                 titles, reviews and checks
//	generate items N DIRECTORY       a store of N work items, each ten below the one
//	                                 of a tenth of their number
//	generate files N DIRECTORY       N files in directories of thirty
//	generate bytes N FILE            a client's configuration in JSON with N bytes
//	generate servers N FILE          one with N servers
//	generate prompt N FILE           N quotes at the end of a template
func generate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: generate branches|pulls|items|files|bytes|servers|prompt n path")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	switch args[0] {
	case "branches":
		generateBranches(ts, n, ts.MkAbs(args[2]))
	case "pulls":
		data, err := json.Marshal(githubtest.Fixture{
			Token: "s3cret", Repositories: []githubtest.Repository{{Name: "acme/app", PullRequests: pulls(n)}},
		})
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(args[2]), data, 0o600))
	case "items":
		generateItems(ts, n, ts.MkAbs(args[2]))
	case "files":
		for i := range n {
			path := filepath.Join(ts.MkAbs(args[2]), fmt.Sprintf("folder%03d", i/30), fmt.Sprintf("file%04d.txt", i))
			ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
			ts.Check(os.WriteFile(path, nil, 0o600))
		}
	case "bytes":
		const frame = `{"other": "", "mcpServers": {"mine": {"command": "mine"}}}` + "\n"
		text := strings.Replace(frame, `""`, `"`+strings.Repeat("x", n-len(frame))+`"`, 1)
		ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(text), 0o600))
	case "servers":
		servers := map[string]any{}
		for i := range n {
			servers[fmt.Sprintf("s%d", i)] = map[string]any{"command": "mine"}
		}
		data, err := json.Marshal(map[string]any{"mcpServers": servers})
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(args[2]), data, 0o600))
	case "prompt":
		text := ts.ReadFile(args[2]) + strings.Repeat(`"`, n) + "\n"
		ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(text), 0o600))
	default:
		ts.Fatalf("generate what? %s", args[0])
	}
}

func generateBranches(ts *testscript.TestScript, n int, dir string) {
	head := strings.TrimSpace(ts.ReadFile(filepath.Join(dir, ".git", "refs", "heads", "main")))
	type object map[string]any
	const when = "2026-11-20T23:28:36Z"
	var refs strings.Builder
	branches, dependencies := object{}, []object{}
	name := func(i int) string { return fmt.Sprintf("team/%04d", i) }
	for i := range n {
		fmt.Fprintf(&refs, "%s refs/heads/%s\n", head, name(i))
		branches[name(i)] = object{"branch": name(i), "jira_issue": fmt.Sprintf("PROJ-%d", i), "created_at": when}
		if i >= 10 && i%10 == 0 {
			dependencies = append(dependencies, object{"id": fmt.Sprint(i), "child": name(i), "parent": name(i - 10), "created_at": when})
		}
	}
	state, err := json.Marshal(object{
		"version": 1, "updated_at": when, "worktrees": []object{}, "branches": branches, "dependencies": dependencies,
		"root_branches": []object{{"id": "r", "branch": "main", "is_default": true, "created_at": when}},
	})
	ts.Check(err)
	ts.Check(os.WriteFile(filepath.Join(dir, ".git", "packed-refs"), []byte(refs.String()), 0o600))
	ts.Check(os.MkdirAll(filepath.Join(dir, ".twig"), 0o755))
	ts.Check(os.WriteFile(filepath.Join(dir, ".twig", "state.json"), state, 0o600))
}

func pulls(n int) []githubtest.PullRequest {
	var all []githubtest.PullRequest
	for i := 1; i <= n; i++ {
		p := githubtest.PullRequest{Number: i, Title: strings.Repeat(fmt.Sprintf("long %d ", i), 25), Author: "ada", MergeableState: "unstable"}
		for c := range 200 {
			conclusion := "success"
			if c%2 == 0 {
				conclusion = "failure"
			}
			p.CheckRuns = append(p.CheckRuns, githubtest.CheckRun{Name: fmt.Sprintf("check number %d", c), Conclusion: conclusion})
			p.Reviews = append(p.Reviews, githubtest.Review{Author: fmt.Sprintf("reviewer%d", c), State: "COMMENTED"})
		}
		all = append(all, p)
	}
	return all
}

func generateItems(ts *testscript.TestScript, n int, dir string) {
	items := filepath.Join(dir, ".tic", "items")
	ts.Check(os.MkdirAll(items, 0o755))
	config := fmt.Sprintf("types:\n  - task\nstatuses:\n  - todo\n  - done\ncurrent_iteration: default\niterations:\n  - default\nnext_id: %d\n", n+1)
	ts.Check(os.WriteFile(filepath.Join(dir, ".tic", "config.yml"), []byte(config), 0o600))
	for id := 1; id <= n; id++ {
		parent := ""
		if id >= 10 {
			parent = fmt.Sprintf("parent: \"%d\"\n", id/10)
		}
		text := fmt.Sprintf("---\nid: \"%d\"\ntitle: Item number %d\ntype: task\nstatus: todo\niteration: default\npriority: low\nassignee: \"\"\nlabels: []\n"+
			"created: 2026-01-02T03:04:05.000Z\nupdated: 2026-01-02T03:04:05.000Z\n%s---\nSome text.\n", id, id, parent)
		ts.Check(os.WriteFile(filepath.Join(items, fmt.Sprintf("%d.md", id)), []byte(text), 0o600))
	}
}
