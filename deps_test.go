package copse_test

import (
	"go/ast"
	"go/types"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/packages"
)

const module = "github.com/copse-dev/copse"

// layers are the packages from the bottom up, declared here and nowhere else. A package
// may import its own layer and those below, and no package is outside them: a new one
// finds its place here first.
var layers = []struct {
	name     string
	prefixes []string
}{
	{"infrastructure", []string{
		"internal/backoff",
		"internal/bearer",
		"internal/cachedfile",
		"internal/cleantext",
		"internal/clientconfig",
		"internal/credential",
		"internal/dirwatch",
		"internal/distinct",
		"internal/docker",
		"internal/fact",
		"internal/failure",
		"internal/foreign",
		"internal/git",
		"internal/github",
		"internal/gitignore",
		"internal/hostenv",
		"internal/httpguard",
		"internal/httpsession",
		"internal/jira",
		"internal/idle",
		"internal/jsonfile",
		"internal/jsonshape",
		"internal/lazyregexp",
		"internal/lockedstore",
		"internal/loopback",
		"internal/netrc",
		"internal/ownership",
		"internal/page",
		"internal/presence",
		"internal/regular",
		"internal/remote",
		"internal/rooted",
		"internal/samedir",
		"internal/secret",
		"internal/settings",
		"internal/spread",
		"internal/sqlitefile",
		"internal/stackroom",
		"internal/suggest",
		"internal/tempdir",
		"internal/turn",
		"internal/userdir",
		"internal/watch",
		"internal/wholefile",
		"internal/xec",
		"internal/yamlfile",
	}},
	{"domain", []string{"internal/branch", "internal/command", "internal/item", "internal/project", "internal/recipe", "internal/repolist"}},
	{"session", []string{"internal/session"}},
	{"workflow", []string{"internal/workflow", "internal/supervisor"}},
	{"surface", []string{"internal/board", "internal/toolset", "internal/mcpserver", "internal/cli", "internal/app", "internal/wiring"}},
	{"programs", []string{"cmd", "bench", "packaging", "internal/test"}},
}

// apart are packages of one layer that must not know each other.
var apart = []struct{ from, to, why string }{
	{"internal/cli", "internal/toolset", "what both need is in internal/workflow"},
	{"internal/toolset", "internal/cli", "tools do not know the command line"},
	{"internal/toolset", "internal/app", "toolsets are values that a program wires; they do not know it"},
	{"internal/mcpserver", "internal/app", "the server is a value that a program wires; it does not know it"},
	{"internal/mcpserver", "internal/cli", "the server does not know the command line"},
	{"internal/board", "internal/toolset", "what both need is in internal/workflow"},
	{"internal/board", "internal/cli", "the page does not know the command line"},
	{"internal/board", "internal/app", "the page is a value that a program wires; it does not know it"},
}

// within reports whether a package is the one at prefix, or below it.
func within(path, prefix string) bool {
	rel := strings.TrimPrefix(path, module+"/")
	return rel == prefix || strings.HasPrefix(rel, prefix+"/")
}

func layerOf(path string) int {
	for i, l := range layers {
		if slices.ContainsFunc(l.prefixes, func(p string) bool { return within(path, p) }) {
			return i
		}
	}
	return -1
}

func load(t *testing.T, mode packages.LoadMode, patterns ...string) []*packages.Package {
	t.Helper()
	pkgs, err := packages.Load(&packages.Config{Mode: mode, Context: t.Context()}, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pkgs {
		for _, e := range p.Errors {
			t.Fatal(e)
		}
	}
	return pkgs
}

// Dependencies point one way.
func TestLayers(t *testing.T) {
	t.Parallel()
	for _, p := range load(t, packages.NeedName|packages.NeedImports, "./...") {
		if p.PkgPath == module {
			continue
		}
		from := layerOf(p.PkgPath)
		if from < 0 {
			t.Errorf("%s is in no layer: add it to the layers in this test, and to docs/architecture.md", p.PkgPath)
			continue
		}
		for path := range p.Imports {
			if to := layerOf(path); strings.HasPrefix(path, module) && to > from {
				t.Errorf("%s (%s) imports %s (%s)", p.PkgPath, layers[from].name, path, layers[to].name)
			}
			for _, a := range apart {
				if within(p.PkgPath, a.from) && within(path, a.to) {
					t.Errorf("%s imports %s: %s", p.PkgPath, path, a.why)
				}
			}
		}
		if _, ok := p.Imports["os/exec"]; ok && p.PkgPath != module+"/internal/xec" && from < len(layers)-1 {
			t.Errorf("%s imports os/exec: subprocesses go through internal/xec", p.PkgPath)
		}
	}
}

// twigMCP are our packages that the read-only program is made of, in full. A
// package that writes must never turn up here.
var twigMCP = []string{
	"cmd/twig-mcp",
	"internal/app",
	"internal/branch",
	"internal/branch/twig",
	"internal/cachedfile",
	"internal/cleantext",
	"internal/cli/twigmcp",
	"internal/credential",
	"internal/distinct",
	"internal/fact",
	"internal/failure",
	"internal/foreign",
	"internal/git",
	"internal/git/checkout",
	"internal/git/discovery",
	"internal/git/elsewhere",
	"internal/git/gitconfig",
	"internal/git/gitlink",
	"internal/git/hazard",
	"internal/git/history",
	"internal/git/index",
	"internal/git/operation",
	"internal/git/override",
	"internal/git/ownpath",
	"internal/git/porcelain",
	"internal/git/program",
	"internal/git/refstore",
	"internal/git/reftable",
	"internal/github",
	"internal/github/graphql",
	"internal/github/joblog",
	"internal/github/pullrequest",
	"internal/github/remoteurl",
	"internal/github/rest",
	"internal/hostenv",
	"internal/httpsession",
	"internal/idle",
	"internal/jira",
	"internal/jira/adf",
	"internal/jsonfile",
	"internal/jsonshape",
	"internal/lazyregexp",
	"internal/mcpserver",
	"internal/mcpserver/answer",
	"internal/mcpserver/batch",
	"internal/mcpserver/completion",
	"internal/mcpserver/definition",
	"internal/mcpserver/host",
	"internal/mcpserver/route",
	"internal/mcpserver/skills",
	"internal/mcpserver/sse",
	"internal/mcpserver/stdio",
	"internal/mcpserver/subscription",
	"internal/mcpserver/tasks",
	"internal/mcpserver/wire",
	"internal/netrc",
	"internal/ownership",
	"internal/page",
	"internal/regular",
	"internal/remote",
	"internal/remote/seen",
	"internal/repolist",
	"internal/rooted",
	"internal/secret",
	"internal/secret/setting",
	"internal/secret/spelling",
	"internal/session",
	"internal/session/service",
	"internal/settings",
	"internal/spread",
	"internal/stackroom",
	"internal/suggest",
	"internal/toolset",
	"internal/toolset/branches",
	"internal/toolset/envelope",
	"internal/toolset/github",
	"internal/toolset/jira",
	"internal/watch",
	"internal/wholefile",
	"internal/wiring",
	"internal/workflow/issue",
	"internal/workflow/pull",
	"internal/workflow/stack",
	"internal/xec",
	"internal/xec/family",
	"internal/xec/guard",
	"internal/xec/terminal",
	"internal/yamlfile",
}

// mayWrite names the packages of twig-mcp that change files, and why.
var mayWrite = map[string]string{
	"internal/ownership":   "gives what the others create to the user",
	"internal/wholefile":   "replaces the files of those that may write",
	"internal/remote":      "keeps answers of services in the user's cache folder",
	"internal/remote/seen": "keeps a line about each of those answers there, to search them",
}

// TestTwigMCPIsReadOnly proves that the program cannot change what it reads:
// of our packages it links only the ones listed, and of those only the
// excepted ones call a function that creates, changes or removes a file.
func TestTwigMCPIsReadOnly(t *testing.T) {
	t.Parallel()
	const mode = packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedSyntax |
		packages.NeedTypes | packages.NeedTypesInfo | packages.NeedFiles | packages.NeedModule
	var linked []string
	packages.Visit(load(t, mode, "./cmd/twig-mcp"), nil, func(p *packages.Package) {
		rel, ours := strings.CutPrefix(p.PkgPath, module+"/")
		if !ours {
			return
		}
		linked = append(linked, rel)
		writes := writers(p)
		if _, ok := mayWrite[rel]; ok {
			if len(writes) == 0 {
				t.Errorf("%s is excepted as a writer and writes nothing: remove the exception", rel)
			}
			return
		}
		for _, w := range writes {
			t.Errorf("%s in a program that only reads", w)
		}
	})
	slices.Sort(linked)
	if diff := cmp.Diff(twigMCP, linked); diff != "" {
		t.Errorf("the packages of twig-mcp changed; make sure that none of them writes, then update the list (-listed +linked):\n%s", diff)
	}
}

// writers lists the uses of functions that change files.
func writers(p *packages.Package) []string {
	changing := map[string][]string{
		"os": {
			"Chmod", "Chown", "Chtimes", "Create", "CreateTemp", "Lchown", "Link", "Mkdir", "MkdirAll", "MkdirTemp",
			"OpenFile", "Remove", "RemoveAll", "Rename", "Symlink", "Truncate", "WriteFile",
		},
		"io/ioutil":                                  {"WriteFile", "TempFile", "TempDir"},
		"github.com/google/renameio/v2":              nil, // nil: all of it
		module + "/internal/wholefile":               nil,
		"github.com/gofrs/flock":                     nil,
		"github.com/rogpeppe/go-internal/lockedfile": nil,
	}
	var found []string
	for _, file := range p.Syntax {
		ast.Inspect(file, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			obj, ok := p.TypesInfo.Uses[id].(*types.Func)
			if !ok || obj.Pkg() == nil {
				return true
			}
			names, listed := changing[obj.Pkg().Path()]
			if !listed || names != nil && !slices.Contains(names, obj.Name()) {
				return true
			}
			if obj.Name() == "OpenFile" && readsOnly(file, id) {
				return true
			}
			found = append(found, p.Fset.Position(id.Pos()).String()+": "+obj.FullName())
			return true
		})
	}
	return found
}

// readsOnly reports whether the call that id names has a flag argument that
// asks for reading.
func readsOnly(file *ast.File, id *ast.Ident) bool {
	ok := false
	ast.Inspect(file, func(n ast.Node) bool {
		call, isCall := n.(*ast.CallExpr)
		if !isCall || len(call.Args) != 3 {
			return true
		}
		sel, isSel := call.Fun.(*ast.SelectorExpr)
		if !isSel || sel.Sel != id {
			return true
		}
		ok = true
		ast.Inspect(call.Args[1], func(n ast.Node) bool {
			if flag, isIdent := n.(*ast.Ident); isIdent {
				switch flag.Name {
				case "O_WRONLY", "O_RDWR", "O_CREATE", "O_TRUNC", "O_APPEND", "O_CREAT":
					ok = false
				}
			}
			return true
		})
		return false
	})
	return ok
}

// TestArchitectureTable keeps the table of questions true: the packages that answer them exist, and
// declare the names that it mentions.
func TestArchitectureTable(t *testing.T) {
	t.Parallel()
	_, _, declared := readNames(t)
	span := regexp.MustCompile("`([^`]+)`")
	_, table, found := strings.Cut(readPage(t, "docs/architecture.md"), "| question | package |\n")
	if !found {
		t.Fatal("docs/architecture.md has no table of questions")
	}
	for row := range strings.Lines(table) {
		if !strings.HasPrefix(row, "| ") {
			break
		}
		var paths []string
		for _, name := range span.FindAllStringSubmatch(row, -1) {
			if strings.ToLower(name[1]) == name[1] {
				paths = append(paths, "internal/"+name[1])
				if _, err := os.Stat("internal/" + name[1]); err != nil {
					t.Errorf("%v: %s", err, row)
				}
				continue
			}
			if !slices.ContainsFunc(paths, func(p string) bool { _, ok := declared[p+"."+name[1]]; return ok }) {
				t.Errorf("%s is declared in none of %q", name[1], paths)
			}
		}
		if len(paths) == 0 {
			t.Errorf("no package answers: %s", row)
		}
	}
}
