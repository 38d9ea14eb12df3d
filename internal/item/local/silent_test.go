package local_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/local"
)

// twice makes two clones. In the first, item 1 is gone and item 5 is new; in the second,
// item 1 has a comment and item 5 is the same new one. Git takes item 5 of the first for
// item 1 under a new name.
func twice(t *testing.T) (ours, theirs clone) {
	t.Helper()
	ours = newGit(t)
	if _, err := open(t, ours.dir, true).Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	ours.create("one", "two")
	if _, err := open(t, ours.dir, true).Update(t.Context(), 1, item.Patch{Description: new(strings.Repeat("A long text.\n", 20))}); err != nil {
		t.Fatal(err)
	}
	ours.commit()
	theirs = ours.clone()
	var five string
	ours.edit("items/1.md", func(text string) string {
		five = strings.NewReplacer(`id: "1"`, `id: "5"`, "title: one", "title: five", "created: 2", "created: 3").Replace(text)
		return text
	})
	for _, c := range []clone{ours, theirs} {
		if err := os.WriteFile(filepath.Join(c.dir, ".tic", "items", "5.md"), []byte(five), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	// Commits of one second are told apart by their subjects.
	ours.git("rm", "-q", ".tic/items/1.md")
	ours.git("add", "-A")
	ours.git("commit", "-qm", "create five, purge one")
	theirs.comment(1, "said in the other clone")
	theirs.git("add", "-A")
	theirs.git("commit", "-qm", "create five, comment one")
	return ours, theirs
}

// checkOnce repairs a clone in which git committed conflict markers, or stopped as it should, and
// checks the items afterward.
func checkOnce(t *testing.T, c clone) {
	t.Helper()
	c.repair()
	got, warnings := titles(t, c.store())
	diff(t, "items", "1 one, 2 two, 5 five", got)
	diff(t, "warnings", []item.Warning(nil), warnings)
	for id, want := range map[item.ID]int{1: 1, 5: 0} {
		if it, err := c.store().Item(t.Context(), id); err != nil || len(it.Comments) != want {
			t.Errorf("the comments of #%d are %+v, %v", id, it.Comments, err)
		}
	}
	found, err := c.store().Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "found", []item.Warning(nil), found)
}

// Git can commit the marks of a conflict without a stop. The doctor merges the items that
// git merged as lines, with what was done since.
func TestCommittedMarks(t *testing.T) {
	t.Parallel()
	t.Run("by a merge", func(t *testing.T) {
		t.Parallel()
		ours, theirs := twice(t)
		_, _ = ours.run("pull", "-q", "--no-rebase", theirs.dir, "main")
		checkOnce(t, ours)
	})
	t.Run("by a rebase", func(t *testing.T) {
		t.Parallel()
		ours, theirs := twice(t)
		_, _ = theirs.run("pull", "-q", "--rebase", ours.dir, "main")
		checkOnce(t, theirs)
	})
	t.Run("by a pick, with changes since", func(t *testing.T) {
		t.Parallel()
		ours, theirs := twice(t)
		ours.git("fetch", "-q", theirs.dir, "main")
		_, stopped := ours.run("cherry-pick", "FETCH_HEAD")
		ours.comment(2, "said since")
		if stopped == nil {
			ours.commit()
		}
		checkOnce(t, ours)
		if it, err := ours.store().Item(t.Context(), 2); err != nil || len(it.Comments) != 1 {
			t.Errorf("the comments of #2 are %+v, %v", it.Comments, err)
		}
	})
}

// Marks that no commit explains can be around versions of two items. Each version goes to
// its own item, also to one in the trash.
func TestMarksAroundTwoItems(t *testing.T) {
	t.Parallel()
	ours, _ := twice(t)
	ours.git("checkout", "-q", "HEAD^", "--", ".tic/items/1.md")
	var one string
	ours.edit("items/1.md", func(text string) string { one = text; return text })
	if err := open(t, ours.dir, true).Delete(t.Context(), 1, "", false); err != nil {
		t.Fatal(err)
	}
	ours.edit("items/5.md", func(text string) string {
		changed := strings.TrimRight(one, "\n") + "\n\n## Comments\n\n---\nauthor: eve\ndate: 2026-01-01T00:00:00.000Z\n\nSaid elsewhere.\n"
		return "<<<<<<< ours\n" + text + "=======\n" + changed + ">>>>>>> theirs\n"
	})
	ours.repair()
	got, warnings := titles(t, ours.store())
	diff(t, "items", "1 one, 2 two, 5 five", got)
	diff(t, "warnings", []item.Warning(nil), warnings)
	if it, err := ours.store().Item(t.Context(), 1); err != nil || len(it.Comments) != 1 {
		t.Errorf("the comments are %+v, %v", it.Comments, err)
	}
	if deleted, _, err := ours.store().Deleted(t.Context()); err != nil || len(deleted) > 0 {
		t.Errorf("in the trash: %+v, %v", deleted, err)
	}
}

// Git takes the deletion of one item and the presence of another for directories that were
// renamed, and drops both files of a number without a stop. The doctor brings them back.
func TestLostByGit(t *testing.T) {
	t.Parallel()
	ours := newGit(t)
	if _, err := open(t, ours.dir, true).Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	commit := func(c clone, subject string) {
		c.git("add", "-A")
		c.git("commit", "-qm", subject)
	}
	ours.create("one", "two")
	commit(ours, "start")
	theirs := ours.clone()
	remove := func(id item.ID) {
		if err := open(t, theirs.dir, true).Delete(t.Context(), id, "", false); err != nil {
			t.Fatal(err)
		}
	}
	theirs.create("theirs three")
	remove(2)
	commit(theirs, "create three, delete two")
	remove(3)
	commit(theirs, "delete three")
	ours.create("ours three")
	ours.comment(3, "said here")
	commit(ours, "create another three")
	ours.git("fetch", "-q", theirs.dir, "main")
	if _, stopped := ours.run("cherry-pick", "FETCH_HEAD"); stopped == nil {
		found, err := ours.store().Check(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		diff(t, "found", true, slices.ContainsFunc(found, func(w item.Warning) bool { return strings.HasPrefix(w.Reason, `lost "ours three" in a merge`) }))
	}
	small, before := ours.store(), contents(t, ours.dir)
	local.SetSpace(small, 1)
	if _, err := small.Repair(t.Context()); err == nil || !strings.Contains(err.Error(), "bytes together") {
		t.Errorf("a repair without space: %v", err)
	}
	diff(t, "files after a repair without space", before, contents(t, ours.dir))
	ours.repair()
	got, warnings := titles(t, ours.store())
	diff(t, "items", "1 one, 2 two, 4 ours three", got)
	diff(t, "warnings", []item.Warning(nil), warnings)
	if it, err := ours.store().Item(t.Context(), 4); err != nil || len(it.Comments) != 1 {
		t.Errorf("the comments are %+v, %v", it.Comments, err)
	}
	// What a person removes stays removed.
	ours.git("add", "-A")
	ours.git("rm", "-qf", ".tic/items/1.md")
	_, _ = ours.run("-c", "core.editor=true", "cherry-pick", "--continue")
	ours.git("commit", "-q", "--allow-empty", "-m", "purge one")
	ours.repair()
	got, _ = titles(t, ours.store())
	diff(t, "items after a purge", "2 two, 4 ours three", got)
}

// Both sides restored the only deleted item, so that for git each of them renamed the trash. It then
// drops an item that one side deleted and the other changed, and the copied commit has only that loss.
func TestLostByACopy(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"cherry-pick", "rebase"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			c := newGit(t)
			if _, err := open(t, c.dir, true).Init(t.Context()); err != nil {
				t.Fatal(err)
			}
			commit := func(subject string) {
				c.git("add", "-A")
				c.git("commit", "-qm", subject)
			}
			restore := func() {
				if _, err := open(t, c.dir, true).Restore(t.Context(), 1); err != nil {
					t.Fatal(err)
				}
			}
			remove := func(id item.ID) {
				if err := open(t, c.dir, true).Delete(t.Context(), id, "", false); err != nil {
					t.Fatal(err)
				}
			}
			c.create("one", "two", "three")
			for id := item.ID(1); id <= 3; id++ {
				text := strings.Repeat("The text of an item, one of several.\n", 20)
				if _, err := open(t, c.dir, true).Update(t.Context(), id, item.Patch{Description: &text}); err != nil {
					t.Fatal(err)
				}
			}
			remove(1)
			commit("base")
			c.git("checkout", "-qb", "side")
			restore()
			c.comment(2, "found the cause")
			commit("restore one")
			c.git("checkout", "-q", "main")
			restore()
			commit("restore one here, too")
			remove(2)
			commit("delete two")
			if command == "rebase" {
				c.git("checkout", "-q", "side")
				c.git("rebase", "main")
			} else {
				c.git("cherry-pick", "side")
			}
			checkBack(t, c, "two", "1 one, 2 two, 3 three", 2)
		})
	}
}

// A merge driver of git, as copse's once did, can replace an item with another one whose number it
// had before. Such a commit removes no file.
func TestLostToAnotherItem(t *testing.T) {
	t.Parallel()
	c := newGit(t)
	if _, err := open(t, c.dir, true).Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	commit := func(subject string) {
		c.git("add", "-A")
		c.git("commit", "-qm", subject)
	}
	c.create("one")
	if err := os.WriteFile(filepath.Join(c.dir, ".tic", ".gitattributes"), []byte("items/*.md merge=theirs\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	commit("start")
	c.git("branch", "side")
	c.create("of main") // the older one keeps its number
	c.edit("items/2.md", func(text string) string { return text + strings.Repeat("Something else.\n", 20) })
	commit("create on main")
	c.git("checkout", "-q", "side")
	c.create("of the side")
	c.comment(2, "said here")
	commit("create")
	_, _ = c.run("merge", "--squash", "main")
	c.repair()
	commit("main, squashed")
	c.git("checkout", "-q", "main")
	c.git("checkout", "-q", "side", "--", ".")
	commit("the side, squashed")
	if err := open(t, c.dir, true).Delete(t.Context(), 2, "", false); err != nil {
		t.Fatal(err)
	}
	commit("delete what was of main")
	c.git("-c", "merge.theirs.driver=cp %B %A", "cherry-pick", "side")
	checkBack(t, c, "of the side", "1 one, 3 of the side", 3)
}

// checkBack checks that the doctor finds an item that git lost, and that it brings it back with its
// comment.
func checkBack(t *testing.T, c clone, title, want string, id item.ID) {
	t.Helper()
	found, err := c.store().Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(found, func(w item.Warning) bool { return strings.HasPrefix(w.Reason, `lost "`+title+`" in a merge`) }) {
		t.Errorf("found: %+v", found)
	}
	c.repair()
	got, warnings := titles(t, c.store())
	diff(t, "items", want, got)
	diff(t, "warnings", []item.Warning(nil), warnings)
	if it, err := c.store().Item(t.Context(), id); err != nil || len(it.Comments) != 1 {
		t.Errorf("the comments are %+v, %v", it.Comments, err)
	}
	c.commit()
	if found, err = c.store().Check(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("found after the repair: %+v, %v", found, err)
	}
}

// A change that leaves `updated` alone, as a person makes it in an editor, and a deletion are not a
// conflict for git: it puts the change into the trash. The doctor sees that also after a rebase or
// a cherry-pick, of either of the two, and keeps the item.
func TestBuriedByACopy(t *testing.T) {
	t.Parallel()
	// prepare makes a clone that has deleted item 1, and one that has changed it.
	prepare := func(t *testing.T) (deletes, changes clone) {
		t.Helper()
		deletes = newGit(t)
		if _, err := open(t, deletes.dir, true).Init(t.Context()); err != nil {
			t.Fatal(err)
		}
		deletes.create("one", "two")
		if _, err := open(t, deletes.dir, true).Update(t.Context(), 1, item.Patch{Description: new(strings.Repeat("A long text.\n", 20))}); err != nil {
			t.Fatal(err)
		}
		deletes.commit()
		changes = deletes.clone()
		if err := open(t, deletes.dir, true).Delete(t.Context(), 1, "", false); err != nil {
			t.Fatal(err)
		}
		deletes.git("add", "-A")
		deletes.git("commit", "-qm", "delete one")
		changes.edit("items/1.md", func(text string) string { return strings.Replace(text, "title: one", "title: changed", 1) })
		changes.git("commit", "-qam", "change one")
		return deletes, changes
	}
	check := func(t *testing.T, c clone) {
		t.Helper()
		found, err := c.store().Check(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		diff(t, "found", []item.Warning{{
			File: "trash/1.md", Reason: "was deleted on one side of a merge and changed on the other; run `copse item doctor --repair` to restore it",
		}}, found)
		c.repair()
		got, warnings := titles(t, c.store())
		diff(t, "items", "1 changed, 2 two", got)
		diff(t, "warnings", []item.Warning(nil), warnings)
		c.commit()
		// Who deletes it now has seen the change.
		if err := open(t, c.dir, true).Delete(t.Context(), 1, "", false); err != nil {
			t.Fatal(err)
		}
		c.commit()
		c.repair()
		got, _ = titles(t, c.store())
		diff(t, "items after another deletion", "2 two", got)
	}
	t.Run("a rebase of the change", func(t *testing.T) {
		t.Parallel()
		deletes, changes := prepare(t)
		changes.git("pull", "-q", "--rebase", deletes.dir, "main")
		check(t, changes)
	})
	t.Run("a rebase of the deletion", func(t *testing.T) {
		t.Parallel()
		deletes, changes := prepare(t)
		deletes.git("pull", "-q", "--rebase", changes.dir, "main")
		check(t, deletes)
	})
	t.Run("a pick of the change", func(t *testing.T) {
		t.Parallel()
		deletes, changes := prepare(t)
		deletes.git("fetch", "-q", changes.dir, "main")
		deletes.git("cherry-pick", "FETCH_HEAD")
		check(t, deletes)
	})
	t.Run("a pick of the deletion", func(t *testing.T) {
		t.Parallel()
		deletes, changes := prepare(t)
		changes.git("fetch", "-q", deletes.dir, "main")
		changes.git("cherry-pick", "FETCH_HEAD")
		check(t, changes)
	})
	t.Run("a rebase of both, of one clone", func(t *testing.T) {
		t.Parallel()
		_, changes := prepare(t)
		if err := open(t, changes.dir, true).Delete(t.Context(), 1, "", false); err != nil {
			t.Fatal(err)
		}
		changes.git("add", "-A")
		changes.git("commit", "-qm", "delete it after all")
		changes.git("checkout", "-q", "-b", "other", "HEAD~2")
		changes.create("three")
		changes.commit()
		changes.git("checkout", "-q", "main")
		changes.git("rebase", "-q", "other")
		changes.repair()
		got, _ := titles(t, changes.store())
		diff(t, "items", "2 two, 3 three", got)
	})
}
