package gather

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/workflow/conflicts"
	"github.com/copse-dev/copse/internal/workflow/verdict"
)

const (
	// pollEvery is how often GitHub's answers are checked. The processes of the user share them and
	// take turns, and do not request a more recent one again: several watches of one stack send no
	// more requests than one.
	pollEvery = recent + time.Second
	// pollAfterFailure is the wait after a missing answer from GitHub. If GitHub named a time,
	// every process of the user waits for that, see package turn.
	pollAfterFailure = 5 * time.Minute
)

// Watch calls changed whenever the stack of a branch changes, until ctx ends: a check, a review, a
// commit, a worktree, a conflict. The age of an answer is not a change.
func (v *Verdicts) Watch(ctx context.Context, start string, changed func(verdict.Status)) error {
	w := watcher{changed: changed}
	look := func(asking Asking) (answered bool) {
		s, err := v.Stack(ctx, start, asking)
		if err != nil {
			return false // the next look may find it again
		}
		w.report(s)
		return s.GitHub.State != verdict.PullFailed
	}
	v.survey(ctx)
	look(Recent)
	var polling sync.WaitGroup
	polling.Go(func() {
		poll(ctx, func() bool {
			v.survey(ctx)
			return look(Recent)
		})
	})
	defer polling.Wait()
	return v.o.Branches.Watch(ctx, func() string {
		look(Cached)
		return ""
	}, func() {}, v.o.Kept...)
}

// survey searches for conflicts again. The results are read with the rest.
func (v *Verdicts) survey(ctx context.Context) {
	if v.o.Radar != nil {
		_, _ = v.o.Radar.Report(ctx, conflicts.Request{}) // without it there are none to show
	}
}

// poll calls look at intervals until ctx ends, at longer ones after it failed.
func poll(ctx context.Context, look func() (ok bool)) {
	pause := pollEvery
	for {
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		if pause = pollEvery; !look() {
			pause = pollAfterFailure
		}
	}
}

// watcher records what it reported.
type watcher struct {
	changed func(verdict.Status)

	mu        sync.Mutex
	last      string
	conflicts []verdict.Conflict
}

// report calls changed if the status differs from the previous one. It does not report the first
// one.
func (w *watcher) report(s verdict.Status) {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := s
	if s.ConflictsUnknown != "" { // which is not a change
		known.Conflicts, known.ConflictsUnknown = w.conflicts, ""
	}
	print := fingerprint(known)
	w.conflicts = known.Conflicts
	first := w.last == ""
	if print == w.last {
		return
	}
	if w.last = print; !first {
		w.changed(s)
	}
}

// fingerprint returns a text that differs if the facts differ. Whether GitHub answered is not one
// of them.
func fingerprint(s verdict.Status) string {
	s.GitHub = verdict.GitHub{}
	s.Branches = slices.Clone(s.Branches)
	for i := range s.Branches {
		pr := &s.Branches[i].PullRequest
		pr.AsOf, pr.Reason = time.Time{}, ""
		if pr.State == verdict.PullFailed {
			pr.State = verdict.PullUnknown
		}
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
