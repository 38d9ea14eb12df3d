// Command bench measures copse: beside the servers that a user would choose instead, on the
// same machine and the same data, in turns within one run, so that a ratio means something
// on any machine; and against its own budgets. It is run by hand or once a week; no
// test waits for it.
//
//	bench/peers/install                  # once: the servers to compare with
//	go run ./bench [-rounds 200] [-json]
//	go run ./bench -page docs            # writes docs/benchmarks.md, its charts and its data
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/copse-dev/copse/internal/test/stdio"
)

// options are the flags.
type options struct {
	rounds    int
	short     bool
	only      string
	originals map[string]string
}

func main() {
	o := options{originals: make(map[string]string)}
	flag.IntVar(&o.rounds, "rounds", 200, "how often each call is made")
	flag.BoolVar(&o.short, "short", false, "leave out what takes minutes: growth beyond 1,000")
	flag.StringVar(&o.only, "only", "", "measure only the `part` of this name: start, calls, branches, items, commands, files, http, peers, growth")
	flag.Func("original", "an original program to compare with, as `NAME=PROGRAM`: twig-mcp, tic, climpt, rstn", func(text string) error {
		name, path, ok := strings.Cut(text, "=")
		if _, known := originals[name]; !ok || !known {
			return fmt.Errorf("want NAME=PROGRAM, where NAME is one of twig-mcp, tic, climpt, rstn")
		}
		o.originals[name] = path
		return nil
	})
	asJSON := flag.Bool("json", false, "print JSON instead of tables")
	page := flag.String("page", "", "write benchmarks.md, its charts and its data into this `folder`")
	from := flag.String("from", "", "take the data of this `file`, and measure only what -only names, if anything, again")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	r, err := result(ctx, o, *from)
	stop()
	if err == nil {
		if *page != "" {
			err = writePage(*page, r)
		} else {
			err = r.write(os.Stdout, *asJSON)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// result measures, or reads what was measured, with one part of it measured again.
func result(ctx context.Context, o options, from string) (r report, err error) {
	if from == "" {
		return run(ctx, o)
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(data, &r); err != nil || o.only == "" {
		return r, err
	}
	again, err := run(ctx, o)
	if err != nil {
		return r, err
	}
	return r.with(again), nil
}

// row is one measurement beside its yardstick and its budget.
type row struct {
	What   string  `json:"what"`
	Unit   string  `json:"unit"`
	Value  float64 `json:"value"`
	Floor  float64 `json:"floor,omitempty"`
	Ratio  float64 `json:"ratio,omitempty"`
	Budget string  `json:"budget,omitempty"`
	Within bool    `json:"within"`

	most float64 // of the budget, in its unit
}

// settle is how long after its last change a file is trusted by its times.
const settle = 4 * time.Second

func run(ctx context.Context, o options) (report, error) {
	work, err := os.MkdirTemp("", "copse-bench-")
	if err != nil {
		return report{}, err
	}
	defer os.RemoveAll(work)
	build := exec.CommandContext(ctx, "go", "build", "-o", work+string(filepath.Separator), "./cmd/...", "./bench/floor")
	if out, err := build.CombinedOutput(); err != nil {
		return report{}, fmt.Errorf("build: %w: %s", err, out)
	}
	floor := []string{filepath.Join(work, "floor")}
	copse := []string{filepath.Join(work, "copse"), "mcp", "serve"}
	found, left := peers(ctx, copse[0], floor[0], o.originals)
	r := report{Date: today(), Machine: machine(), Left: left}
	wanted := func(part string) bool { return o.only == "" || o.only == part }
	if wanted("peers") {
		tables, left, err := compare(ctx, work, found, o.rounds)
		if err != nil {
			return r, err
		}
		r.Tables, r.Left = append(r.Tables, tables...), append(r.Left, left...)
	}
	if wanted("growth") {
		most := sizes[len(sizes)-1]
		if o.short {
			most = sizes[0]
		}
		grown, left, err := growth(ctx, work, found, max(o.rounds/10, 5), most)
		if err != nil {
			return r, err
		}
		r.Tables, r.Left = append(r.Tables, grown), append(r.Left, left...)
	}
	r.Budgets, err = budgets(ctx, work, floor, copse, o, wanted)
	return r, err
}

// budgets measures copse alone, or beside the one-tool server, against what it may take.
func budgets(ctx context.Context, work string, floor, copse []string, o options, wanted func(string) bool) ([]row, error) {
	small, large := filepath.Join(work, "small"), filepath.Join(work, "large")
	if err := repository(ctx, small, 30); err != nil {
		return nil, err
	}
	if err := repository(ctx, large, 10_000); err != nil {
		return nil, err
	}

	// What was written a moment ago is read again on each call, as its times
	// cannot be trusted yet. A repository that people work in is older.
	time.Sleep(settle)

	few := max(o.rounds/5, 10)
	var rows []row
	for _, part := range []struct {
		name    string
		measure func() ([]row, error)
	}{
		{"start", func() ([]row, error) { return start(ctx, small, floor, copse, few) }},
		{"calls", func() ([]row, error) { return calls(ctx, small, floor, copse, o.rounds) }},
		{"branches", func() ([]row, error) { return tenThousand(ctx, large, copse, few) }},
		{"items", func() ([]row, error) { return workItems(ctx, work, floor, copse, few) }},
		{"commands", func() ([]row, error) { return promptCommands(ctx, work, floor, copse, few) }},
		{"files", func() ([]row, error) { return workspaceFiles(ctx, work, floor, copse, few) }},
		{"http", func() ([]row, error) { return overHTTP(ctx, work, copse[0], o.rounds) }},
	} {
		if !wanted(part.name) {
			continue
		}
		more, err := part.measure()
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// start measures what a client waits for, and what an idle server holds.
func start(ctx context.Context, dir string, floor, copse []string, rounds int) ([]row, error) {
	var first, list [2][]time.Duration
	var memory [2]float64
	for range rounds {
		for i, argv := range [][]string{floor, copse} {
			s, err := stdio.Spawn(ctx, dir, argv...)
			if err != nil {
				return nil, err
			}
			first[i] = append(first[i], s.FirstAnswer)
			begin := time.Now()
			if _, err := s.Request("tools/list", "{}"); err != nil {
				return nil, err
			}
			list[i] = append(list[i], s.FirstAnswer+time.Since(begin))
			memory[i] = max(memory[i], s.Memory())
			if err := s.Stop(); err != nil {
				return nil, err
			}
		}
	}
	return []row{
		ratio("spawn to first answer", median(first[0]), median(first[1]), 2),
		ratio("spawn to tools/list", median(list[0]), median(list[1]), 2),
		limit("idle memory after tools/list", "MiB", memory[1], 25).beside(memory[0]),
	}, nil
}

// calls measures single calls against the echo.
func calls(ctx context.Context, dir string, floor, copse []string, rounds int) ([]row, error) {
	var rows []row
	for _, tool := range []string{"get_current_branch", "get_branch_stack", "list_branches", "get_branch_tree"} {
		r, err := besideEcho(ctx, dir, floor, copse, rounds, tool, "{}")
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// besideEcho measures calls of a tool and of the echo, in turns.
func besideEcho(ctx context.Context, dir string, floor, copse []string, rounds int, tool, args string) (row, error) {
	yard, err := stdio.Spawn(ctx, dir, floor...)
	if err != nil {
		return row{}, err
	}
	s, err := stdio.Spawn(ctx, dir, copse...)
	if err != nil {
		return row{}, err
	}
	_, answer, err := s.Call(tool, args) // the first call opens things
	if err != nil {
		return row{}, err
	}
	// The yardstick says back as many bytes as the tool's text has.
	var r struct {
		Result struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal(answer, &r); err != nil {
		return row{}, err
	}
	same, err := json.Marshal(map[string]string{"text": r.Result.Content[0].Text})
	if err != nil {
		return row{}, err
	}
	var took [2][]time.Duration
	for range rounds {
		d, _, err := yard.Call("echo", string(same))
		if err != nil {
			return row{}, err
		}
		took[0] = append(took[0], d)
		if d, _, err = s.Call(tool, args); err != nil {
			return row{}, err
		}
		took[1] = append(took[1], d)
	}
	return ratio(tool, median(took[0]), median(took[1]), 1.5), errors.Join(yard.Stop(), s.Stop())
}

// tenThousand measures a repository with 10,000 branches, all of them in the
// state file.
func tenThousand(ctx context.Context, dir string, copse []string, rounds int) ([]row, error) {
	s, err := stdio.Spawn(ctx, dir, copse...)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, c := range []struct {
		tool   string
		budget time.Duration
	}{{"get_branch_tree", 100 * time.Millisecond}, {"get_branch_stack", 2 * time.Millisecond}} {
		cold, _, err := s.Call(c.tool, "{}")
		if err != nil {
			return nil, err
		}
		var took []time.Duration
		for range rounds {
			d, _, err := s.Call(c.tool, "{}")
			if err != nil {
				return nil, err
			}
			took = append(took, d)
		}
		what := "10,000 branches: " + c.tool
		if c.tool == "get_branch_tree" {
			rows = append(rows, limit(what+", first call", "ms", ms(cold), ms(c.budget)))
		}
		rows = append(rows, limit(what+", warm", "ms", ms(median(took)), ms(c.budget)))
	}
	rows = append(rows, row{What: "10,000 branches: memory", Unit: "MiB", Value: s.Memory(), Within: true})
	return rows, s.Stop()
}

func ratio(what string, floor, value time.Duration, most float64) row {
	r := float64(value) / float64(floor)
	return row{What: what, Unit: "ms", Value: ms(value), Floor: ms(floor), Ratio: r, Budget: fmt.Sprintf("%g×", most), Within: r <= most}
}

func limit(what, unit string, value, most float64) row {
	return row{What: what, Unit: unit, Value: value, Budget: fmt.Sprintf("%g %s", most, unit), Within: value <= most, most: most}
}

func (r row) beside(floor float64) row {
	r.Floor, r.Ratio = floor, r.Value/floor
	return r
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// writeBudgets writes the measurements that have a budget, as a table.
func writeBudgets(w io.Writer, rows []row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "what\tcopse\tone-tool server\tratio\tbudget\t")
	for _, r := range rows {
		if r.Unit == "" {
			fmt.Fprintf(t, "%s\t\t\t\t\t\n", r.What)
			continue
		}
		floor, ratio, verdict := "", "", ""
		if r.Floor != 0 {
			floor, ratio = fmt.Sprintf("%.2f %s", r.Floor, r.Unit), fmt.Sprintf("%.2f×", r.Ratio)
		}
		if r.Budget != "" {
			verdict = "missed"
			if r.Within {
				verdict = "ok"
			}
		}
		fmt.Fprintf(t, "%s\t%.2f %s\t%s\t%s\t%s\t%s\n", r.What, r.Value, r.Unit, floor, ratio, r.Budget, verdict)
	}
	return t.Flush()
}
