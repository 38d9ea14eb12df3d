// Command soak tries to break copse, from outside, for as long as it is told: many calls,
// processes that are killed, disks that fill up, clocks that go back, hostile input, and
// calls that are canceled. It prints what it tried, what survived and what was lost, and
// ends with 1 if anything was lost.
//
//	go run ./internal/test/soak -time 10m -page docs/reliability.md
//	go run ./internal/test/soak -time 1m -only killed
//
// Each part gets a share of the time. The seed is printed; the same one makes the same input.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"
)

// result is one line of the table.
type result struct {
	What string
	// Tried is how often, of what kind; Survived is how many of them went as they should,
	// Lost how many did not.
	Tried, Survived, Lost int
	Note                  string
}

// part is one way to break it.
type part struct {
	name  string
	share float64
	run   func(*rig) ([]result, error)
}

var parts = []part{
	{"calls", 0.3, manyCalls},
	{"killed", 0.15, killedWriters},
	{"disk", 0.05, failingDisk},
	{"clock", 0.05, clockGoesBack},
	{"many", 0.05, manyProcesses},
	{"hostile", 0.1, hostileInput},
	{"edits", 0.05, editedMeanwhile},
	{"cancel", 0.05, canceled},
	{"histories", 0.1, randomHistories},
	{"bombs", 0, filesThatNeverEnd},
	{"links", 0, racingLinks},
	{"syncs", 0.05, killedSyncs},
	{"claims", 0.05, manyClaimers},
	{"database", 0.05, failingDatabase},
}

// rig is what a part has.
type rig struct {
	ctx    context.Context
	dir    string // of its own
	bin    string // the programs
	until  time.Time
	random *rand.Rand
	whole  bool // the long form: nothing is cut short
}

func (r *rig) copse() string { return filepath.Join(r.bin, "copse") }

// goOn reports whether there is time for one more.
func (r *rig) goOn() bool { return time.Now().Before(r.until) && r.ctx.Err() == nil }

func main() {
	limit := flag.Duration("time", 10*time.Minute, "how long all of it may take")
	only := flag.String("only", "", "only the `part` of this name, in all the time; or the fuzz targets of this name")
	page := flag.String("page", "", "write the table to this `file`, too")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of what is random")
	fuzz := flag.Duration("fuzz", 0, "fuzz each target for so long, and do nothing else")
	reportOnly := flag.Bool("report-only", false, "end with 0 when something is lost or found; a part that cannot run still ends with 1")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	results, err := run(ctx, *limit, *only, *seed, *fuzz, !*reportOnly)
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

func run(ctx context.Context, limit time.Duration, only string, seed uint64, fuzz time.Duration, keep bool) ([]result, error) {
	if fuzz > 0 {
		return fuzzAll(ctx, fuzz, only, keep)
	}
	work, err := os.MkdirTemp("", "soak")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	bin := filepath.Join(work, "bin")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", bin+string(filepath.Separator), "./cmd/...").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build: %w: %s", err, out)
	}
	fmt.Fprintf(os.Stderr, "seed %d\n", seed)
	var all []result
	for i, p := range parts {
		share := p.share
		switch only {
		case "":
		case p.name:
			share = 1
		default:
			continue
		}
		r := &rig{
			ctx: ctx, dir: filepath.Join(work, p.name), bin: bin, whole: limit >= 10*time.Minute,
			until: time.Now().Add(time.Duration(share * float64(limit))), random: rand.New(rand.NewPCG(seed, uint64(i))),
		}
		if err := os.Mkdir(r.dir, 0o755); err != nil {
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

func print(results []result) (lost int) {
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

// command runs a program of ours to its end and returns what it printed.
func (r *rig) command(dir string, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(r.ctx, r.copse(), args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("copse %s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String(), nil
}

// repository makes a repository with everything in it.
func (r *rig) repository(name string) (string, error) {
	dir := filepath.Join(r.dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for name, text := range map[string]string{
		"justfile": "hello:\n  @echo hello\nsleep:\n  @sleep 30\n", "README.md": strings.Repeat("Some words about it.\n", 50), "main.go": "package main\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "start"},
		{"branch", "feature/a"}, {"branch", "feature/b"}, {"checkout", "-q", "-b", "feature/c"},
	} {
		cmd := exec.CommandContext(r.ctx, "git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("git %v: %w: %s", args, err, out)
		}
	}
	for _, args := range [][]string{{"init", "--branches", "--items", "--commands"}, {"branch", "adopt", "--yes", "--offline"}, {"item", "create", "First"}} {
		if _, err := r.command(dir, nil, args...); err != nil {
			return "", err
		}
	}
	return dir, nil
}
