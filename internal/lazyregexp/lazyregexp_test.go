package lazyregexp_test

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/copse-dev/copse/internal/lazyregexp"
)

// word is of a package, as the users of New have it.
var word = lazyregexp.New(`^[a-z]+$`)

// The expression is compiled once, even if several goroutines ask for it at once.
func TestGet(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got := word.Get(); !got.MatchString("abc") || got.MatchString("a1") || got != word.Get() {
				t.Errorf("%v", got)
			}
		})
	}
	all.Wait()
}

// An expression is data of the executable: its package is not initialized.
func TestNothingRunsAtTheStart(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	trace, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(trace), "init regexp/syntax @") || strings.Contains(string(trace), "/internal/lazyregexp_test @") {
		t.Errorf("the package of this test is initialized:\n%s", trace)
	}
}
