package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/copse-dev/copse/bench/fixture"
	"github.com/copse-dev/copse/bench/measure"
	"github.com/copse-dev/copse/bench/report"
	"github.com/copse-dev/copse/internal/test/stdio"
)

// Budgets of a store with 10,000 items. With 100,000 everything may take ten
// times as much; the yardstick there is what 10,000 take.
const (
	firstList   = 100 * time.Millisecond
	warmItems   = 5 * time.Millisecond
	createItem  = 10 * time.Millisecond
	itemsMemory = 60 // MiB
)

// workItems measures the tracker with some numbers of items of 1 KB: 10,000, and ten times as many.
func workItems(ctx context.Context, work string, floor, copse []string, rounds int, sizes []int) ([]report.Row, error) {
	var rows []report.Row
	var small []report.Row
	for _, n := range sizes {
		dir := filepath.Join(work, fmt.Sprintf("items-%d", n))
		if err := fixture.Items(dir, n); err != nil {
			return nil, err
		}
		time.Sleep(measure.Settle)
		measured, err := someItems(ctx, dir, n, copse, rounds)
		if err != nil {
			return nil, err
		}
		if small == nil {
			small = measured
		} else {
			for i := range measured {
				measured[i] = measured[i].Grown(10, small[i])
			}
		}
		rows = append(rows, measured...)
		if n == 10_000 {
			disk, err := syncs(dir, rounds)
			if err != nil {
				return nil, err
			}
			show, err := measure.BesideEcho(ctx, dir, floor, copse, rounds, "show_item", `{"id":3}`)
			if err != nil {
				return nil, err
			}
			rows = append(rows, disk, show)
		}
	}
	return rows, nil
}

// someItems measures a store with n items. The rows are in the same order for
// all n.
func someItems(ctx context.Context, dir string, n int, copse []string, rounds int) ([]report.Row, error) {
	name := strings.TrimSuffix(fmt.Sprint(n), "000") + ",000 items: "
	never, err := measure.FirstCall(ctx, dir, copse, "list_items", `{"all":true}`)
	if err != nil {
		return nil, err
	}
	first, err := measure.FirstCalls(ctx, dir, copse, "list_items", `{"all":true}`)
	if err != nil {
		return nil, err
	}
	rows := []report.Row{{What: name + "first list of a store never read before", Unit: "ms", Value: report.Milliseconds(never), Within: true}, report.Limit(name+"first list after start", "ms", report.Milliseconds(first), report.Milliseconds(firstList))}
	s, err := stdio.Spawn(ctx, dir, copse...)
	if err != nil {
		return nil, err
	}
	for _, c := range []struct {
		what, tool string
		args       func(i int) string
	}{
		{"filtered list, warm", "list_items", measure.Always(`{"all":true,"status":"todo","label":"two"}`)},
		{"search for something else each time", "search_items", measure.OtherWords},
		{"search, warm", "search_items", measure.Always(`{"all":true,"query":"session token crash"}`)},
		{"tree, warm", "get_item_tree", measure.Always(`{"all":true}`)},
	} {
		took, err := measure.Repeat(s, rounds, c.tool, c.args)
		if err != nil {
			return nil, err
		}
		rows = append(rows, report.Limit(name+c.what, "ms", report.Milliseconds(took), report.Milliseconds(warmItems)))
	}
	rows = append(rows, report.Limit(name+"memory", "MiB", s.Memory(), itemsMemory))
	took, err := measure.Repeat(s, rounds, "create_item", func(i int) string {
		return fmt.Sprintf(`{"title":"new %d","description":%q,"parent":%d}`, i, strings.Repeat("text ", 200), i+1)
	})
	if err != nil {
		return nil, err
	}
	rows = append(rows, report.Limit(name+"create", "ms", report.Milliseconds(took), report.Milliseconds(createItem)))
	return rows, s.Stop()
}

// syncs returns what the disk takes of a creation: the content of two files, at once, and then
// their directories.
func syncs(dir string, rounds int) (report.Row, error) {
	text := []byte(strings.Repeat("some text ", 110))
	var took []time.Duration
	for range rounds {
		start := time.Now()
		for _, step := range []func(directory string) error{
			func(directory string) error { return writeSynced(filepath.Join(directory, "bench.tmp"), text) },
			syncDir,
		} {
			done := make(chan error)
			directories := []string{dir, filepath.Join(dir, ".tic")}
			for _, directory := range directories {
				go func() { done <- step(directory) }()
			}
			for range directories {
				if err := <-done; err != nil {
					return report.Row{}, err
				}
			}
		}
		took = append(took, time.Since(start))
	}
	return report.Row{What: "fsync's own share of a create", Unit: "ms", Value: report.Milliseconds(measure.Median(took)), Within: true}, nil
}

func writeSynced(path string, data []byte) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

func syncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
