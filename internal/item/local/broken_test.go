package local_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/item/remerge"
	"github.com/copse-dev/copse/internal/item/storage"
)

const conflicted = "---\nid: \"4\"\n<<<<<<< HEAD\ntitle: a\n=======\ntitle: b\n>>>>>>> other\n---\n\n"

// Files that are not items are reported, and do not affect others.
func TestBrokenFiles(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, watching bool) {
		dir := project(t)
		write(t, dir, "items/1.md", itemText("1"))
		write(t, dir, "items/2.md", "")
		write(t, dir, "items/3.md", "---\nid: 3\ntitle: a: b\n---\n")
		write(t, dir, "items/4.md", conflicted)
		write(t, dir, "items/5.md", itemText("1"))
		write(t, dir, "items/6.md", itemText("99"))
		write(t, dir, "items/07.md", itemText("7"))
		write(t, dir, "items/10.md", itemText("10", "parent: x"))
		write(t, dir, "items/1 copy.md", itemText("1"))
		write(t, dir, "items/notes.md", "# Notes\n")
		write(t, dir, "items/notes.txt", "none of ours")
		write(t, dir, "items/folder.md/x", "none of ours")
		write(t, dir, "items/12.md", "---\n"+strings.Repeat("x", 9<<20))
		got, warnings := titles(t, open(t, dir, watching))
		diff(t, "items", "1 Item 1, 4 a (ours) | b (theirs) (unmerged), 5 Item 1, 6 Item 99, 10 Item 10", got)
		diff(t, "warnings", []item.Warning{
			{File: "items/2.md", Reason: "has no front matter: its first line is not ---"},
			{File: "items/3.md", Reason: "has invalid front matter: line 3: mapping value is not allowed in this context"},
			{File: "items/4.md", Reason: "has merge conflict markers; run `copse item doctor --repair`"},
			{File: "items/5.md", Reason: "contains the ID 1, like items/1.md; copse uses it as #5, by its name. Assign a free number, in the name and in the content"},
			{File: "items/6.md", Reason: "contains the ID 99; copse uses it as #6, by its name. Assign a free number, in the name and in the content"},
			{File: "items/07.md", Reason: "contains the ID 7; copse ignores it. Assign a free number, in the name and in the content"},
			{File: "items/10.md", Reason: `has the parent "x", which is not the number of an item; copse ignores it`},
			{File: "items/12.md", Reason: "has 9437188 bytes; the limit is 8388608"},
			{File: "items/notes.md", Reason: "has no front matter: its first line is not ---"},
			{File: "items/1 copy.md", Reason: "contains the ID 1, like items/1.md; copse ignores it. Assign a free number, in the name and in the content"},
			{File: "items/folder.md", Reason: "is a directory"},
		}, warnings)
	})
}

func TestBrokenItem(t *testing.T) {
	t.Parallel()
	dir := project(t)
	write(t, dir, "items/1.md", itemText("1"))
	write(t, dir, "items/4.md", conflicted)
	s := open(t, dir, true)
	ctx := t.Context()
	const want = "Work item #4 cannot be used: items/4.md has merge conflict markers; run `copse item doctor --repair`"
	shown, err := s.Item(ctx, 4)
	if err != nil || shown.Title != "a (ours) | b (theirs) (unmerged)" {
		t.Errorf("the item is shown as %q, %v", shown.Title, err)
	}
	_, updateErr := s.Update(ctx, 4, item.Patch{})
	_, commentErr := s.AddComment(ctx, 4, "", "x")
	_, parentErr := s.Update(ctx, 1, item.Patch{Parent: new(item.ID(4))})
	for what, err := range map[string]error{
		"update": updateErr, "comment": commentErr, "parent": parentErr, "delete": s.Delete(ctx, 4, "", false),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", what, err, want)
		}
	}
	diff(t, "file", conflicted, read(t, dir, "items/4.md"))
	if file, err := s.File(ctx, 4); err != nil || file != path(dir, "items/4.md") {
		t.Errorf("its file for an editor: %q, %v", file, err)
	}
}

func TestSpecialYAMLIsNotChanged(t *testing.T) {
	t.Parallel()
	dir := project(t)
	const source = "---\n{id: 1, title: x, parent: 2}\n---\n"
	write(t, dir, "items/1.md", source)
	write(t, dir, "items/2.md", itemText("2"))
	s := open(t, dir, true)
	_, err := s.Update(t.Context(), 1, item.Patch{Status: new("done")})
	deleteErr := s.Delete(t.Context(), 2, "", false)
	for _, err := range []error{err, deleteErr} {
		if broken, ok := errors.AsType[*storage.BrokenError](err); !ok || broken.File != "items/1.md" || !strings.HasPrefix(broken.Reason, "cannot be changed") {
			t.Errorf("got %v", err)
		}
	}
	diff(t, "file", source, read(t, dir, "items/1.md"))
	got, _ := titles(t, s)
	diff(t, "items", "1 x, 2 Item 2", got)
}

// A link is not followed, wherever it leads.
func TestLinks(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, watching bool) {
		dir, outside := project(t), filepath.Join(t.TempDir(), "secret.md")
		if err := os.WriteFile(outside, []byte(itemText("1")), 0o666); err != nil {
			t.Fatal(err)
		}
		write(t, dir, "items/2.md", itemText("2"))
		for name, target := range map[string]string{"1.md": outside, "3.md": "2.md", "4.md": "missing"} {
			if err := os.Symlink(target, path(dir, "items/"+name)); err != nil {
				t.Skip("symbolic links cannot be made here:", err)
			}
		}
		s := open(t, dir, watching)
		const reason = "is a symbolic link, which is not followed; replace it with the file"
		check := func() {
			got, warnings := titles(t, s)
			diff(t, "items", "2 Item 2", got)
			diff(t, "warnings", []item.Warning{{File: "items/1.md", Reason: reason}, {File: "items/3.md", Reason: reason}, {File: "items/4.md", Reason: reason}}, warnings)
		}
		check()
		_, itemErr := s.Item(t.Context(), 1)
		_, updateErr := s.Update(t.Context(), 1, item.Patch{Title: new("x")})
		for _, err := range []error{itemErr, updateErr, s.Delete(t.Context(), 1, "", false)} {
			if err == nil || !strings.HasSuffix(err.Error(), reason) {
				t.Errorf("got %v", err)
			}
		}
		if data, _ := os.ReadFile(outside); string(data) != itemText("1") {
			t.Errorf("outside of the store is now %q", data)
		}
		check()
	})
}

func TestDirOfItemsIsALink(t *testing.T) {
	t.Parallel()
	dir, outside := project(t), t.TempDir()
	if err := os.Symlink(outside, path(dir, "items")); err != nil {
		t.Skip("symbolic links cannot be made here:", err)
	}
	s := open(t, dir, true)
	_, snapshotErr := s.Snapshot(t.Context())
	_, createErr := s.Create(t.Context(), item.Draft{Title: "x"})
	_, itemErr := s.Item(t.Context(), 1)
	for _, err := range []error{snapshotErr, createErr, itemErr} {
		if err == nil || strings.Contains(err.Error(), outside) || strings.Contains(err.Error(), dir) {
			t.Errorf("got %v", err)
		}
	}
	if left, _ := os.ReadDir(outside); len(left) > 0 {
		t.Errorf("written outside: %v", left)
	}
}

func TestConfigErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		prepare func(t *testing.T, dir string)
		want    string
	}{
		"missing":  {func(t *testing.T, dir string) { remove(t, dir, "config.yml") }, "config.yml is missing; restore it, or initialize the project again"},
		"empty":    {func(t *testing.T, dir string) { write(t, dir, "config.yml", "") }, "config.yml is empty; restore it, or remove it and initialize the project again"},
		"not YAML": {func(t *testing.T, dir string) { write(t, dir, "config.yml", "a: b: c") }, "config.yml is not usable YAML: line 1: mapping value is not allowed in this context; correct it"},
		"foreign":  {func(t *testing.T, dir string) { write(t, dir, "config.yml", "version: 2\n") }, "config.yml is not the configuration of a tic project: it has no types"},
		"newer": {func(t *testing.T, dir string) {
			remove(t, dir, "config.yml")
			write(t, dir, "tic.db", "")
		}, "config.yml is missing: this store is in tic.db by a newer tic, which copse cannot read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := project(t)
			write(t, dir, "items/1.md", itemText("1"))
			test.prepare(t, dir)
			s := open(t, dir, true)
			ctx := t.Context()
			_, configErr := s.Config(ctx)
			_, createErr := s.Create(ctx, item.Draft{Title: "x"})
			_, updateErr := s.Update(ctx, 1, item.Patch{Title: new("x")})
			for what, err := range map[string]error{
				"config": configErr, "create": createErr, "update": updateErr, "iteration": s.SetIteration(ctx, "x"),
			} {
				if err == nil || err.Error() != test.want {
					t.Errorf("%s: got %v, want %s", what, err, test.want)
				}
			}
			if _, err := os.Lstat(path(dir, "items/2.md")); err == nil {
				t.Error("an item was created")
			}
			if got, _ := titles(t, s); got != "1 Item 1" {
				t.Errorf("items: %q", got)
			}
		})
	}
}

func TestConfigIsADir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "config.yml/x", "")
	_, err := open(t, dir, true).Config(t.Context())
	if _, ok := errors.AsType[*storage.ConfigError](err); !ok {
		t.Errorf("got %v", err)
	}
}

// An unfinished merge of the configuration keeps nobody from reading items or making
// new ones, and no version of a value is lost.
func TestUnmergedConfig(t *testing.T) {
	t.Parallel()
	dir := project(t)
	unmerged := strings.Replace(config, "next_id: 1 # counts\n", "<<<<<<< HEAD\nnext_id: 7\n=======\nnext_id: 9\n>>>>>>> other\n", 1)
	write(t, dir, "config.yml", unmerged)
	s := open(t, dir, true)
	c, err := s.Config(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const reason = "has merge conflict markers; run `copse item doctor --repair`"
	diff(t, "warnings", []item.Warning{{File: "config.yml", Reason: reason}}, c.Warnings)
	diff(t, "statuses", []string{"backlog", "todo", "done"}, c.Statuses)
	it, err := s.Create(t.Context(), item.Draft{Title: "x"})
	if err != nil || it.ID != 9 {
		t.Errorf("created: #%d, %v", it.ID, err)
	}
	diff(t, "file", strings.Replace(config, "next_id: 1 # counts\n", "next_id: 10\n", 1), read(t, dir, "config.yml"))
}

func TestNoProject(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, true)
	_, configErr := s.Config(t.Context())
	_, snapshotErr := s.Snapshot(t.Context())
	_, createErr := s.Create(t.Context(), item.Draft{Title: "x"})
	for _, err := range []error{configErr, snapshotErr, createErr} {
		if !errors.Is(err, storage.ErrNoProject) {
			t.Errorf("got %v", err)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("something was made: %v", left)
	}
}

func TestReadOnlyStore(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("permissions do not bind root")
	}
	dir := project(t)
	write(t, dir, "items/1.md", itemText("1"))
	if err := os.Chmod(path(dir, ""), 0o500); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, true)
	if got, _ := titles(t, s); got != "1 Item 1" {
		t.Errorf("items: %q", got)
	}
	_, err := s.Create(t.Context(), item.Draft{Title: "x"})
	if !errors.Is(err, os.ErrPermission) || strings.Contains(err.Error(), dir) {
		t.Errorf("got %v", err)
	}
}

func TestCheckAndRepair(t *testing.T) {
	t.Parallel()
	dir := project(t)
	write(t, dir, "config.yml", strings.Replace(config, "next_id: 1 # counts\n", "<<<<<<< HEAD\nnext_id: 7\n=======\nnext_id: 9\n>>>>>>> other\n", 1))
	version := func(id, created, comment string) string {
		text := itemText(id, "created: "+created)
		if comment != "" {
			text += "\n## Comments\n\n---\nauthor: x\ndate: 2026-01-0" + comment + "\n\ncomment " + comment + "\n"
		}
		return text
	}
	both := func(ours, theirs string) string {
		return "<<<<<<< HEAD\n" + ours + "=======\n" + theirs + ">>>>>>> other\n"
	}
	write(t, dir, "items/1.md", itemText("1", "parent: 50", "depends_on: [2, 51]"))
	write(t, dir, "items/2.md", both(version("2", "then", ""), strings.Replace(version("2", "later", ""), "Item", "Other", 1)))
	write(t, dir, "items/3.md", both(version("3", "then", "1"), version("3", "then", "2")))
	write(t, dir, "items/4.md", both(version("4", "then", ""), strings.Replace(version("4", "then", ""), "Item", "Other", 1)))
	write(t, dir, "items/5.md", itemText("1"))
	write(t, dir, "items/1 copy.md", strings.Replace(itemText("1"), "Item", "Copy of", 1))
	write(t, dir, "items/6.md", strings.Replace(itemText("6", "parent: 8"), "todo", "gone", 1))
	write(t, dir, "items/7.md", itemText("7", "parent: 8"))
	write(t, dir, "items/8.md", itemText("8", "parent: 7"))
	write(t, dir, "items/notes.md", "# Notes\n")
	s := open(t, dir, true)

	found, err := s.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, w := range found {
		files = append(files, w.File)
	}
	diff(t, "found in", "config.yml 2.md 3.md 4.md 5.md notes.md 1 copy.md 1.md 1.md 6.md 7.md 8.md",
		strings.ReplaceAll(strings.Join(files, " "), "items/", ""))

	done, err := s.Repair(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "fixes", []remerge.Fix{
		{File: "items/9.md", Done: `is "Item 2", which was #2`},
		{File: "items/4.md", Done: `has the title "Other 4" and not "Item 4", because both sides changed it`},
		{File: "items/5.md", Done: "now has the number in its name; it had 1"},
		{File: "items/10.md", Done: "is new: it was items/1 copy.md"},
		{File: "items/1.md", Done: "no longer refers to #50, which does not exist"},
		{File: "items/1.md", Done: "no longer refers to #51, which does not exist"},
	}, done.Fixes)
	got, _ := titles(t, s)
	diff(t, "items", "1 Item 1, 2 Other 2, 3 Item 3, 4 Other 4, 5 Item 1, 6 Item 6, 7 Item 7, 8 Item 8, 9 Item 2, 10 Copy of 1", got)
	it, err := s.Item(t.Context(), 3)
	if err != nil || len(it.Comments) != 2 {
		t.Errorf("comments of both versions: %v, %v", it.Comments, err)
	}

	found, err = s.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "left for a person", []item.Warning{
		{File: "items/notes.md", Reason: "has no front matter: its first line is not ---"},
		{File: "items/6.md", Reason: `has the status "gone", which is not one of backlog, todo, done`},
		{File: "items/7.md", Reason: "is in a cycle: Circular parent chain detected for #7"},
		{File: "items/8.md", Reason: "is in a cycle: Circular parent chain detected for #8"},
	}, found)
	done, err = s.Repair(t.Context())
	if err != nil || len(done.Fixes) > 0 {
		t.Errorf("repairing again: %v, %v", done.Fixes, err)
	}
}

func TestErrorsNameNoPath(t *testing.T) {
	t.Parallel()
	dir := project(t)
	write(t, dir, "items", "not a folder")
	s := open(t, dir, true)
	_, snapshotErr := s.Snapshot(t.Context())
	_, createErr := s.Create(t.Context(), item.Draft{Title: "x"})
	_, itemErr := s.Item(t.Context(), 1)
	for _, err := range []error{snapshotErr, createErr, itemErr} {
		if err == nil || strings.Contains(err.Error(), dir) {
			t.Errorf("got %v", err)
		}
	}
	gone := local.New(location.Search{Dir: filepath.Join(dir, "missing")}, time.Now)
	if _, err := gone.Init(t.Context()); err == nil || strings.Contains(err.Error(), dir) {
		t.Errorf("got %v", err)
	}
}
