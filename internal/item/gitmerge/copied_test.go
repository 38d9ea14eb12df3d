package gitmerge_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/gitmerge"
	"github.com/copse-dev/copse/internal/item/merge/references"
)

// A copy is found on the branch that it was made on, with what came before it there and in the
// branch of its original; the original is not a copy of it.
func TestCopied(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	write := func(name, text string) {
		gittest.Write(t, filepath.Join(dir, ".tic", "items", name), "---\ntitle: "+text+"\n---\n")
	}
	commit := func(subject string) string {
		g.Run(dir, "add", "-A")
		g.Run(dir, "commit", "-qm", subject)
		return g.Run(dir, "rev-parse", "HEAD")
	}
	write("1.md", "shared")
	start := commit("start")
	g.Run(dir, "checkout", "-qb", "feature")
	write("2.md", "feature")
	commit("create")
	write("1.md", "shared\nparent: \"2\"")
	original := commit("relate")
	g.Run(dir, "checkout", "-q", "main")
	write("2.md", "main")
	onto := commit("create on main")
	repo, err := gitmerge.OpenRepo(t.Context(), filepath.Join(dir, ".tic"), git.Options{Env: g.Env})
	if err != nil {
		t.Fatal(err)
	}
	titles := func(since string) []string {
		t.Helper()
		copies, err := copied(t, repo, since)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, c := range copies {
			for _, o := range c.Originals {
				found = append(found, c.Before["items/1.md"], c.After["items/2.md"], o.After["items/1.md"], o.After["items/2.md"])
			}
		}
		return found
	}
	want := []string{
		"---\ntitle: shared\n---\n", "---\ntitle: main\n---\n",
		"---\ntitle: shared\nparent: \"2\"\n---\n", "---\ntitle: feature\n---\n",
	}
	check := func(what string, want, got []string) {
		t.Helper()
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
	g.Run(dir, "cherry-pick", original)
	head := g.Run(dir, "rev-parse", "HEAD")
	check("a copy within the second of its original", want, titles(""))
	check("after a commit before", want, titles(onto))
	check("after the copy", nil, titles(head))
	check("after a commit that is gone", want, titles("0123456789012345678901234567890123456789"))
	check("after what is no commit", want, titles("HEAD\nmissing"))

	g.Run(dir, "checkout", "-q", "feature")
	check("the original", nil, titles(""))

	g.Run(dir, "checkout", "-q", "main")
	g.Run(dir, "reset", "-q", "--hard", onto)
	g.Run(dir, "cherry-pick", "-x", original)
	g.Run(dir, "-c", "user.name=other", "commit", "-q", "--amend", "--reset-author", "-m", "other words\n\n(cherry picked from commit "+original+")")
	check("a copy that names its original", want, titles(start))
}

// The commits that change a title tell whether it became another one.
func TestRetitled(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	commit := func(name, title, created string) {
		gittest.Write(t, filepath.Join(dir, ".tic", "items", name), "---\ntitle: "+title+"\ncreated: "+created+"\n---\n")
		g.Run(dir, "add", "-A")
		g.Run(dir, "commit", "-qm", title)
	}
	const born, later = "2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"
	commit("1.md", "one", born)
	commit("1.md", "two", born)
	commit("1.md", "three", born)
	commit("4.md", "other", born)
	commit("5.md", "replaced", born)
	commit("5.md", "by a later one", later)
	repo, err := gitmerge.OpenRepo(t.Context(), filepath.Join(dir, ".tic"), git.Options{Env: g.Env})
	if err != nil {
		t.Fatal(err)
	}
	for titles, want := range map[[2]string]bool{
		{"one", "three"}: true, {"three", "one"}: true, {"one", "other"}: false, {"replaced", "by a later one"}: false,
	} {
		if got := repo.Retitled(t.Context())(born, [2]item.ID{1, 5}, titles); got != want {
			t.Errorf("%v: %t, want %t", titles, got, want)
		}
	}
	ask, calls := repo.Retitled(t.Context()), 0
	for ask(born, [2]item.ID{1, 1}, [2]string{"one", "one"}) && calls <= 100 {
		calls++
	}
	if calls != 100 {
		t.Errorf("one merge reads the history of %d items", calls)
	}
}

// An item can have another number where its change is copied to: both files are read.
func TestCopiedToAnotherNumber(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	text := func(id, parent string) string {
		return "---\nid: " + id + "\ntitle: child\n---\n" + strings.Repeat("A long text.\n", 20) + parent
	}
	write := func(name, text string) { gittest.Write(t, filepath.Join(dir, ".tic", "items", name), text) }
	commit := func(subject string) {
		g.Run(dir, "add", "-A")
		g.Run(dir, "commit", "-qm", subject)
	}
	write("1.md", text("1", ""))
	commit("start")
	g.Run(dir, "checkout", "-qb", "feature")
	write("1.md", text("1", "Part of #2.\n"))
	commit("mention")
	g.Run(dir, "checkout", "-q", "main")
	g.Run(dir, "mv", ".tic/items/1.md", ".tic/items/7.md")
	write("7.md", text("7", ""))
	commit("renumber")
	onto := g.Run(dir, "rev-parse", "HEAD")
	repo, err := gitmerge.OpenRepo(t.Context(), filepath.Join(dir, ".tic"), git.Options{Env: g.Env})
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"cherry-pick", "feature"}, {"merge", "-q", "--no-edit", "feature"}} {
		g.Run(dir, args...)
		copies, err := copied(t, repo, onto)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, c := range copies {
			for _, o := range c.Originals {
				found = found || c.After["items/7.md"] == text("7", "Part of #2.\n") && o.After["items/1.md"] == text("1", "Part of #2.\n")
			}
		}
		if !found {
			t.Errorf("%v: %+v", args, copies)
		}
		g.Run(dir, "reset", "-q", "--hard", onto)
	}
}

// copied returns the commits after another one that git copied.
func copied(t *testing.T, repo *gitmerge.Repo, since string) ([]references.Copy, error) {
	t.Helper()
	past, err := repo.Past(t.Context(), since)
	if err != nil {
		return nil, err
	}
	return past.Copied(t.Context())
}
