//go:build !race

package growth_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// primitives are the functions that read a file or a directory, by package. Package rooted has methods.
func primitives() map[string][]string {
	return map[string][]string{
		"os": {"ReadFile", "Open", "ReadDir"}, "regular": {"Read", "ReadIn", "ReadInDir", "Open", "OpenDir", "ReadDir"}, "cachedfile": {"New", "NewIn"},
		"itemdir": {"ReadFile", "SizesIn"}, "layout": {"Names", "Open"},
	}
}

// reads reports whether a call reads a file or a directory by its name.
func reads(call *ast.CallExpr) bool {
	of, ok := call.Fun.(*ast.SelectorExpr)
	if generic, is := call.Fun.(*ast.IndexExpr); is {
		of, ok = generic.X.(*ast.SelectorExpr)
	}
	if !ok {
		return false
	}
	if pkg, ok := of.X.(*ast.Ident); ok && slices.Contains(primitives()[pkg.Name], of.Sel.Name) {
		return true
	}
	switch of.Sel.Name {
	case "Readdirnames", "ReadDir":
		return true
	case "Read": // of a rooted.Root or a rooted.Directory: a name and a limit
		if len(call.Args) != 2 {
			return false
		}
		first, ok := call.Args[0].(*ast.Ident)
		return !ok || first.Name != "ctx"
	}
	return false
}

// readersOf returns the functions of the product that read files, as "package.Function" below internal.
func readersOf(t *testing.T) []string {
	t.Helper()
	root := filepath.Join("..", "..")
	found := map[string]bool{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		below, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(below)
		if dir == "test" || strings.HasPrefix(dir, "test/") || strings.HasSuffix(dir, "test") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			for n := range ast.Preorder(f) {
				if call, ok := n.(*ast.CallExpr); ok && reads(call) {
					found[path.Join(dir, "")+"."+f.Name.Name] = true
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(found))
}

// Each function that reads a file has a load, or a reason why no stranger can make its file large. A new
// one needs a line in loads, or in unloaded.
func TestReadersHaveLoads(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, l := range loads() {
		for _, r := range l.readers {
			known[r] = true
		}
	}
	for r := range unloaded() {
		if known[r] {
			t.Errorf("%s has a load and a reason to have none", r)
		}
		known[r] = true
	}
	for _, r := range readersOf(t) {
		if !known[r] {
			t.Errorf("%s reads files that no load has: add one in loads, or the reason in unloaded", r)
		}
		delete(known, r)
	}
	for r := range known {
		t.Errorf("%s reads no file; remove it", r)
	}
}
