package gather

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/copse-dev/copse/internal/workflow/verdict"
)

// A new age of an answer does not count as a change; a new check does.
func TestReportChanges(t *testing.T) {
	t.Parallel()
	var got []verdict.Status
	w := watcher{changed: func(s verdict.Status) { got = append(got, s) }}
	status := func(checks string, at time.Time) verdict.Status {
		b := verdict.Branch{Branch: "api", PullRequest: verdict.PullRequest{State: "open", Number: 7, Checks: checks, AsOf: at}}
		return verdict.Status{GitHub: verdict.GitHub{AsOf: at, Age: at.String()}, Branches: []verdict.Branch{b}}
	}
	now := time.Now()
	w.report(status("pending", now))
	w.report(status("pending", now.Add(time.Hour)))
	if len(got) != 0 {
		t.Errorf("reported %+v", got)
	}
	w.report(status("failing", now))
	w.report(status("failing", now))
	if len(got) != 1 || got[0].Branches[0].PullRequest.Checks != "failing" || got[0].GitHub.AsOf.IsZero() {
		t.Errorf("got %+v", got)
	}
}

// After a failure GitHub is left alone for longer.
func TestPollPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		begun := time.Now()
		var at []time.Duration
		poll(ctx, func() bool {
			if at = append(at, time.Since(begun)); len(at) == 3 {
				cancel()
			}
			return len(at) != 1
		})
		if len(at) != 3 || at[0] != pollEvery || at[1] != pollEvery+pollAfterFailure || at[2] != 2*pollEvery+pollAfterFailure {
			t.Errorf("looked at %v", at)
		}
	})
}
