//go:build !race

// The race detector makes this test of texts ten times slower, and finds nothing in it.

package copse_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// looks are the functions that look for a file or read one: of os, filepath, and our own packages.
var looks = []string{
	"Stat", "Lstat", "Open", "OpenFile", "ReadFile", "ReadDir", "Readdirnames", "Readlink", "EvalSymlinks", "WalkDir", "OpenRoot", "OpenRootIn",
	"OpenDir", "ReadIn",
}

// TestUnseenIsAsked finds places that take a file that cannot be seen for one that is not there: the
// error of a call that looks for a file is compared with nil, and with nothing else, or dropped. Ask
// regular.Absent, return the error, or add the function here with the reason.
func TestUnseenIsAsked(t *testing.T) {
	t.Parallel()
	found := unasked(t, "p/p.go", `package p
		func exists(path string) bool { _, err := os.Stat(path); return err == nil }
		func inIf(path string) bool {
			if _, err := os.Lstat(path); err != nil { return false }
			return true
		}
		func dropped(path string) { data, _ := regular.Read(path, 1); use(data) }
		func asked(path string) bool { _, err := os.Lstat(path); return !regular.Absent(err) }
		func returned(path string) error { _, err := os.Lstat(path); if err != nil { return err }; return nil }`)
	if want := []string{"p exists", "p inIf", "p dropped"}; !slices.Equal(found, want) {
		t.Errorf("in the example: got %q, want %q", found, want)
	}
	permitted := map[string]bool{}
	for _, places := range unaskedPlaces {
		for place := range strings.Lines(places) {
			if place = strings.TrimSpace(place); place != "" {
				permitted[place] = false
			}
		}
	}
	err := filepath.WalkDir("internal", func(name string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || within(module+"/"+filepath.ToSlash(name), "internal/test") {
			return err
		}
		for _, place := range unasked(t, name, nil) {
			if _, ok := permitted[place]; !ok {
				t.Errorf("%s takes a file that cannot be seen for one that is not there: ask regular.Absent, or return the error", place)
			}
			permitted[place] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for place, used := range permitted {
		if !used {
			t.Errorf("%s is permitted, and asks: remove it from the list", place)
		}
	}
}

// unasked returns the functions of a file, after their package, that do not ask which error they got.
func unasked(t *testing.T, name string, text any) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	dir := strings.TrimPrefix(path.Dir(filepath.ToSlash(name)), "internal/")
	var found []string
	for _, d := range file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		bad := false
		for n := range ast.Preorder(fn.Body) {
			switch n := n.(type) {
			case *ast.IfStmt:
				if set, ok := n.Init.(*ast.AssignStmt); ok {
					bad = bad || drops(set, []ast.Node{n.Cond, n.Body, elseOf(n)})
				}
			case *ast.BlockStmt:
				bad = bad || inList(n.List)
			case *ast.CaseClause:
				bad = bad || inList(n.Body)
			}
		}
		if place := dir + " " + fn.Name.Name; bad && !slices.Contains(found, place) {
			found = append(found, place)
		}
	}
	return found
}

func elseOf(n *ast.IfStmt) ast.Node {
	if n.Else == nil {
		return n.Body
	}
	return n.Else
}

func inList(list []ast.Stmt) bool {
	for i, s := range list {
		if set, ok := s.(*ast.AssignStmt); ok {
			rest := make([]ast.Node, len(list)-i-1)
			for j, s := range list[i+1:] {
				rest[j] = s
			}
			if drops(set, rest) {
				return true
			}
		}
	}
	return false
}

// drops reports whether a statement gets an error from looking for a file, of which what follows uses
// nothing but whether it is nil.
func drops(set *ast.AssignStmt, rest []ast.Node) bool {
	call, ok := set.Rhs[0].(*ast.CallExpr)
	if !ok || len(set.Rhs) > 1 || !isLook(call) {
		return false
	}
	got, ok := set.Lhs[len(set.Lhs)-1].(*ast.Ident)
	if !ok {
		return false
	}
	if got.Name == "_" {
		return true
	}
	if set.Tok != token.DEFINE {
		return false // a variable of the function, which uses it later
	}
	compared := false
	for _, n := range rest {
		if n == nil {
			continue
		}
		if uses(n, got.Name, &compared) {
			return false
		}
		if again, ok := n.(*ast.AssignStmt); ok && slices.ContainsFunc(again.Lhs, func(e ast.Expr) bool { return is(e, got.Name) }) {
			break
		}
	}
	return compared
}

func isLook(call *ast.CallExpr) bool {
	name, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	return slices.Contains(looks, name.Sel.Name) || name.Sel.Name == "Read" && len(call.Args) == 2 // of a name, up to a limit
}

// uses reports whether a statement uses a variable outside a comparison with nil.
func uses(n ast.Node, name string, compared *bool) (used bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if is(n.X, name) && is(n.Y, "nil") {
				*compared = true
				return false
			}
		case *ast.AssignStmt:
			for _, e := range n.Rhs {
				used = used || uses(e, name, compared)
			}
			for _, e := range n.Lhs {
				used = used || !is(e, name) && uses(e, name, compared)
			}
			return false
		case *ast.Ident:
			used = used || n.Name == name
		}
		return !used
	})
	return used
}

func is(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}
