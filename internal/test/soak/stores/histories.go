package stores

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/copse-dev/copse/internal/test/histories"
	"github.com/copse-dev/copse/internal/test/soak/rig"
)

// wholeHistories is how many histories the long form makes, however long it takes.
const wholeHistories = 2000

// RandomHistories makes random histories of work items in two to four clones, with
// merges, rebases and cherry-picks by git, every third one with the merge driver.
func RandomHistories(r *rig.Rig) ([]rig.Result, error) {
	t := &tally{Rig: r, seed: r.Random.Uint64()}
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i, ok := t.next(); ok; i, ok = t.next() {
				out, err := t.run(i)
				t.add(i, out, err)
			}
		})
	}
	workers.Wait()
	total := t.total
	return []rig.Result{{
		What:  "random histories of work items in 2 to 4 clones, with merges, rebases and cherry-picks",
		Tried: t.done, Survived: t.good, Lost: t.done - t.good,
		Note: fmt.Sprintf("%d merges, %d stops, %d crashes of git, %d items, %d comments: lost %d, duplicated %d, wrong relations %d",
			total.Merges, total.Stops, total.Crashes, total.Items, total.Comments, len(total.Lost), len(total.Duplicated), len(total.Wrong)),
	}}, t.failed
}

// tally counts the histories that several workers make.
type tally struct {
	*rig.Rig
	seed uint64

	mu                sync.Mutex
	begun, done, good int
	total             histories.Outcome
	failed            error
}

// next returns the number of the next history; ok is false after the last one.
func (t *tally) next() (i int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	more := t.GoOn() || t.Complete && t.begun < wholeHistories
	if t.failed != nil || t.Context.Err() != nil || !more {
		return 0, false
	}
	t.begun++
	return t.begun, true
}

// run makes a history and counts it.
func (t *tally) run(i int) (*histories.Outcome, error) {
	dir := filepath.Join(t.Dir, fmt.Sprint(i))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	driver := ""
	if i%3 == 0 {
		driver = t.Copse() + " item merge-driver"
	}
	out, err := histories.Run(t.Context, dir, rand.New(rand.NewPCG(t.seed, uint64(i))), driver)
	if err != nil {
		return nil, fmt.Errorf("history %d: %w", i, err)
	}
	return out, nil
}

// add counts a history. One that was interrupted does not count.
func (t *tally) add(i int, out *histories.Outcome, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.Context.Err() != nil:
		return
	case err != nil:
		t.failed = err
		return
	case out.Good():
		t.good++
	default:
		fmt.Fprintf(os.Stderr, "history %d of seed %d: lost %v, twice %v, wrong %v\n", i, t.seed, out.Lost, out.Duplicated, out.Wrong)
	}
	t.total.Add(out)
	if t.done++; t.done%100 == 0 {
		fmt.Fprintf(os.Stderr, "%d histories of seed %d: %d good\n", t.done, t.seed, t.good)
	}
}
