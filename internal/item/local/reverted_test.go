package local_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/item"
)

// revertedIn makes a clone with items 1 and 2 on the main branch, and two and three on a topic branch,
// which is merged.
func revertedIn(t *testing.T) clone {
	t.Helper()
	c := newGit(t)
	if _, err := open(t, c.dir, true).Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.create("one")
	c.commit()
	c.git("checkout", "-qb", "topic")
	c.create("two", "three")
	c.commit()
	c.git("checkout", "-q", "main")
	c.git("commit", "-q", "--allow-empty", "-m", "main goes on")
	c.git("merge", "-q", "--no-edit", "topic")
	return c
}

// command returns the git command in a sentence about an item.
func command(t *testing.T, text string) []string {
	t.Helper()
	_, rest, _ := strings.Cut(text, "run `git ")
	words, _, ok := strings.Cut(rest, "`")
	if !ok {
		t.Fatalf("no git command in %q", text)
	}
	return strings.Fields(words)
}

// A revert removes items that nobody deleted. The doctor names them and the command that brings each one
// back, until a repair has named them.
func TestRevertedItems(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"a merge":  {"-m", "1", "HEAD"},
		"a commit": {"topic"},
		// The message has the hash in short, and the subject.
		"a commit by reference": {"--reference", "topic"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := revertedIn(t)
			if out, err := c.run(append([]string{"revert", "--no-edit"}, args...)...); err != nil {
				if strings.Contains(out, "usage:") {
					t.Skip("this git has no --reference")
				}
				t.Fatal(out)
			}
			check := func() []item.Warning {
				found, err := c.store().Check(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				return found
			}
			found := check()
			if len(found) != 2 || found[0].File != "items/2.md" || !strings.Contains(found[0].Reason, `"two"`) || !strings.Contains(found[1].Reason, `"three"`) {
				t.Fatalf("found %+v", found)
			}
			c.git(command(t, found[0].Reason)...)
			got, _ := titles(t, c.store())
			diff(t, "items after the command", "1 one, 2 two", got)
			rest := check()
			if len(rest) != 2 || rest[1] != found[1] || !strings.HasPrefix(rest[0].Reason, "has next_id: 2, but item #2 exists") {
				t.Fatalf("still found: %+v", rest)
			}
			done, err := c.store().Repair(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(done.Fixes) != 2 || done.Fixes[0].Done != "stays removed; it "+found[1].Reason || done.Fixes[1].Done != "has next_id: 3 now; it had 2" {
				t.Errorf("a repair says %+v", done.Fixes)
			}
			diff(t, "found after a repair", 0, len(check()))
		})
	}
}

// An item that several reverts removed is named once, with the last of them.
func TestRevertedAgain(t *testing.T) {
	t.Parallel()
	c := revertedIn(t)
	c.git("revert", "--no-edit", "topic")
	c.git("revert", "--no-edit", "HEAD")
	c.edit("items/2.md", func(text string) string { return strings.Replace(text, "title: two", "title: better", 1) })
	c.commit()
	c.edit("items/2.md", func(text string) string { return strings.Replace(text, "title: better", "title: two", 1) })
	c.commit()
	c.git("revert", "--no-edit", "topic")
	found, err := c.store().Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 2 || !strings.Contains(c.git("show", command(t, found[0].Reason)[1]+"^"), "title: two") {
		t.Errorf("found %+v", found)
	}
}

// A number that another item got since is not overwritten by the advice.
func TestRevertedNumberIsTaken(t *testing.T) {
	t.Parallel()
	c := revertedIn(t)
	c.git("revert", "--no-edit", "topic")
	one := ""
	c.edit("items/1.md", func(text string) string { one = text; return text })
	write(t, c.dir, "items/2.md", strings.NewReplacer(`id: "1"`, `id: "2"`, "title: one", "title: other", "created: 2", "created: 3").Replace(one))
	found, err := c.store().Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(found, func(w item.Warning) bool { return strings.Contains(w.Reason, `"two"`) })
	if i < 0 {
		t.Fatalf("found %+v", found)
	}
	args := command(t, found[i].Reason)
	if out := c.git(args...); args[0] != "show" || !strings.Contains(out, "title: two") {
		t.Errorf("git %v says %s", args, out)
	}
}
