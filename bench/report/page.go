package report

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// WritePage writes benchmarks.md, a chart for each Table, and the data of both, so that
// the page can be made again without measuring.
func WritePage(directory string, r Report) error {
	charts := filepath.Join(directory, "benchmarks")
	if err := os.MkdirAll(charts, 0o755); err != nil {
		return err
	}
	var data bytes.Buffer
	if err := r.Write(&data, true); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(charts, "data.json"), data.Bytes(), 0o644); err != nil {
		return err
	}
	for _, t := range r.Tables {
		if err := os.WriteFile(filepath.Join(charts, t.Name+".svg"), chart(t), 0o644); err != nil {
			return err
		}
	}
	if len(r.Budgets) > 0 {
		if err := os.WriteFile(filepath.Join(charts, "budgets.svg"), chart(shares(r.Budgets)), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(directory, "benchmarks.md"), page(r), 0o644)
}

// shares returns how much of each budget is used.
func shares(rows []Row) Table {
	t := Table{Name: "budgets", Title: "Budgets", Columns: []string{"percent used"}}
	for _, w := range rows {
		var maximum float64
		if n, err := fmt.Sscanf(w.Budget, "%g", &maximum); err != nil || n != 1 {
			continue
		}
		used := w.Value
		if strings.HasSuffix(w.Budget, "×") {
			used = w.Ratio
		}
		t.Rows = append(t.Rows, Line{w.What, "copse", []float64{100 * used / maximum}})
	}
	return t
}

func page(r Report) []byte {
	var b bytes.Buffer
	b.WriteString(`# Benchmarks

| what | copse | best of the others |
|---|--:|--:|
`)
	for _, f := range r.Figures() {
		other := "-"
		if f.Other != "" {
			other = Number(f.Best) + " (" + f.Other + ")"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", f.What, Number(f.Own), other)
	}
	b.WriteString("\n## Conclusions\n\n")
	for i, f := range r.Figures() {
		fmt.Fprintf(&b, "%d. %s\n", i+1, f.Conclusion())
	}
	fmt.Fprintf(&b, `
## Method

`+"`go run ./bench -page docs`"+` generates this page from [its measurements](benchmarks/data.json); do not edit it.
Measured on %s, on %s.

A client starts each server on standard input and output. All servers do the same work on the same
data. They take turns within one run, so that the ratios also apply to other machines.
Tokens are bytes divided by four. The one-tool server is an echo server on the protocol library that
copse uses. It measures the cost of the protocol itself. `+"`bench/peers/install`"+` installs the other
servers.
`, r.Date, r.Machine)
	if losses := r.Losses(); len(losses) > 0 {
		b.WriteString("\n## Where another server is ahead\n\n")
		for _, l := range losses {
			fmt.Fprintf(&b, "- %s\n", l.Text())
		}
	}
	for _, t := range r.Tables {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n![%s](benchmarks/%s.svg)\n\n", t.Title, t.Note, t.Title, t.Name)
		worded := t.Rows[0].Work != ""
		head := []string{"server"}
		if worded {
			head = append([]string{"work"}, head...)
		}
		fmt.Fprintf(&b, "| %s |\n|%s%s\n", strings.Join(append(head, t.Columns...), " | "), strings.Repeat("---|", len(head)), strings.Repeat("--:|", len(t.Columns)))
		for _, l := range t.Rows {
			cells := []string{l.Server}
			if worded {
				cells = append([]string{l.Work}, cells...)
			}
			for _, v := range l.Values {
				text := Number(v)
				if v == 0 {
					text = "-"
				}
				cells = append(cells, text)
			}
			fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
		}
	}
	if len(r.Budgets) > 0 {
		b.WriteString("\n## Budgets\n\nThese are the limits that copse sets for itself. The yardstick is the one-tool server, with an answer of as many bytes, unless the row names another program.\n\n![Budgets](benchmarks/budgets.svg)\n\n" +
			"| what | copse | yardstick | ratio | budget | |\n|---|--:|--:|--:|--:|---|\n")
		for _, w := range r.Budgets {
			cells := w.cells()
			fmt.Fprintf(&b, "| %s |\n", strings.Join(cells[:], " | "))
		}
	}
	if missed := r.Missed(); len(missed) > 0 {
		b.WriteString("\n### Missed budgets\n\n")
		for _, text := range missed {
			fmt.Fprintf(&b, "- %s\n", text)
		}
	}
	if len(r.Left) > 0 {
		b.WriteString("\n## Not measured\n\n")
		for _, l := range r.Left {
			fmt.Fprintf(&b, "- %s\n", l)
		}
	}
	return b.Bytes()
}
