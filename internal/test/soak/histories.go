package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/copse-dev/copse/internal/test/histories"
)

// wholeHistories is how many histories the long form makes, however long it takes.
const wholeHistories = 2000

// randomHistories makes random histories of work items in two to four clones, with
// merges, rebases and cherry-picks by git, every third one with the merge driver.
func randomHistories(r *rig) ([]result, error) {
	seed := r.random.Uint64()
	var mu sync.Mutex
	n := 0
	total := histories.Outcome{}
	done, good := 0, 0
	var failed error
	next := func() (i int, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		if failed != nil || r.ctx.Err() != nil || !r.goOn() && (!r.whole || n >= wholeHistories) {
			return 0, false
		}
		n++
		return n, true
	}
	one := func(i int) error {
		dir := filepath.Join(r.dir, fmt.Sprint(i))
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		driver := ""
		if i%3 == 0 {
			driver = r.copse() + " item merge-driver"
		}
		out, err := histories.Run(r.ctx, dir, rand.New(rand.NewPCG(seed, uint64(i))), driver)
		if r.ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("history %d: %w", i, err)
		}
		mu.Lock()
		defer mu.Unlock()
		total.Items, total.Comments = total.Items+out.Items, total.Comments+out.Comments
		total.Merges, total.Stops = total.Merges+out.Merges, total.Stops+out.Stops
		total.Lost, total.Duplicated, total.Wrong = append(total.Lost, out.Lost...), append(total.Duplicated, out.Duplicated...), append(total.Wrong, out.Wrong...)
		done++
		if out.Good() {
			good++
		} else {
			fmt.Fprintf(os.Stderr, "history %d of seed %d: lost %v, twice %v, wrong %v\n", i, seed, out.Lost, out.Duplicated, out.Wrong)
		}
		if done%100 == 0 {
			fmt.Fprintf(os.Stderr, "%d histories of seed %d: %d good\n", done, seed, good)
		}
		return nil
	}
	var workers sync.WaitGroup
	for range 2 * runtime.NumCPU() { // most of the time they wait for git
		workers.Go(func() {
			for i, ok := next(); ok; i, ok = next() {
				if err := one(i); err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
				}
			}
		})
	}
	workers.Wait()
	if failed != nil {
		return nil, failed
	}
	return []result{{
		What:  "random histories of work items in 2 to 4 clones, with merges, rebases and cherry-picks",
		Tried: done, Survived: good, Lost: done - good,
		Note: fmt.Sprintf("%d merges, %d stops, %d items, %d comments: lost %d, duplicated %d, wrong relations %d",
			total.Merges, total.Stops, total.Items, total.Comments, len(total.Lost), len(total.Duplicated), len(total.Wrong)),
	}}, nil
}
