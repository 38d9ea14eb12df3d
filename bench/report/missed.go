package report

import (
	"fmt"
	"strings"
)

// causes say why copse misses a budget, by the name of the row.
var causes = map[string]string{
	"get_current_branch":                   "A call makes about 70 system calls, a third of its time. They find out whether HEAD, the branch state, or one of the files of six other stack tools has changed, so that an answer is never stale.",
	"get_branch_stack":                     "A call makes the same system calls as get_current_branch, and reads the pull requests that are known.",
	"execute":                              "A call reads the template, its configuration, and the registry from the disk, each within the root.",
	"list_directory":                       "A call opens each directory on the way without following links, and asks what git ignores.",
	"idle memory after tools/list":         "About 3 MiB are copse's own data. The rest is the part of the program's file that the start touches, which all processes of copse share.",
	"memory after calls, small repository": "About 5 MiB are copse's own data. The rest is the part of the program's file that the calls touch, which all processes of copse share.",
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
			why = "The reason is not known yet."
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
