package yamlfile

import (
	"slices"

	"github.com/goccy/go-yaml/ast"
)

// Key is a key of a mapping.
type Key struct {
	Path []string // with those of the mappings around it
	Line int
}

// Keys lists the keys of the first document's mappings, in the order of the text.
// What is below a key is left out where descend returns false for the key's path.
func Keys(data []byte, descend func(path []string) bool) (found []Key, err error) {
	defer recovered(&err)
	file, err := Parse(data)
	if err != nil || len(file.Docs) == 0 {
		return nil, err
	}
	k := keys{descend: descend, anchors: anchors{}}
	ast.Walk(k.anchors, file.Docs[0].Body)
	k.mapping(file.Docs[0].Body, nil)
	return k.found, nil
}

type keys struct {
	descend func(path []string) bool
	anchors anchors
	found   []Key
}

// anchors are the values of a document that have a name.
type anchors map[string]ast.Node

// Visit implements ast.Visitor.
func (a anchors) Visit(node ast.Node) ast.Visitor {
	if n, ok := node.(*ast.AnchorNode); ok {
		a[n.Name.GetToken().Value] = n.Value
	}
	return a
}

// mapping lists the keys of a node, if it is a mapping.
func (k *keys) mapping(node ast.Node, around []string) {
	switch n := node.(type) {
	case *ast.MappingNode:
		for _, v := range n.Values {
			k.mapping(v, around)
		}
	case *ast.MappingValueNode:
		if _, merge := n.Key.(*ast.MergeKeyNode); merge {
			k.merged(n.Value, around)
			return
		}
		token := n.Key.GetToken()
		path := append(slices.Clone(around), token.Value)
		k.found = append(k.found, Key{Path: path, Line: token.Position.Line})
		if k.descend(path) {
			k.mapping(n.Value, path)
		}
	case *ast.TagNode:
		k.mapping(n.Value, around)
	case *ast.AnchorNode:
		k.mapping(n.Value, around)
	case *ast.AliasNode:
		k.mapping(k.anchors[n.Value.GetToken().Value], around)
	}
}

// merged lists the keys of a merge key's value: a mapping, or a list of mappings.
func (k *keys) merged(node ast.Node, around []string) {
	if list, ok := node.(*ast.SequenceNode); ok {
		for _, v := range list.Values {
			k.mapping(v, around)
		}
		return
	}
	k.mapping(node, around)
}
