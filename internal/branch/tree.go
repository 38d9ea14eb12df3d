package branch

import "slices"

// Node is a branch in a tree, with the branches below it.
type Node struct {
	Branch    string  `json:"branch"`
	Children  []*Node `json:"children"` // never nil
	JiraIssue string  `json:"jira_issue,omitempty"`
	PRNumber  uint32  `json:"pr_number,omitempty"`
	// Missing means that the branch is declared, but git does not have it.
	Missing bool `json:"missing,omitempty"`
	// Current means that the branch is checked out.
	Current bool `json:"current,omitempty"`
	// Omitted is the number of places below this one that were cut off here. Only nodes that lost
	// children of their own have one, so the sum is what the whole tree lost.
	Omitted int `json:"omitted,omitempty"`
}

// HasCurrent reports whether the current branch is n or below it.
func (n *Node) HasCurrent() bool {
	for todo := []*Node{n}; len(todo) > 0; {
		last := todo[len(todo)-1]
		if last.Current {
			return true
		}
		todo = append(todo[:len(todo)-1], last.Children...)
	}
	return false
}

// Tree is a tree of branches, cut to a [Limit].
type Tree struct {
	Root    *Node
	Shown   int // nodes in the tree
	Omitted int // nodes that were cut off
}

// Limit bounds a tree; a zero field sets no limit. The root always stays. Without a limit on Bytes,
// the text of a tree grows with the square of its depth.
type Limit struct {
	// Nodes is the maximum number of nodes.
	Nodes int
	// Bytes is the maximum number of bytes of the nodes as JSON and the text as a JSON string
	// together, with or without HTML escapes.
	Bytes int
}

// Tree returns the tree of the branch named root, or of the home root if root is empty. A tree over
// the limit loses its lowest levels, and the end of the last level that remains. The error is
// [ErrNoBranches], [ErrNoRoot], or a [*NotFoundError].
func (g *Graph) Tree(root string, limit Limit) (*Tree, error) {
	start, err := g.start(root)
	if err != nil {
		return nil, err
	}
	positions := g.fromTop(start)
	kept := len(positions)
	if !g.fits(positions, limit) {
		positions = g.byLevel(start)
		kept = g.cut(positions, limit)
	}
	return g.build(positions, kept), nil
}

func (g *Graph) start(root string) (int32, error) {
	if root != "" {
		if n, ok := g.ids[root]; ok {
			return n, nil
		}
		return none, &NotFoundError{Branch: root, Nearest: nearest(root, g.names)}
	}
	switch {
	case len(g.names) == 0:
		return none, ErrNoBranches
	case g.home == none:
		return none, ErrNoRoot
	}
	return g.home, nil
}

// position is that of a node in a tree. A node can have several; its children have theirs
// under one of them.
type position struct {
	node   int32
	parent int32 // the index of the position above, or none
	depth  int32
}

// fromTop returns the places of the tree in reading order.
func (g *Graph) fromTop(start int32) []position {
	var positions []position
	met := make([]bool, len(g.names))
	todo := []position{{start, none, 0}}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		here := int32(len(positions))
		positions = append(positions, p)
		if met[p.node] {
			continue
		}
		met[p.node] = true
		kids := g.children(p.node)
		for _, kid := range slices.Backward(kids) {
			todo = append(todo, position{kid, here, p.depth + 1})
		}
	}
	return positions
}

// byLevel returns the places of the tree level by level, those of siblings next
// to each other.
func (g *Graph) byLevel(start int32) []position {
	positions := []position{{start, none, 0}}
	met := make([]bool, len(g.names))
	for here := 0; here < len(positions); here++ {
		p := positions[here]
		if met[p.node] {
			continue
		}
		met[p.node] = true
		for _, kid := range g.children(p.node) {
			positions = append(positions, position{kid, int32(here), p.depth + 1})
		}
	}
	return positions
}

// build returns the tree of the first kept places. In them, every parent comes before its children,
// and siblings are in order.
func (g *Graph) build(positions []position, kept int) *Tree {
	t := &Tree{Shown: kept, Omitted: len(positions) - kept}
	sizes := subtreeSizes(positions)
	nodes := make([]Node, kept)
	for i, p := range positions {
		switch {
		case i < kept:
			nodes[i] = g.node(p.node)
			if p.parent != none {
				above := &nodes[p.parent]
				above.Children = append(above.Children, &nodes[i])
			}
		case int(p.parent) < kept:
			nodes[p.parent].Omitted += sizes[i]
		}
	}
	t.Root = &nodes[0]
	return t
}

// node returns the Node of n, without children.
func (g *Graph) node(n int32) Node {
	name := g.names[n]
	linked := g.state.Branches[name]
	return Node{
		Branch:    name,
		Children:  []*Node{},
		JiraIssue: linked.JiraIssue,
		PRNumber:  linked.GitHubPR,
		Missing:   !g.refs.Exists(name),
		Current:   g.refs.isCurrent(name),
	}
}

// subtreeSizes returns for each position the number of positions at and below it.
func subtreeSizes(positions []position) []int {
	sizes := make([]int, len(positions))
	for i := len(positions) - 1; i >= 0; i-- {
		sizes[i]++
		if parent := positions[i].parent; parent != none {
			sizes[parent] += sizes[i]
		}
	}
	return sizes
}
