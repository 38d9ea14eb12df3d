// Package report represents the results of a benchmark, and formats them: as tables in a terminal,
// as JSON, or as a page with charts.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// The names of copse and of the yardstick in tables. The yardstick is a server with one
// tool on the same protocol library; no user would choose it.
const (
	Own   = "copse"
	Floor = "one-tool server"
)

// Report is all that one run measured.
type Report struct {
	Date    string   `json:"date"`
	Machine string   `json:"machine"`
	Tables  []Table  `json:"tables"`
	Budgets []Row    `json:"budgets"`
	Left    []string `json:"left_out"`
}

// Table compares servers in one thing.
type Table struct {
	Name  string `json:"name"` // of its chart
	Title string `json:"title"`
	Note  string `json:"note"`
	// Columns are what is measured, with units; the first is drawn.
	Columns []string `json:"columns"`
	// Log means that the chart is a logarithmic one.
	Log bool `json:"log,omitempty"`
	// Higher means that a higher value is better.
	Higher bool   `json:"higher_is_better,omitempty"`
	Rows   []Line `json:"rows"`
}

// Line is one server at one work.
type Line struct {
	Work   string    `json:"work"`
	Server string    `json:"server"`
	Values []float64 `json:"values"`
}

// With returns r with the tables and rows of another run, of one part, in place of its own.
func (r Report) With(again Report, part string) Report {
	r.Date, r.Machine = again.Date, again.Machine
	r.Budgets = slices.DeleteFunc(slices.Clone(r.Budgets), func(old Row) bool { return old.LeftOut == part })
	for _, t := range again.Tables {
		if i := slices.IndexFunc(r.Tables, func(old Table) bool { return old.Name == t.Name }); i >= 0 {
			r.Tables[i] = t
		} else {
			r.Tables = append(r.Tables, t)
		}
	}
	for _, b := range again.Budgets {
		if i := slices.IndexFunc(r.Budgets, func(old Row) bool { return old.What == b.What }); i >= 0 {
			r.Budgets[i] = b
		} else {
			r.Budgets = append(r.Budgets, b)
		}
	}
	return r
}

func (r Report) Write(w io.Writer, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	}
	fmt.Fprintf(w, "%s, %s\n", r.Machine, r.Date)
	for _, t := range r.Tables {
		fmt.Fprintf(w, "\n%s\n", t.Title)
		out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintf(out, "\t\t%s\t\n", strings.Join(t.Columns, "\t"))
		for _, l := range t.Rows {
			fmt.Fprintf(out, "%s\t%s\t", l.Work, l.Server)
			for _, v := range l.Values {
				fmt.Fprintf(out, "%s\t", Number(v))
			}
			fmt.Fprintln(out)
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	if len(r.Budgets) > 0 {
		fmt.Fprintln(w)
		if err := writeBudgets(w, r.Budgets); err != nil {
			return err
		}
	}
	for _, l := range r.Left {
		fmt.Fprintln(w, "not measured:", l)
	}
	return nil
}

// Number writes a value with three digits that count.
func Number(v float64) string {
	switch {
	case v >= 100 || v == float64(int(v)):
		return Thousands(int(v + 0.5))
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	case v >= 1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3f", v)
}

// Thousands writes a number with commas between thousands.
func Thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Today returns the date of a run.
func Today() string { return time.Now().UTC().Format(time.DateOnly) }

// Machine describes where the run was.
func Machine() string {
	text := fmt.Sprintf("%s/%s, %d CPUs", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	if name := processor(); name != "" {
		text += " (" + name + ")"
	}
	if data, err := os.ReadFile("/proc/meminfo"); err == nil {
		var kb int
		if _, err := fmt.Sscanf(string(data), "MemTotal: %d kB", &kb); err == nil {
			text += fmt.Sprintf(", %d GiB of memory", (kb+1<<19)>>20)
		}
	}
	return text + ", " + runtime.Version()
}

// processor returns the model of the first CPU, "" where the system does not tell.
func processor() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for l := range strings.Lines(string(data)) {
		if name, ok := strings.CutPrefix(l, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
		}
	}
	return ""
}
