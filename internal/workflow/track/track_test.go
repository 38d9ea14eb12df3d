package track_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/workflow/track"
)

// pulls are the pull requests of a repository, or why they are not known.
type pulls struct {
	list []pullrequest.PullRequest
	err  error
}

func (p pulls) Newest(context.Context) ([]pullrequest.PullRequest, error) { return p.list, p.err }

// repository has main with the branches login and tests, of which login is checked out.
func repository(t *testing.T) (*gittest.Git, string) {
	t.Helper()
	g := gittest.New(t)
	dir := g.Init()
	g.Commit(dir, "first")
	g.Run(dir, "branch", "tests")
	g.Run(dir, "checkout", "-q", "-b", "login")
	g.Commit(dir, "PROJ-7: log in")
	return g, dir
}

func open(t *testing.T, g *gittest.Git, dir string, p pulls) *track.Tracker {
	t.Helper()
	s := session.New(session.Options{Dir: dir, Git: git.Options{Env: g.Env}})
	tracker, err := track.Open(t.Context(), s, p, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return tracker
}

func TestBegin(t *testing.T) {
	t.Parallel()
	g, dir := repository(t)
	tracker := open(t, g, dir, pulls{})
	ctx := t.Context()
	if _, _, err := tracker.Begin(ctx, "logni"); err == nil || !strings.Contains(err.Error(), "did you mean login?") {
		t.Errorf("got %v", err)
	}
	for i, want := range []bool{true, false} {
		root, changed, err := tracker.Begin(ctx, "")
		if err != nil || root != "main" || changed != want {
			t.Errorf("call %d: got %q, %v, %v", i, root, changed, err)
		}
	}
}

// Of two pull requests of a branch, the open one is used, whatever their order. A record stays once
// it is made.
func TestTrack(t *testing.T) {
	t.Parallel()
	g, dir := repository(t)
	ctx := t.Context()
	tracker := open(t, g, dir, pulls{list: []pullrequest.PullRequest{
		{Number: 9, State: "closed", Head: "login", Base: "tests"},
		{Number: 3, State: "open", Head: "login", Base: "tests"},
	}})
	if _, _, err := tracker.Begin(ctx, "main"); err != nil {
		t.Fatal(err)
	}
	a, err := tracker.Track(ctx, "login", "")
	if err != nil || a.Unasked != nil || len(a.Proposals) != 1 {
		t.Fatalf("got %+v, %v", a, err)
	}
	state, err := tracker.State(ctx)
	if err != nil {
		t.Fatal(err)
	}
	parent, _ := state.Parent("login")
	got := []any{parent, state.Branches["login"].JiraIssue, state.Branches["login"].GitHubPR}
	if diff := cmp.Diff([]any{"tests", "PROJ-7", uint32(3)}, got); diff != "" {
		t.Error(diff)
	}
	if a, err = tracker.Track(ctx, "login", ""); err != nil || len(a.Proposals) != 0 {
		t.Errorf("again: got %+v, %v", a, err)
	}
	_, err = tracker.Track(ctx, "login", "main")
	if stacked, ok := errors.AsType[*track.StackedError](err); !ok || stacked.Parent != "tests" {
		t.Errorf("got %v", err)
	}
}

// Without GitHub there are proposals all the same, and why it was not asked.
func TestProposeWithoutGitHub(t *testing.T) {
	t.Parallel()
	g, dir := repository(t)
	broken := errors.New("no network")
	for _, tt := range []struct {
		offline bool
		want    error
	}{{false, broken}, {true, nil}} {
		a, err := open(t, g, dir, pulls{err: broken}).Propose(t.Context(), track.Question{Offline: tt.offline})
		if err != nil || !errors.Is(a.Unasked, tt.want) || len(a.Proposals) != 2 {
			t.Errorf("offline %v: got %+v, %v", tt.offline, a, err)
		}
	}
}

func TestNoBranch(t *testing.T) {
	t.Parallel()
	g, dir := repository(t)
	g.Run(dir, "checkout", "-q", "--detach")
	if _, err := open(t, g, dir, pulls{}).Current(t.Context()); !errors.Is(err, track.ErrNoBranch) {
		t.Errorf("got %v", err)
	}
}

// A repository with very many branches starts a limited number of git commands, and the answer
// says what was not examined.
func TestManyBranches(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the program that counts git commands is a shell script")
	}
	g, dir := repository(t)
	tip := strings.TrimSpace(g.Run(dir, "rev-parse", "login"))
	packed := []string{"# pack-refs with: peeled fully-peeled sorted "}
	for i := range 60 { // each on the one before it
		g.Commit(dir, "more")
		packed = append(packed, fmt.Sprintf("%s refs/heads/s%02d", strings.TrimSpace(g.Run(dir, "rev-parse", "HEAD")), i))
	}
	for i := range 1100 {
		packed = append(packed, fmt.Sprintf("%s refs/heads/w%04d", tip, i))
	}
	gittest.Write(t, filepath.Join(dir, ".git", "packed-refs"), strings.Join(packed, "\n")+"\n")
	real, err := g.Env.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin, log := filepath.Join(g.Home, "bin"), filepath.Join(g.Home, "log")
	gittest.Write(t, filepath.Join(bin, "git"), "#!/bin/sh\necho \"$*\" >>'"+log+"'\nexec '"+real+"' \"$@\"\n")
	if err := os.Chmod(filepath.Join(bin, "git"), 0o700); err != nil {
		t.Fatal(err)
	}
	g.Env = g.Env.With("PATH=" + bin + string(filepath.ListSeparator) + g.Env.Get("PATH"))
	tracker := open(t, g, dir, pulls{})
	if _, _, err := tracker.Begin(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	answer, err := tracker.Propose(t.Context(), track.Question{Offline: true})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "merge-base"); n != 50 {
		t.Errorf("copse searched for squash merges of %d branches, want 50", n)
	}
	notes := strings.Join(answer.Notes, "\n")
	for _, want := range []string{"copse examined only the branches with the newest commits, and left out 163 branches;", "changes of 50 branches only"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes lack %q:\n%s", want, notes)
		}
	}
	// A named branch is examined.
	answer, err = tracker.Propose(t.Context(), track.Question{Offline: true, Only: []string{"w1099"}})
	if err != nil || len(answer.Proposals) != 1 || len(answer.Notes) != 0 {
		t.Errorf("got %+v, %v", answer, err)
	}
}
