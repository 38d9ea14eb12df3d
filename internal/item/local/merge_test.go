package local_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/remerge"
	"github.com/copse-dev/copse/internal/test/need"
	"github.com/copse-dev/copse/internal/xec"
)

// clone is a git repository with a store.
type clone struct {
	t   *testing.T
	dir string
	env []string
}

func newGit(t *testing.T) clone {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		need.Skip(t, "git is not installed")
	}
	home := t.TempDir()
	env := append(os.Environ(),
		"HOME="+home, "XDG_CONFIG_HOME="+home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	)
	c := clone{t, t.TempDir(), env}
	c.git("init", "-q", "-b", "main")
	return c
}

func (c clone) run(args ...string) (string, error) {
	cmd := exec.CommandContext(c.t.Context(), "git", args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (c clone) git(args ...string) string {
	c.t.Helper()
	out, err := c.run(args...)
	if err != nil {
		c.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

func (c clone) commit() {
	c.t.Helper()
	c.git("add", "-A")
	c.git("commit", "-q", "-m", "x")
}

// clone makes another clone beside.
func (c clone) clone() clone {
	c.t.Helper()
	other := clone{c.t, filepath.Join(c.t.TempDir(), "clone"), c.env}
	c.git("clone", "-q", c.dir, other.dir)
	return other
}

// store opens the store so that it asks git.
func (c clone) store() *local.Store {
	return open(c.t, c.dir, true).InGit(git.Options{Env: xec.Env(c.env)})
}

func (c clone) create(titles ...string) {
	c.t.Helper()
	s := open(c.t, c.dir, true)
	for _, title := range titles {
		if _, err := s.Create(c.t.Context(), item.Draft{Title: title}); err != nil {
			c.t.Fatal(err)
		}
	}
}

func (c clone) comment(id item.ID, text string) {
	c.t.Helper()
	if _, err := open(c.t, c.dir, true).AddComment(c.t.Context(), id, "x", text); err != nil {
		c.t.Fatal(err)
	}
}

// Two clones create items with the same numbers, and comment the same one.
func TestMergedClones(t *testing.T) {
	t.Parallel()
	ours := newGit(t)
	if _, err := open(t, ours.dir, true).Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	ours.create("old")
	ours.commit()
	if files := ours.git("ls-files"); strings.Contains(files, ".copse") {
		t.Errorf("committed: %s", files)
	}
	theirs := ours.clone()
	ours.create("ours 2")
	ours.comment(1, "our comment")
	ours.commit()
	theirs.create("theirs 2", "theirs 3")
	theirs.comment(1, "their comment")
	theirs.commit()
	if out, err := ours.run("pull", "-q", "--no-rebase", theirs.dir, "main"); err == nil {
		t.Fatalf("git merged everything: %s", out)
	}

	s := open(t, ours.dir, true)
	got, warnings := titles(t, s)
	diff(t, "items while it is not merged", "1 old (unmerged), 2 ours 2 (ours) | theirs 2 (theirs) (unmerged), 3 theirs 3", got)
	const reason = "has merge conflict markers; run `copse item doctor --repair`"
	diff(t, "warnings", []item.Warning{{File: "items/1.md", Reason: reason}, {File: "items/2.md", Reason: reason}}, warnings)
	both, err := s.Item(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	var comments []string
	for _, comment := range both.Comments {
		comments = append(comments, comment.Body)
	}
	diff(t, "comments of both versions", []string{"our comment", "their comment"}, comments)
	c, err := s.Config(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tree, err := snapshot.Tree(c, item.Filter{All: true}, 1, item.AllNodes, nil)
	if err != nil || len(tree.Roots) != 1 || tree.Roots[0].Title != "old (unmerged)" {
		t.Errorf("the tree of the item: %+v, %v", tree, err)
	}
	diff(t, "warnings of the project", []item.Warning{{File: "config.yml", Reason: reason}}, c.Warnings)

	if _, err := s.Repair(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, warnings = titles(t, s)
	diff(t, "items", "1 old, 2 ours 2, 3 theirs 3, 4 theirs 2", got)
	diff(t, "warnings", []item.Warning(nil), warnings)
	it, err := s.Item(t.Context(), 1)
	if err != nil || len(it.Comments) != 2 {
		t.Errorf("comments: %v, %v", it.Comments, err)
	}
	ours.create("new")
	got, _ = titles(t, s)
	diff(t, "items", "1 old, 2 ours 2, 3 theirs 3, 4 theirs 2, 5 new", got)
	ours.commit()
	diff(t, "left to commit", "", ours.git("status", "--porcelain"))
}

// Changes of different items merge by themselves. An item that one clone deleted and the
// other changed is a conflict for git, which the doctor settles: the item is kept.
func TestDeletedAndChanged(t *testing.T) {
	t.Parallel()
	prepare := func(t *testing.T) (ours, theirs clone) {
		t.Helper()
		ours = newGit(t)
		if _, err := open(t, ours.dir, true).Init(t.Context()); err != nil {
			t.Fatal(err)
		}
		ours.create("1", "2", "3")
		long := item.Patch{Description: new(strings.Repeat("A long text.\n", 20)), Parent: new(item.ID(1)), DependsOn: &[]item.ID{1}}
		if _, err := open(t, ours.dir, true).Update(t.Context(), 2, long); err != nil {
			t.Fatal(err)
		}
		ours.commit()
		theirs = ours.clone()
		if err := open(t, ours.dir, true).Delete(t.Context(), 2, "", false); err != nil {
			t.Fatal(err)
		}
		ours.comment(1, "x")
		ours.commit()
		return ours, theirs
	}
	check := func(t *testing.T, c clone, done remerge.Result, file string) {
		t.Helper()
		kept := slices.ContainsFunc(done.Fixes, func(f remerge.Fix) bool {
			return f.File == file && f.Done == "was deleted on one side and changed on the other; copse keeps it"
		})
		if !kept {
			t.Errorf("it is not reported: %+v", done.Fixes)
		}
		got, warnings := titles(t, c.store())
		diff(t, "items", "1 1, 2 2, 3 3", got)
		diff(t, "warnings", []item.Warning(nil), warnings)
		it, err := c.store().Item(t.Context(), 2)
		if err != nil || it.Parent != 1 || len(it.DependsOn) != 1 {
			t.Errorf("the relations are %+v, %v", it, err)
		}
	}
	t.Run("with a conflict", func(t *testing.T) {
		t.Parallel()
		ours, theirs := prepare(t)
		theirs.comment(2, "said after it was deleted")
		theirs.commit()
		for _, sides := range [][2]clone{{ours, theirs}, {theirs, ours}} {
			into := sides[0].clone()
			if out, err := into.run("pull", "-q", "--no-rebase", sides[1].dir, "main"); err == nil {
				t.Fatalf("git merged it: %s", out)
			}
			got, warnings := titles(t, into.store())
			diff(t, "items while the merge is open", "1 1, 2 2 (unmerged), 3 3", got)
			if len(warnings) == 0 {
				t.Error("nothing says that one side deleted it")
			}
			if it, err := into.store().Item(t.Context(), 2); err != nil || len(it.Comments) != 1 {
				t.Errorf("while the merge is open it is %+v, %v", it, err)
			}
			done, err := into.store().Repair(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			check(t, into, done, "items/2.md")
			if it, err := into.store().Item(t.Context(), 2); err != nil || len(it.Comments) != 1 {
				t.Errorf("the comments are %+v, %v", it.Comments, err)
			}
		}
	})
	t.Run("without one", func(t *testing.T) {
		t.Parallel()
		ours, theirs := prepare(t)
		theirs.edit("items/2.md", func(text string) string { return strings.Replace(text, "A long text", "A text", 1) })
		theirs.commit()
		ours.git("pull", "-q", "--no-rebase", theirs.dir, "main") // only the description was edited
		found, err := ours.store().Check(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		diff(t, "found", []item.Warning{{
			File: "trash/2.md", Reason: "was deleted on one side of a merge and changed on the other; run `copse item doctor --repair` to restore it",
		}}, found)
		done, err := ours.store().Repair(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		check(t, ours, done, "items/2.md")
		if done.Merge == nil || !done.Merge.Done {
			t.Errorf("no git command finishes it: %+v", done.Merge)
		}
		if it, err := ours.store().Item(t.Context(), 2); err != nil || !strings.HasPrefix(it.Description, "A text.\nA long") {
			t.Errorf("the description is %q, %v", it.Description, err)
		}
		// Who deletes it now has seen the change.
		if err := ours.store().Delete(t.Context(), 2, "", false); err != nil {
			t.Fatal(err)
		}
		ours.commit()
		if done, err := ours.store().Repair(t.Context()); err != nil || len(done.Fixes) > 0 {
			t.Errorf("after another deletion: %+v, %v", done.Fixes, err)
		}
		fresh := ours.clone()
		if found, err := fresh.store().Check(t.Context()); err != nil || len(found) > 0 {
			t.Errorf("in a fresh clone: %+v, %v", found, err)
		}
	})
}

// Cherry-picks that git makes without a conflict bring a second file of an item: its
// deletion, or the item under the number that it got in another clone.
func TestCherryPickedCopies(t *testing.T) {
	t.Parallel()
	hub := newGit(t)
	if _, err := open(t, hub.dir, true).Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	hub.commit()

	t.Run("deletion", func(t *testing.T) {
		t.Parallel()
		ours := hub.clone()
		ours.create("one")
		ours.commit()
		theirs := ours.clone()
		if err := theirs.store().Delete(t.Context(), 1, "", false); err != nil {
			t.Fatal(err)
		}
		theirs.commit()
		// A branch that never had the item gets its deletion, and then the item.
		ours.git("checkout", "-q", "-b", "other", "HEAD^")
		ours.git("fetch", "-q", theirs.dir, "main")
		_, _ = ours.run("cherry-pick", "FETCH_HEAD")
		if _, err := ours.store().Repair(t.Context()); err != nil {
			t.Fatal(err)
		}
		ours.git("add", "-A")
		ours.git("-c", "core.editor=true", "cherry-pick", "--continue")
		ours.git("rebase", "-q", "other", "main")
		checkCopies(t, ours, "", ".tic/items/1.md .tic/trash/1.md", ".tic/trash/1.md")
	})
	t.Run("renumbering", func(t *testing.T) {
		t.Parallel()
		ours, theirs := hub.clone(), hub.clone()
		ours.create("ours")
		ours.commit()
		theirs.create("published")
		theirs.commit()
		theirs.git("push", "-q", "origin", "main:published")
		theirs.git("fetch", "-q", ours.dir, "main")
		_, _ = theirs.run("cherry-pick", "FETCH_HEAD")
		if _, err := theirs.store().Repair(t.Context()); err != nil {
			t.Fatal(err)
		}
		theirs.git("add", "-A")
		theirs.git("-c", "core.editor=true", "cherry-pick", "--continue")
		ours.git("fetch", "-q", theirs.dir, "main")
		if _, err := ours.run("cherry-pick", "FETCH_HEAD"); err != nil {
			// Only the configuration can conflict, which has the next number.
			ours.git("checkout", "-q", "--theirs", "--", ".tic/config.yml")
			ours.git("add", "-A")
			ours.git("-c", "core.editor=true", "cherry-pick", "--continue")
		}
		checkCopies(t, ours, "2 ours", ".tic/items/1.md .tic/items/2.md", ".tic/items/2.md")
	})
}

// checkCopies checks that the files of a store before its repair have copies, which the
// doctor finds, and those after it none.
func checkCopies(t *testing.T, c clone, items, before, after string) {
	t.Helper()
	files := func() string {
		names := strings.Fields(c.git("ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "--", ".tic/items/*.md", ".tic/trash/*.md"))
		names = slices.DeleteFunc(names, func(name string) bool {
			_, err := os.Stat(filepath.Join(c.dir, name))
			return err != nil
		})
		return strings.Join(names, " ")
	}
	diff(t, "files", before, files())
	s := c.store()
	found, err := s.Check(t.Context())
	if err != nil || len(found) != 1 || !strings.Contains(found[0].Reason, "has a second file") {
		t.Errorf("the doctor finds %v, %v", found, err)
	}
	if _, err := s.Repair(t.Context()); err != nil {
		t.Fatal(err)
	}
	diff(t, "repaired files", after, files())
	got, _ := titles(t, s)
	diff(t, "items", items, got)
	if found, err := s.Check(t.Context()); err != nil || len(found) != 0 {
		t.Errorf("then the doctor finds %v, %v", found, err)
	}
}
