package protocol

import (
	"fmt"
	"path/filepath"

	"github.com/copse-dev/copse/internal/test/racing"
	"github.com/copse-dev/copse/internal/test/soak/rig"
)

// racedReads is how many reads race with links in all, in a run that is complete. Otherwise a tenth of them
// does: the test of the package racing tries the same.
const racedReads = 20_000

// RacingLinks has each kind of file read while it and the directories above it are swapped
// for links. It takes the time that it takes.
func RacingLinks(r *rig.Rig) ([]rig.Result, error) {
	l, err := racing.New(r.Context, filepath.Join(r.Dir, "world"), r.Bin)
	if err != nil {
		return nil, err
	}
	openers, reads := racing.Openers(), racedReads
	if !r.Complete {
		reads /= 10
	}
	var results []rig.Result
	for _, o := range openers {
		res := rig.Result{What: "reads under racing links: " + o.Name}
		if !l.Has(o) {
			res.Note = "not tried: a program is not installed"
			results = append(results, res)
			continue
		}
		var read, refused int
		var swaps int64
		for _, file := range o.Files {
			out, err := l.Try(r.Context, o, file, reads/len(openers)/len(o.Files)+1)
			if err != nil {
				return results, fmt.Errorf("%s: %w", o.Name, err)
			}
			res.Tried, res.Lost = res.Tried+out.Reads, res.Lost+out.Escapes
			read, refused, swaps = read+out.Read, refused+out.Refused, swaps+out.Swaps
			if out.Note != "" {
				res.Note = out.Note
			}
		}
		res.Survived = res.Tried - res.Lost
		if res.Note == "" {
			res.Note = fmt.Sprintf("%d had the file, %d an error, over %d swaps", read, refused, swaps)
		}
		results = append(results, res)
	}
	return results, l.Close()
}
