package items

import (
	"context"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/toolset/plain"
)

// TreeIn selects the items of a tree.
type TreeIn struct {
	Type      string  `json:"type,omitempty"`
	Status    string  `json:"status,omitempty"`
	Iteration string  `json:"iteration,omitempty"`
	All       bool    `json:"all,omitempty"`
	Assignee  string  `json:"assignee,omitempty"`
	Label     string  `json:"label,omitempty"`
	Priority  string  `json:"priority,omitempty"`
	Ready     bool    `json:"ready,omitempty"`
	Root      item.ID `json:"root,omitempty" description:"Only below this item."`
}

// Node is an item with its children.
type Node struct {
	ID       item.ID `json:"id"`
	Title    string  `json:"title"`
	Type     string  `json:"type"`
	Status   string  `json:"status"`
	Priority string  `json:"priority"`
	Children []Node  `json:"children"`
	// Omitted is how many items below this one were left out.
	Omitted int `json:"omitted,omitempty"`
}

// TreeOut is a forest of items, by id. It has a total if some were left out, here and
// below the nodes.
type TreeOut = plain.List[Node]

// GetItemTree nests items under their parents.
func (t *Tools) GetItemTree(ctx context.Context, in TreeIn) (TreeOut, error) {
	s, err := t.state(ctx)
	if err != nil {
		return TreeOut{}, err
	}
	filter := item.Filter{
		Type: in.Type, Status: in.Status, Iteration: in.Iteration, All: in.All,
		Assignee: in.Assignee, Label: in.Label, Priority: in.Priority, Ready: in.Ready,
	}
	left := answerBudget
	found, err := s.Tree(s.config, filter, in.Root, 0, func(it *item.Summary, depth int) bool {
		// Each level is an object in an array. A node that has children ends its
		// list on a line of its own.
		left -= shown(nodeOf(&item.Node{Summary: it}), 2*depth+1) + 2*len(indent)*(depth+1)
		return left >= 0 || it.ID == in.Root
	})
	if err != nil {
		return TreeOut{}, err
	}
	out := TreeOut{ListInfo: plain.ListInfo{Omitted: found.Omitted, Warnings: s.warnings()}}
	all := found.Omitted
	for _, root := range found.Roots {
		out.Rows = append(out.Rows, nodeOf(root))
		shown, omitted := count(root)
		all += shown + omitted
		out.Omitted += omitted
	}
	if out.Omitted > 0 {
		out.Total = &all
	}
	if all == 0 {
		out.Warnings = append(s.unknown(filter), out.Warnings...)
	}
	return out, nil
}

func nodeOf(n *item.Node) Node {
	node := Node{
		ID: n.ID, Title: line(n.Title, titleLength), Type: line(n.Type, lineLength), Status: line(n.Status, lineLength),
		Priority: line(n.Priority, lineLength), Children: []Node{}, Omitted: n.Omitted,
	}
	for _, child := range n.Children {
		node.Children = append(node.Children, nodeOf(child))
	}
	return node
}

// count returns how many items a node and all below it show and leave out.
func count(n *item.Node) (shown, omitted int) {
	shown, omitted = 1, n.Omitted
	for _, child := range n.Children {
		s, o := count(child)
		shown, omitted = shown+s, omitted+o
	}
	return shown, omitted
}
