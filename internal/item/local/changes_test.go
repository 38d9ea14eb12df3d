package local_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/location"
)

// Each way in which another program can change files is seen by the next call.
func TestChangesByOthers(t *testing.T) {
	t.Parallel()
	steps := []struct {
		name string
		do   func(t *testing.T, dir string)
		want string
	}{
		{"new file", func(t *testing.T, dir string) { write(t, dir, "items/2.md", itemText("2")) }, "1 Item 1, 2 Item 2"},
		{"write in place", func(t *testing.T, dir string) {
			write(t, dir, "items/1.md", strings.Replace(itemText("1"), "Item", "ITEM", 1))
		}, "1 ITEM 1, 2 Item 2"},
		{"write in place, times set back", func(t *testing.T, dir string) {
			info, err := os.Stat(path(dir, "items/2.md"))
			if err != nil {
				t.Fatal(err)
			}
			write(t, dir, "items/2.md", strings.Replace(itemText("2"), "Item", "ITEM", 1))
			if err := os.Chtimes(path(dir, "items/2.md"), info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
		}, "1 ITEM 1, 2 ITEM 2"},
		{"replaced", func(t *testing.T, dir string) {
			write(t, dir, "items/x.tmp", itemText("1"))
			move(t, dir, "items/x.tmp", "items/1.md")
		}, "1 Item 1, 2 ITEM 2"},
		{"renamed", func(t *testing.T, dir string) { move(t, dir, "items/2.md", "items/3.md") }, "1 Item 1, 3 ITEM 2"},
		{"removed", func(t *testing.T, dir string) { remove(t, dir, "items/3.md") }, "1 Item 1"},
		{"folder moved away", func(t *testing.T, dir string) { move(t, dir, "items", "old") }, ""},
		{"folder made anew", func(t *testing.T, dir string) { write(t, dir, "items/4.md", itemText("4")) }, "4 Item 4"},
		{"change in the old folder", func(t *testing.T, dir string) { write(t, dir, "old/9.md", itemText("9")) }, "4 Item 4"},
		{"folder exchanged", func(t *testing.T, dir string) {
			move(t, dir, "items", "older")
			move(t, dir, "old", "items")
		}, "1 Item 1, 9 Item 9"},
		{"folder removed and made", func(t *testing.T, dir string) {
			if err := os.RemoveAll(path(dir, "items")); err != nil {
				t.Fatal(err)
			}
			write(t, dir, "items/5.md", itemText("5"))
		}, "5 Item 5"},
		{"store exchanged", func(t *testing.T, dir string) {
			move(t, dir, "", "../saved")
			write(t, dir, "config.yml", config)
			write(t, dir, "items/6.md", itemText("6"))
		}, "6 Item 6"},
		{"truncated", func(t *testing.T, dir string) {
			if err := os.Truncate(path(dir, "items/6.md"), 0); err != nil {
				t.Fatal(err)
			}
		}, ""},
		{"many", func(t *testing.T, dir string) {
			for id := 6; id <= 300; id++ {
				write(t, dir, fmt.Sprintf("items/%d.md", id), itemText(fmt.Sprint(id)))
			}
			for id := 10; id <= 300; id++ {
				remove(t, dir, fmt.Sprintf("items/%d.md", id))
			}
		}, "6 Item 6, 7 Item 7, 8 Item 8, 9 Item 9"},
	}
	eachWay(t, func(t *testing.T, watching bool) {
		dir := project(t)
		s := open(t, dir, watching)
		write(t, dir, "items/1.md", itemText("1"))
		if got, _ := titles(t, s); got != "1 Item 1" {
			t.Fatalf("at first %q", got)
		}
		for _, step := range steps {
			step.do(t, dir)
			if got, _ := titles(t, s); got != step.want {
				t.Fatalf("%s: got %q, want %q", step.name, got, step.want)
			}
		}
	})
}

func move(t *testing.T, dir, from, to string) {
	t.Helper()
	if err := os.Rename(path(dir, from), path(dir, to)); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(path(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// Edits that follow each other at once, of the same size, are all seen: no
// tick of a clock is needed in between.
func TestEditsWithinATick(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, watching bool) {
		dir := project(t)
		s := open(t, dir, watching)
		for i := range 200 {
			text := strings.Replace(itemText("1"), "Item", fmt.Sprintf("I%03d", i), 1)
			write(t, dir, "items/1.md", text)
			if got, _ := titles(t, s); got != fmt.Sprintf("1 I%03d 1", i) {
				t.Fatalf("edit %d: got %q", i, got)
			}
		}
	})
}

// Whatever is done to the directory, a store that has been open all the time answers as one that
// has just been opened.
func TestKeepsUp(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, watching bool) {
		rapid.Check(t, func(r *rapid.T) {
			dir, err := os.MkdirTemp(t.TempDir(), "") //nolint:usetesting // one for each check, below that of the test
			if err != nil {
				t.Fatal(err)
			}
			write(t, dir, "config.yml", config)
			old := local.New(location.Search{Dir: dir}, time.Now)
			local.SetWatching(old, watching)
			defer old.Close()
			for i := range rapid.IntRange(1, 20).Draw(r, "steps") {
				disturb(t, r, dir, i)
				fresh := local.New(location.Search{Dir: dir}, time.Now)
				wantTitles, wantWarnings := titles(t, fresh)
				gotTitles, gotWarnings := titles(t, old)
				_ = fresh.Close()
				if wantTitles != gotTitles || fmt.Sprint(wantWarnings) != fmt.Sprint(gotWarnings) {
					r.Fatalf("got %q %v, want %q %v", gotTitles, gotWarnings, wantTitles, wantWarnings)
				}
			}
		})
	})
}

// disturb does something to a directory of items.
func disturb(t *testing.T, r *rapid.T, dir string, step int) {
	name := fmt.Sprintf("items/%s.md", rapid.SampledFrom([]string{"1", "2", "3", "03", "x"}).Draw(r, "file"))
	switch rapid.SampledFrom([]string{"write", "write", "write", "break", "remove", "move", "folder"}).Draw(r, "what") {
	case "write":
		id := rapid.SampledFrom([]string{"1", "2", "3"}).Draw(r, "id")
		write(t, dir, name, strings.Replace(itemText(id), "Item", fmt.Sprint("step ", step), 1))
	case "break":
		write(t, dir, name, "---\nnot an item")
	case "remove":
		_ = os.Remove(path(dir, name))
	case "move":
		_ = os.Rename(path(dir, name), path(dir, "items/4.md"))
	case "folder":
		_ = os.RemoveAll(path(dir, "items"))
	}
}

func TestConfigIsReadAfresh(t *testing.T) {
	t.Parallel()
	dir := project(t)
	s := open(t, dir, true)
	for _, current := range []string{"default", "changed"} {
		write(t, dir, "config.yml", strings.Replace(config, "current_iteration: default", "current_iteration: "+current, 1))
		c, err := s.Config(t.Context())
		if err != nil || c.CurrentIteration != current {
			t.Errorf("got %q, %v", c.CurrentIteration, err)
		}
		it, err := s.Create(t.Context(), item.Draft{Title: "x"})
		if err != nil || it.Iteration != current {
			t.Errorf("created in %q, %v", it.Iteration, err)
		}
	}
}

// Only what is set changes, in the configuration and in items.
func TestFilesAreEditedInPlace(t *testing.T) {
	t.Parallel()
	dir := project(t)
	s := open(t, dir, true)
	if _, err := s.Create(t.Context(), item.Draft{Title: "x", Iteration: "next"}); err != nil {
		t.Fatal(err)
	}
	if err := s.SetIteration(t.Context(), "next"); err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("next_id: 1 #", "next_id: 2 #", "  - default\n", "  - default\n  - next\n",
		"current_iteration: default", "current_iteration: next").Replace(config)
	diff(t, "configuration", want, read(t, dir, "config.yml"))

	write(t, dir, "items/7.md", itemText("7", "estimate: 3 # days", "created: then"))
	if _, err := s.Update(t.Context(), 7, item.Patch{Status: new("done")}); err != nil {
		t.Fatal(err)
	}
	it, err := s.Item(t.Context(), 7)
	if err != nil {
		t.Fatal(err)
	}
	want = strings.Replace(itemText("7", "estimate: 3 # days", "created: then", "updated: "+it.Updated), "todo", "done", 1)
	diff(t, "item", want, read(t, dir, "items/7.md"))
}

func TestNextNumber(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files []string
		next  string
		want  item.ID
	}{
		"counter":         {nil, "next_id: 5", 5},
		"no counter":      {nil, "", 1},
		"files ahead":     {[]string{"items/8.md", "items/10.md"}, "next_id: 5", 11},
		"trash ahead":     {[]string{"items/4.md", "trash/5.md", "trash/6.md"}, "next_id: 5", 7},
		"broken ahead":    {[]string{"items/8.md"}, "next_id: 5", 9},
		"odd names":       {[]string{"items/008.md", "items/local-9.md"}, "next_id: 5", 5},
		"counter of tic":  {[]string{"items/1.md", "items/2.md"}, "next_id: 1", 3},
		"counter is text": {nil, `next_id: "5"`, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, known := range []bool{false, true} {
				dir := project(t)
				write(t, dir, "config.yml", strings.Replace(config, "next_id: 1 # counts", test.next, 1))
				for _, f := range test.files {
					write(t, dir, f, "no item")
				}
				s := open(t, dir, true)
				if known {
					titles(t, s)
				}
				for i := range item.ID(2) {
					it, err := s.Create(t.Context(), item.Draft{Title: "x"})
					if err != nil || it.ID != test.want+i {
						t.Errorf("got %d, %v, want %d", it.ID, err, test.want+i)
					}
				}
			}
		})
	}
}

// If somebody has written the largest number, new items get free ones below, and the configuration is
// corrected unless an item has that number.
func TestLargestNumberTaken(t *testing.T) {
	t.Parallel()
	for name, taken := range map[string]bool{"by an item": true, "by the configuration": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := project(t)
			write(t, dir, "items/1.md", itemText("1"))
			if taken {
				write(t, dir, "items/9007199254740991.md", itemText("9007199254740991"))
			} else {
				write(t, dir, "config.yml", strings.Replace(config, "next_id: 1 # counts", "next_id: 9007199254740992", 1))
			}
			s := open(t, dir, true)
			for want := item.ID(2); want < 4; want++ {
				if it, err := s.Create(t.Context(), item.Draft{Title: "x"}); err != nil || it.ID != want {
					t.Errorf("got #%d, %v", it.ID, err)
				}
			}
			if c, err := s.Config(t.Context()); err != nil || c.NextID != 4 {
				t.Errorf("the next one is %d, %v", c.NextID, err)
			}
		})
	}
}
