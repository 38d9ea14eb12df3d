package backlog

import "github.com/copse-dev/copse/internal/item"

// Node is an item of a tree in JSON.
type Node struct {
	ID       item.ID `json:"id"`
	Title    string  `json:"title"`
	Type     string  `json:"type"`
	Status   string  `json:"status"`
	Priority string  `json:"priority"`
	// Claimed is the holder of the item, and the end of the claim.
	Claimed  string `json:"claimed,omitempty"`
	Children []Node `json:"children"`
	// Omitted is how many items below this one are left out.
	Omitted int `json:"omitted,omitempty"`
}

// NodeOf returns a node and its descendants, with their texts after clean.
func NodeOf(n *item.Node, clean func(*Node)) Node {
	node := Node{
		ID: n.ID, Title: n.Title, Type: n.Type, Status: n.Status, Priority: n.Priority, Children: []Node{}, Omitted: n.Omitted,
	}
	clean(&node)
	for _, child := range n.Children {
		node.Children = append(node.Children, NodeOf(child, clean))
	}
	return node
}
