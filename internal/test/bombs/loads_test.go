//go:build !race

package bombs_test

import (
	"fmt"
	"strings"
)

// lines returns n lines of a format with one number.
func lines(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// list returns n values of a format with one number, with commas between them.
func list(n int, format string) string { return strings.TrimSuffix(lines(n, format+","), ",") }

const when = "2026-01-02T03:04:05Z"

// state returns the content of .twig/state.json.
func state(branches, dependencies, roots string) string {
	if roots == "" {
		roots = root("main")
	}
	return `{"version":1,"updated_at":"` + when + `","worktrees":[],"branches":{` + branches + `},"dependencies":[` + dependencies + `],"root_branches":[` + roots + `]}`
}

func root(name string) string {
	return `{"id":"r","branch":"` + name + `","is_default":true,"created_at":"` + when + `"}`
}

func edge(child, parent string) string {
	return `{"id":"d","child":"` + child + `","parent":"` + parent + `","created_at":"` + when + `"}`
}

func loads() []load {
	graph := []string{"branch tree", "context", "!branch parent topic main", "!branch prune --yes", "!branch untrack topic"}
	return []load{
		{name: "branch state: branches", n: 8000, run: graph, readers: []string{"branch/twig.open"}, plant: func(g *ground, n int) {
			g.write(".twig/state.json", state(list(n, `"b%[1]d":{"branch":"b%[1]d","jira_issue":"A-%[1]d","created_at":"`+when+`"}`), "", ""))
		}},
		{name: "branch state: a chain", n: 8000, run: graph, readers: []string{"branch/twig.open"}, plant: func(g *ground, n int) {
			g.write(".twig/state.json", state("", chained(n)+edge("topic", "b0"), ""))
		}},
		{name: "branch state: parents of one branch", n: 8000, run: graph, readers: []string{"branch/twig.open"}, plant: func(g *ground, n int) {
			g.write(".twig/state.json", state("", list(n, edge("topic", "b%d")), ""))
		}},
		{name: "branch state: children of one branch", n: 8000, run: graph, readers: []string{"branch/twig.open"}, plant: func(g *ground, n int) {
			g.write(".twig/state.json", state("", list(n, edge("b%d", "topic")), ""))
		}},
		{name: "branch state: roots", n: 8000, run: graph, readers: []string{"branch/twig.open"}, plant: func(g *ground, n int) {
			g.write(".twig/state.json", state("", edge("topic", "main"), list(n, root("b%d"))))
		}},
	}
}

// chained stacks n branches on each other.
func chained(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(edge(fmt.Sprintf("b%d", i), fmt.Sprintf("b%d", i+1)) + ",")
	}
	return b.String()
}
