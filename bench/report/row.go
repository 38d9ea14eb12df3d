package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// Row is one measurement beside its yardstick and its budget.
type Row struct {
	What   string  `json:"what"`
	Unit   string  `json:"unit"`
	Value  float64 `json:"value"`
	Floor  float64 `json:"floor,omitempty"`
	Ratio  float64 `json:"ratio,omitempty"`
	Budget string  `json:"budget,omitempty"`
	Within bool    `json:"within"`
	// LeftOut is the part of the benchmark that was not measured; What says why.
	LeftOut string `json:"left_out,omitempty"`

	maximum float64 // of the budget, in its unit
}

// Ratio returns a time beside that of a yardstick, of which it may be so many times as much.
func Ratio(what string, floor, value time.Duration, maximum float64) Row {
	r := float64(value) / float64(floor)
	return Row{What: what, Unit: "ms", Value: Milliseconds(value), Floor: Milliseconds(floor), Ratio: r, Budget: fmt.Sprintf("%g×", maximum), Within: r <= maximum}
}

// Limit returns a value that may be as much as most.
func Limit(what, unit string, value, maximum float64) Row {
	return Row{What: what, Unit: unit, Value: value, Budget: fmt.Sprintf("%g %s", maximum, unit), Within: value <= maximum, maximum: maximum}
}

// AtLeast returns a value that must be at least least.
func AtLeast(what, unit string, value, minimum float64) Row {
	return Row{What: what, Unit: unit, Value: value, Budget: fmt.Sprintf("≥ %g %s", minimum, unit), Within: value >= minimum}
}

// LeftOut returns the row of a part of the benchmark that was not measured. Its budgets are neither
// kept nor missed.
func LeftOut(part, why string) Row {
	return Row{What: part + ": " + why, LeftOut: part, Within: true}
}

// Beside returns r with a yardstick that nothing depends on.
func (r Row) Beside(floor float64) Row {
	r.Floor, r.Ratio = floor, r.Value/floor
	return r
}

// Grown returns r where n times as much is done as in small: it may take n times as much.
// Without a budget for small there is none for r.
func (r Row) Grown(n float64, small Row) Row {
	if small.maximum == 0 {
		return r.Beside(small.Value)
	}
	return Limit(r.What, r.Unit, r.Value, n*small.maximum).Beside(small.Value)
}

// Milliseconds returns a time as a [Row] has it.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// cells returns the columns of a row: what, copse, yardstick, ratio, budget, verdict.
func (r Row) cells() [6]string {
	if r.LeftOut != "" {
		return [6]string{0: r.What, 5: "not measured"}
	}
	c := [6]string{0: r.What, 1: Number(r.Value) + " " + r.Unit, 4: r.Budget}
	if r.Floor != 0 {
		c[2], c[3] = Number(r.Floor)+" "+r.Unit, fmt.Sprintf("%.2f×", r.Ratio)
	}
	if r.Budget != "" {
		c[5] = "missed"
		if r.Within {
			c[5] = "ok"
		}
	}
	return c
}

// writeBudgets writes the measurements that have a budget, as a table.
func writeBudgets(w io.Writer, rows []Row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "what\tcopse\tyardstick\tratio\tbudget\t")
	for _, r := range rows {
		cells := r.cells()
		fmt.Fprintln(t, strings.Join(cells[:], "\t"))
	}
	return t.Flush()
}
