package copse_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGrowingListsAreNotSearched finds loops that search a list to which they also append: their time
// grows with the square of what a stranger's file contains. The same is true of loops that search the
// comments or labels of an item. Package distinct does both in linear time.
func TestGrowingListsAreNotSearched(t *testing.T) {
	t.Parallel()
	if found := searches(t, "list.go", []byte(`package p
		func f(names []string) (list []string) {
			for _, n := range names {
				if !slices.Contains(list, n) {
					list = append(list, n)
				}
				use(slices.Contains(it.Comments, n))
			}
			return list
		}`)); len(found) != 2 {
		t.Errorf("in the example: %v", found)
	}
	err := filepath.WalkDir("internal", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(text, []byte("slices.Contains(")) {
			return err
		}
		for _, at := range searches(t, path, text) {
			t.Errorf("%s: this loop searches a list that can be long; use a distinct.List", at)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// searches returns the positions of searches, within a loop, in lists that it extends and in the
// comments or labels of an item. A list in a map, such as list[key], has few entries.
func searches(t *testing.T, path string, text []byte) []token.Position {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	found := map[token.Position]bool{}
	for n := range ast.Preorder(file) {
		var body *ast.BlockStmt
		switch loop := n.(type) {
		case *ast.ForStmt:
			body = loop.Body
		case *ast.RangeStmt:
			body = loop.Body
		default:
			continue
		}
		extended, searched := map[string]bool{}, map[string]token.Pos{}
		for n := range ast.Preorder(body) {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) < 2 {
				continue
			}
			list := types.ExprString(call.Args[0])
			switch types.ExprString(call.Fun) {
			case "append":
				extended[list] = true
			case "slices.Contains":
				if _, indexed := call.Args[0].(*ast.IndexExpr); !indexed {
					searched[list] = call.Pos()
				}
			}
		}
		for list, at := range searched {
			if extended[list] || strings.HasSuffix(list, ".Comments") || strings.HasSuffix(list, ".Labels") {
				found[files.Position(at)] = true
			}
		}
	}
	var all []token.Position
	for at := range found {
		all = append(all, at)
	}
	return all
}
