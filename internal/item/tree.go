package item

import (
	"cmp"
	"math"
	"slices"
)

// MaxTreeNodes is how many nodes a tree has at most if the caller names no number.
const MaxTreeNodes = 200

// AllNodes is the number for a tree that is not cut.
const AllNodes = math.MaxInt

// Tree is items below their parents.
type Tree struct {
	Roots []*Node
	// Omitted is how many items were left out whose roots were.
	Omitted int
}

// Node is an item with its children, by ID.
type Node struct {
	*Summary
	Children []*Node
	// Omitted is how many items below this one were left out, not counting those that a child of it
	// is included.
	Omitted int
}

// Room reports whether there is room for one more node, so deep in the tree; roots have depth 0.
// Once it says no it is not asked again.
type Room func(it *Summary, depth int) bool

// Tree arranges the items that a filter selects. An item whose parent does not exist or is not
// selected is a root; so is the first one in a cycle of parents. With a root, which need not be
// selected, the tree has only the items below it, and the error can be a [*NotFoundError]. Trees
// are cut breadth first, at a number of nodes (0 is MaxTreeNodes), or earlier if room, which may be
// nil, returns false.
func (s *Snapshot) Tree(c Config, f Filter, root ID, nodes int, room Room) (Tree, error) {
	selected := s.List(c, f)
	if root != 0 {
		top, err := s.Find(root)
		if err != nil {
			return Tree{}, err
		}
		selected = s.below(top, selected)
	}
	forest := newForest(selected, root)
	return forest.cut(cmp.Or(nodes, MaxTreeNodes), room), nil
}

// below returns top and those of selected that are somewhere below it, by ID.
func (s *Snapshot) below(top *Summary, selected []*Summary) []*Summary {
	isBelow := map[ID]bool{0: false, top.ID: true}
	kept := []*Summary{top}
	for _, it := range selected {
		if it.ID != top.ID && s.isBelow(it, isBelow) {
			kept = append(kept, it)
		}
	}
	slices.SortFunc(kept, func(a, b *Summary) int { return int(a.ID - b.ID) })
	return kept
}

// isBelow reports whether a parent of it, near or far, is one that known has as true,
// and notes the answer for all on the way.
func (s *Snapshot) isBelow(it *Summary, known map[ID]bool) bool {
	var way []ID
	answer := false
	for id := it.ID; ; {
		if yes, ok := known[id]; ok {
			answer = yes
			break
		}
		known[id] = false // until known; also what ends a cycle
		way = append(way, id)
		up, err := s.Find(id)
		if err != nil {
			break
		}
		id = up.Parent
	}
	for _, id := range way {
		known[id] = answer
	}
	return answer
}

// forest is items, by ID, as positions in a list.
type forest struct {
	items    []*Summary
	roots    []int
	children [][]int
	size     []int // of the subtree; filled in by measure
}

// newForest finds the roots and children among items. The item top is a root,
// and the first one.
func newForest(items []*Summary, top ID) *forest {
	f := &forest{items: items, children: make([][]int, len(items)), size: make([]int, len(items))}
	ids := make([]ID, len(items))
	for i, it := range items {
		ids[i] = it.ID
	}
	parent := make([]int, len(items))
	for i, it := range items {
		up, ok := position(ids, it.Parent)
		if !ok || it.ID == top {
			up = -1
		}
		parent[i] = up
	}
	breakCycles(parent)
	for i, up := range parent {
		switch {
		case up >= 0:
			f.children[up] = append(f.children[up], i)
		case items[i].ID == top:
			f.roots = slices.Insert(f.roots, 0, i)
		default:
			f.roots = append(f.roots, i)
		}
	}
	return f
}

// breakCycles makes the first member of each cycle of parents a root.
func breakCycles(parent []int) {
	const unseen = 0
	seenFrom := make([]int, len(parent)) // 1 + where the walk began
	for i := range parent {
		at := i
		for at >= 0 && seenFrom[at] == unseen {
			seenFrom[at] = i + 1
			at = parent[at]
		}
		if at < 0 || seenFrom[at] != i+1 {
			continue
		}
		first := at
		for next := parent[at]; next != at; next = parent[next] {
			first = min(first, next)
		}
		parent[first] = -1
	}
}

// cut makes nodes of the first items, breadth first, as long as there is room.
func (f *forest) cut(left int, room Room) Tree {
	var t Tree
	f.measure()
	type queued struct {
		node      *Node
		at, depth int
	}
	var queue []queued
	take := func(i, depth int) *Node {
		if left > 0 && room != nil && !room(f.items[i], depth) {
			left = 0
		}
		if left == 0 {
			return nil
		}
		left--
		node := &Node{Summary: f.items[i]}
		queue = append(queue, queued{node, i, depth})
		return node
	}
	for _, i := range f.roots {
		if node := take(i, 0); node != nil {
			t.Roots = append(t.Roots, node)
		} else {
			t.Omitted += f.size[i]
		}
	}
	for len(queue) > 0 {
		p := queue[0]
		queue = queue[1:]
		for _, i := range f.children[p.at] {
			if node := take(i, p.depth+1); node != nil {
				p.node.Children = append(p.node.Children, node)
			} else {
				p.node.Omitted += f.size[i]
			}
		}
	}
	return t
}

// measure counts the items of all subtrees.
func (f *forest) measure() {
	order := slices.Clone(f.roots)
	for at := 0; at < len(order); at++ {
		order = append(order, f.children[order[at]]...)
	}
	for _, i := range slices.Backward(order) {
		f.size[i] = 1
		for _, child := range f.children[i] {
			f.size[i] += f.size[child]
		}
	}
}
