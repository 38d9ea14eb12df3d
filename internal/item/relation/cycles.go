package relation

import (
	"slices"

	"github.com/copse-dev/copse/internal/item"
)

// Cycles are the items whose relations lead back to them, among all items of a store.
type Cycles struct{ parents, dependencies map[item.ID]bool }

// FindCycles returns the cycles among items. It follows each relation once.
func FindCycles(items []*item.Summary) Cycles {
	known := make(map[item.ID]*item.Summary, len(items))
	for _, it := range items {
		known[it.ID] = it
	}
	return Cycles{
		parents:      circular(items, known, func(it *item.Summary) []item.ID { return []item.ID{it.Parent} }),
		dependencies: circular(items, known, func(it *item.Summary) []item.ID { return it.DependsOn }),
	}
}

// Problem returns the error for a relation of an item that creates a cycle, as [CheckRelations]
// would if the item got it now. It returns nil, or an [*item.InvalidError].
func (c Cycles) Problem(it *item.Summary) error {
	switch {
	case c.parents[it.ID] && it.Parent == it.ID:
		return invalidRelation("parent", ownParent, it.ID)
	case c.parents[it.ID]:
		return invalidRelation("parent", circularParents, it.ID)
	case c.dependencies[it.ID] && slices.Contains(it.DependsOn, it.ID):
		return invalidRelation("depends_on", onItself, it.ID)
	case c.dependencies[it.ID]:
		return invalidRelation("depends_on", circularDependencies, it.ID)
	}
	return nil
}

// visit is an item on the way that circular has gone.
type visit struct {
	it   *item.Summary
	left []item.ID // where it leads and the search has not been
}

// circular returns the items that next leads back to: Tarjan's strongly connected components,
// without recursion, which a long chain would make deep.
func circular(items []*item.Summary, known map[item.ID]*item.Summary, next func(*item.Summary) []item.ID) map[item.ID]bool {
	found := map[item.ID]bool{}
	order := make(map[item.ID]int, len(items)) // from 1, in which the search met them
	low := make(map[item.ID]int, len(items))   // the first item on the way that one leads back to
	open := map[item.ID]bool{}                 // in no component yet
	var stack []item.ID
	var way []visit
	enter := func(it *item.Summary) {
		order[it.ID] = len(order) + 1
		low[it.ID], open[it.ID] = order[it.ID], true
		stack = append(stack, it.ID)
		way = append(way, visit{it, next(it)})
	}
	leave := func(id item.ID) {
		if low[id] != order[id] {
			return
		}
		for alone := stack[len(stack)-1] == id; ; alone = false {
			last := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			open[last] = false
			if !alone {
				found[last] = true
			}
			if last == id {
				return
			}
		}
	}
	for _, start := range items {
		if order[start.ID] != 0 {
			continue
		}
		for enter(start); len(way) > 0; {
			at := &way[len(way)-1]
			id := at.it.ID
			if len(at.left) == 0 {
				way = way[:len(way)-1]
				leave(id)
				if len(way) > 0 {
					above := way[len(way)-1].it.ID
					low[above] = min(low[above], low[id])
				}
				continue
			}
			to := known[at.left[0]]
			at.left = at.left[1:]
			switch {
			case to == nil:
			case to.ID == id:
				found[id] = true
			case order[to.ID] == 0:
				enter(to)
			case open[to.ID]:
				low[id] = min(low[id], order[to.ID])
			}
		}
	}
	return found
}
