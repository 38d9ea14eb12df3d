package main

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// peer is a server that a user could choose, and how it is asked for the same work.
type peer struct {
	Name string
	argv []string
	env  []string
	// calls are the peer's ways to do a work, by its name; it does not do the others.
	calls map[string]call
	// tracker is the kind of store that its work items are in; "" for none.
	tracker string
}

// call is a tool and its arguments; a %d in them is another number each time.
type call struct{ tool, args string }

func (c call) with(n int) string {
	if strings.Contains(c.args, "%d") {
		return fmt.Sprintf(c.args, n)
	}
	return c.args
}

// The works that are compared, in the order of the tables.
const (
	listFolder = "list a folder of 100 files"
	readFile   = "read a file of 4 KB"
	listItems  = "list the open work items"
	searchItem = "search the work items"
	showItem   = "show a work item"
	newItem    = "create a work item"
	getPR      = "get a pull request"
)

// originals are the programs that copse stands in for, by the names of their commands, with
// the arguments that make them serve. climpt and rstn are named with what starts their
// servers.
var originals = map[string][]string{"twig-mcp": nil, "tic": {"mcp", "serve"}, "climpt": nil, "rstn": nil}

// peers finds the servers that are installed; what is missing is said in left.
func peers(ctx context.Context, copse, floor string, given map[string]string) (found []peer, left []string) {
	base, err := filepath.Abs(filepath.Join("bench", "peers", "installed"))
	if err != nil {
		base = ""
	}
	node := filepath.Join(base, "node_modules", "node", "bin", "node")
	items := map[string]call{
		listItems: {"list_items", `{"all":true,"status":"todo","limit":20}`}, searchItem: {"search_items", `{"all":true,"query":"token","limit":20}`},
		showItem: {"show_item", `{"id":3}`}, newItem: {"create_item", `{"title":"new %d","description":"Some text"}`},
	}
	ours := map[string]call{
		listFolder: {"list_directory", `{"path":"folder"}`}, readFile: {"read_file", `{"path":"four-kilobytes.txt"}`},
		getPR: {"get_pull_request", `{"repository":"acme/shop","pr_number":43}`},
	}
	maps.Copy(ours, items)
	found = []peer{
		{Name: "copse", argv: []string{copse, "mcp", "serve"}, calls: ours, tracker: "tic"},
		{Name: "one-tool server", argv: []string{floor}},
	}
	add := func(p peer, needs ...string) {
		for _, path := range needs {
			if _, err := os.Stat(path); err != nil {
				left = append(left, p.Name+" is not installed; bench/peers/install does it")
				return
			}
		}
		found = append(found, p)
	}
	script := filepath.Join(base, "node_modules", "@modelcontextprotocol", "server-filesystem", "dist", "index.js")
	add(peer{Name: "server-filesystem", argv: []string{node, script, "."}, calls: map[string]call{
		listFolder: {"list_directory", `{"path":"folder"}`}, readFile: {"read_text_file", `{"path":"four-kilobytes.txt"}`},
	}}, node, script)
	backlog, err := filepath.Glob(filepath.Join(base, "node_modules", "backlog.md-*", "backlog"))
	if err != nil || len(backlog) == 0 {
		backlog = []string{filepath.Join(base, "none")}
	}
	// Its npm command starts this program, beside a Node that waits for it.
	add(peer{Name: "backlog.md", argv: []string{backlog[0], "mcp", "start"}, tracker: "backlog", calls: map[string]call{
		listItems: {"task_list", `{"status":"To Do","limit":20}`}, searchItem: {"task_search", `{"query":"token","limit":20}`},
		showItem: {"task_view", `{"id":"task-3"}`}, newItem: {"task_create", `{"title":"new %d","description":"Some text"}`},
	}}, backlog[0])
	github := filepath.Join(base, "bin", "github-mcp-server")
	add(peer{Name: "github-mcp-server", argv: []string{github, "stdio"}, calls: map[string]call{
		getPR: {"pull_request_read", `{"method":"get","owner":"acme","repo":"shop","pullNumber":43}`},
	}}, github)
	for _, name := range slices.Sorted(maps.Keys(originals)) {
		args, path := originals[name], given[name]
		if path == "" {
			path = onPath(ctx, name)
		}
		if path == "" {
			left = append(left, "the original "+name+" is not on the PATH; -original "+name+"=PROGRAM names it")
			continue
		}
		p := peer{Name: "original " + name, argv: append([]string{path}, args...)}
		if name == "tic" {
			p.calls, p.tracker = items, "tic"
		}
		found = append(found, p)
	}
	return found, left
}

// onPath is a program of that name that is not ours, "" if there is none.
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

// textOf is what a model reads of an answer: the text of its result.
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
