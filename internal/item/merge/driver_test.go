package merge_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/linkfile"
	"github.com/copse-dev/copse/internal/item/merge/driver"
	"github.com/copse-dev/copse/internal/item/ticfile"
)

func TestFile(t *testing.T) {
	t.Parallel()
	base := newStore(t)
	base.create(1, "it", 0, parent(7))
	a, b := base.clone(), base.clone()
	a.update(1, 1, item.Patch{Status: new("todo")})
	b.update(1, 2, item.Patch{Status: new("review"), Parent: new(item.ID(8))})
	const file = "items/1.md"
	got, err := driver.Merge(file, base.tree[file], a.tree[file], b.tree[file], ticfile.NewConfig)
	if err != nil || got != b.tree[file] {
		t.Errorf("%v\n%s", err, got)
	}
	other := newStore(t)
	other.create(1, "another", 5)
	if _, err := driver.Merge(file, "", a.tree[file], other.tree[file], ""); !errors.Is(err, driver.ErrApart) {
		t.Errorf("two items: %v", err)
	}
	if _, err := driver.Merge(file, "", a.tree[file], "text", ""); err == nil {
		t.Error("a text was merged with an item")
	}
	config, err := driver.Merge("config.yml", ticfile.NewConfig, strings.Replace(ticfile.NewConfig, "next_id: 1", "next_id: 4", 1),
		strings.Replace(ticfile.NewConfig, "next_id: 1", "next_id: 9", 1), "")
	if err != nil || !strings.Contains(config, "next_id: 9\n") {
		t.Errorf("configuration: %v\n%s", err, config)
	}
	both := driver.BothVersions(a.tree[file], other.tree[file])
	if ours, theirs, ok := ticfile.Versions(both); !ok || ours != a.tree[file] || theirs != other.tree[file] {
		t.Errorf("both versions: %s", both)
	}
}

// Git takes a new number of an item for a new name of its file, and passes a version of another item
// that has the old number on the other side. Only the doctor, who sees all files, can merge these.
func TestFileOfAnotherItem(t *testing.T) {
	t.Parallel()
	text := func(id item.ID, title string, minute int, more ...func(*item.Item)) string {
		s := newStore(t)
		s.create(id, title, minute, more...)
		return s.tree[name(id)]
	}
	edited := func(it *item.Item) { it.Status = "todo" }
	x2, x3, y2 := text(2, "x", 1), text(3, "x", 1), text(2, "y", 2)
	for what, test := range map[string]struct {
		base, ours, theirs string
		want               error
	}{
		"renumbered here, another one there":     {x2, x3, y2, driver.ErrApart},
		"another one here, renumbered there":     {x2, y2, x3, driver.ErrApart},
		"another one there":                      {x2, x2, y2, driver.ErrApart},
		"another one here":                       {x2, y2, x2, driver.ErrApart},
		"another one on both sides":              {x2, y2, y2, driver.ErrApart},
		"renumbered and edited, another one":     {x2, text(3, "x", 1, edited), y2, driver.ErrApart},
		"three items":                            {x2, text(3, "z", 3), y2, driver.ErrApart},
		"born at one moment":                     {x2, x3, text(4, "y", 1), driver.ErrApart},
		"renumbered here, edited there":          {x2, x3, text(2, "x", 1, edited), nil},
		"renumbered on both sides":               {x2, x3, text(4, "x", 1), nil},
		"another title here, edited there":       {x2, text(2, "new title", 1), text(2, "x", 1, edited), nil},
		"another number here, other title there": {x2, x3, text(2, "new title", 1), nil},
	} {
		if _, err := driver.Merge(name(2), test.base, test.ours, test.theirs, ""); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", what, err, test.want)
		}
	}
}

// Git calls the driver for the file in the trash when one side deleted an item. The driver
// refuses to put the change of the other side there.
func TestFileOfDeletedItem(t *testing.T) {
	t.Parallel()
	base := newStore(t)
	base.create(1, "it", 0)
	const file = "trash/1.md"
	deleted := func(text string) string {
		t.Helper()
		f, err := ticfile.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Delete("2026-01-02T00:00:00.000Z", ticfile.Lost{}); err != nil {
			t.Fatal(err)
		}
		text, err = f.Text()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	changed := base.clone()
	changed.update(1, 1, item.Patch{Status: new("todo")})
	was, is := base.tree["items/1.md"], changed.tree["items/1.md"]
	for name, test := range map[string]struct {
		base, ours, theirs string
		want               error
	}{
		"changed there":   {was, deleted(was), is, driver.ErrDeleted},
		"changed here":    {was, is, deleted(was), driver.ErrDeleted},
		"left alone":      {was, deleted(was), was, nil},
		"deleted by both": {was, deleted(was), deleted(is), nil},
		"restored":        {deleted(was), was, deleted(was), nil},
	} {
		if _, err := driver.Merge(file, test.base, test.ours, test.theirs, ""); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
}

func TestWithAttributes(t *testing.T) {
	t.Parallel()
	for old, want := range map[string]string{
		"":                                 driver.Attributes,
		driver.Attributes:                  driver.Attributes,
		"* -text":                          "* -text\n" + driver.Attributes,
		"* -text\n":                        "* -text\n" + driver.Attributes,
		driver.Attributes + "*.md -crlf\n": "*.md -crlf\n" + driver.Attributes,
	} {
		if got := driver.WithAttributes(old); got != want {
			t.Errorf("%q becomes %q, want %q", old, got, want)
		}
	}
}

// What each side changed of a link is in the result; of what both changed, the greater.
func TestLinks(t *testing.T) {
	t.Parallel()
	base := item.Link{Branch: "b", Worktree: "/w", PullRequest: "1"}
	ours, theirs := base, base
	ours.Branch, ours.PullRequest = "ours", "3"
	theirs.Worktree, theirs.PullRequest = "/theirs", "2"
	want := linkfile.Text(item.Link{Branch: "ours", Worktree: "/theirs", PullRequest: "3"}, 4)
	const name = "links/20261121T120000000Z.txt"
	for range 2 {
		got, err := driver.Merge(name, linkfile.Text(base, 3), linkfile.Text(ours, 3), linkfile.Text(theirs, 4), "")
		if err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
		ours, theirs = theirs, ours // the same from the other side
		want = linkfile.Text(item.Link{Branch: "ours", Worktree: "/theirs", PullRequest: "3"}, 4)
	}
}
