package local_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/item"
)

// edit changes the text of a file in the way that an editor does.
func (c clone) edit(name string, change func(string) string) {
	c.t.Helper()
	path := filepath.Join(c.dir, ".tic", filepath.FromSlash(name))
	text, err := os.ReadFile(path)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(change(string(text))), 0o666); err != nil {
		c.t.Fatal(err)
	}
}

func (c clone) repair() {
	c.t.Helper()
	if _, err := c.store().Repair(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
}

// Somebody edits files after git stopped, and before the doctor runs. Nothing of it is lost.
func TestEditedWhileUnmerged(t *testing.T) {
	t.Parallel()
	const said = "\n## Comments\n\n---\nauthor: eve\ndate: 2026-01-01T00:00:00.000Z\n\nSaid in between.\n\n"
	created := regexp.MustCompile(`(?m)^created: .*$`)
	appendComment := func(text string) string { return strings.TrimRight(text, "\n") + "\n" + said }
	// prepare makes two clones that have item 2, with a long text, and item 3.
	prepare := func(t *testing.T) (ours, theirs clone) {
		t.Helper()
		ours = newGit(t)
		if _, err := open(t, ours.dir, true).Init(t.Context()); err != nil {
			t.Fatal(err)
		}
		ours.create("one", "two")
		if _, err := open(t, ours.dir, true).Update(t.Context(), 2, item.Patch{Description: new(strings.Repeat("A long text.\n", 20))}); err != nil {
			t.Fatal(err)
		}
		// Both were created at the same moment.
		var one string
		ours.edit("items/1.md", func(text string) string { one = text; return text })
		ours.edit("items/2.md", func(text string) string {
			return strings.Replace(text, created.FindString(text), created.FindString(one), 1)
		})
		ours.commit()
		return ours, ours.clone()
	}
	conflict := func(t *testing.T, ours, theirs clone) {
		t.Helper()
		if out, err := ours.run("pull", "-q", "--no-rebase", theirs.dir, "main"); err == nil {
			t.Fatalf("git merged everything: %s", out)
		}
	}
	remove := func(t *testing.T, c clone, id item.ID) {
		t.Helper()
		if err := open(t, c.dir, true).Delete(t.Context(), id, "", false); err != nil {
			t.Fatal(err)
		}
	}
	comments := func(t *testing.T, c clone, id item.ID) string {
		t.Helper()
		it, err := open(t, c.dir, true).Item(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, comment := range it.Comments {
			list = append(list, comment.Author+": "+comment.Body)
		}
		return strings.Join(list, "; ")
	}

	t.Run("purged here, changed there", func(t *testing.T) {
		t.Parallel()
		ours, theirs := prepare(t)
		ours.git("rm", "-q", ".tic/items/2.md")
		ours.git("commit", "-qm", "purge")
		theirs.comment(2, "theirs")
		theirs.commit()
		conflict(t, ours, theirs)
		ours.edit("items/2.md", func(text string) string {
			return text + "---\nauthor: eve\ndate: 2026-01-01T00:00:00.000Z\n\nSaid in between.\n\n"
		})
		ours.repair()
		diff(t, "comments", "x: theirs; eve: Said in between.", comments(t, ours, 2))
	})
	t.Run("deleted here, renumbered there", func(t *testing.T) {
		t.Parallel()
		ours, theirs := prepare(t)
		remove(t, ours, 2)
		ours.commit()
		theirs.git("mv", ".tic/items/2.md", ".tic/items/7.md")
		theirs.edit("items/7.md", func(text string) string {
			text = strings.Replace(text, `id: "2"`, `id: "7"`, 1)
			return regexp.MustCompile(`(?m)^updated: .*$`).ReplaceAllString(text, "updated: 2026-01-02T00:00:00.000Z")
		})
		theirs.commit()
		conflict(t, ours, theirs)
		ours.edit("items/7.md", appendComment)
		ours.repair()
		if got := comments(t, ours, 7); !strings.HasPrefix(got, "copse: Written into the unmerged file:") || !strings.HasSuffix(got, "Said in between.") {
			t.Errorf("comments %q", got)
		}
	})
	t.Run("deleted here, purged there, restored in between", func(t *testing.T) {
		t.Parallel()
		ours, theirs := prepare(t)
		remove(t, ours, 2)
		ours.commit()
		theirs.git("rm", "-q", ".tic/items/2.md")
		theirs.git("commit", "-qm", "purge")
		conflict(t, ours, theirs)
		if _, err := open(t, ours.dir, true).Restore(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
		ours.repair()
		got, _ := titles(t, ours.store())
		diff(t, "items", "1 one, 2 two", got)
	})
	t.Run("between git's marks", func(t *testing.T) {
		t.Parallel()
		ours, theirs := prepare(t)
		ours.comment(2, "ours")
		ours.commit()
		theirs.comment(2, "theirs")
		theirs.commit()
		conflict(t, ours, theirs)
		ours.edit("items/2.md", func(text string) string {
			return strings.Replace(text, "\nours\n", "\nours\nWritten beside it.\n", 1)
		})
		ours.repair()
		got := comments(t, ours, 2)
		if !strings.Contains(got, "x: ours; x: theirs") || !strings.Contains(got, "copse: Written into the unmerged file:\n\nWritten beside it.") {
			t.Errorf("comments %q", got)
		}
	})
}
