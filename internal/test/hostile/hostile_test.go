package hostile

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/copse-dev/copse/internal/test/need"
	"github.com/copse-dev/copse/internal/xec"
)

// known are vectors that wake their canary. As long as one is here, docs/security.md
// promises too much.
var known = map[string]bool{}

// everyNth is the share of the vectors that a plain "go test" tries: all of them take
// minutes of processor time. Where nothing may be skipped, as in CI, all are tried.
const everyNth = 24

// TestNothingInARepositoryRuns tries every entry point in a copy of a repository for each
// vector, and first in one that is not hostile, where each entry point must do its work:
// one that fails everywhere would prove nothing.
func TestNothingInARepositoryRuns(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the programs that are planted are shell scripts")
	}
	l := newLab(t)
	worked := t.Run("harmless", func(t *testing.T) {
		if _, err := xec.Env(l.env).LookPath("just"); err != nil {
			need.Skip(t, "just is not installed")
		}
		harmless(t, l)
	})
	if !worked {
		return // each vector would say the same
	}
	all := need.All() || os.Getenv("COPSE_TEST_HOSTILE") != ""
	// With COPSE_TEST_HOSTILE, each server is asked for each tool. Otherwise each tool is tried with
	// each vector, on standard input or over HTTP; the next vector has it the other way around.
	halves := os.Getenv("COPSE_TEST_HOSTILE") == ""
	var live, dormant, tried atomic.Int64
	t.Run("vectors", func(t *testing.T) {
		for i, v := range vectors() {
			if !all && i%everyNth != 0 || known[v.name] {
				continue
			}
			t.Run(v.name, func(t *testing.T) {
				t.Parallel()
				if v.needs != "" {
					if _, err := xec.Env(l.env).LookPath(v.needs); err != nil {
						need.Skip(t, v.needs+" is not installed")
					}
				}
				if prove(t, l, v) {
					live.Add(1)
				} else {
					dormant.Add(1)
				}
				tried.Add(int64(attack(t, l, v, halves, i%2 == 0)))
			})
		}
	})
	n := live.Load() + dormant.Load()
	t.Logf("%d vectors (%d live, %d dormant here) × %d entry points: %d attempts",
		n, live.Load(), dormant.Load(), tried.Load()/max(n, 1), tried.Load())
}

// harmless tries every entry point where nothing is planted.
func harmless(t *testing.T, l *lab) {
	t.Helper()
	r := newRepo(t, l)
	v := &visitor{r: r, from: r.root(), doomed: firstDoomed, recipe: "hello", tried: func(a attempt) {
		if a.failed != "" {
			t.Errorf("%s: %s", a.entry, strings.TrimSpace(a.failed))
		}
	}}
	if err := v.all(t.Context()); err != nil {
		t.Error(err)
	}
	if what := r.woken(); what != "" {
		t.Error(what)
	}
}

// prove shows that a vector is live: that the canary wakes when a person uses git or just
// as always. It reports false for a vector that says why it has no such proof.
func prove(t *testing.T, l *lab, v vector) bool {
	t.Helper()
	if v.control == "" {
		if v.dormant == "" {
			t.Fatal("the vector has neither a control nor a reason for having none")
		}
		return false
	}
	r := newRepo(t, l)
	v.plant(r)
	r.woken() // planting may wake it
	said, _ := shell(t.Context(), filepath.Join(r.root(), filepath.FromSlash(v.from)), r.environ(), v.control)
	if r.woken() == "" {
		need.Skip(t, fmt.Sprintf("what is installed here does not run it: %s\n%s", v.control, said))
	}
	return true
}

// attack tries every entry point and returns how many there are. See halves and second of visitor.
func attack(t *testing.T, l *lab, planted vector, halves, second bool) (entries int) {
	t.Helper()
	r := newRepo(t, l)
	planted.plant(r)
	r.woken()
	recipe := "hello"
	if planted.byName {
		recipe = "no-such-task"
	}
	from := filepath.Join(r.root(), filepath.FromSlash(planted.from))
	v := &visitor{r: r, from: from, recipe: recipe, doomed: firstDoomed, halves: halves, second: second, tried: func(a attempt) {
		entries++
		if what := r.woken(); what != "" && (!a.connects || what != connected) {
			t.Errorf("%s: %s", a.entry, what)
		}
	}}
	if err := v.all(t.Context()); err != nil {
		t.Error(err)
	}
	if what := r.woken(); what != "" {
		t.Errorf("after the last entry point: %s", what)
	}
	return entries
}

// Two servers together are asked for each tool, whichever half is first.
func TestHalves(t *testing.T) {
	t.Parallel()
	for _, second := range []bool{false, true} {
		v := &visitor{halves: true, second: second}
		asked := slices.Concat(v.half(), v.half())
		for _, c := range tools {
			if !slices.Contains(asked, c) {
				t.Errorf("no server is asked for %s %s", c.name, c.args)
			}
		}
	}
	if got := len((&visitor{}).half()); got != len(tools) {
		t.Errorf("a server is asked for %d of %d tools", got, len(tools))
	}
}
