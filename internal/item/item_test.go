package item_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/relation"
	"github.com/copse-dev/copse/internal/item/storage"
)

func diff(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func TestParseID(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]item.ID{
		"1": 1, "42": 42, "9007199254740991": item.MaxID,
		"": 0, "0": 0, "-1": 0, "+1": 0, "007": 0, "1.0": 0, "1e3": 0, "0x1f": 0, "1_000": 0, "\x201": 0, "١": 0,
		"9007199254740992": 0, "99999999999999999999999": 0, "../1": 0, "1/../2": 0, "local-1": 0, "1\x00": 0,
	} {
		got, err := item.ParseID(text)
		if got != want || (err == nil) != (want != 0) {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	_, err := item.ParseID("../../etc/passwd" + strings.Repeat("x", 1000))
	if invalid, ok := errors.AsType[*item.InvalidError](err); !ok || len(invalid.Error()) > 200 {
		t.Errorf("got %v", err)
	}
}

func TestIDFromJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]item.ID{
		`3`: 3, `"3"`: 3, `"03"`: 0, `3.0`: 0, `3e0`: 0, `-3`: 0, `0`: 0, `true`: 0, `[3]`: 0, `""`: 0, `"../3"`: 0,
	} {
		var got item.ID
		if err := json.Unmarshal([]byte(text), &got); got != want || (err == nil) != (want != 0) {
			t.Errorf("%s is %v, %v; want %v", text, got, err, want)
		}
	}
	text, err := json.Marshal(item.ID(3))
	diff(t, "JSON", "3", string(text))
	if err != nil {
		t.Error(err)
	}
}

var config = item.Config{
	Types:            []string{"epic", "issue", "task"},
	Statuses:         []string{"backlog", "todo", "done"},
	Iterations:       []string{"default", "next"},
	CurrentIteration: "default",
}

func TestComplete(t *testing.T) {
	t.Parallel()
	got, err := config.Complete(item.Draft{Title: "T", Labels: []string{" a ", "", "b, c"}, Description: "\n\n  text\n\n"})
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "draft", item.Draft{
		Title: "T", Type: "task", Status: "backlog", Priority: "medium", Iteration: "default",
		Labels: []string{"a", "b, c"}, Description: "  text",
	}, got)

	without := config
	without.Types = []string{"bug", "feature"}
	got, err = without.Complete(item.Draft{Title: "T"})
	if err != nil || got.Type != "bug" {
		t.Errorf("without the type task: %q, %v", got.Type, err)
	}
}

// Each dependency is looked up while the store is locked.
func TestManyDependencies(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]bool{10_000: true, 10_001: false} {
		_, err := item.Config{Types: []string{"task"}, Statuses: []string{"todo"}}.Complete(item.Draft{Title: "x", DependsOn: make([]item.ID, n)})
		if (err == nil) != want || !want && !strings.Contains(err.Error(), "10001 others, and 10000 are allowed") {
			t.Errorf("%d: %v", n, err)
		}
	}
}

// Everybody reads the names of all iterations.
func TestManyIterations(t *testing.T) {
	t.Parallel()
	var c item.Config
	for i := range 2000 {
		name := fmt.Sprint("sprint ", i)
		if err := c.CheckIteration(name); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		c.Iterations = append(c.Iterations, name)
	}
	if err := c.CheckIteration("sprint 7"); err != nil {
		t.Errorf("a known iteration: %v", err)
	}
	if err := c.CheckIteration("one more"); err == nil || !strings.Contains(err.Error(), "2000 are allowed") {
		t.Errorf("one more: %v", err)
	}
}

func TestCheckMessages(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		patch item.Patch
		want  string // empty if nothing is wrong
	}{
		"nothing":        {item.Patch{}, ""},
		"empty title":    {item.Patch{Title: new("")}, "Title may not be empty"},
		"blank title":    {item.Patch{Title: new(" \n")}, "Title may not be empty"},
		"type":           {item.Patch{Type: new("bug")}, `Invalid type "bug". Valid types: epic, issue, task`},
		"empty type":     {item.Patch{Type: new("")}, `Invalid type "". Valid types: epic, issue, task`},
		"status":         {item.Patch{Status: new("Done")}, `Invalid status "Done". Valid statuses: backlog, todo, done`},
		"priority":       {item.Patch{Priority: new("urgent")}, `Invalid priority "urgent". Valid priorities: low, medium, high, critical`},
		"type first":     {item.Patch{Priority: new("x"), Status: new("x"), Type: new("x")}, `Invalid type "x". Valid types: epic, issue, task`},
		"status second":  {item.Patch{Priority: new("x"), Status: new("x")}, `Invalid status "x". Valid statuses: backlog, todo, done`},
		"any iteration":  {item.Patch{Iteration: new("unknown")}, ""},
		"long":           {item.Patch{Description: new(strings.Repeat("x", item.MaxText))}, ""},
		"too long":       {item.Patch{Description: new(strings.Repeat("x", item.MaxText+1))}, "The description has 1048577 bytes, more than the 1048576 (1 MiB) allowed"},
		"long title":     {item.Patch{Title: new(strings.Repeat("x", 64<<10+1))}, "The title, the labels, and the other fields have 65537 bytes, more than the 65536 (64 KiB) allowed"},
		"long labels":    {item.Patch{Labels: new(slices.Repeat([]string{"a"}, 9000))}, "The title, the labels, and the other fields have 72000 bytes, more than the 65536 (64 KiB) allowed"},
		"not UTF-8":      {item.Patch{Title: new("a\xff")}, "Invalid title: it is not UTF-8 text"},
		"label is bytes": {item.Patch{Labels: new([]string{"\xff"})}, "Invalid labels: it is not UTF-8 text"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Check(test.patch)
			got := ""
			if err != nil {
				got = err.Error()
			}
			diff(t, "message", test.want, got)
		})
	}
}

func TestCheckComment(t *testing.T) {
	t.Parallel()
	got, err := item.CheckComment("", "\n a\n")
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "comment", item.Comment{Author: "anonymous", Body: " a"}, got)
	for name, c := range map[string]struct{ author, body string }{
		"empty":           {"x", " \n"},
		"too long":        {"x", strings.Repeat("x", item.MaxText+1)},
		"body is bytes":   {"x", "\xff"},
		"author is bytes": {"\xff", "x"},
	} {
		_, err := item.CheckComment(c.author, c.body)
		if _, ok := errors.AsType[*item.InvalidError](err); !ok {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestSplitLabels(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{"": nil, " , ": nil, "a": {"a"}, "a,,b c , ": {"a", "b c"}} {
		diff(t, text, want, item.SplitLabels(text))
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "\n \t\r\n": "", "a": "a", "\n \n  a\n\n b \t\r\n": "  a\n\n b", "\u00a0a\u00a0": "\u00a0a\u00a0",
	} {
		diff(t, text, want, item.Text(text))
	}
}

func TestCheckRelations(t *testing.T) {
	t.Parallel()
	// 1 < 2 < 3 by parents, 1 < 4 < 5 by dependencies; 6 and 7 are in a cycle
	// of both; 8 refers to what is missing.
	stored := map[item.ID]*item.Summary{
		1: {}, 2: {Parent: 1}, 3: {Parent: 2}, 4: {DependsOn: []item.ID{1}}, 5: {DependsOn: []item.ID{3, 4}},
		6: {Parent: 7, DependsOn: []item.ID{7}}, 7: {Parent: 6, DependsOn: []item.ID{6}}, 8: {Parent: 99, DependsOn: []item.ID{99}},
	}
	broken := &storage.BrokenError{ID: 13, File: "items/13.md", Reason: "is empty"}
	find := func(id item.ID) (*item.Summary, error) {
		if id == broken.ID {
			return nil, broken
		}
		if s, ok := stored[id]; ok {
			return s, nil
		}
		return nil, &item.NotFoundError{ID: id}
	}
	tests := map[string]struct {
		id        item.ID
		parent    *item.ID
		dependsOn *[]item.ID
		want      string
	}{
		"nothing":             {1, nil, nil, ""},
		"none":                {1, new(item.ID(0)), new([]item.ID{}), ""},
		"possible":            {4, new(item.ID(3)), new([]item.ID{2, 3, 2}), ""},
		"child on its parent": {2, nil, new([]item.ID{1}), ""},
		"parent on its child": {1, nil, new([]item.ID{2}), ""},
		"own parent":          {1, new(item.ID(1)), nil, "Work item #1 cannot be its own parent"},
		"own parent, missing": {50, new(item.ID(50)), nil, "Work item #50 cannot be its own parent"},
		"parent missing":      {1, new(item.ID(99)), nil, "Parent #99 does not exist"},
		"parent broken":       {1, new(item.ID(13)), nil, broken.Error()},
		"parents in a cycle":  {1, new(item.ID(3)), nil, "Circular parent chain detected for #1"},
		"cycle of others":     {1, new(item.ID(6)), nil, ""},
		"up to what missing":  {1, new(item.ID(8)), nil, ""},
		"on itself":           {1, nil, new([]item.ID{2, 1, 99}), "Work item #1 cannot depend on itself"},
		"dependency missing":  {1, nil, new([]item.ID{5, 99}), "Dependency #99 does not exist"},
		"dependency broken":   {1, nil, new([]item.ID{13}), broken.Error()},
		"dependency cycle":    {1, nil, new([]item.ID{2, 5}), "Circular dependency chain detected for #1"},
		"parent before deps":  {1, new(item.ID(99)), new([]item.ID{1}), "Parent #99 does not exist"},
		"missing came back":   {99, new(item.ID(8)), nil, "Circular parent chain detected for #99"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if err := relation.Check(find, test.id, test.parent, test.dependsOn); err != nil {
				got = err.Error()
			}
			diff(t, "message", test.want, got)
		})
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"Work item #7 not found": &item.NotFoundError{ID: 7},
		"Work item #3 changed since the preview. Call delete_item again.": &storage.ChangedError{ID: 3},
		"Work item #3 cannot be used: items/3.md is empty":                &storage.BrokenError{ID: 3, File: "items/3.md", Reason: "is empty"},
		"config.yml is empty": &storage.ConfigError{File: "config.yml", Reason: "is empty"},
	} {
		diff(t, "message", want, err.Error())
	}
}

func TestDone(t *testing.T) {
	t.Parallel()
	byName := item.Config{Statuses: []string{"open", "Done", "wontfix", "shipped"}}
	chosen := item.Config{Statuses: byName.Statuses, DoneStatuses: []string{"wontfix"}}
	for status, want := range map[string][2]bool{
		"open": {false, false}, "Done": {true, false}, "wontfix": {true, true}, "shipped": {true, false},
		"cancelled": {true, false}, "canceled": {true, false}, "closed": {true, false}, "undone": {false, false}, "": {false, false},
	} {
		if got := byName.Done(status); got != want[0] {
			t.Errorf("%q is done by its name: %v", status, got)
		}
		if got := chosen.Done(status); got != want[1] {
			t.Errorf("%q is done by the setting: %v", status, got)
		}
	}
}
