package report

import "slices"

// Figure is one of the numbers that a user decides by.
type Figure struct {
	What string
	Own  float64
	// Other is the best of the other servers that were measured at it, "" for none.
	Other string
	Best  float64
}

// Figures returns five numbers that a user decides by, as far as they were measured.
func (r Report) Figures() []Figure {
	var figures []Figure
	for _, f := range []struct{ what, table, work, column string }{
		{"Time until a server answers, ms", "start", "", "first answer, ms (median)"},
		{"What the tools cost a model at the start, tokens", "start", "", "tokens, about"},
		{"Idle memory, MiB", "start", "", "idle memory, MiB"},
		{"Time to get a pull request, without the network, ms", "calls", "get a pull request", "ms (median)"},
		{"Time to search 10,000 work items, ms", "growth", "search the work items", "10,000: ms"},
	} {
		t, at := r.column(f.table, f.column)
		for _, l := range t.Rows {
			if l.Server != Own || l.Work != f.work || at < 0 || at >= len(l.Values) || l.Values[at] == 0 {
				continue
			}
			figure := Figure{What: f.what, Own: l.Values[at]}
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
