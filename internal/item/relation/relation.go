// Package relation checks the relations of work items: a parent or a dependency must exist, and must
// not lead back to the item. [Check] is for a change, and [FindCycles] for the items of a store.
package relation

import (
	"fmt"
	"slices"

	"github.com/copse-dev/copse/internal/item"
)

// Lookup finds an item among those that are stored. The error is a
// [*item.NotFoundError] if there is none.
type Lookup func(item.ID) (*item.Summary, error)

// Check checks the new references of item id; a nil one is not
// looked at. Each reference must be to another item that exists, and neither
// parents nor dependencies may lead back to id.
func Check(find Lookup, id item.ID, parent *item.ID, dependsOn *[]item.ID) error {
	if parent != nil && *parent != 0 {
		if err := checkParent(find, id, *parent); err != nil {
			return err
		}
	}
	if dependsOn != nil {
		return checkDependencies(find, id, *dependsOn)
	}
	return nil
}

// CheckNew checks what a new item is about to refer to: items that exist. Nothing
// can lead back to an item that is not there yet.
func CheckNew(find Lookup, parent item.ID, dependsOn []item.ID) error {
	if parent != 0 {
		if err := exists(find, parent, "parent", missingParent); err != nil {
			return err
		}
	}
	return allExist(find, dependsOn)
}

// allExist looks up each dependency once.
func allExist(find Lookup, dependsOn []item.ID) error {
	seen := make(map[item.ID]bool, len(dependsOn))
	for _, dependency := range dependsOn {
		if seen[dependency] {
			continue
		}
		seen[dependency] = true
		if err := exists(find, dependency, "depends_on", missingDependency); err != nil {
			return err
		}
	}
	return nil
}

const (
	missingParent     = "Parent #%d does not exist"
	missingDependency = "Dependency #%d does not exist"

	onItself             = "Work item #%d cannot depend on itself"
	ownParent            = "Work item #%d cannot be its own parent"
	circularParents      = "Circular parent chain detected for #%d"
	circularDependencies = "Circular dependency chain detected for #%d"
)

func checkParent(find Lookup, id, parent item.ID) error {
	if parent == id {
		return invalidRelation("parent", ownParent, id)
	}
	up := func(s *item.Summary) []item.ID { return []item.ID{s.Parent} }
	if err := exists(find, parent, "parent", missingParent); err != nil {
		return err
	}
	if reaches(find, []item.ID{parent}, id, up) {
		return invalidRelation("parent", circularParents, id)
	}
	return nil
}

func checkDependencies(find Lookup, id item.ID, dependsOn []item.ID) error {
	if slices.Contains(dependsOn, id) {
		return invalidRelation("depends_on", onItself, id)
	}
	if err := allExist(find, dependsOn); err != nil {
		return err
	}
	down := func(s *item.Summary) []item.ID { return s.DependsOn }
	if reaches(find, dependsOn, id, down) {
		return invalidRelation("depends_on", circularDependencies, id)
	}
	return nil
}

func invalidRelation(field, format string, id item.ID) error {
	return &item.InvalidError{Field: field, Problem: fmt.Sprintf(format, id)}
}

func exists(find Lookup, id item.ID, field, missing string) error {
	_, err := find(id)
	if item.IsNotFound(err) {
		return invalidRelation(field, missing, id)
	}
	return err
}

// reaches reports whether target is one of from, or next leads there. An item that cannot
// be read leads nowhere.
func reaches(find Lookup, from []item.ID, target item.ID, next func(*item.Summary) []item.ID) bool {
	seen := map[item.ID]bool{}
	for queue := slices.Clone(from); len(queue) > 0; {
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		switch {
		case id == target:
			return true
		case id == 0, seen[id]:
			continue
		}
		seen[id] = true
		if s, err := find(id); err == nil {
			queue = append(queue, next(s)...)
		}
	}
	return false
}
