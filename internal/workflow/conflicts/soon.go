package conflicts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/workflow/conflicts/results"
)

// errMoment is the cause of a search that exceeds a short time limit.
var errMoment = errors.New("the time limit is reached")

// Soon returns the part of Report that is known or can be found within about wait, and the rest as a text,
// such as "3 pairs of branches are not compared", "" if all are. A result applies only to
// the commits and the uncommitted changes that both sides have now.
func (r *Radar) Soon(ctx context.Context, q Request, wait time.Duration) (found Report, left string) {
	wait *= time.Duration(max(r.o.Patience, 1))
	limited, cancel := context.WithTimeoutCause(ctx, wait, errMoment)
	defer cancel()
	q.soon = true
	waiting, stop := context.WithTimeout(limited, wait/2)
	defer stop()
	turn := r.begin(waiting) // another call can be looking, for as long as it takes
	if turn {
		// Results are written before this function returns: a command may end directly after it.
		defer r.end()
	}
	found, err := r.look(limited, q, turn)
	switch {
	case err != nil && errors.Is(context.Cause(limited), errMoment):
		return Report{}, "the branches are not compared"
	case err != nil:
		return Report{}, "the branches are not compared: " + err.Error()
	case found.NotCompared > 0:
		is := "are"
		if found.NotCompared == 1 {
			is = "is"
		}
		return found, fmt.Sprintf("%s of branches %s not compared", cleantext.Count(found.NotCompared, "pair"), is)
	}
	return found, ""
}

// opened returns the stored results.
func (r *Radar) opened(commonDir string) *results.Cache {
	r.opening.Lock()
	defer r.opening.Unlock()
	if r.cache == nil {
		r.cache = results.Open(r.o.CacheDir, commonDir, r.o.Now)
	}
	return r.cache
}
