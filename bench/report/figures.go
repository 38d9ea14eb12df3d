package report

import (
	"fmt"
	"slices"
	"strings"
)

// Figure is one of the numbers that a user decides by.
type Figure struct {
	What string
	Own  float64
	// Other is the best of the other servers that were measured at it, "" for none.
	Other string
	Best  float64
	// sentence states the figure, with the number in place of %s; less and more compare it.
	sentence, less, more string
}

// named returns the name of a server with the article that a sentence needs.
func named(server string) string {
	if strings.HasPrefix(server, "original ") {
		return "the " + server
	}
	return server
}

// Conclusion returns the figure as a sentence, compared with the best of the others.
func (f Figure) Conclusion() string {
	text := fmt.Sprintf(f.sentence, Number(f.Own))
	switch {
	case f.Other == "":
		return text + "."
	case f.Own <= f.Best:
		return fmt.Sprintf("%s, %.1f× %s than %s.", text, f.Best/f.Own, f.less, named(f.Other))
	}
	return fmt.Sprintf("%s, %.1f× %s than %s.", text, f.Own/f.Best, f.more, named(f.Other))
}

// Figures returns five numbers that a user decides by, as far as they were measured.
func (r Report) Figures() []Figure {
	var figures []Figure
	for _, f := range []struct{ what, table, work, column, sentence, less, more string }{
		{"Time until a server answers, ms", "start", "", "first answer, ms (median)", "copse answers %s ms after it starts", "faster", "slower"},
		{"What the tools cost a model at the start, tokens", "start", "", "tokens, about", "Its tools cost a model %s tokens at the start", "less", "more"},
		{"Idle memory, MiB", "start", "", "idle memory, MiB", "It takes %s MiB of memory while idle", "less", "more"},
		{"Time to get a pull request, without the network, ms", "calls", "get a pull request", "ms (median)", "It gets a pull request in %s ms, without the time on the network", "faster", "slower"},
		{"Time to search 10,000 work items, ms", "growth", "search the work items", "10,000: ms", "It searches 10,000 work items in %s ms", "faster", "slower"},
	} {
		t, at := r.column(f.table, f.column)
		for _, l := range t.Rows {
			if l.Server != Own || l.Work != f.work || at < 0 || at >= len(l.Values) || l.Values[at] == 0 {
				continue
			}
			figure := Figure{What: f.what, Own: l.Values[at], sentence: f.sentence, less: f.less, more: f.more}
			if best, ok := t.best(f.work, at); ok {
				figure.Other, figure.Best = best.Server, best.Values[at]
			}
			figures = append(figures, figure)
		}
	}
	return figures
}

// column returns a table and the place of a column in it, -1 if there is none.
func (r Report) column(table, column string) (Table, int) {
	for _, t := range r.Tables {
		if t.Name == table {
			return t, slices.Index(t.Columns, column)
		}
	}
	return Table{}, -1
}
