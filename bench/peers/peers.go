// Package peers compares copse with the servers that a user would choose instead, at the same work
// on the same data, in turns. The report omits a measurement in which a peer fails, and states
// this.
package peers

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/copse-dev/copse/bench/report"
)

// Peer is a server that a user could choose, and how it is asked for the same work.
type Peer struct {
	Name string
	argv []string
	env  []string
	// calls are the peer's ways to do a work, by its name; it does not do the others.
	calls map[string]call
	// tracker is the kind of store that its work items are in; "" for none.
	tracker string
}

// call is a tool and its arguments; a %d in them is another number each time.
type call struct {
	tool, args string
	// row matches each row of a list once, nil for an answer without rows. facts are what a
	// row says.
	row   *regexp.Regexp
	facts []string
}

// cost returns what a text costs a model: bytes, tokens, rows, facts in a row, and bytes
// for each fact.
func (c call) cost(text string) []float64 {
	n := float64(len(text))
	values := []float64{n, n / bytesPerToken, 0, 0, 0}
	if c.row != nil {
		rows, facts := float64(len(c.row.FindAllString(text, -1))), float64(len(c.facts))
		values[2], values[3], values[4] = rows, facts, n/max(rows*facts, 1)
	}
	return values
}

func (c call) with(n int) string {
	if strings.Contains(c.args, "%d") {
		return fmt.Sprintf(c.args, n)
	}
	return c.args
}

// The works that are compared, in the order of the tables. Their names complete "fails to".
const (
	listDir    = "list a directory of 100 files"
	readFile   = "read a file of 4 KB"
	listItems  = "list the open work items"
	searchItem = "search the work items"
	showItem   = "show a work item"
	newItem    = "create a work item"
	getPR      = "get a pull request"

	branchNow    = "get the current branch"
	branchStack  = "get the stack of a branch"
	listBranches = "list ten branches"
)

// Originals are the programs that copse replaces, by the names of their commands, with
// the arguments that make them serve. For climpt and rstn, -original names what starts their
// servers.
var Originals = map[string][]string{"twig-mcp": nil, "tic": {"mcp", "serve"}, "climpt": nil, "rstn": nil}

// Find finds the installed servers; left names the missing ones.
func Find(ctx context.Context, copse, floor string, given map[string]string) (found []Peer, left []string) {
	base, err := filepath.Abs(filepath.Join("bench", "peers", "installed"))
	if err != nil {
		base = ""
	}
	node := filepath.Join(base, "node_modules", "node", "bin", "node")
	id := regexp.MustCompile(`(?m)^    "id":`)
	facts := []string{"id", "title", "type", "status", "priority", "iteration", "assignee", "labels", "parent", "dependsOn", "updated"}
	items := map[string]call{
		listItems:  {tool: "list_items", args: `{"all":true,"status":"todo","limit":20}`, row: id, facts: facts},
		searchItem: {tool: "search_items", args: `{"all":true,"query":"token","limit":20}`, row: id, facts: append(slices.Clone(facts), "snippet")},
		showItem:   {tool: "show_item", args: `{"id":3}`}, newItem: {tool: "create_item", args: `{"title":"new %d","description":"Some text"}`},
	}
	branches := map[string]call{
		branchNow: {tool: "get_current_branch", args: "{}"}, branchStack: {tool: "get_branch_stack", args: "{}"},
		listBranches: {tool: "list_branches", args: "{}"},
	}
	ours := map[string]call{
		listDir:  {tool: "list_directory", args: `{"path":"folder"}`, row: regexp.MustCompile(`"name":`), facts: []string{"name", "type"}},
		readFile: {tool: "read_file", args: `{"path":"four-kilobytes.txt"}`},
		getPR:    {tool: "get_pull_request", args: `{"repository":"acme/shop","pr_number":43}`},
	}
	maps.Copy(ours, items)
	maps.Copy(ours, branches)
	found = []Peer{
		{Name: report.Own, argv: []string{copse, "mcp", "serve"}, calls: ours, tracker: "tic"},
		{Name: report.Floor, argv: []string{floor}},
	}
	add := func(p Peer, needs ...string) {
		for _, path := range needs {
			if _, err := os.Stat(path); err != nil {
				left = append(left, p.Name+" is not installed; bench/peers/install does it")
				return
			}
		}
		found = append(found, p)
	}
	script := filepath.Join(base, "node_modules", "@modelcontextprotocol", "server-filesystem", "dist", "index.js")
	add(Peer{Name: "server-filesystem", argv: []string{node, script, "."}, calls: map[string]call{
		listDir:  {tool: "list_directory", args: `{"path":"folder"}`, row: regexp.MustCompile(`(?m)^\[`), facts: []string{"name", "type"}},
		readFile: {tool: "read_text_file", args: `{"path":"four-kilobytes.txt"}`},
	}}, node, script)
	task := regexp.MustCompile(`(?m)^  TASK-`)
	backlog, err := filepath.Glob(filepath.Join(base, "node_modules", "backlog.md-*", "backlog"))
	if err != nil || len(backlog) == 0 {
		backlog = []string{filepath.Join(base, "none")}
	}
	// Its npm command starts this program, beside a Node that waits for it.
	add(Peer{Name: "backlog.md", argv: []string{backlog[0], "mcp", "start"}, tracker: "backlog", calls: map[string]call{
		listItems:  {tool: "task_list", args: `{"status":"To Do","limit":20}`, row: task, facts: []string{"id", "title", "status"}},
		searchItem: {tool: "task_search", args: `{"query":"token","limit":20}`, row: task, facts: []string{"id", "title", "status"}},
		showItem:   {tool: "task_view", args: `{"id":"task-3"}`}, newItem: {tool: "task_create", args: `{"title":"new %d","description":"Some text"}`},
	}}, backlog[0])
	github := filepath.Join(base, "bin", "github-mcp-server")
	add(Peer{Name: "github-mcp-server", argv: []string{github, "stdio"}, calls: map[string]call{
		getPR: {tool: "pull_request_read", args: `{"method":"get","owner":"acme","repo":"shop","pullNumber":43}`},
	}}, github)
	for _, name := range slices.Sorted(maps.Keys(Originals)) {
		args, path := Originals[name], given[name]
		if path == "" {
			path = onPath(ctx, name)
		}
		if path == "" {
			left = append(left, "the original "+name+" is not on the PATH; -original "+name+"=PROGRAM names it")
			continue
		}
		p := Peer{Name: "original " + name, argv: append([]string{path}, args...)}
		switch name {
		case "twig-mcp":
			p.calls = branches
		case "tic":
			p.calls, p.tracker = originalItems(), "tic"
		}
		found = append(found, p)
	}
	return found, left
}

// originalItems returns the works of the original tic. Its ids are strings, and its lists are
// whole.
func originalItems() map[string]call {
	row := regexp.MustCompile(`(?m)^    "id":`)
	facts := []string{
		"id", "title", "type", "status", "priority", "iteration", "assignee", "labels", "parent", "dependsOn",
		"created", "updated", "description", "comments",
	}
	return map[string]call{
		listItems:  {tool: "list_items", args: `{"all":true,"status":"todo"}`, row: row, facts: facts},
		searchItem: {tool: "search_items", args: `{"all":true,"query":"token"}`, row: row, facts: facts},
		showItem:   {tool: "show_item", args: `{"id":"3"}`}, newItem: {tool: "create_item", args: `{"title":"new %d","description":"Some text"}`},
	}
}

// onPath returns a program of that name that is not ours, "" if there is none.
func onPath(ctx context.Context, name string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	if info, err := buildinfo.ReadFile(path); err == nil && strings.HasPrefix(info.Main.Path, "github.com/copse-dev/") {
		return ""
	}
	// tic is also the compiler of terminal descriptions.
	if out, err := exec.CommandContext(ctx, path, "-V").CombinedOutput(); err == nil && strings.Contains(string(out), "ncurses") {
		return ""
	}
	return path
}

// textOf returns what a model reads of an answer: the text of its result.
func textOf(line []byte) string {
	var r struct {
		Result struct{ Content []struct{ Text string } }
	}
	if json.Unmarshal(line, &r) != nil {
		return ""
	}
	var b strings.Builder
	for _, c := range r.Result.Content {
		b.WriteString(c.Text)
	}
	return b.String()
}
