package yamlmap

import (
	"errors"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/copse-dev/copse/internal/yamlfile"
)

// readByLibrary reads the text with the YAML library, for the values of the entries that decode
// cannot read.
func (m *Map) readByLibrary() error {
	if strings.TrimSpace(m.text) == "" {
		m.entries = nil
		return nil
	}
	if len(m.text) > yamlfile.MaxSize {
		return &SyntaxError{Problem: "it is too long for its complicated YAML; write each value as a line `key: value`"}
	}
	values, err := parseByLibrary(m.text)
	if err != nil {
		return err
	}
	l := &library{anchors: map[string]ast.Node{}}
	var read []entry
	for _, pair := range values {
		l.note(pair.Value)
	}
	for _, pair := range values {
		key, ok := l.scalar(pair.Key)
		if !ok {
			return &SyntaxError{Line: pair.Key.GetToken().Position.Line, Problem: "the key is not a string"}
		}
		read = append(read, entry{key: key.Text, value: l.value(pair.Value)})
	}
	if !sameKeys(m.entries, read) {
		m.entries, m.foreign = read, true
		return nil
	}
	for i := range m.entries {
		e := &m.entries[i]
		if _, _, ok := decode(m.text[e.after:e.end]); !ok {
			e.value, e.span = read[i].value, span{}
		}
	}
	return nil
}

func sameKeys(a, b []entry) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].key != b[i].key {
			return false
		}
	}
	return true
}

// parseByLibrary parses the text as one mapping.
func parseByLibrary(text string) (values []*ast.MappingValueNode, err error) {
	text = strings.ReplaceAll(text, "\r\n", "\n") // it reads folded text wrongly with CR LF
	file, err := yamlfile.Parse([]byte(text))
	if wrong, ok := errors.AsType[*yamlfile.Error](err); ok {
		return nil, &SyntaxError{Line: wrong.Line, Problem: wrong.Problem}
	}
	if err != nil {
		return nil, err
	}
	if len(file.Docs) == 1 {
		switch body := file.Docs[0].Body.(type) {
		case *ast.MappingNode:
			return body.Values, nil
		case *ast.MappingValueNode:
			return []*ast.MappingValueNode{body}, nil
		case *ast.CommentGroupNode, nil:
			return nil, nil
		}
	}
	return nil, &SyntaxError{Problem: "it is not a mapping; write lines `key: value`"}
}

// library turns nodes of the library into values.
type library struct {
	anchors map[string]ast.Node
}

// note records the anchors in a node.
func (l *library) note(node ast.Node) {
	ast.Walk(l, node)
}

// Visit records an anchor, for ast.Walk.
func (l *library) Visit(node ast.Node) ast.Visitor {
	if anchor, ok := node.(*ast.AnchorNode); ok {
		l.anchors[anchor.Name.GetToken().Value] = anchor.Value
	}
	return l
}

// strip returns the node without anchor, tag, and alias.
func (l *library) strip(node ast.Node) ast.Node {
	for range yamlfile.MaxDepth { // an alias can refer to itself
		switch n := node.(type) {
		case *ast.AnchorNode:
			node = n.Value
		case *ast.TagNode:
			node = n.Value
		case *ast.AliasNode:
			node = l.anchors[n.Value.GetToken().Value]
		default:
			return node
		}
	}
	return nil
}

func (l *library) value(node ast.Node) Value {
	sequence, ok := l.strip(node).(*ast.SequenceNode)
	if !ok {
		if v, ok := l.scalar(node); ok {
			return v
		}
		return Value{Kind: Other}
	}
	v := Value{Kind: List}
	for _, item := range sequence.Values {
		one, ok := l.scalar(item)
		if !ok {
			return Value{Kind: Other}
		}
		v.Items = append(v.Items, one.Text)
	}
	return v
}

func (l *library) scalar(node ast.Node) (Value, bool) {
	switch n := l.strip(node).(type) {
	case *ast.NullNode:
		return Value{Kind: Null}, true
	case *ast.StringNode:
		return Value{Kind: Scalar, Text: n.Value}, true
	case *ast.LiteralNode:
		return Value{Kind: Scalar, Text: n.Value.Value}, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode, *ast.MergeKeyNode:
		return Value{Kind: Scalar, Text: n.GetToken().Value}, true
	case *ast.MappingKeyNode:
		return l.scalar(n.Value)
	default:
		return Value{}, false
	}
}
