package yamlfile

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"
)

// measure refuses a file whose values are too many without aliases, or nested too
// deeply.
func measure(file *ast.File) error {
	m := meter{anchors: map[string]int{}, open: map[string]bool{}}
	for _, doc := range file.Docs {
		if _, err := m.size(doc.Body, 0); err != nil {
			return err
		}
	}
	return nil
}

// meter measures nodes. An anchor comes before its aliases in the text, so each node
// is measured once.
type meter struct {
	anchors map[string]int  // the size of the values
	open    map[string]bool // the anchors around the node that is measured
	total   int
}

// size returns the bytes of a node with each alias replaced, and adds the bytes to the
// total.
func (m *meter) size(node ast.Node, depth int) (int, error) {
	if node == nil {
		return 0, nil
	}
	line := 0
	if token := node.GetToken(); token != nil {
		line = token.Position.Line
	}
	if depth > MaxDepth {
		return 0, tooDeep(line)
	}
	switch n := node.(type) {
	case *ast.MappingNode:
		return sum(n.Values, func(v *ast.MappingValueNode) (int, error) { return m.size(v, depth+1) })
	case *ast.MappingValueNode:
		return sum([]ast.Node{n.Key, n.Value}, func(v ast.Node) (int, error) { return m.size(v, depth+1) })
	case *ast.MappingKeyNode:
		return m.size(n.Value, depth+1)
	case *ast.SequenceNode:
		return sum(n.Values, func(v ast.Node) (int, error) { return m.size(v, depth+1) })
	case *ast.TagNode:
		return m.size(n.Value, depth+1)
	case *ast.AnchorNode:
		return m.anchor(n, depth)
	case *ast.AliasNode:
		name := n.Value.GetToken().Value
		if m.open[name] {
			return 0, &Error{Line: line, Problem: fmt.Sprintf("the alias *%s is a part of its own value", shortened(name))}
		}
		return m.add(m.anchors[name], line)
	}
	return m.add(1+len(node.String()), line)
}

func (m *meter) anchor(n *ast.AnchorNode, depth int) (int, error) {
	name := n.Name.GetToken().Value
	m.open[name] = true
	size, err := m.size(n.Value, depth+1)
	delete(m.open, name)
	m.anchors[name] = size
	return size, err
}

// add counts the bytes of a value, which are there whether or not an anchor is around
// it.
func (m *meter) add(size, line int) (int, error) {
	if m.total += size; m.total > MaxExpanded {
		return 0, &Error{Line: line, Problem: fmt.Sprintf("its aliases expand to more than %d bytes; write the values out, or use fewer", MaxExpanded)}
	}
	return size, nil
}

func sum[T any](list []T, size func(T) (int, error)) (total int, err error) {
	for _, one := range list {
		n, err := size(one)
		if err != nil {
			return 0, err
		}
		total += 1 + n
	}
	return total, nil
}

func shortened(s string) string {
	const maximum = 40
	if len(s) > maximum {
		return s[:maximum] + "…"
	}
	return s
}
