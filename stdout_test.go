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

// rawStdout are the files of commands that write to stdout without package output, which cleans what a
// terminal gets, and why nothing needs cleaning there.
var rawStdout = map[string]string{
	"internal/cli/item/itemcmd/itemcmd.go": "it discards the output",
	"internal/cli/item/text.go":            "the terminal belongs to the editor",
	"internal/cli/mcp/client.go":           "a configuration with its token, in which hidden characters are escapes",
	"internal/cli/mcp/hook/hook.go":        "JSON for a client",
	"internal/cli/mcp/serve.go":            "the protocol",
	"internal/cli/task/task.go":            "the output of a recipe",
	"internal/cli/tic/mcp.go":              "the protocol",
	"internal/cli/twigmcp/twigmcp.go":      "the protocol",
}

// Commands write results with package output, so foreign text cannot control a terminal.
func TestStdoutIsCleaned(t *testing.T) {
	t.Parallel()
	raw := map[string]bool{}
	err := filepath.WalkDir(filepath.Join("internal", "cli"), func(path string, entry fs.DirEntry, err error) error {
		name := filepath.ToSlash(path)
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") ||
			strings.HasPrefix(name, "internal/cli/output/") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			to, ok := n.(*ast.SelectorExpr)
			if !ok || to.Sel.Name != "Stdout" && to.Sel.Name != "OutOrStdout" {
				return true
			}
			raw[name] = true
			if rawStdout[name] == "" {
				t.Errorf("%s: write to stdout with package output, which cleans foreign text", files.Position(n.Pos()))
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range rawStdout {
		if !raw[name] {
			t.Errorf("%s does not write to stdout: remove the exception", name)
		}
	}
}
