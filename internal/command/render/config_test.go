package render_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/command/render"
)

// A configuration that is made to do harm is refused, and an empty one is none.
func TestConfigurations(t *testing.T) {
	t.Parallel()
	p := project(t)
	app := "working_dir: .agent/climpt\napp_prompt: {base_dir: prompts/demo}\napp_schema: {base_dir: schema/demo}\nparams: {two: {directiveType: {pattern: show}, layerType: {pattern: all}}}\n"
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x]\n"
	for i := range 20 {
		bomb += fmt.Sprintf("a%d: &a%d [%s*a%d]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 7), i)
	}
	const unusable = "-user.yml is not used: "
	for name, c := range map[string]struct{ user, want string }{
		"empty":     {"", ""},
		"comment":   {"# nothing yet\n", ""},
		"null":      {"null\n", unusable},
		"unknown":   {"future: {a: [1, 2]}\n", ""},
		"deep":      {"x: " + strings.Repeat("[", 8000), unusable + "not usable YAML: it nests more than 100 collections"},
		"dashes":    {"x:\n" + strings.Repeat("- ", 8000) + "a\n", "nests more than 100"},
		"long":      {strings.Repeat("#", 17<<10), unusable + "it has 17408 bytes"},
		"bomb":      {bomb + "params: *a20\n", unusable},
		"self":      {"params: &p\n  two: *p\n", "the alias *p is a part of its own value"},
		"list":      {"- a\n- b\n", unusable},
		"number":    {"42\n", unusable},
		"types":     {"params: [1]\n", unusable},
		"pattern":   {"params: {two: {directiveType: {pattern: [a]}}}\n", unusable},
		"toolong":   {"params: {two: {directiveType: {pattern: '" + strings.Repeat("a", 1001) + "'}}}\n", "it has 1001 bytes, more than 1000"},
		"repeat":    {"params: {two: {directiveType: {pattern: '((a{1000}){1000}){1000}'}}}\n", "cannot be used"},
		"backref":   {`params: {two: {directiveType: {pattern: '(a)\1'}}}` + "\n", "no backreferences"},
		"twice":     {"params: {}\nparams: {}\n", unusable},
		"binary":    {"\x00\xff\xfe", unusable},
		"backslash": {"app_prompt: {base_dir: '..\\..\\..\\x'}\n", `..\..\..\x`},
	} {
		for suffix, text := range map[string]string{"app": app, "user": c.user} {
			if err := os.WriteFile(filepath.Join(p.Path, ".agent/climpt/config", name+"-"+suffix+".yml"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, err := render.Render(p, request(name+" show all -e=alt --uv-a=A", ""))
		switch {
		case c.want == "" && (err != nil || got.Prompt != "alt A\n"):
			t.Errorf("%s: %q, %v", name, got.Prompt, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %q, %v; want %s", name, got.Prompt, err, c.want)
		case err != nil && (len(err.Error()) > 500 || strings.Contains(err.Error(), p.Path)):
			t.Errorf("%s: %v", name, err)
		}
	}
}
