package protocol

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/test/bombs"
	"github.com/copse-dev/copse/internal/test/soak/rig"
)

const (
	// bombPatience is how long an answer may take under a bomb. The slowest one is in the table.
	bombPatience = 10 * time.Second
	// bombMemory is what a process may take under a bomb, in MiB.
	bombMemory = 128
)

// FilesThatNeverEnd puts each bomb at each place. It takes the time that it takes.
func FilesThatNeverEnd(r *rig.Rig) ([]rig.Result, error) {
	if !r.Complete {
		return nil, nil // the test of the package bombs tries the same, with the same limits
	}
	base := filepath.Join(r.Dir, "world")
	w, err := bombs.New(r.Context, base, r.Bin)
	if err != nil {
		return nil, err
	}
	var results []rig.Result
	for _, p := range bombs.Places() {
		res := rig.Result{What: "files that never end, as " + p.Name}
		var slowest time.Duration
		var peaks, wrong []string
		for _, b := range bombs.All() {
			if !p.Fits(b) {
				continue
			}
			if r.Context.Err() != nil {
				return results, nil //nolint:nilerr // the time is over
			}
			o, err := w.Try(r.Context, p, b, bombPatience)
			if err == nil && o.Peak > bombMemory {
				err = fmt.Errorf("%.0f MiB", o.Peak)
			}
			res.Tried++
			slowest = max(slowest, o.Slowest)
			peaks = append(peaks, fmt.Sprintf("%s %.0f MiB", b.Name, o.Peak))
			if err != nil {
				res.Lost++
				wrong = append(wrong, b.Name+": "+err.Error())
				continue
			}
			res.Survived++
		}
		res.Note = fmt.Sprintf("slowest answer %s; memory under %s", slowest.Round(time.Millisecond), strings.Join(append(peaks, wrong...), ", "))
		results = append(results, res)
	}
	return results, nil
}
