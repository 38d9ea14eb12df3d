package git_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
)

func TestChanges(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	repo, err := git.Discover(t.Context(), dir, git.Options{Env: g.Env})
	if err != nil {
		t.Fatal(err)
	}
	gittest.Write(t, filepath.Join(dir, "first"), "a\nb\n")
	g.Run(dir, "add", "first")
	if stat, err := repo.DiffStat(t.Context()); err != nil || stat["first"] != (git.LineCount{Added: 2}) {
		t.Errorf("before the first commit: %v, %v", stat, err)
	}
	if commits, err := repo.Log(t.Context(), 5); err != nil || len(commits) != 0 {
		t.Errorf("before the first commit: %v, %v", commits, err)
	}
	for _, name := range []string{"both", "gone", "old name", "edited"} {
		gittest.Write(t, filepath.Join(dir, name), "1\n2\n3\n4\n5\n"+name+"\n")
	}
	g.Run(dir, "add", ".")
	g.Run(dir, "commit", "-q", "-m", "one")
	g.Run(dir, "rm", "-q", "gone")
	g.Run(dir, "mv", "old name", "new\nname")
	gittest.Write(t, filepath.Join(dir, "both"), "1\n")
	g.Run(dir, "add", "both")
	gittest.Write(t, filepath.Join(dir, "both"), "2\n")
	gittest.Write(t, filepath.Join(dir, "edited"), "1\n2\n3\n4\n5\nmore\nand more\n")
	gittest.Write(t, filepath.Join(dir, "new dir", "x"), "")
	status, changes, err := repo.Changes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []git.Change{
		{Path: "both", Code: "MM"}, {Path: "edited", Code: " M"}, {Path: "gone", Code: "D "}, {Path: "new\nname", From: "old name", Code: "R "}, {Path: "new dir/", Code: "??"},
	}
	if diff := cmp.Diff(want, changes); diff != "" || status.Staged != 3 || status.Modified != 2 || status.Untracked != 1 {
		t.Errorf("%+v\n%s", status, diff)
	}
	stat, err := repo.DiffStat(t.Context())
	if err != nil || fmt.Sprint(stat) != "map[both:{0 5} edited:{2 1} gone:{0 6} new\nname:{6 0} old name:{0 6}]" {
		t.Errorf("got %v, %v", stat, err)
	}
	gittest.Write(t, filepath.Join(dir, "*"), "")
	g.Run(dir, "add", ":(literal)*")
	for name, want := range map[string]string{"edited": "map[edited:{2 1}]", "new\nname": "map[new\nname:{6 0}]", "*": "map[]", "none": "map[]"} {
		if stat, err := repo.DiffStat(t.Context(), name); err != nil || fmt.Sprint(stat) != want {
			t.Errorf("%q alone: got %v, %v", name, stat, err)
		}
	}
	g.Run(dir, "rm", "-q", "-f", ":(literal)*")
	g.Run(dir, "commit", "-q", "-a", "-m", "two\x01 lines")
	commits, err := repo.Log(t.Context(), 5)
	g.Run(dir, "commit", "-q", "--allow-empty", "-m", "nothing")
	if empty, err := repo.Log(t.Context(), 1); err != nil || len(empty) != 1 || empty[0].Subject != "nothing" || empty[0].Files != nil {
		t.Errorf("an empty commit: %+v, %v", empty, err)
	}
	if err != nil || len(commits) != 2 || commits[0].Subject != "two\x01 lines" || fmt.Sprintf("%q", commits[0].Files) != `["both" "edited" "new\nname"]` ||
		len(commits[1].Files) != 5 {
		t.Errorf("got %+v, %v", commits, err)
	}
}
