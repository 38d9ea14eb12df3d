package copse_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// onlyForTests are exported names that only tests use, and why they are not in a test.
var onlyForTests = map[string]string{
	"internal/item/storage.Limits.CheckPatch": "each backend has limits; itemtest tries every kind, those of a tracker too",
	"internal/item/storage.Soft":              "each backend deletes in one way; itemtest tries every kind, that of a tracker too",
	"internal/item/yamlmap.library.Visit":     "the YAML library calls it",
	"internal/lockedstore.Temporary":          "lockedstoretest recognizes the files of a change that a crash leaves",
	"internal/yamlfile.anchors.Visit":         "the YAML library calls it",
}

// TestExportedNamesAreUsed finds exported names of the product that only tests use: what no program
// needs is not part of a package. Names of members count as used wherever a member of that name is.
func TestExportedNamesAreUsed(t *testing.T) {
	t.Parallel()
	product, tests, declared := readNames(t)
	for name, pos := range declared {
		_, excepted := onlyForTests[name]
		switch used := product[name] || product[memberOf(name)]; {
		case excepted && used:
			t.Errorf("%s is excepted, and a program uses it: remove the exception", name)
		case !excepted && !used && (tests[name] || tests[memberOf(name)]):
			t.Errorf("%s: only tests use %s: remove it, or move it into a test", pos, name)
		}
	}
	for name := range onlyForTests {
		if _, ok := declared[name]; !ok {
			t.Errorf("%s is excepted and does not exist: remove the exception", name)
		}
	}
}

// memberOf returns the name of a method without its package and type, "" for other names.
func memberOf(name string) string {
	parts := strings.Split(path.Base(name), ".")
	if len(parts) < 3 {
		return ""
	}
	return "." + parts[len(parts)-1]
}

// readNames returns the names that the product and its tests use, and the positions of the exported
// names that the product declares: internal/x.Name, internal/x.Type.Method. The names of members that
// are used are .Method.
func readNames(t *testing.T) (product, tests map[string]bool, declared map[string]token.Position) {
	t.Helper()
	product, tests, declared = map[string]bool{}, map[string]bool{}, map[string]token.Position{}
	field := regexp.MustCompile(`\.[A-Z]\w*`)
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && (d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && name != ".") {
				return fs.SkipDir
			}
			return err
		}
		dir := path.Dir(filepath.ToSlash(name))
		switch path.Ext(name) {
		case ".html", ".gohtml", ".tmpl": // templates name members
			text, err := os.ReadFile(name)
			for _, found := range field.FindAllString(string(text), -1) {
				product[found] = true
			}
			return err
		case ".go":
		default:
			return nil
		}
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ofTests := within(module+"/"+dir, "internal/test") || strings.Contains(dir+"/", "test/")
		used := product
		if ofTests || strings.HasSuffix(name, "_test.go") {
			used = tests
		}
		own := declarations(file, dir)
		addUses(file, dir, own, used)
		if !ofTests && !strings.HasSuffix(name, "_test.go") && strings.HasPrefix(dir, "internal/") {
			for id, name := range own {
				declared[name] = fset.Position(id.Pos())
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return product, tests, declared
}

// declarations returns the exported names that a file of a directory declares.
func declarations(file *ast.File, dir string) map[*ast.Ident]string {
	found := map[*ast.Ident]string{}
	add := func(id *ast.Ident, before string) {
		if id.IsExported() {
			found[id] = dir + "." + before + id.Name
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				add(d.Name, "")
				continue
			}
			receiver := ""
			ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && receiver == "" {
					receiver = id.Name + "."
				}
				return true
			})
			add(d.Name, receiver)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name, "")
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						add(id, "")
					}
				}
			}
		}
	}
	return found
}

// addUses adds the names that a file of a directory uses, without those of its own declarations.
func addUses(file *ast.File, dir string, own map[*ast.Ident]string, used map[string]bool) {
	imports := map[string]string{}
	for _, imported := range file.Imports {
		value, _ := strconv.Unquote(imported.Path.Value)
		rel, ours := strings.CutPrefix(value, module+"/")
		if !ours {
			continue
		}
		name := path.Base(rel)
		if imported.Name != nil {
			name = imported.Name.Name
		}
		imports[name] = rel
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			used["."+n.Sel.Name] = true
			if id, ok := n.X.(*ast.Ident); ok {
				used[imports[id.Name]+"."+n.Sel.Name] = true
			}
		case *ast.InterfaceType:
			for _, method := range n.Methods.List {
				for _, id := range method.Names {
					used["."+id.Name] = true
				}
			}
		case *ast.Ident:
			if _, declares := own[n]; !declares && !slices.Contains([]string{"", "_"}, n.Name) {
				used[dir+"."+n.Name] = true
			}
		}
		return true
	})
}
