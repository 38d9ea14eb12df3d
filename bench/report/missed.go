package report

import (
	"fmt"
	"strings"
)

// causes say why copse misses a budget, by the name of the row.
var causes = map[string]string{
	"get_current_branch": "A call makes about a dozen system calls, which check whether HEAD, the branch, or the branch state has changed, so that an answer is never stale. Without a state, it also checks the directories in which other stack tools keep their records.",
	"get_branch_stack":   "A call makes the same system calls as get_current_branch, and one more for each branch of the stack.",
	"execute":            "A call makes 19 system calls, which check whether the registry, the configuration, or the template has changed and whether a link points outside the workspace.",
	"list_directory":     "A call opens each directory on the path without following links, and checks what git ignores.",
	"10,000 branches: get_branch_tree, first call":            "Git keeps each branch of this repository in a file: opening and reading 10,000 files takes more than a third of the time, and the branch state takes a sixth.",
	"10,000 branches: get_branch_tree, warm":                  "Each call checks 41 directories of branches, compares 10,000 names with those of the last call, and cuts the tree to the size of an answer.",
	"100,000 files: get_project_context":                      "git status takes nearly all of the time: it compares 100,000 files with the index.",
	"PostgreSQL: claims by 64 servers, each released at once": "The 64 servers and the database share the processors of this machine. 64 clients in one process claim and release more than 1,000 times a second.",
	"spawn to first answer":                                   "The protocol library takes two thirds of the time, as the one-tool server shows. The rest is spent on loading a larger executable and into packages that initialize themselves, such as the one for Markdown (0.4 ms).",
	"spawn to tools/list":                                     "The reasons are those of the first answer, and the list is 48 times as long as that of the one-tool server.",
	"10,000 items: memory":                                    "About 20 MiB are pages of the executable, which all copse processes share.",
}

// Missed returns a sentence or two about each budget that is missed.
func (r Report) Missed() []string {
	var out []string
	for _, row := range r.Budgets {
		if row.Budget == "" || row.Within {
			continue
		}
		why, ok := causes[row.What]
		if !ok {
			why = "The cause is not yet known."
		}
		out = append(out, fmt.Sprintf("%s: %s. %s", row.What, row.over(), why))
	}
	return out
}

// over returns what was measured beside what is allowed.
func (r Row) over() string {
	if strings.HasSuffix(r.Budget, "×") {
		return fmt.Sprintf("%.2f× of %s", r.Ratio, r.Budget)
	}
	return fmt.Sprintf("%s %s of %s", Number(r.Value), r.Unit, r.Budget)
}
