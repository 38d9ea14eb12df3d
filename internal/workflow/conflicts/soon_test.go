package conflicts_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/workflow/conflicts"
	"github.com/copse-dev/copse/internal/workflow/stack"
)

// A stored result applies only to the commits and the changes that both sides have now, also for a
// caller that does not wait. What nobody has compared does not count as free of conflicts.
func TestSoon(t *testing.T) {
	t.Parallel()
	w := begin(t)
	one, two := w.worktree("one"), w.worktree("two")
	w.commit(t, one, "a.txt", "1\none\n3\n")
	w.write(t, two, "a.txt", "1\ntwo\n3\n")
	o := git.Options{Env: w.Env}
	s := session.New(session.Options{Dir: w.root, Git: o})
	// Nobody tries a merge while another call does: these are the results that are stored.
	stored := func() (found []string, left string) {
		var r *conflicts.Radar
		r = conflicts.New(conflicts.Options{Branches: stack.New(s, nil), CacheDir: w.cache, Git: o, Now: now, Clients: func(context.Context) map[string][]string {
			if found == nil {
				found = []string{}
				report, unknown := r.Soon(t.Context(), conflicts.Request{Branches: []string{"one"}}, 2*time.Second)
				found, left = lines(report), unknown
			}
			return nil
		}})
		// The report compares nothing that has to do with these worktrees.
		report(t, r, conflicts.Request{Branches: []string{"main-only"}})
		return found, left
	}
	w.Run(w.root, "branch", "main-only")
	settled := func() { time.Sleep(3200 * time.Millisecond) } // a change is told from a later one only after a while
	conflict := []string{"one x two: a.txt [one one 0] [two two 1]"}
	for i, step := range []struct {
		do   func()
		want []string
		left string
	}{
		{func() { settled() }, []string{}, "2 pairs of branches are not compared"},
		{func() { report(t, w.radar(), conflicts.Request{}) }, conflict, ""},
		{func() { w.write(t, two, "a.txt", "1\none\n3\n") }, []string{}, "1 pair of branches is not compared"},
		{func() { w.write(t, two, "a.txt", "1\ntwo\n3\n"); settled(); report(t, w.radar(), conflicts.Request{}) }, conflict, ""},
		{func() { w.Run(one, "commit", "-q", "--amend", "-m", "other") }, []string{}, "2 pairs of branches are not compared"},
		{func() { report(t, w.radar(), conflicts.Request{}) }, conflict, ""},
		{func() {
			w.Run(w.root, "worktree", "remove", "--force", two)
			w.Run(w.root, "branch", "-q", "-D", "two")
		}, []string{}, ""},
	} {
		step.do()
		found, left := stored()
		if diff := cmp.Diff(step.want, found); diff != "" || left != step.left {
			t.Errorf("step %d: %q (-want +got)\n%s", i, left, diff)
		}
	}
}

// A call that has a moment compares what it can.
func TestSoonCompares(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.commit(t, w.worktree("one"), "a.txt", "1\none\n3\n")
	w.commit(t, w.worktree("two"), "a.txt", "1\ntwo\n3\n")
	found, left := w.radar().Soon(t.Context(), conflicts.Request{Branches: []string{"one"}}, time.Minute)
	if diff := cmp.Diff([]string{"one x two: a.txt [one one 0] [two two 0]"}, lines(found)); diff != "" || left != "" {
		t.Errorf("%q (-want +got)\n%s", left, diff)
	}
	found, left = w.radar().Soon(t.Context(), conflicts.Request{Branches: []string{"one"}}, time.Nanosecond)
	if len(found.Conflicts) > 0 || left != "the branches are not compared" {
		t.Errorf("without time: %+v, %q", found, left)
	}
}
