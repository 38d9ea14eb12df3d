package gather

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/remote"
	"github.com/copse-dev/copse/internal/workflow/verdict/relation"
)

// recent is the maximum age of GitHub's last answers for Recent.
const recent = time.Minute

// ask requests the pull requests of all branches at once, and the open ones. It reports whether the
// latter have changed. Processes send requests one after the other, and one that had to wait uses
// the answer of the previous one.
func (v *Verdicts) ask(ctx context.Context, repo *git.Repo, s shape, t relation.Tips, asking Asking) (found []fact.Fact[pullrequest.Status], changed bool) {
	if v.o.Pulls == nil {
		return unasked(len(s.branches), "the github toolset is switched off"), false
	}
	heads := make([]pullrequest.Head, len(s.branches))
	for i := range s.branches {
		b := &s.branches[i]
		heads[i] = pullrequest.Head{Branch: b.Branch, Number: b.PullRequest.Number, Commit: t.Commit(b.Branch)}
		if name, _, ok := t.Published(b.Branch); ok {
			heads[i].Branch = name
		}
	}
	var kept []fact.Fact[pullrequest.Status]
	look := func() bool {
		if asking == Fresh || len(heads) == 0 {
			return false
		}
		kept = v.o.Pulls.OfBranches(remote.WithCachedOnly(ctx), heads)
		return asking == Cached || v.recent(kept)
	}
	if look() || asking == Cached {
		return kept, false
	}
	login := v.o.Pulls.Login(ctx)
	if until, paused := v.o.Turns.Paused(login, v.o.Now()); paused {
		return or(unasked(len(heads), fmt.Sprintf("GitHub accepts no requests until %s", until.UTC().Format("15:04 UTC"))), kept), false
	}
	defer v.o.Turns.Take(ctx, repo.CommonDir())()
	if look() {
		return kept, false
	}
	var listing sync.WaitGroup
	listing.Go(func() { changed = v.list(ctx, asking) })
	if len(heads) > 0 {
		found = or(v.o.Pulls.OfBranches(ctx, heads), kept)
	}
	listing.Wait()
	v.pause(login, found)
	return found, changed
}

// unasked returns answers without a request.
func unasked(n int, reason string) []fact.Fact[pullrequest.Status] {
	out := make([]fact.Fact[pullrequest.Status], n)
	for i := range out {
		out[i] = fact.Unavailable[pullrequest.Status](reason, "")
		out[i].Unasked = true
	}
	return out
}

// or returns the answers, and cached ones where there are none: GitHub's last answer, with its age,
// is better than none.
func or(found, kept []fact.Fact[pullrequest.Status]) []fact.Fact[pullrequest.Status] {
	for i := range found {
		if found[i].State == fact.StateUnavailable && i < len(kept) && kept[i].State != fact.StateUnavailable {
			failed := found[i]
			found[i] = kept[i]
			found[i].Reason, found[i].Hint, found[i].Retry = failed.Reason, failed.Hint, failed.Retry
		}
	}
	return found
}

// list asks for the open pull requests, and reports whether they are others than before.
func (v *Verdicts) list(ctx context.Context, asking Asking) bool {
	if v.o.Opened == nil {
		return false
	}
	age := recent
	if asking == Fresh {
		age = 0
	}
	changed, err := v.o.Opened.Refresh(ctx, age)
	return changed && err == nil // the answers about the branches give the reason
}

// pause records how long GitHub asked the clients of a login to wait.
func (v *Verdicts) pause(login string, found []fact.Fact[pullrequest.Status]) {
	var wait time.Duration
	for _, f := range found {
		wait = max(wait, f.Retry)
	}
	if wait > 0 {
		_ = v.o.Turns.Pause(login, v.o.Now().Add(wait)) // then the next one asks again
	}
}

// ahead is how far an answer's whole seconds, and small corrections of the clock, can be in the future.
const ahead = 5 * time.Second

// recent reports whether all answers are known and recent. The age of an answer from the future is
// unknown: the clock has been corrected since.
func (v *Verdicts) recent(all []fact.Fact[pullrequest.Status]) bool {
	now := v.o.Now()
	return !slices.ContainsFunc(all, func(f fact.Fact[pullrequest.Status]) bool {
		age := now.Sub(f.AsOf)
		return f.State == fact.StateUnavailable || age > recent || age < -ahead
	})
}
