// Package itemtest has the tests that each storage.Backend must pass.
package itemtest

import (
	stdcmp "cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/itemtest/dense"
	"github.com/copse-dev/copse/internal/item/storage"
)

// Run tests the backends that open returns: each a separate project without items, with the types
// epic, issue, and task, the statuses backlog, todo, and done, and the iteration default, which is
// the current one.
func Run(t *testing.T, open func(t *testing.T) storage.Backend) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, backend){
		"config":            testConfig,
		"create":            testCreate,
		"create with all":   testCreateWithAll,
		"create refused":    testCreateRefused,
		"texts survive":     testTextsSurvive,
		"update":            testUpdate,
		"update clears":     testUpdateClears,
		"update refused":    testUpdateRefused,
		"order of checks":   testOrderOfChecks,
		"comments":          testComments,
		"not found":         testNotFound,
		"iterations":        testIterations,
		"snapshot":          testSnapshot,
		"delete":            testDelete,
		"delete what seen":  testDeleteWhatWasSeen,
		"numbers stay used": testNumbersStayUsed,
		"restore":           testRestore,
		"restore in turn":   testRestoreInTurn,
		"restore no cycle":  testRestoreNoCycle,
		"limits":            testLimits,
		"at the same time":  testAtTheSameTime,
		"context":           testContext,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := open(t)
			test(t, newBackend(t, b, new(dense.Numbering)))
		})
	}
}

// backend is a backend whose calls must not fail.
type backend struct {
	storage.Backend
	t *testing.T
}

// newBackend returns a backend whose items have the numbers 1, 2, 3.
func newBackend(t *testing.T, b storage.Backend, n *dense.Numbering) backend {
	if b.Capabilities().Gaps {
		b = n.Backend(b)
	}
	return backend{b, t}
}

// author returns the author that a comment gets.
func (b backend) author(asked string) string {
	return stdcmp.Or(b.Capabilities().Author, asked, item.Anonymous)
}

// restores reports whether deleted items can be restored. If not, it checks that the backend states
// this.
func (b backend) restores() bool {
	b.t.Helper()
	if b.Capabilities().Deletion != storage.Final {
		return true
	}
	it := b.create(item.Draft{Title: "gone for good"})
	b.delete(it.ID)
	_, err := b.Restore(b.t.Context(), it.ID)
	if _, ok := errors.AsType[*storage.UnsupportedError](err); !ok {
		b.t.Errorf("restored what was destroyed: %v", err)
	}
	return false
}

func (b backend) create(d item.Draft) item.Item {
	b.t.Helper()
	it, err := b.Create(b.t.Context(), d)
	if err != nil {
		b.t.Fatalf("create %+v: %v", d, err)
	}
	return it
}

func (b backend) update(id item.ID, p item.Patch) item.Item {
	b.t.Helper()
	it, err := b.Update(b.t.Context(), id, p)
	if err != nil {
		b.t.Fatalf("update %d: %v", id, err)
	}
	return it
}

func (b backend) item(id item.ID) item.Item {
	b.t.Helper()
	it, err := b.Item(b.t.Context(), id)
	if err != nil {
		b.t.Fatalf("item %d: %v", id, err)
	}
	return it
}

func (b backend) snapshot() *item.Snapshot {
	b.t.Helper()
	s, err := b.Snapshot(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	if len(s.Warnings) > 0 {
		b.t.Fatalf("warnings: %v", s.Warnings)
	}
	return s
}

func (b backend) config() item.Config {
	b.t.Helper()
	c, err := b.Config(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

func (b backend) delete(id item.ID) {
	b.t.Helper()
	if err := b.Delete(b.t.Context(), id, "", false); err != nil {
		b.t.Fatalf("delete %d: %v", id, err)
	}
}

func (b backend) restore(id item.ID) item.Item {
	b.t.Helper()
	it, err := b.Restore(b.t.Context(), id)
	if err != nil {
		b.t.Fatalf("restore %d: %v", id, err)
	}
	return it
}

// relations writes who is below and who depends on whom.
func (b backend) relations() string {
	b.t.Helper()
	var out strings.Builder
	for _, s := range b.snapshot().List(item.Config{}, item.Filter{All: true}) {
		fmt.Fprintf(&out, "%d", s.ID)
		if s.Parent != 0 {
			fmt.Fprintf(&out, "<%d", s.Parent)
		}
		for _, id := range s.DependsOn {
			fmt.Fprintf(&out, "+%d", id)
		}
		out.WriteString(" ")
	}
	return strings.TrimSpace(out.String())
}

func diff(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func testConfig(t *testing.T, b backend) {
	config := b.config()
	config.NextID = 0 // not every backend has one
	diff(t, "config", item.Config{
		Types:            []string{"epic", "issue", "task"},
		Statuses:         []string{"backlog", "todo", "done"},
		Iterations:       []string{"default"},
		CurrentIteration: "default",
	}, config)
}

func testCreate(t *testing.T, b backend) {
	it := b.create(item.Draft{Title: "First"})
	if it.Created == "" || it.Created != it.Updated {
		t.Errorf("created %q, updated %q", it.Created, it.Updated)
	}
	want := item.Item{Summary: item.Summary{
		ID: 1, Title: "First", Type: "task", Status: "backlog", Iteration: "default", Priority: "medium", Created: it.Created, Updated: it.Updated,
	}}
	diff(t, "item", want, it)
	diff(t, "item read again", want, b.item(1))
	diff(t, "next id", item.ID(2), b.create(item.Draft{Title: "Second"}).ID)
}

func testCreateWithAll(t *testing.T, b backend) {
	b.create(item.Draft{Title: "One"})
	d := item.Draft{
		Title: "Two", Type: "epic", Status: "todo", Priority: "critical", Assignee: "alice", Iteration: "new one",
		Labels: []string{"ui", " front end "}, Parent: 1, DependsOn: []item.ID{1}, Description: "Text\n\nmore\n",
	}
	it := b.create(d)
	want := item.Item{
		Summary: item.Summary{
			ID: 2, Title: d.Title, Type: d.Type, Status: d.Status, Iteration: d.Iteration, Priority: d.Priority, Assignee: d.Assignee,
			Labels: []string{"ui", "front end"}, Created: it.Created, Updated: it.Updated, Parent: 1, DependsOn: []item.ID{1},
		},
		Description: "Text\n\nmore",
	}
	diff(t, "item", want, it)
	diff(t, "item read again", want, b.item(2))
	diff(t, "iterations", []string{"default", "new one"}, b.config().Iterations)
	diff(t, "current iteration", "default", b.config().CurrentIteration)
}

func testCreateRefused(t *testing.T, b backend) {
	for want, d := range map[string]item.Draft{
		"Title may not be empty":                                                   {Title: " "},
		`Invalid type "bug". Valid types: epic, issue, task`:                       {Title: "x", Type: "bug"},
		`Invalid status "open". Valid statuses: backlog, todo, done`:               {Title: "x", Status: "open"},
		`Invalid priority "urgent". Valid priorities: low, medium, high, critical`: {Title: "x", Priority: "urgent"},
		"Parent #7 does not exist":                                                 {Title: "x", Parent: 7},
		"Dependency #7 does not exist":                                             {Title: "x", DependsOn: []item.ID{7}},
		"The description has 1048577 bytes, more than the 1048576 (1 MiB) allowed": {Title: "x", Description: strings.Repeat("x", item.MaxText+1)},
	} {
		if b.Capabilities().Limits.Description != 0 && d.Description != "" {
			continue // testLimits has its own
		}
		_, err := b.Create(t.Context(), d)
		diff(t, "message", want, message(err))
		if _, ok := errors.AsType[*item.InvalidError](err); !ok {
			t.Errorf("%v is a %T", err, err)
		}
	}
	if b.snapshot().Len() != 0 {
		t.Error("something was created")
	}
	diff(t, "number", item.ID(1), b.create(item.Draft{Title: "x"}).ID)
}

func testTextsSurvive(t *testing.T, b backend) {
	for _, text := range []string{
		"yes", "1_000", "0x1f", "2026-01-01", "~", "null", "a: b", "a # b", "- a", "it's \"both\"", "日本語 😀", "tab\there", "---",
		"two\nlines", "\ttabs\n\tin front", "CRLF\r\nline", strings.Repeat("eighty columns ", 20) + ".", "a\n---\nb", "\\---", "##  Comments",
		"a\n## Comments\nb", "#\\# Comments", "a\n\n## Comments\n\n---\nauthor: x\ndate: y\n\nz", "<<<<<<< x", "\x00\x1b[31m", "a\u2028\u0085b",
	} {
		if maximum := b.Capabilities().Limits.Title; maximum != 0 && len(text) > maximum {
			continue
		}
		d := item.Draft{Title: text, Assignee: text, Labels: []string{strings.TrimSpace(text)}, Description: text}
		it := b.create(d)
		if _, err := b.AddComment(t.Context(), it.ID, text, text); err != nil {
			t.Fatal(err)
		}
		got := b.item(it.ID)
		diff(t, "title", text, got.Title)
		diff(t, "assignee", text, got.Assignee)
		diff(t, "labels", d.Labels, got.Labels)
		diff(t, "description", text, got.Description)
		diff(t, "comment", []string{b.author(text), text}, []string{got.Comments[0].Author, got.Comments[0].Body})
	}
}

func testUpdate(t *testing.T, b backend) {
	b.create(item.Draft{Title: "Parent"})
	before := b.create(item.Draft{Title: "x", Description: "text", Labels: []string{"a"}})
	patches := []struct {
		patch item.Patch
		apply func(*item.Item)
	}{
		{item.Patch{}, func(*item.Item) {}},
		{item.Patch{Title: new("new")}, func(it *item.Item) { it.Title = "new" }},
		{item.Patch{Type: new("epic")}, func(it *item.Item) { it.Type = "epic" }},
		{item.Patch{Status: new("done")}, func(it *item.Item) { it.Status = "done" }},
		{item.Patch{Priority: new("low")}, func(it *item.Item) { it.Priority = "low" }},
		{item.Patch{Assignee: new("bob")}, func(it *item.Item) { it.Assignee = "bob" }},
		{item.Patch{Iteration: new("unknown")}, func(it *item.Item) { it.Iteration = "unknown" }},
		{item.Patch{Labels: new([]string{"b", " c "})}, func(it *item.Item) { it.Labels = []string{"b", "c"} }},
		{item.Patch{Parent: new(item.ID(1))}, func(it *item.Item) { it.Parent = 1 }},
		{item.Patch{DependsOn: new([]item.ID{1})}, func(it *item.Item) { it.DependsOn = []item.ID{1} }},
		{item.Patch{Description: new("new\n\ntext")}, func(it *item.Item) { it.Description = "new\n\ntext" }},
	}
	want := before
	for _, p := range patches {
		p.apply(&want)
		got := b.update(2, p.patch)
		if got.Updated < want.Updated {
			t.Errorf("updated at %s, and before that at %s", got.Updated, want.Updated)
		}
		want.Updated = got.Updated
		diff(t, "item", want, got)
		diff(t, "item read again", want, b.item(2))
	}
	diff(t, "iterations", []string{"default", "unknown"}, b.config().Iterations)
}

func testUpdateClears(t *testing.T, b backend) {
	b.create(item.Draft{Title: "x"})
	b.create(item.Draft{
		Title: "x", Assignee: "a", Labels: []string{"a"}, Parent: 1, DependsOn: []item.ID{1}, Description: "text",
	})
	got := b.update(2, item.Patch{
		Assignee: new(""), Labels: new([]string{}), Parent: new(item.ID(0)), DependsOn: new([]item.ID{}), Description: new(""),
	})
	want := item.Item{Summary: item.Summary{
		ID: 2, Title: "x", Type: "task", Status: "backlog", Iteration: "default", Priority: "medium", Created: got.Created, Updated: got.Updated,
	}}
	diff(t, "item", want, got)
	diff(t, "item read again", want, b.item(2))
}

func testUpdateRefused(t *testing.T, b backend) {
	b.create(item.Draft{Title: "1"})
	b.create(item.Draft{Title: "2", Parent: 1})
	b.create(item.Draft{Title: "3", Parent: 2, DependsOn: []item.ID{2}})
	b.create(item.Draft{Title: "4", DependsOn: []item.ID{3}})
	before := b.item(1)
	for want, p := range map[string]item.Patch{
		"Title may not be empty":                                 {Title: new("")},
		"Work item #1 cannot be its own parent":                  {Parent: new(item.ID(1))},
		"Parent #9 does not exist":                               {Parent: new(item.ID(9))},
		"Circular parent chain detected for #1":                  {Parent: new(item.ID(3))},
		"Work item #1 cannot depend on itself":                   {DependsOn: new([]item.ID{4, 1})},
		"Dependency #9 does not exist":                           {DependsOn: new([]item.ID{4, 9})},
		`Invalid status "". Valid statuses: backlog, todo, done`: {Status: new("")},
	} {
		_, err := b.Update(t.Context(), 1, p)
		diff(t, "message", want, message(err))
	}
	_, err := b.Update(t.Context(), 2, item.Patch{DependsOn: new([]item.ID{4})})
	diff(t, "message", "Circular dependency chain detected for #2", message(err))
	diff(t, "item", before, b.item(1))
	b.update(1, item.Patch{DependsOn: new([]item.ID{3})}) // a parent may depend on what is below it
}

func testOrderOfChecks(t *testing.T, b backend) {
	all := item.Patch{Type: new("x"), Status: new("x"), Priority: new("x"), Parent: new(item.ID(9)), DependsOn: new([]item.ID{9})}
	for _, step := range []struct {
		want   string
		repair func()
	}{
		{`Invalid type "x"`, func() { all.Type = nil }},
		{`Invalid status "x"`, func() { all.Status = nil }},
		{`Invalid priority "x"`, func() { all.Priority = nil }},
		{"Work item #1 not found", func() { b.create(item.Draft{Title: "x"}) }},
		{"Parent #9 does not exist", func() { all.Parent = nil }},
		{"Dependency #9 does not exist", func() {}},
	} {
		_, err := b.Update(t.Context(), 1, all)
		if !strings.HasPrefix(message(err), step.want) {
			t.Errorf("got %v, want %s", err, step.want)
		}
		step.repair()
	}
}

func testComments(t *testing.T, b backend) {
	before := b.create(item.Draft{Title: "x", Description: "text"})
	var want []item.Comment
	for _, c := range []item.Comment{{Author: "alice", Body: "First"}, {Author: "", Body: "\nSecond\n\n"}} {
		got, err := b.AddComment(t.Context(), 1, c.Author, c.Body)
		if err != nil {
			t.Fatal(err)
		}
		diff(t, "comment", item.Comment{Author: b.author(c.Author), Date: got.Date, Body: strings.TrimSpace(c.Body)}, got)
		want = append(want, got)
	}
	it := b.item(1)
	diff(t, "comments", want, it.Comments)
	diff(t, "updated", want[1].Date, it.Updated)
	diff(t, "description", before.Description, it.Description)
	if _, err := b.AddComment(t.Context(), 1, "x", " \n"); err == nil {
		t.Error("an empty comment was added")
	}
}

func testNotFound(t *testing.T, b backend) {
	ctx := t.Context()
	_, itemErr := b.Item(ctx, 7)
	_, updateErr := b.Update(ctx, 7, item.Patch{})
	_, commentErr := b.AddComment(ctx, 7, "x", "x")
	errs := map[string]error{"item": itemErr, "update": updateErr, "comment": commentErr, "delete": b.Delete(ctx, 7, "", false)}
	if b.Capabilities().Deletion != storage.Final {
		_, errs["restore"] = b.Restore(ctx, 7)
	}
	for what, err := range errs {
		diff(t, what, "Work item #7 not found", message(err))
		if !item.IsNotFound(err) {
			t.Errorf("%s: %T", what, err)
		}
	}
}

func testIterations(t *testing.T, b backend) {
	for _, name := range []string{"sprint: 1", "default", "sprint: 1"} {
		if err := b.SetIteration(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		diff(t, "current", name, b.config().CurrentIteration)
	}
	diff(t, "known", []string{"default", "sprint: 1"}, b.config().Iterations)
	diff(t, "of a new item", "sprint: 1", b.create(item.Draft{Title: "x"}).Iteration)
	if err := b.SetIteration(t.Context(), ""); err == nil {
		t.Error("an iteration without a name was set")
	}
	// All names are in one file, or in one row.
	long := strings.Repeat("i", 501)
	_, created := b.Create(t.Context(), item.Draft{Title: "x", Iteration: long})
	_, updated := b.Update(t.Context(), 1, item.Patch{Iteration: new(long)})
	refusals := map[string]error{"set": b.SetIteration(t.Context(), long), "created": created, "updated": updated}
	if b.Capabilities().Author == "" {
		_, refusals["commented"] = b.AddComment(t.Context(), 1, long, "x")
	}
	for what, err := range refusals {
		if message(err) == "" || !strings.Contains(err.Error(), "has 501 bytes, more than the 500 allowed") {
			t.Errorf("%s: %v", what, err)
		}
	}
	diff(t, "known", []string{"default", "sprint: 1"}, b.config().Iterations)
}

func testSnapshot(t *testing.T, b backend) {
	if n := b.snapshot().Len(); n != 0 {
		t.Errorf("%d items in a new project", n)
	}
	for i := range 12 {
		b.create(item.Draft{Title: fmt.Sprint("item ", i), Description: "Some NEEDLE text", Labels: []string{"l"}})
	}
	first := b.snapshot()
	var want []item.Summary
	for id := item.ID(1); id <= 12; id++ {
		want = append(want, b.item(id).Summary)
	}
	diff(t, "summaries", want, summaries(first))
	b.update(3, item.Patch{Title: new("changed")})
	b.delete(5)
	diff(t, "the old snapshot", want, summaries(first))
	want[2] = b.item(3).Summary
	diff(t, "the new snapshot", slices.Delete(slices.Clone(want), 4, 5), summaries(b.snapshot()))

	hits := b.snapshot().Search(b.config(), "needle", item.Filter{})
	if len(hits) != 11 || !hits[0].InDescription {
		t.Errorf("found %d", len(hits))
	}
}

func summaries(s *item.Snapshot) []item.Summary {
	var list []item.Summary
	for _, it := range s.List(item.Config{}, item.Filter{All: true}) {
		list = append(list, *it)
	}
	return list
}

func testDelete(t *testing.T, b backend) {
	b.create(item.Draft{Title: "1"})
	b.create(item.Draft{Title: "2", Parent: 1})
	b.create(item.Draft{Title: "3", DependsOn: []item.ID{1, 2}})
	b.create(item.Draft{Title: "4", Parent: 2, DependsOn: []item.ID{2}})
	before := b.item(2).Updated
	b.delete(1)
	diff(t, "relations", "2 3+2 4<2+2", b.relations())
	diff(t, "time of the child", before, b.item(2).Updated)
	if _, err := b.Item(t.Context(), 1); !item.IsNotFound(err) {
		t.Errorf("the item: %v", err)
	}
	if err := b.Delete(t.Context(), 1, "", false); !item.IsNotFound(err) {
		t.Errorf("deleting it again: %v", err)
	}
	b.delete(2)
	diff(t, "relations", "3 4", b.relations())
}

func testDeleteWhatWasSeen(t *testing.T, b backend) {
	b.create(item.Draft{Title: "1"})
	b.create(item.Draft{Title: "2", Parent: 1})
	preview := func() item.Fingerprint {
		p, err := b.snapshot().Preview(b.item(1))
		if err != nil {
			t.Fatal(err)
		}
		return p.Fingerprint
	}
	for what, change := range map[string]func(){
		"item":          func() { b.update(1, item.Patch{Title: new("other")}) },
		"comment":       func() { _, _ = b.AddComment(t.Context(), 1, "", "text") },
		"child":         func() { b.update(2, item.Patch{Title: new("other")}) },
		"new child":     func() { b.create(item.Draft{Title: "x", Parent: 1}) },
		"new dependent": func() { b.create(item.Draft{Title: "x", DependsOn: []item.ID{1}}) },
	} {
		seen := preview()
		change()
		err := b.Delete(t.Context(), 1, seen, false)
		diff(t, what, "Work item #1 changed since the preview. Call delete_item again.", message(err))
		if _, ok := errors.AsType[*storage.ChangedError](err); !ok {
			t.Errorf("%s: %T", what, err)
		}
	}
	if err := b.Delete(t.Context(), 1, preview(), false); err != nil {
		t.Error(err)
	}
}

func testNumbersStayUsed(t *testing.T, b backend) {
	for range 3 {
		b.create(item.Draft{Title: "x"})
	}
	b.delete(3)
	b.delete(2)
	// An item that is refused takes no number.
	for _, d := range []item.Draft{{Title: "x", Parent: 99}, {Title: "x", DependsOn: []item.ID{99}}, {Title: " "}} {
		if it, err := b.Create(t.Context(), d); err == nil {
			t.Errorf("created %+v", it)
		}
	}
	diff(t, "number", item.ID(4), b.create(item.Draft{Title: "x"}).ID)
}

func testRestore(t *testing.T, b backend) {
	if !b.restores() {
		return
	}
	b.create(item.Draft{Title: "1"})
	b.create(item.Draft{Title: "2", Parent: 1, DependsOn: []item.ID{1}, Description: "text"})
	b.create(item.Draft{Title: "3", Parent: 2})
	b.create(item.Draft{Title: "4", Parent: 2, DependsOn: []item.ID{1, 2}})
	b.create(item.Draft{Title: "5"})
	if _, err := b.AddComment(t.Context(), 2, "x", "y"); err != nil {
		t.Fatal(err)
	}
	before, relations := b.item(2), b.relations()
	for range 2 {
		b.delete(2)
		diff(t, "relations without it", "1 3 4+1 5", b.relations())
		diff(t, "item", before, b.restore(2))
		diff(t, "item read again", before, b.item(2))
		diff(t, "relations with it", relations, b.relations())
	}
	if _, err := b.Restore(t.Context(), 2); message(err) != "Work item #2 is not deleted" {
		t.Errorf("restored twice: %v", err)
	}
	b.delete(2)
	b.update(3, item.Patch{Parent: new(item.ID(5))})
	b.delete(4)
	b.restore(2)
	diff(t, "relations as far as possible", "1 2<1+1 3<5 5", b.relations())
	b.restore(4)
	diff(t, "relations of the last", "1 2<1+1 3<5 4<2+1+2 5", b.relations())
}

// Items that refer to each other come back whole, in whatever order.
func testRestoreInTurn(t *testing.T, b backend) {
	if !b.restores() {
		return
	}
	b.create(item.Draft{Title: "1"})
	b.create(item.Draft{Title: "2", Parent: 1, DependsOn: []item.ID{1}})
	b.create(item.Draft{Title: "3", Parent: 2, DependsOn: []item.ID{1, 2}})
	want := b.relations()
	for _, order := range [][2][]item.ID{
		{{1, 2, 3}, {3, 2, 1}},
		{{1, 2, 3}, {1, 2, 3}},
		{{3, 2, 1}, {3, 2, 1}},
		{{3, 2, 1}, {3, 1, 2}},
		{{2, 1, 3}, {3, 1, 2}},
		{{2, 3, 1}, {2, 1, 3}},
	} {
		for _, id := range order[0] {
			b.delete(id)
		}
		for _, id := range order[1] {
			b.restore(id)
		}
		got := strings.Replace(b.relations(), "3<2+2+1", "3<2+1+2", 1) // the order of dependencies is free
		diff(t, fmt.Sprint("deleted and restored as ", order), want, got)
	}
}

func testRestoreNoCycle(t *testing.T, b backend) {
	if !b.restores() {
		return
	}
	b.create(item.Draft{Title: "1"})
	b.create(item.Draft{Title: "2", Parent: 1, DependsOn: []item.ID{1}})
	b.create(item.Draft{Title: "3", Parent: 2, DependsOn: []item.ID{2}})
	b.delete(2)
	b.update(1, item.Patch{Parent: new(item.ID(3)), DependsOn: new([]item.ID{3})})
	b.restore(2)
	diff(t, "relations", "1<3+3 2<1+1 3", b.relations())
}

// Texts up to the stated limits are kept, and longer ones refused as a whole.
func testLimits(t *testing.T, b backend) {
	limits := b.Capabilities().Limits
	b.create(item.Draft{Title: "x"})
	long := func(maximum int) string { return strings.Repeat("é", maximum) }
	refused := func(what string, maximum int, err error) {
		t.Helper()
		invalid, ok := errors.AsType[*item.InvalidError](err)
		if !ok || !strings.Contains(err.Error(), fmt.Sprintf("has %d characters, more than the %d allowed here", maximum+1, maximum)) {
			t.Errorf("%s: got %v (%T)", what, err, invalid)
		}
	}
	if maximum := limits.Title; maximum > 0 {
		diff(t, "title", long(maximum), b.update(1, item.Patch{Title: new(long(maximum))}).Title)
		_, err := b.Update(t.Context(), 1, item.Patch{Title: new(long(maximum + 1)), Status: new("done")})
		refused("title", maximum, err)
		_, err = b.Create(t.Context(), item.Draft{Title: long(maximum + 1)})
		refused("title of a new item", maximum, err)
	}
	if maximum := limits.Description; maximum > 0 {
		diff(t, "description", long(maximum), b.update(1, item.Patch{Description: new(long(maximum))}).Description)
		_, err := b.Update(t.Context(), 1, item.Patch{Description: new(long(maximum + 1)), Status: new("done")})
		refused("description", maximum, err)
	}
	if maximum := limits.Comment; maximum > 0 {
		if _, err := b.AddComment(t.Context(), 1, "", long(maximum)); err != nil {
			t.Error(err)
		}
		_, err := b.AddComment(t.Context(), 1, "", long(maximum+1))
		refused("comment", maximum, err)
	}
	diff(t, "items", 1, b.snapshot().Len())
	diff(t, "status", "backlog", b.item(1).Status)
}

func testAtTheSameTime(t *testing.T, b backend) {
	const workers, rounds = 4, 5
	shared := b.create(item.Draft{Title: "shared"}).ID
	var group sync.WaitGroup
	var mu sync.Mutex
	given := map[item.ID]bool{}
	fields := []item.Patch{{Title: new("t")}, {Assignee: new("a")}, {Priority: new("high")}, {Description: new("d")}}
	for i := range workers {
		group.Go(func() {
			for range rounds {
				it, err := b.Create(t.Context(), item.Draft{Title: "x"})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if given[it.ID] {
					t.Errorf("number %d was given twice", it.ID)
				}
				given[it.ID] = true
				mu.Unlock()
				if _, err := b.AddComment(t.Context(), shared, "x", "y"); err != nil {
					t.Error(err)
				}
				if _, err := b.Snapshot(t.Context()); err != nil {
					t.Error(err)
				}
			}
			if _, err := b.Update(t.Context(), shared, fields[i]); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	it := b.item(shared)
	if it.Title != "t" || it.Assignee != "a" || it.Priority != "high" || it.Description != "d" {
		t.Errorf("an update is lost: %+v", it)
	}
	if len(it.Comments) != workers*rounds || b.snapshot().Len() != workers*rounds+1 {
		t.Errorf("%d comments and %d items", len(it.Comments), b.snapshot().Len())
	}
}

func testContext(t *testing.T, b backend) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Create(ctx, item.Draft{Title: "x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if b.snapshot().Len() != 0 {
		t.Error("an item was created nevertheless")
	}
}
