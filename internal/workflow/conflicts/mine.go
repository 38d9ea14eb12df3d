package conflicts

import (
	"context"
	"slices"
	"time"
)

// Mine returns the conflicts of the worktree of the session, and when they were found. It
// waits no longer than wait; after that, what the last whole report found counts. Nil
// means that there are none, or that nobody has looked yet.
func (r *Radar) Mine(ctx context.Context, wait time.Duration) ([]Conflict, time.Time) {
	began := r.o.Now()
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	type answer struct {
		report Report
		err    error
	}
	answers := make(chan answer, 1)
	go func() {
		report, err := r.Report(limited, Request{Current: true})
		answers <- answer{report, err}
	}()
	select {
	case a := <-answers:
		if a.err == nil {
			return a.report.Conflicts, began
		}
	case <-limited.Done():
	}
	return r.last(ctx)
}

// last returns what the last whole report found about the worktree of the session.
func (r *Radar) last(ctx context.Context) ([]Conflict, time.Time) {
	repo, err := r.o.Branches.Session().Repo(ctx)
	if err != nil {
		return nil, time.Time{}
	}
	last := openCache(r.o.CacheDir, repo.CommonDir(), r.o.Now).load().Last
	if last == nil {
		return nil, time.Time{}
	}
	var mine []Conflict
	for _, c := range last.Conflicts {
		if slices.ContainsFunc(c.Holders, func(h Holder) bool { return h.Worktree == repo.Root() }) {
			mine = append(mine, c)
		}
	}
	return mine, last.At
}
