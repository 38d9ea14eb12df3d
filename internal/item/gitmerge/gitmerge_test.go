package gitmerge_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/item/gitmerge"
	"github.com/copse-dev/copse/internal/item/merge"
)

// What git says is merged is, whatever the files look like.
func TestFind(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	file := filepath.Join(dir, "sub", ".tic", "items", "1.md")
	commit := func(text string) {
		gittest.Write(t, file, text)
		g.Run(dir, "add", "-A")
		g.Run(dir, "commit", "-qm", "x")
	}
	repo, err := gitmerge.OpenRepo(t.Context(), func() string {
		commit("base\n")
		return filepath.Join(dir, "sub", ".tic")
	}(), git.Options{Env: g.Env})
	if err != nil {
		t.Fatal(err)
	}
	find := func() *gitmerge.Merge {
		t.Helper()
		m, err := repo.Find(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	gittest.Write(t, file, "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> b\n")
	if m := find(); m != nil {
		t.Errorf("a quoted conflict is taken for one: %+v", m)
	}
	g.Run(dir, "checkout", "-q", "--", ".")
	g.Run(dir, "checkout", "-qb", "other")
	commit("theirs\n")
	g.Run(dir, "checkout", "-q", "main")
	commit("ours\n")
	for _, test := range []struct {
		kind   gitmerge.Kind
		args   []string
		next   string
		theirs string
	}{
		{gitmerge.OfMerge, []string{"merge", "other"}, "git commit --no-edit", "theirs\n"},
		{gitmerge.OfRebase, []string{"rebase", "other"}, "git rebase --continue", "ours\n"},
		{gitmerge.OfCherryPick, []string{"cherry-pick", "other"}, "git cherry-pick --continue", "theirs\n"},
	} {
		if _, err := g.Try(dir, test.args...); err == nil {
			t.Fatalf("%v: no conflict", test.args)
		}
		m := find()
		if m == nil || m.Kind != test.kind {
			t.Fatalf("%v: found %+v", test.args, m)
		}
		const name = "items/1.md"
		if d := cmp.Diff([]string{"base\n", test.theirs}, []string{m.Base[name], m.Theirs[name]}); d != "" {
			t.Errorf("%v (-want +got):\n%s", test.args, d)
		}
		if d := cmp.Diff([]string{name}, m.Unmerged); d != "" {
			t.Errorf("%v: unmerged (-want +got):\n%s", test.args, d)
		}
		if d := cmp.Diff([]string{"git add -A -- sub/.tic", test.next}, m.Steps()); d != "" {
			t.Errorf("%v: steps (-want +got):\n%s", test.args, d)
		}
		g.Run(dir, test.args[0], "--abort")
	}
	if _, err := gitmerge.OpenRepo(t.Context(), t.TempDir(), git.Options{Env: g.Env}); !errors.Is(err, gitmerge.ErrNoRepository) {
		t.Errorf("outside of git: %v", err)
	}
}

// What others can see goes first: the default branch of the remote, then any branch.
func TestRank(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	item := func(branch, created string) {
		g.Run(dir, "checkout", "-q", "-B", branch)
		gittest.Write(t, filepath.Join(dir, ".tic", "items", "1.md"), "---\nid: \"1\"\ntitle: x\ncreated: "+created+"\n---\n")
		g.Run(dir, "add", "-A")
		g.Run(dir, "commit", "-qm", branch)
	}
	item("feature", "2026-01-01T00:00:00.000Z")
	item("main", "2026-01-02T00:00:00.000Z")
	clone := filepath.Join(gittest.Dir(t), "clone")
	g.Run(g.Home, "clone", "-q", dir, clone)
	if _, err := g.Try(clone, "cherry-pick", "origin/feature"); err == nil {
		t.Fatal("no conflict")
	}
	repo, err := gitmerge.OpenRepo(t.Context(), filepath.Join(clone, ".tic"), git.Options{Env: g.Env})
	if err != nil {
		t.Fatal(err)
	}
	m, err := repo.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	o, err := m.Options(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for created, want := range map[string]int{"2026-01-02T00:00:00.000Z": 0, "2026-01-01T00:00:00.000Z": 1, "2026-01-03T00:00:00.000Z": 2} {
		if got := o.Rank(merge.Birth{ID: 1, Created: created}); got != want {
			t.Errorf("%s: rank %d, want %d", created, got, want)
		}
	}
}
