package hostile

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
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
const everyNth = 12

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
		for i, members := range crowds(vectors()) {
			members = slices.DeleteFunc(members, func(v vector) bool { return known[v.name] })
			if !all && i%everyNth != 0 || len(members) == 0 {
				continue
			}
			t.Run(cmp.Or(members[0].crowd, members[0].name), func(t *testing.T) {
				t.Parallel()
				members := slices.DeleteFunc(members, func(v vector) bool { return !has(t, l, v.needs) })
				if len(members) == 0 {
					t.Skip("nothing that it needs is installed")
				}
				var found []vector
				for _, v := range members {
					switch {
					case v.control == "" && v.dormant == "":
						t.Error(v.name + " has neither a control nor a reason for having none")
						continue
					case v.control == "":
						dormant.Add(1)
					case prove(t, l, v, members):
						live.Add(1)
					default:
						continue
					}
					found = append(found, v)
				}
				if members = found; len(members) == 0 {
					t.Skip("what is installed here runs none of it")
				}
				// A crowd is tried with all tools over both transports.
				entries, failed := attack(t, l, members, halves && len(members) == 1, i%2 == 0)
				if len(members) > 1 && len(failed) > 0 {
					// On a busy machine, an answer can be late. One vector hides another each time.
					_, again := attack(t, l, members, false, false)
					for entry, why := range failed {
						if again[entry] != "" {
							t.Errorf("%s fails here, so one vector may hide another: %s", entry, why)
						}
					}
				}
				tried.Add(int64(entries * len(members)))
			})
		}
	})
	n := live.Load() + dormant.Load()
	t.Logf("%d vectors (%d live, %d dormant here) × %d entry points: %d attempts",
		n, live.Load(), dormant.Load(), tried.Load()/max(n, 1), tried.Load())
}

// has reports whether a program is installed; "" always is.
func has(t *testing.T, l *lab, program string) bool {
	t.Helper()
	if program == "" {
		return true
	}
	_, err := xec.Env(l.env).LookPath(program)
	if err != nil && need.All() {
		t.Error(program + " is not installed")
	}
	return err == nil
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

// prove shows that a vector is live beside others: that its canary wakes when a person uses git or just
// as always.
func prove(t *testing.T, l *lab, v vector, members []vector) bool {
	t.Helper()
	r := newRepo(t, l)
	r.plant(members...)
	control := strings.ReplaceAll(v.control, "{mark}", mark(slices.Index(r.planted, v.name)))
	said, _ := shell(t.Context(), filepath.Join(r.root(), filepath.FromSlash(v.from)), r.environ(), control)
	what := r.woken()
	if strings.Contains(what, ran(v.name)) || strings.Contains(what, connected) {
		return true
	}
	report := t.Logf
	if need.All() {
		report = t.Errorf
	}
	report("%s: what is installed here does not run it: %s\n%s%s", v.name, control, said, what)
	return false
}

// attack tries every entry point. It returns how many there are, and what those say that fail. See halves
// and second of visitor.
func attack(t *testing.T, l *lab, members []vector, halves, second bool) (entries int, failed map[string]string) {
	t.Helper()
	failed = make(map[string]string)
	r := newRepo(t, l)
	r.plant(members...)
	recipe := "hello"
	if members[0].byName {
		recipe = "no-such-task"
	}
	from := filepath.Join(r.root(), filepath.FromSlash(members[0].from))
	_, err := xec.Env(l.env).LookPath("just")
	complete := err == nil // otherwise, the tasks fail everywhere
	v := &visitor{r: r, from: from, recipe: recipe, doomed: firstDoomed, halves: halves, second: second, tried: func(a attempt) {
		entries++
		if what := r.woken(); what != "" && (!a.connects || what != connected) {
			t.Errorf("%s: %s", a.entry, what)
		}
		if complete && a.failed != "" && (!members[0].byName || !noTask.MatchString(a.failed)) {
			failed[a.entry] = a.failed
		}
	}}
	if err := v.all(t.Context()); err != nil {
		t.Error(err)
	}
	if what := r.woken(); what != "" {
		t.Errorf("after the last entry point: %s", what)
	}
	return entries, failed
}

// noTask is what copse says of the task that is not there, and of its run.
var noTask = regexp.MustCompile(`There is no task \\*"no-such-task|There is no recorded task run`)

// The vectors of a crowd are tried from the same directory, with the same task, and in the same
// environment.
func TestCrowds(t *testing.T) {
	t.Parallel()
	for _, members := range crowds(vectors()) {
		if len(members) > largestCrowd {
			t.Errorf("%s has %d vectors, of at most %d", members[0].crowd, len(members), largestCrowd)
		}
		for _, v := range members {
			if v.from != members[0].from || v.byName != members[0].byName {
				t.Errorf("%s cannot be in the crowd of %s", v.name, members[0].name)
			}
		}
	}
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
