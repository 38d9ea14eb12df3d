package conflicts

import (
	"context"
	"errors"
	"slices"
	"time"
)

// errMoment is the cause of a search that exceeds a short time limit.
var errMoment = errors.New("the time limit is reached")

// Mine returns the conflicts of the worktree of the session, and when they were found. It gives up
// after about wait, and then uses the last complete report. Nil means that there are none, or that
// nobody has looked yet.
func (r *Radar) Mine(ctx context.Context, wait time.Duration) ([]Conflict, time.Time) {
	began := r.o.Now()
	if !r.mu.TryLock() { // another call is looking, for as long as it takes
		return r.last(ctx)
	}
	defer r.mu.Unlock()
	limited, cancel := context.WithTimeoutCause(ctx, wait, errMoment)
	defer cancel()
	// Results are written before this function returns: a command may end directly after it.
	report, err := r.look(limited, Request{Current: true})
	if err == nil {
		return report.Conflicts, began
	}
	return r.last(ctx)
}

// last returns what the last whole report found about the worktree of the session.
func (r *Radar) last(ctx context.Context) ([]Conflict, time.Time) {
	repo, err := r.o.Branches.Session().Repo(ctx)
	if err != nil {
		return nil, time.Time{}
	}
	found, at := r.Last(ctx)
	var mine []Conflict
	for _, c := range found {
		if slices.ContainsFunc(c.Holders, func(h Holder) bool { return h.Worktree == repo.Root() }) {
			mine = append(mine, c)
		}
	}
	return mine, at
}

// Last returns the conflicts that the last full report found, in any process of the
// user, and when; nothing is compared.
func (r *Radar) Last(ctx context.Context) ([]Conflict, time.Time) {
	repo, err := r.o.Branches.Session().Repo(ctx)
	if err != nil {
		return nil, time.Time{}
	}
	last := r.reader(repo.CommonDir()).load().Last
	if last == nil {
		return nil, time.Time{}
	}
	return last.Conflicts, last.At
}

// reader returns the cache for those who only read it, which need not wait for a report.
func (r *Radar) reader(commonDir string) *cache {
	r.opening.Lock()
	defer r.opening.Unlock()
	if r.read == nil {
		r.read = openCache(r.o.CacheDir, commonDir, r.o.Now)
	}
	return r.read
}
