package itemtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/storage"
)

// tell describes a change, without values that differ in every run.
func tell(c changes.Change) string {
	text := fmt.Sprintf("%s #%d", c.Kind, c.Item)
	if c.By.Name != "" {
		text = c.By.Name + " " + text
	}
	for _, v := range c.Values() {
		text += fmt.Sprintf(" %s %q to %q", v.Field, v.Before, v.After)
	}
	if c.Comment != nil {
		text += fmt.Sprintf(" %q", c.Comment.Body)
	}
	if c.Undoes != "" {
		text += " undoes"
	}
	return text
}

func told(log []changes.Change) string {
	lines := make([]string, len(log))
	for i, c := range log {
		lines[i] = tell(c)
	}
	return strings.Join(lines, "\n")
}

func testHistory(t *testing.T, p Project) {
	ada, bob := p.two(t)
	create := func(a agent, d item.Draft) {
		if _, err := a.Create(a.ctx, d); err != nil {
			t.Fatal(err)
		}
	}
	create(ada, item.Draft{Title: "one"})
	create(bob, item.Draft{Title: "two", Labels: []string{"l"}})
	bob.change(1, item.Patch{Title: new("ONE"), Status: new("todo"), Priority: new("medium")})
	ada.change(1, item.Patch{Status: new("todo")}) // changes nothing
	said, err := ada.AddComment(ada.ctx, 1, "somebody", "a comment")
	if err != nil {
		t.Fatal(err)
	}
	ada.change(2, item.Patch{
		Labels: new([]string{"a", "b"}), Parent: new(item.ID(1)), DependsOn: new([]item.ID{1}), Description: new("text"), Branch: new("b"),
	})
	bob.change(2, item.Patch{Labels: new([]string{}), Parent: new(item.ID(0)), Assignee: new("eve"), Iteration: new("next")})
	if err := bob.Delete(bob.ctx, 2, "", false); err != nil {
		t.Fatal(err)
	}
	two := `bob created #2
ada updated #2 labels "l" to "a, b" parent "" to "#1" depends_on "" to "#1" description "" to "text" branch "" to "b"
bob updated #2 iteration "default" to "next" assignee "" to "eve" labels "a, b" to "" parent "#1" to ""
bob deleted #2`
	diff(t, "of a deleted item", two, told(ada.history(2)))
	made := 7
	if ada.Capabilities().Deletion != storage.Final {
		if _, err := ada.Restore(ada.ctx, 2); err != nil {
			t.Fatal(err)
		}
		diff(t, "of a restored item", two+"\nada restored #2", told(bob.history(2)))
		made++
	}
	log := ada.history(1)
	diff(t, "history", `ada created #1
bob updated #1 title "one" to "ONE" status "backlog" to "todo"
ada commented #1 "a comment"`, told(log))
	it := ada.item(1)
	diff(t, "times", []string{it.Created, log[1].At, said.Date}, []string{log[0].At, log[1].At, log[2].At})
	diff(t, "who", bob.Worktree, log[1].By.Worktree)
	names := map[string]bool{}
	for _, c := range log {
		names[c.ID] = true
	}
	if len(names) != len(log) || names[""] {
		t.Errorf("the changes are named %v", names)
	}
	all := ada.history(0)
	if len(all) != made || !slices.IsSortedFunc(all, func(a, b changes.Change) int { return strings.Compare(a.At, b.At) }) {
		t.Errorf("of all items:\n%s", told(all))
	}
	if _, err := ada.History(ada.ctx, 7); !item.IsNotFound(err) {
		t.Errorf("of no item: %v", err)
	}
}

func testHistoryBounded(t *testing.T, p Project) {
	ada, _ := p.two(t)
	ada.create(item.Draft{Title: "x"})
	const more = 5
	for i := range changes.MaxChanges + more {
		ada.change(1, item.Patch{Title: new(fmt.Sprint("title ", i))})
	}
	log := ada.history(1)
	if len(log) != changes.MaxChanges || !strings.Contains(tell(log[0]), fmt.Sprintf("to %q", fmt.Sprint("title ", more))) {
		t.Errorf("%d changes, the first is %s", len(log), tell(log[0]))
	}
	if maximum := ada.Capabilities().Limits.Description; maximum != 0 && maximum <= changes.MaxText {
		return // no value is too long
	}
	ada.change(1, item.Patch{Description: new(strings.Repeat("x", changes.MaxText+1)), Assignee: new("eve")})
	log = ada.history(1)
	last := log[len(log)-1]
	diff(t, "cut", []string{"description"}, last.Cut)
	if _, err := ada.Undo(ada.ctx, 1, last.ID, false); err == nil {
		t.Error("what is not kept is undone")
	}
}

func testUndo(t *testing.T, p Project) {
	ada, bob := p.two(t)
	ada.create(item.Draft{Title: "parent"})
	if _, err := bob.Create(bob.ctx, item.Draft{Title: "x", Labels: []string{"l"}, Description: "text"}); err != nil {
		t.Fatal(err)
	}
	before := ada.item(2)
	change := ada.change(2, item.Patch{
		Title: new("y"), Labels: new([]string{}), Parent: new(item.ID(1)), DependsOn: new([]item.ID{1}), Status: new("todo"), Branch: new("b"),
	})
	// A later change, which the undo does not touch, stays.
	bob.change(2, item.Patch{Priority: new("high"), Assignee: new("eve")})
	log := ada.history(2)
	undone := bob.undo(2, log[1].ID)
	diff(t, "the change", log[1], undone)
	want := before
	want.Priority, want.Assignee = "high", "eve"
	want.Updated = ada.item(2).Updated
	diff(t, "the item", want, ada.item(2))
	if want.Updated < change.Updated {
		t.Error("the time of the last update went back")
	}
	log = ada.history(2)
	last := log[len(log)-1]
	if last.Undoes != undone.ID || last.By.Name != "bob" {
		t.Errorf("the history ends with %+v", last)
	}

	said, err := ada.AddComment(ada.ctx, 2, "", "a mistake")
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "the author", ada.author("ada"), said.Author)
	ada.undo(2, "")
	diff(t, "comments", 0, len(ada.item(2).Comments))

	if ada.Capabilities().Deletion == storage.Final {
		return
	}
	if err := ada.Delete(ada.ctx, 2, "", false); err != nil {
		t.Fatal(err)
	}
	bob.undo(2, "")
	want.Updated = ada.item(2).Updated
	diff(t, "the item", want, ada.item(2))

	if _, err := ada.Create(ada.ctx, item.Draft{Title: "by mistake"}); err != nil {
		t.Fatal(err)
	}
	ada.undo(3, "")
	if _, err := ada.Item(t.Context(), 3); !item.IsNotFound(err) {
		t.Errorf("the creation is undone: %v", err)
	}
	ada.undo(3, lastOf(ada.history(3)).ID)
	diff(t, "undone undoing", "by mistake", ada.item(3).Title)
}

func lastOf(log []changes.Change) changes.Change { return log[len(log)-1] }

func testUndoRefused(t *testing.T, p Project) {
	ada, bob := p.two(t)
	if _, err := ada.Create(ada.ctx, item.Draft{Title: "x"}); err != nil {
		t.Fatal(err)
	}
	refused := func(what, change, reason string) {
		t.Helper()
		before := ada.item(1)
		_, err := bob.Undo(bob.ctx, 1, change, false)
		if _, ok := errors.AsType[*changes.UndoError](err); !ok || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: got %v, want %q", what, err, reason)
		}
		diff(t, what, before, ada.item(1))
	}
	ada.change(1, item.Patch{Title: new("y"), Status: new("todo")})
	ada.change(1, item.Patch{Title: new("z")})
	log := ada.history(1)
	refused("a later change", log[1].ID, `title changed since, by "ada" in /trees/ada`)
	refused("created long ago", log[0].ID, "the item has been updated since")
	refused("no change", "nonsense", "no such change")
	bob.undo(1, log[2].ID)
	refused("undone already", log[2].ID, "already undid it")
	ada.claim(storage.ClaimRequest{ID: 1})
	bob.claim(storage.ClaimRequest{ID: 1, Steal: true})
	refused("a theft", lastOf(ada.history(1)).ID, `it was "stolen"`)
	if _, err := bob.Undo(bob.ctx, 7, "", false); !item.IsNotFound(err) {
		t.Errorf("no item: %v", err)
	}

	// Undoing cannot finish what another agent holds.
	if _, err := ada.Create(ada.ctx, item.Draft{Title: "2", Status: "done"}); err != nil {
		t.Fatal(err)
	}
	ada.change(2, item.Patch{Status: new("todo")})
	ada.claim(storage.ClaimRequest{ID: 2})
	_, err := bob.Undo(bob.ctx, 2, "", false)
	isHeld(t, "undo", err, "ada")
	// Nor bring back a parent that is below the item now.
	if _, err := ada.Create(ada.ctx, item.Draft{Title: "3", Parent: 2}); err != nil {
		t.Fatal(err)
	}
	ada.change(3, item.Patch{Parent: new(item.ID(0))})
	ada.change(2, item.Patch{Parent: new(item.ID(3))})
	if _, err := bob.Undo(bob.ctx, 3, "", false); err == nil {
		t.Error("two items are each other's parents")
	}
	diff(t, "parent", item.ID(0), ada.item(3).Parent)
}

// Changes are undone one after the other, back to the first; an undoing is undone, too.
func testUndoInTurn(t *testing.T, p Project) {
	ada, _ := p.two(t)
	if _, err := ada.Create(ada.ctx, item.Draft{Title: "0"}); err != nil {
		t.Fatal(err)
	}
	for i := 1; i <= 3; i++ {
		ada.change(1, item.Patch{Title: new(fmt.Sprint(i))})
	}
	for i := 2; i >= 0; i-- {
		ada.undo(1, "")
		diff(t, "title", fmt.Sprint(i), ada.item(1).Title)
	}
	ada.undo(1, lastOf(ada.history(1)).ID)
	diff(t, "undone undoing", "1", ada.item(1).Title)
	ada.undo(1, "")
	diff(t, "title", "0", ada.item(1).Title)
}

// What another program changes is seen, at once or after the lag that the backend states.
func testOthers(t *testing.T, p Project) {
	ada, bob := p.two(t)
	ada.snapshot()
	it := bob.create(item.Draft{Title: "x"})
	diff(t, "item", it, ada.item(1))
	sees := func(title string) {
		t.Helper()
		for end := time.Now().Add(ada.Capabilities().Lag); ; time.Sleep(ada.Capabilities().Lag / 50) {
			found, err := ada.snapshot().Find(1)
			if err == nil && found.Title == title {
				return
			}
			if time.Now().After(end) {
				t.Errorf("the snapshot has %+v, %v, want the title %q", found, err, title)
				return
			}
		}
	}
	sees("x")
	bob.update(1, item.Patch{Title: new("y")})
	sees("y")
	ada.update(1, item.Patch{Title: new("z")})
	if found, err := ada.snapshot().Find(1); err != nil || found.Title != "z" {
		t.Errorf("its own change: %+v, %v", found, err)
	}
}
