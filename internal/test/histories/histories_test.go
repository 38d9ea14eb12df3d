package histories_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/test/built"
	"github.com/copse-dev/copse/internal/test/histories"
	"github.com/copse-dev/copse/internal/test/need"
)

// TestHistories makes a few random histories; "make soak" makes thousands. Set
// COPSE_HISTORIES to a number, to one seed as =7, or to one history of a soak as
// =SEED:N, where SEED and N are those that the soak names.
func TestHistories(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		need.Skip(t, "git is not installed")
	}
	first, count := 0, 6
	random := func(seed int) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), 1)) }
	if soak, n, ok := strings.Cut(strings.TrimPrefix(os.Getenv("COPSE_HISTORIES"), "="), ":"); ok {
		seed, err := strconv.ParseUint(soak, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if first, err = strconv.Atoi(n); err != nil {
			t.Fatal(err)
		}
		count = 1
		random = func(n int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(n))) }
	} else if text := os.Getenv("COPSE_HISTORIES"); strings.HasPrefix(text, "=") {
		first, _ = strconv.Atoi(text[1:])
		count = 1
	} else if n, err := strconv.Atoi(text); err == nil {
		count = n
	}
	driver := filepath.Join(t.TempDir(), "copse")
	if err := built.Build(t.Context(), driver, "github.com/copse-dev/copse/cmd/copse"); err != nil {
		t.Fatal(err)
	}
	for seed := first; seed < first+count; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			command := ""
			if seed%3 == 0 {
				command = driver + " item merge-driver"
			}
			out, err := histories.Run(t.Context(), t.TempDir(), random(seed), command)
			if err != nil {
				t.Fatal(err)
			}
			if !out.Good() {
				t.Errorf("lost %v\ntwice %v\nwrong %v\nafter %s", out.Lost, out.Duplicated, out.Wrong, strings.Join(out.Steps, "\n"))
			}
		})
	}
}
