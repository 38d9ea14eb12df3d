// Package spread divides work on a list over goroutines.
package spread

import (
	"runtime"
	"slices"
	"sync"
)

// Collect calls do for the parts of a list, and returns all results, in the order of the list.
// There are as many parts as processors, but none has fewer than share items, so a short list stays
// in the caller's goroutine.
func Collect[T, R any](list []T, share int, do func(part []T) []R) []R {
	results := make([][]R, max(1, min(runtime.GOMAXPROCS(0), len(list)/max(1, share))))
	last := len(results) - 1
	part := func(i int) []T { return list[i*len(list)/len(results) : (i+1)*len(list)/len(results)] }
	var group sync.WaitGroup
	for i := range last {
		group.Go(func() { results[i] = do(part(i)) })
	}
	results[last] = do(part(last)) // no need to leave this goroutine
	group.Wait()
	if last == 0 {
		return results[0]
	}
	return slices.Concat(results...)
}
