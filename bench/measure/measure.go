// Package measure times the calls of servers: alone, beside the echo of a one-tool server, or beside
// another program, in turns within one run.
package measure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/bench/fixture"
	"github.com/copse-dev/copse/bench/report"
	"github.com/copse-dev/copse/internal/test/stdio"
)

// P99 returns the time that 99 of 100 do not exceed. It sorts d.
func P99(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[min(len(d)-1, len(d)*99/100)]
}

// Always returns the same arguments for each call, for [Repeat].
func Always(args string) func(int) string { return func(int) string { return args } }

// OtherWords returns the arguments of a search for three words that no other call searches for.
func OtherWords(i int) string {
	words := strings.Fields(fixture.Vocabulary)
	n := len(words)
	return fmt.Sprintf(`{"all":true,"query":"%s %s %s"}`, words[i%n], words[i/n%n], words[(7*i+3)%n])
}

// Repeat returns the median time of calls of a tool; the first is not counted.
func Repeat(s *stdio.Server, rounds int, tool string, args func(int) string) (time.Duration, error) {
	var took []time.Duration
	for i := range rounds + 1 {
		d, _, err := s.Call(tool, args(i))
		if err != nil {
			return 0, err
		}
		took = append(took, d)
	}
	return Median(took[1:]), nil
}

// Settle is how long after its last change copse trusts a file's times.
const Settle = 4 * time.Second

// BesideEcho measures calls of a tool and of the echo, in turns.
func BesideEcho(ctx context.Context, dir string, floor, copse []string, rounds int, tool, args string) (report.Row, error) {
	yard, err := stdio.Spawn(ctx, dir, floor...)
	if err != nil {
		return report.Row{}, err
	}
	s, err := stdio.Spawn(ctx, dir, copse...)
	if err != nil {
		return report.Row{}, err
	}
	_, answer, err := s.Call(tool, args) // the first call opens things
	if err != nil {
		return report.Row{}, err
	}
	// The yardstick says back as many bytes as the tool's text has.
	var r struct {
		Result struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal(answer, &r); err != nil {
		return report.Row{}, err
	}
	same, err := json.Marshal(map[string]string{"text": r.Result.Content[0].Text})
	if err != nil {
		return report.Row{}, err
	}
	took, err := inTurns(rounds, call{yard, "echo", string(same)}, call{s, tool, args})
	if err != nil {
		return report.Row{}, err
	}
	return report.Ratio(tool, Median(took[0]), Median(took[1]), 1.2), errors.Join(yard.Stop(), s.Stop())
}

// ColdAnswer measures the first call of a tool in new servers, beside the original program
// if there is one.
func ColdAnswer(ctx context.Context, dir string, copse []string, original, tool string) (report.Row, error) {
	const originalTook = 41 // ms, measured on another machine
	took, err := FirstCalls(ctx, dir, copse, tool, "{}")
	if err != nil {
		return report.Row{}, err
	}
	row := report.Limit(tool+", first call", "ms", report.Milliseconds(took), originalTook)
	if original != "" {
		theirs, err := FirstCalls(ctx, dir, []string{original}, tool, "{}")
		if err == nil {
			return report.Ratio(tool+", first call, beside the original", theirs, took, 1), nil
		}
		row.What += " (the original fails)"
	}
	return row, nil
}

// FirstCalls returns the median time of the first call of a tool, in some servers.
func FirstCalls(ctx context.Context, dir string, copse []string, tool, args string) (time.Duration, error) {
	var took []time.Duration
	for range 5 {
		d, err := FirstCall(ctx, dir, copse, tool, args)
		if err != nil {
			return 0, err
		}
		took = append(took, d)
	}
	return Median(took), nil
}

// FirstCall returns the time of the first call of a new process.
func FirstCall(ctx context.Context, dir string, copse []string, tool, args string) (time.Duration, error) {
	s, err := stdio.Spawn(ctx, dir, copse...)
	if err != nil {
		return 0, err
	}
	d, _, err := s.Call(tool, args)
	if err != nil {
		return 0, err
	}
	return d, s.Stop()
}

// Median returns the median. It sorts d.
func Median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// call is a call of a tool of a server.
type call struct {
	server     *stdio.Server
	tool, args string
}

// inTurns returns how long each of two calls takes, made one after the other, rounds times.
func inTurns(rounds int, first, second call) ([2][]time.Duration, error) {
	var took [2][]time.Duration
	for range rounds {
		for i, c := range []call{first, second} {
			d, _, err := c.server.Call(c.tool, c.args)
			if err != nil {
				return took, err
			}
			took[i] = append(took[i], d)
		}
	}
	return took, nil
}

// BesideOther measures calls of a tool here and of the one of the same name there, in
// turns. Here must not be slower.
func BesideOther(ctx context.Context, dir string, other, copse []string, rounds int, tool, args, theirs string) (report.Row, error) {
	yard, err := stdio.Spawn(ctx, dir, other...)
	if err != nil {
		return report.Row{}, err
	}
	s, err := stdio.Spawn(ctx, dir, copse...)
	if err != nil {
		return report.Row{}, err
	}
	took, err := inTurns(rounds, call{yard, tool, theirs}, call{s, tool, args})
	if err != nil {
		return report.Row{}, err
	}
	err = s.Stop()
	// It ends with an error when its input does.
	_ = yard.Stop()
	return report.Ratio(tool+", beside the reference filesystem server", Median(took[0]), Median(took[1]), 1), errors.Join(err)
}
