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

// A regular expression that is compiled with its package is paid for by each start of each
// program that links it; sync.OnceValue compiles it at its first use.
func TestNoPackageCompilesRegularExpressions(t *testing.T) {
	t.Parallel()
	files := 0
	err := filepath.WalkDir("internal", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && path == filepath.Join("internal", "test") {
			return skipUnless(err)
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			vars, ok := decl.(*ast.GenDecl)
			if !ok || vars.Tok != token.VAR {
				continue
			}
			ast.Inspect(vars, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncLit:
					return false // it runs when it is called
				case *ast.SelectorExpr:
					if from, ok := n.X.(*ast.Ident); ok && from.Name == "regexp" && strings.HasPrefix(n.Sel.Name, "MustCompile") {
						t.Errorf("%s: compiled at each start; use sync.OnceValue", set.Position(n.Pos()))
					}
				}
				return true
			})
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Errorf("%d files, %v", files, err)
	}
}

// skipUnless returns fs.SkipDir, or the error if there is one.
func skipUnless(err error) error {
	if err != nil {
		return err
	}
	return fs.SkipDir
}
