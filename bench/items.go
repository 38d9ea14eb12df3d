package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

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

// workItems measures the tracker with 10,000 and 100,000 items of 1 KB.
func workItems(ctx context.Context, work string, floor, copse []string, rounds int) ([]report.Row, error) {
	var rows []report.Row
	var small []report.Row
	for _, n := range []int{10_000, 100_000} {
		dir := filepath.Join(work, fmt.Sprintf("items-%d", n))
		if err := project(dir, n); err != nil {
			return nil, err
		}
		time.Sleep(settle)
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
			show, err := besideEcho(ctx, dir, floor, copse, rounds, "show_item", `{"id":3}`)
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
	never, err := firstCall(ctx, dir, copse, "list_items", `{"all":true}`)
	if err != nil {
		return nil, err
	}
	first, err := firstCalls(ctx, dir, copse, "list_items", `{"all":true}`)
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
		{"filtered list, warm", "list_items", always(`{"all":true,"status":"todo","label":"two"}`)},
		{"search for something else each time", "search_items", otherQuery},
		{"search, warm", "search_items", always(`{"all":true,"query":"session token crash"}`)},
		{"tree, warm", "get_item_tree", always(`{"all":true}`)},
	} {
		took, err := repeat(s, rounds, c.tool, c.args)
		if err != nil {
			return nil, err
		}
		rows = append(rows, report.Limit(name+c.what, "ms", report.Milliseconds(took), report.Milliseconds(warmItems)))
	}
	rows = append(rows, report.Limit(name+"memory", "MiB", s.Memory(), itemsMemory))
	took, err := repeat(s, rounds, "create_item", func(i int) string {
		return fmt.Sprintf(`{"title":"new %d","description":%q,"parent":%d}`, i, strings.Repeat("text ", 200), i+1)
	})
	if err != nil {
		return nil, err
	}
	rows = append(rows, report.Limit(name+"create", "ms", report.Milliseconds(took), report.Milliseconds(createItem)))
	return rows, s.Stop()
}

func always(args string) func(int) string { return func(int) string { return args } }

// otherQuery searches for three words that no other call searches for.
func otherQuery(i int) string {
	words := strings.Fields(vocabulary)
	n := len(words)
	return fmt.Sprintf(`{"all":true,"query":"%s %s %s"}`, words[i%n], words[i/n%n], words[(7*i+3)%n])
}

// repeat returns the median time of calls of a tool; the first is not counted.
func repeat(s *stdio.Server, rounds int, tool string, args func(int) string) (time.Duration, error) {
	var took []time.Duration
	for i := range rounds + 1 {
		d, _, err := s.Call(tool, args(i))
		if err != nil {
			return 0, err
		}
		took = append(took, d)
	}
	return median(took[1:]), nil
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
	return report.Row{What: "fsync's own share of a create", Unit: "ms", Value: report.Milliseconds(median(took)), Within: true}, nil
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

// vocabulary is what descriptions are made of.
const vocabulary = "the login session token crash when a user opens the page and server returns an error because of missing " +
	"header in request with proxy config enabled on staging environment after deployment expected actual steps"

// project makes a store with n items of about 1 KB, each below another.
func project(dir string, n int) error {
	items := filepath.Join(dir, ".tic", "items")
	if err := os.MkdirAll(items, 0o755); err != nil {
		return err
	}
	config := fmt.Sprintf("backend: local\ntypes:\n  - epic\n  - issue\n  - task\nstatuses:\n  - backlog\n  - todo\n  - done\n"+
		"current_iteration: default\niterations:\n  - default\nnext_id: %d\n", n+1)
	if err := os.WriteFile(filepath.Join(dir, ".tic", "config.yml"), []byte(config), 0o644); err != nil {
		return err
	}
	words := strings.Fields(vocabulary)
	random := rand.New(rand.NewPCG(1, 2))
	statuses := []string{"backlog", "todo", "done"}
	for id := 1; id <= n; id++ {
		if err := writeItem(filepath.Join(items, fmt.Sprintf("%d.md", id)), id, statuses[id%len(statuses)], words, random); err != nil {
			return err
		}
	}
	return nil
}

func writeItem(path string, id int, status string, words []string, random *rand.Rand) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	fmt.Fprintf(w, "---\nid: \"%d\"\ntitle: Item %d of many\ntype: task\nstatus: %s\niteration: default\npriority: medium\nassignee: alice\n"+
		"labels:\n  - one\n  - two\ncreated: %s\nupdated: %s\n", id, id, status, "2026-03-02T08:00:00.000Z", "2026-03-02T08:00:00.000Z")
	if id > 1 {
		fmt.Fprintf(w, "parent: \"%d\"\ndepends_on:\n  - \"%d\"\n", max(1, id/10), 1+random.IntN(id-1))
	}
	fmt.Fprint(w, "---\n")
	for size := 250; size < 1000; {
		word := words[random.IntN(len(words))]
		fmt.Fprint(w, word, " ")
		size += len(word) + 1
	}
	fmt.Fprintln(w)
	return errors.Join(w.Flush(), f.Close())
}
