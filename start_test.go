package copse_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A regular expression that is compiled with its package is paid for by each start of each
// program that links it. lazyregexp compiles it at its first use; sync.OnceValue does, too, but runs
// at each start.
func TestNoPackageCompilesRegularExpressions(t *testing.T) {
	t.Parallel()
	files, late := 0, map[string]bool{}
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
					switch from, ok := n.X.(*ast.Ident); {
					case !ok:
					case from.Name == "regexp" && strings.HasPrefix(n.Sel.Name, "MustCompile"):
						t.Errorf("%s: compiled at each start; use lazyregexp.New", set.Position(n.Pos()))
					case from.Name == "sync" && strings.HasPrefix(n.Sel.Name, "OnceValue"):
						late[filepath.ToSlash(path)] = true
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
	for path := range late {
		if !slices.Contains(initialized, path) {
			t.Errorf("%s: sync.OnceValue of a package runs at each start; use lazyregexp.New, or a sync.Once and a function", path)
		}
	}
}

// Each package that prepares a value, such as a map or a formatted error, has code that runs at each
// start of each program that links it. The executable contains values of constants.
func TestNoPackagePreparesValues(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	trace, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for line := range strings.Lines(string(trace)) {
		name, ok := strings.CutPrefix(line, "init "+module+"/")
		if !ok {
			continue
		}
		name, _, _ = strings.Cut(name, " ")
		if found++; !prepared[name] && !within(name, "internal/test") && !within(name, "internal/github/githubtest") {
			t.Errorf("%s prepares a value at each start: use a constant, an array, a function, or a sync.Once", name)
		}
	}
	if found < len(prepared) {
		t.Errorf("%d packages are initialized; remove those from the list that are not:\n%s", found, trace)
	}
}

// prepared are packages that are initialized all the same.
var prepared = map[string]bool{
	"internal/stackroom": true,                                                              // the stack of all others
	"internal/git":       true,                                                              // an error of a package below
	"internal/app":       true, "internal/board/entry": true, "internal/board/markup": true, // see initialized
}

// initialized are files whose variables are made at each start all the same.
var initialized = []string{
	"internal/app/version.go", "internal/board/entry/refused.go", "internal/board/markup/markup.go", // of packages that are initialized anyway
	"internal/github/githubtest/graph/graph.go", // a fake
}

// skipUnless returns fs.SkipDir, or the error if there is one.
func skipUnless(err error) error {
	if err != nil {
		return err
	}
	return fs.SkipDir
}
