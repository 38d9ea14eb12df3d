package report

import (
	"fmt"
	"slices"
	"strings"
)

// Loss is a value of copse that another server beats.
type Loss struct {
	// What is compared, by whom copse is beaten, and by how much.
	What, Winner string
	Own, Best    float64
	// Why it is so; "" if that is not known.
	Why string
}

// Text returns the loss as a sentence or two.
func (l Loss) Text() string {
	ratio := l.Own / l.Best
	if ratio < 1 {
		ratio = 1 / ratio
	}
	why := l.Why
	if why == "" {
		why = "The cause is not yet known."
	}
	return fmt.Sprintf("%s: %s has %s, copse %s (%.2f×). %s", l.What, named(l.Winner), Number(l.Best), Number(l.Own), ratio, why)
}

// reasons say why copse loses in a column of a table, at a work. An empty work stands for all.
var reasons = map[[3]string]string{
	{"start", "", "tools/list, bytes"}:                                  "copse has more tools; compare the bytes for each tool.",
	{"answers", "list a directory of 100 files", "bytes"}:               "copse answers in JSON, as its contract requires, and repeats each member's name in every row.",
	{"answers", "list a directory of 100 files", "bytes for each fact"}: "copse answers in JSON, as its contract requires, and repeats each member's name in every row.",
	{"answers", "list the open work items", "bytes"}:                    "copse shows eleven facts about an item, and the other server shows three; compare the bytes for each fact.",
	{"answers", "list the open work items", "bytes for each fact"}:      "copse answers in indented JSON, as its contract requires, and repeats each member's name in every row.",
	{"answers", "search the work items", "bytes"}:                       "copse shows eleven facts about an item and the text around the match, and the other server shows three facts; compare the bytes for each fact.",
	{"answers", "search the work items", "bytes for each fact"}:         "The text around each match is longer than an ID, a title, or a status.",
	{"start", "", "first answer, ms (median)"}:                          "The protocol library takes two thirds of the time, as the one-tool server shows; the rest is spent on loading a larger executable and initializing its packages.",
	{"calls", "list ten branches", "ms (median)"}:                       "The protocol library alone takes longer for as many bytes, as the one-tool server shows. copse also checks whether the records of other stack tools have changed.",
	{"throughput", "list ten branches", "calls per second"}:             "The protocol library alone takes longer for as many bytes, as the one-tool server shows. copse also checks whether the records of other stack tools have changed.",
	{"answers", "list ten branches", "bytes"}:                           "copse also lists the trunk, which the other server omits.",
	{"memory", "", "peak, MiB"}:                                         "Each of the others does one kind of work. copse keeps files, branches, and 1,000 work items in memory at the same time, and allows about 10 MiB of garbage while it is busy.",
	{"throughput", "list a directory of 100 files", "calls per second"}: "The protocol library takes a third of the processor time of a call, and reading the directory a quarter. copse also determines what git ignores, and answers in JSON, which takes twice the bytes.",
}

// compared are the columns that are worth a sentence; the others repeat them, or are not
// better when they are lower.
var compared = map[string][]string{
	"start":      {"first answer, ms (median)", "tools/list, bytes", "idle memory, MiB"},
	"calls":      {"ms (median)"},
	"throughput": {"calls per second"},
	"answers":    {"bytes", "bytes for each fact"},
	"memory":     {"peak, MiB"},
	"growth":     {"1,000: ms", "10,000: ms", "100,000: ms"},
}

// Losses returns where another server is ahead of copse, in the order of the tables. The
// yardstick does not count.
func (r Report) Losses() []Loss {
	var losses []Loss
	for _, t := range r.Tables {
		for _, own := range t.Rows {
			if own.Server != Own {
				continue
			}
			for at, column := range t.Columns {
				if !slices.Contains(compared[t.Name], column) || at >= len(own.Values) || own.Values[at] == 0 {
					continue
				}
				if best, ok := t.best(own.Work, at); ok && t.ahead(best.Values[at], own.Values[at]) {
					losses = append(losses, Loss{
						What: strings.TrimPrefix(own.Work+", "+column, ", "), Winner: best.Server, Own: own.Values[at], Best: best.Values[at],
						Why: reason(t.Name, own.Work, column),
					})
				}
			}
		}
	}
	return losses
}

// ahead reports whether a value is better than another.
func (t Table) ahead(a, b float64) bool {
	if t.Higher {
		return a > b
	}
	return a < b
}

// best returns the best row of the servers other than copse that a user could choose.
func (t Table) best(work string, column int) (best Line, ok bool) {
	for _, l := range t.Rows {
		if l.Work != work || l.Server == Own || l.Server == Floor || column >= len(l.Values) || l.Values[column] == 0 {
			continue
		}
		if !ok || t.ahead(l.Values[column], best.Values[column]) {
			best, ok = l, true
		}
	}
	return best, ok
}

// Reason returns an error as one line that is not long.
func Reason(err error) string {
	const shown = 200
	line := strings.Join(strings.Fields(err.Error()), " ")
	if runes := []rune(line); len(runes) > shown {
		line = string(runes[:shown]) + "…"
	}
	return line
}

func reason(table, work, column string) string {
	if why, ok := reasons[[3]string{table, work, column}]; ok {
		return why
	}
	return reasons[[3]string{table, "", column}]
}
