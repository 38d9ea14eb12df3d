package stackroom_test

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"github.com/copse-dev/copse/internal/stackroom"
)

// Goroutines have their stack at once.
func TestGrow(t *testing.T) { //nolint:paralleltest // it measures the stacks of all goroutines
	const goroutines = 200
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection can shrink them
	inUse := func(grow bool) uint64 {
		var before, after runtime.MemStats
		var grown, ended sync.WaitGroup
		release := make(chan struct{})
		runtime.ReadMemStats(&before)
		grown.Add(goroutines)
		for range goroutines {
			ended.Go(func() {
				if grow {
					stackroom.Grow()
				}
				grown.Done()
				<-release
			})
		}
		grown.Wait()
		runtime.ReadMemStats(&after)
		close(release)
		ended.Wait()
		return after.StackInuse - min(before.StackInuse, after.StackInuse)
	}
	if small, grown := inUse(false), inUse(true); grown < goroutines*stackroom.Usual || small > grown/2 {
		t.Errorf("%d stacks take %d bytes, and %d if they grow", goroutines, small, grown)
	}
}

// The main goroutine has its stack before other packages are initialized.
func TestOrder(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	trace, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(trace), "/internal/stackroom @")
	for _, other := range []string{"os", "time", "testing"} {
		if !found || !strings.Contains(after, "init "+other+" @") {
			t.Errorf("%s is initialized earlier:\n%s", other, trace)
		}
	}
}
