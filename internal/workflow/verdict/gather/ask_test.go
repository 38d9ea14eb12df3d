package gather_test

import (
	"context"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/branch/source/records"
	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/remote"
	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/turn"
	"github.com/copse-dev/copse/internal/workflow/stack"
	"github.com/copse-dev/copse/internal/workflow/verdict/gather"
)

// hub answers for GitHub.
type hub struct {
	login string
	asOf  time.Time     // of cached answers
	wait  time.Duration // how long it asks to wait
	asked int           // requests
}

func (h *hub) Login(context.Context) string { return h.login }

func (h *hub) OfBranches(ctx context.Context, heads []pullrequest.Head) []fact.Fact[pullrequest.Status] {
	one := fact.None[pullrequest.Status]("GitHub", h.asOf)
	if !remote.FromCache(ctx) {
		h.asked++
		if h.wait > 0 {
			one = fact.Unavailable[pullrequest.Status]("rate limit exceeded", "")
			one.Retry = h.wait
		}
	}
	out := make([]fact.Fact[pullrequest.Status], len(heads))
	for i := range out {
		out[i] = one
	}
	return out
}

// verdicts returns those of a repository with one branch, at noon.
func verdicts(t *testing.T, h *hub) (*gather.Verdicts, time.Time) {
	t.Helper()
	g := gittest.New(t)
	dir := g.Init()
	g.Run(dir, "commit", "-q", "--allow-empty", "-m", "start")
	g.Run(dir, "checkout", "-q", "-b", "feat")
	g.Run(dir, "commit", "-q", "--allow-empty", "-m", "more")
	noon := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	s := session.New(session.Options{Dir: dir, Git: git.Options{Env: g.Env}})
	return gather.New(gather.Options{
		Branches: stack.New(s, records.New(records.Options{})), Now: func() time.Time { return noon },
		Pulls: h, Turns: turn.Dir(t.TempDir() + "/turns"),
	}), noon
}

// An answer is recent for a minute. One from the future is not: the clock has been corrected since.
func TestRecent(t *testing.T) {
	t.Parallel()
	h := &hub{}
	v, noon := verdicts(t, h)
	for age, want := range map[time.Duration]int{
		0: 0, 59 * time.Second: 0, 2 * time.Minute: 1, -time.Second: 0, -2 * time.Minute: 1, -365 * 24 * time.Hour: 1,
	} {
		h.asked, h.asOf = 0, noon.Add(-age)
		if _, err := v.Stack(t.Context(), "feat", gather.Recent); err != nil || h.asked != want {
			t.Errorf("%v old: %d requests, want %d; %v", age, h.asked, want, err)
		}
	}
}

// A rate limit applies to the login that reached it, and to no other.
func TestPausedLogin(t *testing.T) {
	t.Parallel()
	h := &hub{wait: time.Hour}
	v, _ := verdicts(t, h)
	for _, step := range []struct {
		login string
		asked int // altogether
	}{{"ada", 1}, {"ada", 1}, {"bot", 2}, {"bot", 2}, {"ada", 2}} {
		h.login = step.login
		if _, err := v.Stack(t.Context(), "feat", gather.Fresh); err != nil || h.asked != step.asked {
			t.Errorf("%s: %d requests, want %d; %v", step.login, h.asked, step.asked, err)
		}
	}
}
