package peers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/copse-dev/copse/bench/fixture"
	"github.com/copse-dev/copse/bench/measure"
	"github.com/copse-dev/copse/bench/report"
	"github.com/copse-dev/copse/internal/test/stdio"
)

// Sizes are the sizes at which [Growth] measures.
var Sizes = []int{1_000, 10_000, 100_000}

// patience is how long a peer may take for one call before it is left out at the next size.
const patience = 3 * time.Second

// longest is how long all calls of one subject may take together. A peer that takes longer is
// killed and reported: the run itself always ends.
const longest = 2 * time.Minute

// Growth measures calls on more and more data: of copse at everything that grows, of the
// other trackers at work items. A value of 0 is not measured.
func Growth(ctx context.Context, work string, found []Peer, rounds int, maximum int) (t report.Table, left []string, err error) {
	t = report.Table{
		Name: "growth", Title: "Growth", Note: "Warm calls with 1,000, 10,000, and 100,000 of a kind.",
		Columns: []string{"1,000: ms", "10,000: ms", "100,000: ms"}, Log: true,
	}
	type subject struct {
		work, server string
		argv         []string
		data         string // a key of makers
		ask          call
	}
	makers := map[string]func(dir string, n int) error{
		"tic": fixture.Items,
		"backlog": func(dir string, n int) error {
			return errors.Join(fixture.Repository(ctx, dir, 0), fixture.BacklogProject(dir, n))
		},
		"branches": func(dir string, n int) error { return fixture.Repository(ctx, dir, n) },
		"commands": fixture.Prompts,
		"files":    func(dir string, n int) error { return fixture.Files(ctx, dir, n) },
	}
	var subjects []subject
	for _, w := range []string{listItems, searchItem, newItem} {
		for _, p := range found {
			if p.tracker != "" {
				subjects = append(subjects, subject{w, p.Name, p.argv, p.tracker, p.calls[w]})
			}
		}
	}
	copse := found[0]
	for _, s := range []subject{
		{work: "draw the tree of branches", data: "branches", ask: call{tool: "get_branch_tree", args: "{}"}},
		{work: "follow a stack of branches", data: "branches", ask: call{tool: "get_branch_stack", args: "{}"}},
		{work: "search the prompt commands", data: "commands", ask: call{tool: "search", args: `{"query":"write a release note"}`}},
		{work: "list a project's files, five levels", data: "files", ask: call{tool: "list_directory", args: `{"path":".","depth":5}`}},
	} {
		s.server, s.argv = copse.Name, copse.argv
		subjects = append(subjects, s)
	}
	values := make([][]float64, len(subjects))
	for i := range subjects {
		values[i] = make([]float64, len(Sizes))
	}
	slow := make(map[string]bool)
	for at, n := range Sizes {
		if n > maximum {
			left = append(left, fmt.Sprintf("growth to %s: the run is a short one", report.Thousands(n)))
			continue
		}
		dirs := make(map[string]string)
		for i, s := range subjects {
			if slow[s.server] {
				continue
			}
			dir, made := dirs[s.data]
			if !made {
				dir = filepath.Join(work, fmt.Sprintf("growth-%s-%d", s.data, n))
				dirs[s.data] = dir
				if err := os.MkdirAll(dir, 0o755); err != nil {
					return t, left, err
				}
				if err := makers[s.data](dir, n); err != nil {
					return t, left, err
				}
				time.Sleep(measure.Settle)
			}
			took, err := grown(ctx, dir, s.argv, s.ask, rounds)
			if err != nil {
				if ctx.Err() != nil {
					return t, left, ctx.Err()
				}
				slow[s.server] = s.server != report.Own && errors.Is(err, context.DeadlineExceeded)
				left = append(left, fmt.Sprintf("%s fails to %s with %s: %s", s.server, s.work, report.Thousands(n), report.Reason(err)))
				continue
			}
			values[i][at] = report.Milliseconds(took)
			if took > patience && at+1 < len(Sizes) {
				slow[s.server] = true
				left = append(left, fmt.Sprintf("%s with more than %s work items: one call takes %.1f s", s.server, report.Thousands(n), took.Seconds()))
			}
		}
	}
	for i, s := range subjects {
		t.Rows = append(t.Rows, report.Line{Work: s.work, Server: s.server, Values: values[i]})
	}
	return t, left, nil
}

// grown returns the median time of a call.
func grown(ctx context.Context, dir string, argv []string, ask call, rounds int) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	s, err := stdio.Spawn(ctx, dir, argv...)
	if err != nil {
		return 0, err
	}
	defer s.End()
	var took []time.Duration
	for n := range rounds + 1 {
		d, _, err := s.Call(ask.tool, ask.with(n))
		if ctx.Err() != nil {
			return 0, fmt.Errorf("no answer within %s: %w", longest, ctx.Err())
		}
		if err != nil {
			return 0, err
		}
		if n > 0 {
			took = append(took, d)
		}
		if d > patience && n > 0 {
			break
		}
	}
	return measure.Median(took), nil
}
