package gitmerge

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/item/gitmerge/commits"
	"github.com/copse-dev/copse/internal/item/merge"
)

// One log answers what the logs of each directory answer, and a log without all commits answers nothing
// that the others answer better.
func TestPast(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	file := func(name string) string { return filepath.Join(dir, ".tic", filepath.FromSlash(name)) }
	write := func(name, text string) { gittest.Write(t, file(name), text) }
	record := func(message string) string {
		g.Run(dir, "add", "-A")
		g.Run(dir, "commit", "-q", "-m", message)
		return g.Run(dir, "rev-parse", "HEAD")
	}
	item := func(id int, title string) string {
		return fmt.Sprintf("---\nid: \"%d\"\ntitle: %s\ncreated: 2026-01-01T00:00:00.%03dZ\n---\n", id, title, id)
	}
	write("items/1.md", item(1, "one"))
	write("items/notes.txt", "not an item\n")
	first := record("start")
	g.Run(dir, "checkout", "-q", "-b", "side")
	write("items/2.md", item(2, "two"))
	picked := record("two\n\nA body\n\nof some lines\n\n")
	write("items/1.md", item(1, "side"))
	record("side")
	g.Run(dir, "checkout", "-q", "main")
	write("items/3.md", item(3, "three"))
	record("three")
	g.Run(dir, "cherry-pick", "-x", picked)
	g.Run(dir, "merge", "-q", "--no-edit", "side")
	write("trash/3.md", item(3, "three"))
	g.Run(dir, "rm", "-q", ".tic/items/3.md")
	record("delete three")
	repo, err := OpenRepo(t.Context(), filepath.Join(dir, ".tic"), git.Options{Env: g.Env})
	if err != nil {
		t.Fatal(err)
	}
	for _, since := range []string{"", first} {
		p, err := repo.Past(t.Context(), since)
		if err != nil {
			t.Fatal(err)
		}
		log, err := p.log()
		if err != nil || !log.Whole {
			t.Fatalf("%+v, %v", log, err)
		}
		for _, directory := range []string{merge.ItemsDir, merge.TrashDir} {
			want, err := repo.log(t.Context(), p.head, since, maxCommits, []string{directory}, "--no-merges")
			if err != nil || len(want.Changes) == 0 {
				t.Fatalf("%+v, %v", want, err)
			}
			if diff := cmp.Diff(want.Plain(repo.prefix+directory), log.Plain(repo.prefix+directory), cmpopts.IgnoreFields(commits.Commit{}, "Paths")); diff != "" {
				t.Errorf("since %q, %s: -want +got:\n%s", since, directory, diff)
			}
		}
		cut, err := repo.Past(t.Context(), since)
		if err != nil {
			t.Fatal(err)
		}
		cut.log = func() (commits.Log, error) { return commits.Log{Changes: log.Changes}, nil }
		whole, err := p.Copied(t.Context())
		if err != nil || len(whole) != 3 {
			t.Fatalf("%d copies, %v", len(whole), err)
		}
		part, err := cut.Copied(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(part, whole); diff != "" {
			t.Errorf("copied since %q: -apart +together:\n%s", since, diff)
		}
	}
}
