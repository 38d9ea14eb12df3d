package copse_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// Commands write to stderr with Note, which keeps foreign text on one line. Only words of
// ours, and what foreign.Notice made, go there directly.
func TestStderrIsNoted(t *testing.T) {
	t.Parallel()
	err := filepath.WalkDir(filepath.Join("internal", "cli"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && printsTo(call, "Stderr") {
				for _, arg := range call.Args[1:] {
					if !ours(arg) {
						t.Errorf("%s: write to stderr with Env.Note or Env.Notef, which keep foreign text on its line", files.Position(arg.Pos()))
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// printsTo reports whether a call is fmt.Fprint, Fprintf or Fprintln to a field of this name.
func printsTo(call *ast.CallExpr, field string) bool {
	function, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !strings.HasPrefix(function.Sel.Name, "Fprint") || len(call.Args) < 2 {
		return false
	}
	to, ok := call.Args[0].(*ast.SelectorExpr)
	return ok && to.Sel.Name == field
}

// ours reports whether an expression is of literals and of what foreign.Notice returns, perhaps
// wrapped.
func ours(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.BinaryExpr:
		return ours(e.X) && ours(e.Y)
	case *ast.CallExpr:
		f, ok := e.Fun.(*ast.SelectorExpr)
		return ok && (f.Sel.Name == "Notice" || f.Sel.Name == "Wrap" && ours(e.Args[0]))
	}
	return false
}
