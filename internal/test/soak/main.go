// Command soak tries to break copse, from outside, for as long as it is told: many calls, processes
// that are killed, disks that fill up, clocks that go back, hostile input, and calls that are
// canceled. It prints what it tried, what survived, and what was lost, and ends with 1 if anything
// was lost.
//
//	go run ./internal/test/soak -time 10m -page docs/reliability.md
//	go run ./internal/test/soak -time 1m -only killed
//
// Each part gets a share of the time. The seed is printed; the same seed generates the same input.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/copse-dev/copse/internal/test/built"
	"github.com/copse-dev/copse/internal/test/soak/protocol"
	"github.com/copse-dev/copse/internal/test/soak/rig"
	"github.com/copse-dev/copse/internal/test/soak/stores"
	"github.com/copse-dev/copse/internal/test/soak/writers"
)

// part is one way to break it.
type part struct {
	name  string
	share float64
	run   func(*rig.Rig) ([]rig.Result, error)
}

var parts = []part{
	{"calls", 0.3, protocol.ManyCalls},
	{"killed", 0.15, writers.Killed},
	{"disk", 0.05, writers.FailingDisk},
	{"clock", 0.05, writers.ClockGoesBack},
	{"many", 0.05, stores.ManyProcesses},
	{"hostile", 0.1, protocol.HostileInput},
	{"edits", 0.05, writers.EditedMeanwhile},
	{"cancel", 0.05, protocol.Canceled},
	{"histories", 0.1, stores.RandomHistories},
	{"bombs", 0, protocol.FilesThatNeverEnd},
	{"links", 0, protocol.RacingLinks},
	{"syncs", 0.05, stores.KilledSyncs},
	{"claims", 0.05, stores.ManyClaimers},
	{"database", 0.05, stores.FailingDatabase},
}

func main() {
	limit := flag.Duration("time", 10*time.Minute, "how long all of it may take")
	only := flag.String("only", "", "only the `part` of this name, in all the time; or the fuzz targets of this name")
	page := flag.String("page", "", "write the table to this `file`, too")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of what is random")
	fuzz := flag.Duration("fuzz", 0, "fuzz each target for so long, and do nothing else")
	sample := flag.Int("sample", 0, "fuzz only so `many` targets, chosen by the seed")
	reportOnly := flag.Bool("report-only", false, "end with 0 when something is lost or found; a part that cannot run still ends with 1")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	var results []rig.Result
	var err error
	if *fuzz > 0 {
		results, err = fuzzing{each: *fuzz, only: *only, sample: *sample, seed: *seed, keep: !*reportOnly}.run(ctx)
	} else {
		results, err = run(ctx, *limit, *only, *seed)
	}
	stop()
	if err == nil && *page != "" {
		err = writePage(*page, results, *limit, *fuzz, *only)
	}
	lost := print(results)
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
	}
	if err != nil || lost > 0 && !*reportOnly {
		os.Exit(1)
	}
}

func run(ctx context.Context, limit time.Duration, only string, seed uint64) ([]rig.Result, error) {
	work, err := os.MkdirTemp("", "soak")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	bin := filepath.Join(work, "bin")
	if err := built.Build(ctx, bin+string(filepath.Separator), "./cmd/..."); err != nil {
		return nil, err
	}
	fmt.Fprintf(os.Stderr, "seed %d\n", seed)
	var all []rig.Result
	for i, p := range parts {
		share := p.share
		switch only {
		case "":
		case p.name:
			share = 1
		default:
			continue
		}
		r := &rig.Rig{
			Context: ctx, Dir: filepath.Join(work, p.name), Bin: bin, Complete: limit >= 10*time.Minute || only == p.name,
			Until: time.Now().Add(time.Duration(share * float64(limit))), Random: rand.New(rand.NewPCG(seed, uint64(i))),
		}
		if err := os.Mkdir(r.Dir, 0o755); err != nil {
			return all, err
		}
		start := time.Now()
		results, err := p.run(r)
		all = append(all, results...)
		if err != nil {
			return all, fmt.Errorf("%s: %w", p.name, err)
		}
		fmt.Fprintf(os.Stderr, "%s took %s\n", p.name, time.Since(start).Round(time.Second))
	}
	return all, ctx.Err()
}

func print(results []rig.Result) (lost int) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\ttried\tsurvived\tlost\t")
	for _, r := range results {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\n", r.What, r.Tried, r.Survived, r.Lost, r.Note)
		lost += r.Lost
	}
	if err := w.Flush(); err != nil {
		return lost + 1
	}
	return lost
}
