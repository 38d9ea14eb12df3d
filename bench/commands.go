package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/copse-dev/copse/bench/fixture"
	"github.com/copse-dev/copse/bench/measure"
	"github.com/copse-dev/copse/bench/report"
	"github.com/copse-dev/copse/internal/test/stdio"
)

// promptCommands measures a registry of 10,000 commands.
func promptCommands(ctx context.Context, work string, floor, copse []string, rounds int) ([]report.Row, error) {
	dir := filepath.Join(work, "commands")
	if err := fixture.Prompts(dir, 10_000); err != nil {
		return nil, err
	}
	time.Sleep(measure.Settle)
	s, err := stdio.Spawn(ctx, dir, copse...)
	if err != nil {
		return nil, err
	}
	const one = `{"agent":"climpt","c1":"domain","c2":"action","c3":"target"}`
	load, _, err := s.Call("describe", one)
	if err != nil {
		return nil, err
	}
	query := func(i int) string {
		return fmt.Sprintf(`{"query":"write a database migration for the customer service %d"}`, i)
	}
	first, _, err := s.Call("search", query(0))
	if err != nil {
		return nil, err
	}
	search, err := measure.Repeat(s, rounds, "search", query)
	if err != nil {
		return nil, err
	}
	rows := []report.Row{
		report.Limit("10,000 commands: load", "ms", report.Milliseconds(load), 150),
		report.Limit("10,000 commands: load, and first search", "ms", report.Milliseconds(load+first), 150),
		report.Limit("10,000 commands: search, warm", "ms", report.Milliseconds(search), 2),
		{What: "10,000 commands: memory", Unit: "MiB", Value: s.Memory(), Within: true},
	}
	if err := s.Stop(); err != nil {
		return nil, err
	}
	for _, tool := range []string{"describe", "execute"} {
		r, err := measure.BesideEcho(ctx, dir, floor, copse, rounds*5, tool, one)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}
