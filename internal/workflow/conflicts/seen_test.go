package conflicts_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/dirwatch"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/workflow/conflicts"
	"github.com/copse-dev/copse/internal/workflow/stack"
)

// noting notes which worktrees are looked through: they are followed before.
type noting struct {
	*dirwatch.Trees

	mu       sync.Mutex
	followed []string
}

func (n *noting) Follow(root string, dirs []string) (uint64, bool) {
	n.mu.Lock()
	n.followed = append(n.followed, filepath.Base(root))
	n.mu.Unlock()
	return n.Trees.Follow(root, dirs)
}

// In a program that looks repeatedly, a worktree in which nothing happened is not looked
// through, and every kind of change is seen by the call after it.
func TestObserved(t *testing.T) {
	t.Parallel()
	w := begin(t)
	one, two := w.worktree("one"), w.worktree("two")
	w.write(t, one, "a.txt", "1\none\n3\n")
	w.write(t, two, "a.txt", "1\n2\n3\nend\n")
	for _, dir := range []string{one, two} { // directories that git does not list
		if err := os.MkdirAll(filepath.Join(dir, "empty", "deeper"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.write(t, one, "ignored/deeper/x.log", "x\n")
	w.write(t, w.root, ".git/info/exclude", "*.log\n")
	trees := &noting{Trees: dirwatch.NewTrees()}
	defer trees.Close()
	if _, ok := trees.Trees.Follow(w.Home, []string{"."}); !ok {
		t.Skip("the file system of the temporary directory has no reliable events")
	}
	started := w.spy(t)
	o := git.Options{Env: w.Env}
	s := session.New(session.Options{Dir: w.root, Git: o})
	r := conflicts.New(conflicts.Options{Branches: stack.New(s, nil), CacheDir: w.cache, Git: o, Now: now, Trees: trees})
	settled := func() {
		t.Helper()
		time.Sleep(3200 * time.Millisecond) // a change is told from a later one only after a while
		for range 3 {
			report(t, r, conflicts.Request{})
		}
		started()
		trees.followed = nil
		report(t, r, conflicts.Request{})
		if got := started(); len(got) > 0 || len(trees.followed) > 0 {
			t.Errorf("when nothing happened, git is started for %q, and files are looked at in %q", got, trees.followed)
		}
	}
	settled()
	// Another process, which asks only for the number of changes, starts git for none of them, either.
	if got, err := w.radar().Uncommitted(t.Context(), []string{one, two}); err != nil || !maps.Equal(got, map[string]conflicts.Changes{one: {All: 1, Tracked: 1}, two: {All: 1, Tracked: 1}}) {
		t.Errorf("got %v, %v", got, err)
	}
	if got := started(); len(got) > 0 {
		t.Errorf("git is started for %q", got)
	}
	for _, step := range []struct {
		what string
		do   func()
		want []string
	}{
		{"a file in an empty directory", func() {
			w.write(t, one, "empty/deeper/new.txt", "one\n")
			w.write(t, two, "empty/deeper/new.txt", "two\n")
		}, []string{"empty/deeper/new.txt"}},
		{"a file below one that has ignored files", func() {
			w.write(t, one, "ignored/deeper/new.txt", "one\n")
			w.write(t, two, "ignored/deeper/new.txt", "two\n")
		}, []string{"empty/deeper/new.txt", "ignored/deeper/new.txt"}},
		{"other patterns of what is ignored", func() { w.write(t, w.root, ".git/info/exclude", "new.txt\n") }, nil},
	} {
		step.do()
		var got []string
		for _, c := range report(t, r, conflicts.Request{}).Conflicts {
			got = append(got, c.Files...)
		}
		slices.Sort(got)
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", step.what, diff)
		}
	}
	// Only the worktree in which something happened is looked through.
	settled()
	inPlace(t, filepath.Join(two, "a.txt"), "1\n2\n3\nEND\n") // as long as before
	report(t, r, conflicts.Request{})
	ran := strings.Join(started(), " ")
	if got := strings.Join(trees.followed, " "); got != "two" || strings.Count(ran, "status") != 1 {
		t.Errorf("after a change in two, files are looked at in %q, and git is started for %s", got, ran)
	}
	inPlace(t, filepath.Join(two, "a.txt"), "1\ntwo\n3\n")
	if got := lines(report(t, r, conflicts.Request{})); len(got) != 1 {
		t.Errorf("after an edit in place: %q", got)
	}
	// What is ignored is decided by files elsewhere, too.
	w.write(t, w.root, ".git/info/exclude", "*.log\n")
	if got := strings.Join(lines(report(t, r, conflicts.Request{})), " "); !strings.Contains(got, "a.txt, empty/deeper/new.txt, ignored/deeper/new.txt") {
		t.Errorf("after other patterns: %q", got)
	}
}

// The number of changes does not wait for a report under way, and what it finds replaces neither the
// report nor its merges.
func TestUncommitted(t *testing.T) {
	t.Parallel()
	w := begin(t)
	one, two := w.worktree("one"), w.worktree("two")
	w.write(t, one, "a.txt", "1\none\n3\n")
	w.write(t, two, "a.txt", "1\ntwo\n3\n")
	o := git.Options{Env: w.Env}
	s := session.New(session.Options{Dir: w.root, Git: o})
	var r *conflicts.Radar
	count := func() map[string]conflicts.Changes {
		got, err := r.Uncommitted(t.Context(), []string{two})
		if err != nil {
			t.Error(err)
		}
		return got
	}
	var during map[string]conflicts.Changes
	r = conflicts.New(conflicts.Options{Branches: stack.New(s, nil), CacheDir: w.cache, Git: o, Now: now, Clients: func(context.Context) map[string][]string {
		during = count()
		return nil
	}})
	if got := lines(report(t, r, conflicts.Request{})); len(got) != 1 || during[two].All != 1 {
		t.Errorf("%q, and %v during the report", got, during)
	}
	w.write(t, two, "b.txt", "two\n")
	if got := count(); !maps.Equal(got, map[string]conflicts.Changes{two: {All: 2, Tracked: 2}}) {
		t.Errorf("after a change: %v", got)
	}
	started := w.spy(t)
	if got := lines(report(t, w.radar(), conflicts.Request{Branches: []string{"one"}})); len(got) != 1 {
		t.Errorf("another report: %q", got)
	}
	if ran := strings.Join(started(), " "); strings.Count(ran, "merge-tree") != 1 {
		t.Errorf("git is started for %s", ran) // the merge with the trunk is known
	}
}

// A file with another name can change without an event here.
func TestObservedLinks(t *testing.T) {
	t.Parallel()
	w := begin(t)
	one, two := w.worktree("one"), w.worktree("two")
	w.write(t, one, "a.txt", "1\none\n3\n")
	if err := os.Link(filepath.Join(two, "a.txt"), filepath.Join(w.Home, "outside.txt")); err != nil {
		t.Skip(err)
	}
	trees := dirwatch.NewTrees()
	defer trees.Close()
	o := git.Options{Env: w.Env}
	s := session.New(session.Options{Dir: w.root, Git: o})
	r := conflicts.New(conflicts.Options{Branches: stack.New(s, nil), CacheDir: w.cache, Git: o, Now: now, Trees: trees})
	time.Sleep(3200 * time.Millisecond)
	for range 4 {
		if got := lines(report(t, r, conflicts.Request{})); len(got) > 0 {
			t.Fatalf("got %q", got)
		}
	}
	inPlace(t, filepath.Join(w.Home, "outside.txt"), "1\ntwo\n3\n")
	if got := lines(report(t, r, conflicts.Request{})); len(got) != 1 {
		t.Errorf("got %q", got)
	}
}

// inPlace replaces the content of a file without replacing the file.
func inPlace(t *testing.T, path, text string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err == nil {
		_, err = fmt.Fprint(file, text)
	}
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}
