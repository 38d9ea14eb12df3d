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
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/copse-dev/copse/bench/browser"
	"github.com/copse-dev/copse/bench/database"
	"github.com/copse-dev/copse/bench/fixture"
	"github.com/copse-dev/copse/bench/measure"
	"github.com/copse-dev/copse/bench/peers"
	"github.com/copse-dev/copse/bench/report"
	"github.com/copse-dev/copse/internal/test/stdio"
)

// options are the flags.
type options struct {
	rounds    int
	short     bool
	only      string
	originals map[string]string
}

// sizes are those of what some parts measure.
type sizes struct {
	items, branches []int
	files           int
}

func (o options) sizes() sizes {
	if o.short {
		return sizes{items: []int{10_000}, branches: []int{1_000}, files: 10_000}
	}
	return sizes{items: []int{10_000, 100_000}, branches: []int{1_000, 10_000}, files: 100_000}
}

func main() {
	o := options{originals: make(map[string]string)}
	flag.IntVar(&o.rounds, "rounds", 200, "how often each call is made")
	flag.BoolVar(&o.short, "short", false, "leave out what takes minutes: growth beyond 1,000, 100,000 items, the page of 10,000 branches, and nine tenths of the files")
	flag.StringVar(&o.only, "only", "", "measure only the `part` of this name: start, prompt, calls, branches, items, database, commands, files, search, stacks, http, page, peers, growth")
	flag.Func("original", "an original program to compare with, as `NAME=PROGRAM`: twig-mcp, tic, climpt, rstn", func(text string) error {
		name, path, ok := strings.Cut(text, "=")
		if _, known := peers.Originals[name]; !ok || !known {
			return fmt.Errorf("want NAME=PROGRAM, where NAME is one of twig-mcp, tic, climpt, rstn")
		}
		o.originals[name] = path
		return nil
	})
	asJSON := flag.Bool("json", false, "print JSON instead of tables")
	page := flag.String("page", "", "write benchmarks.md, its charts and its data into this `directory`")
	from := flag.String("from", "", "take the data of this `file`, and measure only what -only names, if anything, again")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	r, err := result(ctx, o, *from)
	stop()
	switch {
	case r.Date == "":
	case *page != "":
		err = errors.Join(err, report.WritePage(*page, r))
	default:
		err = errors.Join(err, r.Write(os.Stdout, *asJSON))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// result measures, or reads what was measured, with one part of it measured again. With an error, it
// returns what could be measured, if anything.
func result(ctx context.Context, o options, from string) (r report.Report, err error) {
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
	if again.Date == "" {
		return r, err
	}
	return r.With(again, o.only), err
}

func run(ctx context.Context, o options) (report.Report, error) {
	work, err := os.MkdirTemp("", "copse-bench-")
	if err != nil {
		return report.Report{}, err
	}
	defer os.RemoveAll(work)
	// As .goreleaser.yaml builds what people install.
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", work+string(filepath.Separator), "./cmd/...", "./bench/floor")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return report.Report{}, fmt.Errorf("build: %w: %s", err, out)
	}
	floor := []string{filepath.Join(work, "floor")}
	copse := []string{filepath.Join(work, "copse"), "mcp", "serve"}
	found, left := peers.Find(ctx, copse[0], floor[0], o.originals)
	// What the measured programs keep goes with the rest: with the user's caches, a run would find what an
	// earlier one has left, and leave a gigabyte of its own.
	compiled, err := exec.CommandContext(ctx, "go", "env", "GOCACHE").Output()
	if err != nil {
		return report.Report{}, fmt.Errorf("go env GOCACHE: %w", err)
	}
	for name, value := range map[string]string{
		"GOCACHE": strings.TrimSpace(string(compiled)), "XDG_CACHE_HOME": filepath.Join(work, "cache"), "XDG_STATE_HOME": filepath.Join(work, "state"),
	} {
		if err := os.Setenv(name, value); err != nil {
			return report.Report{}, err
		}
	}
	r := report.Report{Date: report.Today(), Machine: report.Machine(), Left: left}
	wanted := func(part string) bool { return o.only == "" || o.only == part }
	var failed error
	if wanted("peers") {
		tables, left, err := peers.Compare(ctx, work, found, o.rounds)
		failed = errors.Join(failed, err)
		r.Tables, r.Left = append(r.Tables, tables...), append(r.Left, left...)
	}
	if wanted("growth") {
		maximum := peers.Sizes[len(peers.Sizes)-1]
		if o.short {
			maximum = peers.Sizes[0]
		}
		grown, left, err := peers.Growth(ctx, work, found, max(o.rounds/10, 5), maximum)
		if err == nil {
			r.Tables = append(r.Tables, grown)
		}
		failed, r.Left = errors.Join(failed, err), append(r.Left, left...)
	}
	r.Budgets, err = budgets(ctx, work, floor, copse, o, wanted)
	return r, errors.Join(failed, err)
}

// budgets measures copse alone, or beside the one-tool server, against what it may take. A part
// that fails is left out: what the others measured takes a long time.
func budgets(ctx context.Context, work string, floor, copse []string, o options, wanted func(string) bool) ([]report.Row, error) {
	small, large := filepath.Join(work, "small"), filepath.Join(work, "large")
	if err := fixture.Repository(ctx, small, 30); err != nil {
		return nil, err
	}
	if err := fixture.Repository(ctx, large, 10_000); err != nil {
		return nil, err
	}

	// What was written a moment ago is read again on each call, as its times
	// cannot be trusted yet. A repository that people work in is older.
	time.Sleep(measure.Settle)

	few, sizes := max(o.rounds/5, 10), o.sizes()
	if o.short {
		few = max(o.rounds/5, 3)
	}
	var (
		rows   []report.Row
		failed error
	)
	for _, part := range []struct {
		name    string
		measure func() ([]report.Row, error)
	}{
		{"start", func() ([]report.Row, error) { return start(ctx, small, floor, copse, few) }},
		{"prompt", func() ([]report.Row, error) { return promptLine(ctx, small, copse[0], few) }},
		{"calls", func() ([]report.Row, error) { return calls(ctx, small, floor, copse, o.rounds) }},
		{"branches", func() ([]report.Row, error) { return tenThousand(ctx, large, copse, o.originals["twig-mcp"], few) }},
		{"items", func() ([]report.Row, error) { return workItems(ctx, work, floor, copse, few, sizes.items) }},
		{"database", func() ([]report.Row, error) { return database.Measure(ctx, work, copse, few) }},
		{"commands", func() ([]report.Row, error) { return promptCommands(ctx, work, floor, copse, few) }},
		{"files", func() ([]report.Row, error) { return workspaceFiles(ctx, work, floor, copse, few, sizes.files) }},
		{"search", func() ([]report.Row, error) { return searching(ctx, work, copse, max(few/4, min(few, 5)), sizes.files) }},
		{"stacks", func() ([]report.Row, error) { return stacks(ctx, work, copse, few) }},
		{"http", func() ([]report.Row, error) { return overHTTP(ctx, work, copse[0], o.rounds) }},
		{"page", func() ([]report.Row, error) {
			return browser.Measure(ctx, work, copse[0], max(o.rounds/10, min(few, 10)), sizes.branches)
		}},
	} {
		if !wanted(part.name) {
			continue
		}
		more, err := part.measure()
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", part.name, err))
			more = append(more, report.LeftOut(part.name, "it failed: "+report.Reason(err)))
		}
		rows = append(rows, more...)
	}
	return rows, failed
}

// start measures what a client waits for, and what an idle server holds.
func start(ctx context.Context, dir string, floor, copse []string, rounds int) ([]report.Row, error) {
	var first, list [2][]time.Duration
	var memory [2]float64
	for round := range rounds {
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
			if round < 3 {
				time.Sleep(measure.Settle) // it is idle then
				memory[i] = max(memory[i], s.Memory())
			}
			if err := s.Stop(); err != nil {
				return nil, err
			}
		}
	}
	return []report.Row{
		report.Ratio("spawn to first answer", measure.Median(first[0]), measure.Median(first[1]), 1.5),
		report.Ratio("spawn to tools/list", measure.Median(list[0]), measure.Median(list[1]), 1.5),
		report.Limit("idle memory after tools/list", "MiB", memory[1], 18).Beside(memory[0]),
	}, nil
}

// calls measures single calls against the echo.
func calls(ctx context.Context, dir string, floor, copse []string, rounds int) ([]report.Row, error) {
	var rows []report.Row
	for _, tool := range []string{"get_current_branch", "get_branch_stack", "list_branches", "get_branch_tree"} {
		r, err := measure.BesideEcho(ctx, dir, floor, copse, rounds, tool, "{}")
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	memory, err := memoryAfterCalls(ctx, dir, copse, rounds)
	return append(rows, memory), err
}

// memoryAfterCalls measures what a server in a small repository holds after calls of several
// tools.
func memoryAfterCalls(ctx context.Context, dir string, copse []string, rounds int) (report.Row, error) {
	s, err := stdio.Spawn(ctx, dir, copse...)
	if err != nil {
		return report.Row{}, err
	}
	for range rounds {
		for _, tool := range []string{"get_current_branch", "get_branch_stack", "list_branches", "get_branch_tree"} {
			if _, _, err := s.Call(tool, "{}"); err != nil {
				return report.Row{}, err
			}
		}
	}
	time.Sleep(measure.Settle)
	row := report.Limit("memory after calls, small repository", "MiB", s.Memory(), 18)
	return row, s.Stop()
}

// tenThousand measures a repository with 10,000 branches, all of them in the
// state file.
func tenThousand(ctx context.Context, dir string, copse []string, original string, rounds int) ([]report.Row, error) {
	const tree, stack = "get_branch_tree", "get_branch_stack"
	const name = "10,000 branches: "
	var rows []report.Row
	for _, tool := range []string{"get_current_branch", stack} {
		r, err := measure.ColdAnswer(ctx, dir, copse, original, tool)
		if err != nil {
			return nil, err
		}
		r.What = name + r.What
		rows = append(rows, r)
	}
	first, err := measure.FirstCalls(ctx, dir, copse, tree, "{}")
	if err != nil {
		return nil, err
	}
	rows = append(rows, report.Limit(name+tree+", first call", "ms", report.Milliseconds(first), 80))
	s, err := stdio.Spawn(ctx, dir, copse...)
	if err != nil {
		return nil, err
	}
	for _, c := range []struct {
		tool   string
		budget float64 // ms
	}{{tree, 5}, {stack, 1}} {
		took, err := measure.Repeat(s, rounds, c.tool, measure.Always("{}"))
		if err != nil {
			return nil, err
		}
		rows = append(rows, report.Limit(name+c.tool+", warm", "ms", report.Milliseconds(took), c.budget))
	}
	rows = append(rows, report.Row{What: name + "memory", Unit: "MiB", Value: s.Memory(), Within: true})
	return rows, s.Stop()
}
