package archive_test

import (
	"errors"
	"testing"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/archive"
)

// A file that another program put into a database does not take the place of a part of the store,
// on a file system that ignores the case of letters, either.
func TestNames(t *testing.T) {
	t.Parallel()
	noLink := func(string) (string, bool) { return "", false }
	for _, c := range []struct {
		names []string
		want  string // the place that one has
	}{
		{[]string{"README.md", "items/notes.txt", "links/x.txt", "a/b", "a/c", "renumbered.tsv"}, ""},
		{[]string{"links"}, "links/"},
		{[]string{"History"}, "history/"},
		{[]string{"Config.yml"}, "config.yml"},
		{[]string{"config.yml"}, "the configuration"},
		{[]string{"ITEMS/1.md"}, "items/"},
		{[]string{"items/1.md"}, "the file of work item #1"},
		{[]string{"items/1.MD"}, "items/1.MD"},
		{[]string{"a", "A"}, "A"},
		{[]string{"a", "a/b"}, "a"},
		{[]string{"config.yml/x"}, "config.yml"},
	} {
		var one item.Item
		one.ID, one.Title, one.Type, one.Status = 1, "One", "task", "backlog"
		a := archive.Archive{
			Config: item.Config{Types: []string{"task"}, Statuses: []string{"backlog", "done"}, NextID: 2}, Files: map[string]string{},
			Records: []archive.Record{{Item: one}},
		}
		for _, name := range c.names {
			a.Files[name] = "x"
		}
		_, err := a.Write(noLink)
		problem, ok := errors.AsType[*archive.NameError](err)
		switch {
		case c.want == "" && err != nil, c.want != "" && !ok:
			t.Errorf("%q: %v", c.names, err)
		case ok && problem.Other != c.want:
			t.Errorf("%q: %v", c.names, err)
		}
	}
}
