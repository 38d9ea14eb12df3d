package items

import (
	"context"
	"slices"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/toolset/items/form"
	"github.com/copse-dev/copse/internal/toolset/plain"
	"github.com/copse-dev/copse/internal/workflow/backlog"
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
	Root      item.ID `json:"root,omitempty"`
}

// Node is an item with its children.
type Node = backlog.Node

// TreeOut is a forest of items, by id. It has a total if some were omitted, here and below the
// nodes.
type TreeOut = plain.List[Node]

// GetItemTree nests items under their parents.
func (t *Tools) GetItemTree(ctx context.Context, in TreeIn) (TreeOut, error) {
	v, err := t.backlog.Read(ctx)
	if err != nil {
		return TreeOut{}, err
	}
	filter := item.Filter{
		Type: in.Type, Status: in.Status, Iteration: in.Iteration, All: in.All,
		Assignee: in.Assignee, Label: in.Label, Priority: in.Priority, Ready: in.Ready,
	}
	left := form.Budget
	found, err := v.Tree(v.Config, filter, in.Root, 0, func(it *item.Summary, depth int) bool {
		// Each level is an object in an array. A node that has children ends its
		// list on a line of its own.
		left -= form.Size(nodeOf(&item.Node{Summary: it}, v), 2*depth+1) + 2*len(form.Indent)*(depth+1)
		return left >= 0 || it.ID == in.Root
	})
	if err != nil {
		return TreeOut{}, err
	}
	out := TreeOut{ListInfo: plain.ListInfo{Omitted: found.Omitted, Warnings: warnings(v.Warnings())}}
	all := found.Omitted
	for _, root := range found.Roots {
		out.Rows = append(out.Rows, nodeOf(root, v))
		shown, omitted := count(root)
		all += shown + omitted
		out.Omitted += omitted
	}
	if out.Omitted > 0 {
		out.Total = &all
	}
	if all == 0 {
		_, more := v.Select(backlog.Query{Filter: filter})
		out.Warnings = slices.Concat(unknown(v, filter), elsewhere(more), out.Warnings)
	}
	return out, nil
}

func nodeOf(n *item.Node, v backlog.View) Node {
	return backlog.NodeOf(n, func(node *Node) {
		node.Title = form.Line(node.Title, form.TitleLength)
		node.Claimed = form.Line(v.HeldBy(node.ID), form.LineLength*2)
		for _, text := range []*string{&node.Type, &node.Status, &node.Priority} {
			*text = form.Line(*text, form.LineLength)
		}
	})
}

// count returns how many items a node and its descendants show and omit.
func count(n *item.Node) (shown, omitted int) {
	shown, omitted = 1, n.Omitted
	for _, child := range n.Children {
		s, o := count(child)
		shown, omitted = shown+s, omitted+o
	}
	return shown, omitted
}
