package report_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/bench/report"
)

// measured returns a small report, in which copse loses twice.
func measured() report.Report {
	line := func(work, server string, values ...float64) report.Line {
		return report.Line{Work: work, Server: server, Values: values}
	}
	return report.Report{
		Date: "2026-11-22", Machine: "a machine",
		Tables: []report.Table{
			{
				Name: "start", Title: "Start", Columns: []string{"first answer, ms (median)", "tools/list, bytes", "tokens, about", "idle memory, MiB"},
				Rows: []report.Line{line("", "copse", 6, 16000, 4000, 17), line("", "one-tool server", 4, 400, 100, 9), line("", "other", 200, 13000, 3250, 80)},
			},
			{
				Name: "calls", Title: "Calls", Columns: []string{"ms (median)", "p99"},
				Rows: []report.Line{line("get a pull request", "copse", 1, 9), line("get a pull request", "slow", 3, 8), line("get a pull request", "fast", 2, 8)},
			},
			{
				Name: "throughput", Title: "Many calls", Columns: []string{"calls per second"}, Higher: true,
				Rows: []report.Line{line("paint a door", "copse", 100), line("paint a door", "painter", 150)},
			},
			{
				Name: "growth", Title: "Growth", Columns: []string{"1,000: ms", "10,000: ms", "100,000: ms"},
				Rows: []report.Line{line("search the work items", "copse", 1, 4, 20), line("search the work items", "other", 100, 1400, 0)},
			},
		},
		Left: []string{"the original tic is not on the PATH"},
	}
}

// pageOf returns the page of a report, and its charts by name.
func pageOf(t *testing.T, r report.Report) (page string, chart func(name string) string) {
	t.Helper()
	dir := t.TempDir()
	if err := report.WritePage(dir, r); err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	return read("benchmarks.md"), func(name string) string { return read(filepath.Join("benchmarks", name+".svg")) }
}

func TestPageOpensWithFiveFigures(t *testing.T) {
	t.Parallel()
	page, _ := pageOf(t, measured())
	const want = `# Benchmarks

| what | copse | best of the others |
|---|--:|--:|
| Time until a server answers, ms | 6 | 200 (other) |
| What the tools cost a model at the start, tokens | 4,000 | 3,250 (other) |
| Idle memory, MiB | 17 | 80 (other) |
| Time to get a pull request, without the network, ms | 1 | 2 (fast) |
| Time to search 10,000 work items, ms | 4 | 1,400 (other) |
`
	for _, sentence := range []string{
		"\n1. copse answers 6 ms after it starts, 33.3× faster than other.\n2. Its tools cost a model 4,000 tokens at the start, 1.2× more than other.\n",
		"\n4. It gets a pull request in 1 ms, without the time on the network, 2.0× faster than fast.\n5. It searches 10,000 work items in 4 ms, 350.0× faster than other.\n\n## Method\n",
	} {
		if !strings.Contains(page, sentence) {
			t.Errorf("the page lacks the conclusions %q", sentence)
		}
	}
	if !strings.HasPrefix(page, want) {
		t.Error(cmp.Diff(want, page[:min(len(page), len(want))]))
	}
}

// Each value that another server beats is a sentence, also where nobody has a reason.
func TestPageExplainsLosses(t *testing.T) {
	t.Parallel()
	page, _ := pageOf(t, measured())
	for _, want := range []string{
		"\n- tools/list, bytes: other has 13,000, copse 16,000 (1.23×). copse has more tools; compare the bytes for each tool.\n",
		"\n- paint a door, calls per second: painter has 150, copse 100 (1.50×). The cause is not yet known.\n",
		"\n## Not measured\n\n- the original tic is not on the PATH\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if got := len(measured().Losses()); got != 2 {
		t.Errorf("%d losses, want 2", got)
	}
}

// Each budget that is missed is a sentence, and one that is kept or does not exist is not.
func TestPageExplainsMissedBudgets(t *testing.T) {
	t.Parallel()
	r := measured()
	small := report.Row{What: "never limited", Unit: "ms", Value: 2, Within: true}
	r.Budgets = []report.Row{
		report.Ratio("execute", 100, 150, 1.2), report.Ratio("describe", 100, 110, 1.2),
		report.Limit("paint a door", "ms", 7, 5), small, small.Grown(10, small),
	}
	page, _ := pageOf(t, r)
	_, got, _ := strings.Cut(page, "### Missed budgets\n\n")
	got, _, _ = strings.Cut(got, "\n\n")
	const want = `- execute: 1.50× of 1.2×. A call makes 19 system calls, which check whether the registry, the configuration, or the template has changed and whether a link points outside the workspace.
- paint a door: 7 ms of 5 ms. The cause is not yet known.`
	if got != want {
		t.Error(cmp.Diff(want, got))
	}
}

// Growth is a line for each server that was measured at more than one size.
func TestGrowthIsLines(t *testing.T) {
	t.Parallel()
	_, chart := pageOf(t, measured())
	svg := chart("growth")
	if lines, points := strings.Count(svg, "<polyline"), strings.Count(svg, "<circle"); lines != 2 || points != 5 {
		t.Errorf("%d lines with %d points, want 2 with 5:\n%s", lines, points, svg)
	}
	if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
		t.Error("a point is nowhere")
	}
}

// Every text of a picture is within its width: the names of servers and the sizes of the data.
func TestPicturesAreWide(t *testing.T) {
	t.Parallel()
	r := measured()
	for _, server := range []string{"a server with a long name", "another server with a long name", "a third server with a long name", "a fourth one"} {
		r.Tables[0].Rows = append(r.Tables[0].Rows, report.Line{Work: r.Tables[0].Rows[0].Work, Server: server, Values: r.Tables[0].Rows[0].Values})
	}
	_, chart := pageOf(t, r)
	wide, text := regexp.MustCompile(`<svg [^>]*width="(\d+)"`), regexp.MustCompile(`<text x="([\d.]+)" y="[\d.]+"( text-anchor="\w+")?[^>]*>([^<]*)<`)
	number := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, name := range []string{r.Tables[0].Name, "growth"} {
		svg := chart(name)
		width := number(wide.FindStringSubmatch(svg)[1])
		for _, m := range text.FindAllStringSubmatch(svg, -1) {
			const letter = 7 // pixels
			from, long := number(m[1]), letter*float64(len(m[3]))
			switch m[2] {
			case ` text-anchor="middle"`:
				from -= long / 2
			case ` text-anchor="end"`:
				from -= long
			}
			if from < 0 || from+long > width {
				t.Errorf("%s: %q is between %g and %g of %g", name, m[3], from, from+long, width)
			}
		}
	}
}

// A report can be read again, and one part of it replaced.
func TestWith(t *testing.T) {
	t.Parallel()
	old := measured()
	old.Budgets = []report.Row{report.LeftOut("database", "it is not installed"), report.LeftOut("page", "Chromium is not installed")}
	again := report.Report{
		Date: "2026-11-23", Tables: []report.Table{{Name: "throughput", Title: "Again"}, {Name: "memory"}},
		Budgets: []report.Row{report.Limit("page: first paint", "ms", 136, 150)},
	}
	got := old.With(again, "page")
	if got.Date != "2026-11-23" || got.Tables[2].Title != "Again" || len(got.Tables) != 5 {
		t.Errorf("got %+v", got)
	}
	if len(got.Budgets) != 2 || got.Budgets[0].LeftOut != "database" || got.Budgets[1].What != "page: first paint" {
		t.Errorf("got %+v", got.Budgets)
	}
}

// A part that was not measured has a row among the budgets, and is neither kept nor missed.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	r := measured()
	r.Budgets = []report.Row{report.LeftOut("database", "PostgreSQL is not installed")}
	page, _ := pageOf(t, r)
	if !strings.Contains(page, "\n| database: PostgreSQL is not installed |  |  |  |  | not measured |\n") || strings.Contains(page, "Missed budgets") {
		_, budgets, _ := strings.Cut(page, "## Budgets")
		t.Errorf("got %s", budgets)
	}
}
