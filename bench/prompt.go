package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"github.com/copse-dev/copse/bench/measure"
	"github.com/copse-dev/copse/bench/report"
)

// promptTime is what the line of a shell's prompt may take: longer is felt.
const promptTime = 20 * time.Millisecond

// promptLine measures "copse prompt-line" beside git, which prompts run as well. A run that
// was not disturbed holds the budget: it is the same on a machine with other work.
func promptLine(ctx context.Context, dir, copse string, rounds int) ([]report.Row, error) {
	var took [2][]time.Duration
	// Other programs of the machine can slow a few runs, but not ten times as many.
	for n := 0; n < rounds || n < 10*rounds && slices.Min(took[1]) > promptTime; n++ {
		for i, argv := range [][]string{{"git", "status", "--porcelain=v2", "--branch"}, {copse, "prompt-line"}} {
			cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
			cmd.Dir = dir
			begun := time.Now()
			out, err := cmd.Output()
			if err != nil || len(out) == 0 {
				return nil, fmt.Errorf("%v printed %q: %w", argv, out, err)
			}
			took[i] = append(took[i], time.Since(begun))
		}
	}
	quick := slices.Min(took[1])
	rows := []report.Row{report.Limit("prompt-line, beside git status", "ms", report.Milliseconds(measure.Median(took[1])), report.Milliseconds(promptTime)).Beside(report.Milliseconds(measure.Median(took[0])))}
	if quick > promptTime {
		return rows, fmt.Errorf("prompt-line took %s in the quickest of %d runs, more than %s", quick, len(took[1]), promptTime)
	}
	return rows, nil
}
