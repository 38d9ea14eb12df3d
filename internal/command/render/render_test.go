package render_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/copse-dev/copse/internal/command"
	"github.com/copse-dev/copse/internal/command/render"
	"github.com/copse-dev/copse/internal/rooted"
)

// project writes the workspace of testdata.
func project(t testing.TB) render.Workspace {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(top, "project")
	archive, err := txtar.ParseFile(filepath.Join("testdata", "project.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	if err := txtar.Write(archive, dir); err != nil {
		t.Fatal(err)
	}
	root, err := rooted.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return render.Workspace{Root: root, Path: dir, Dir: dir}
}

// request reads "profile c2 c3 flag…", with the flags separated by blanks.
func request(line, stdin string) render.Request {
	words := strings.Split(line, " ")
	return render.Request{
		Agent: "climpt", ID: command.ID{C1: words[0], C2: words[1], C3: words[2]},
		Args: render.ParseFlags(words[3:]), InputText: stdin,
	}
}

const whole = `text={input_text}
file={input_text_file}
to={destination_path}
schema=CWD/.agent/climpt/schema/demo/show/all/base.schema.md
base=CWD/.agent/climpt/prompts/demo/show/all
a=A A A A {{A}} $A $A {{x A y}}
b={uv-b} unknown={other} {{other}} {a} {} {constructor}
`

func TestRender(t *testing.T) {
	t.Parallel()
	p := project(t)
	replaced := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(whole) }
	for line, want := range map[string]string{
		"demo show all --uv-a=A":                         whole,
		"demo show all --uv-a=A --uv-b=B":                replaced("{uv-b}", "B"),
		"demo show all --uv-a=first --uv-a=A":            whole,
		"demo show all --uv-a=A --from=in.md":            replaced("{input_text_file}", "CWD/in.md"),
		"demo show all --uv-a=A --from=in.md\u00a0":      replaced("{input_text_file}", "CWD/in.md"),
		`demo show all --uv-a=A -f=./sub\.\in.md`:        replaced("{input_text_file}", "CWD/sub/in.md"),
		"demo show all --uv-a=A -f=-":                    whole,
		"demo show all --uv-a=A --destination=out/x.md":  replaced("{destination_path}", "CWD/.agent/climpt/out/x.md"),
		"demo show all --uv-a=A -o=out/":                 replaced("{destination_path}", "CWD/.agent/climpt/out"),
		"demo show all --uv-a=A -d=ignored -z --edition": whole,
		"demo show all --uv-a=A --config=other -e=":      whole,
		"demo show all -e=alt --uv-a=A":                  "alt A\n",
		"demo show all --edition=alt --adaptation=deep":  "alt and deep\n",
		"demo show all -i=zzz -i=alt -a=nope --uv-a=../": "alt ../\n",
		"demo show all -a=deep":                          "deep\n",
		"demo show only -e=alt":                          "only alt\n",
		"demo cut first":                                 "begins here\nends here\n\n\n",
		"demo cut later":                                 "before\n\nafter\n---\nlast\n",
		"demo cut open":                                  "---\nnever closed\n",
		"demo cut longer":                                "----\na\n---x\n",
		"other show all":                                 "the other\n",
		"prefix show only -e=alt":                        "only alt\n",
	} {
		got, err := render.Render(p, request(line, ""))
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if diff := cmp.Diff(want, strings.ReplaceAll(got.Prompt, p.Path, "CWD")); diff != "" {
			t.Errorf("%s: %s", line, diff)
		}
	}
}

func TestOtherAgent(t *testing.T) {
	t.Parallel()
	r := request("demo show all --uv-what=all", "")
	r.Agent = "helper"
	got, err := render.Render(project(t), r)
	if err != nil || got.Prompt != "The helper shows all.\n" {
		t.Errorf("%q, %v", got.Prompt, err)
	}
}

func TestDestinationPrefix(t *testing.T) {
	t.Parallel()
	p := project(t)
	for line, want := range map[string]string{"prefix show all": "out/p-", "prefix show all -o=x.md": "out/p-x.md"} {
		got, err := render.Render(p, request(line, ""))
		if err != nil || !strings.Contains(got.Prompt, "to="+filepath.Join(p.Path, filepath.FromSlash(want))+"\n") {
			t.Errorf("%s: %q, %v", line, got.Prompt, err)
		}
	}
}

// A value is data, whatever is in it.
func TestValuesAreNoTemplates(t *testing.T) {
	t.Parallel()
	p := project(t)
	for input, want := range map[string]string{
		"x {uv-a} ${uv-a} {{uv-a}} {schema_file}": "1 x {uv-a} ${uv-a} {{uv-a}} {schema_file}\n2 x {uv-a} ${uv-a} {{uv-a}} {schema_file}\n3 x {uv-a} ${uv-a} {{uv-a}} {schema_file}\n4 A\n",
		"---\ngone?\n---":                         "1 ---\ngone?\n---\n2 ---\ngone?\n---\n3 ---\ngone?\n---\n4 A\n",
		"uv-a}":                                   "1 uv-a}\n2 uv-a}\n3 uv-a}\n4 A\n",
		"\ufeff\u00a0 x \u3000\n":                 "1 x\n2 x\n3 x\n4 A\n",
		" \n\t":                                   "1 {{input_text}}\n2 ${input_text}\n3 {input_text}\n4 A\n",
		"a; b | c < d > e & f `g` $(h)":           "1 a; b | c < d > e & f `g` $(h)\n2 a; b | c < d > e & f `g` $(h)\n3 a; b | c < d > e & f `g` $(h)\n4 A\n",
	} {
		got, err := render.Render(p, request("demo fill in --uv-a=A", input))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.Prompt); diff != "" {
			t.Errorf("%q: %s", input, diff)
		}
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	p := project(t)
	got, err := render.Render(p, request("demo show all", "text"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"input_text_file", "destination_path", "uv-a", "uv-b"}, got.Missing); diff != "" {
		t.Error(diff)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	p := project(t)
	for line, want := range map[string]string{
		"demo nope all":                        "Invalid directive type. Must match pattern: ^(show|cut|fill|a_very_long_action_nam|-x|\\.\\.|Upper)\nTo accept \"nope\", change params.two.directiveType.pattern in .agent/climpt/config/demo-user.yml.",
		"demo show ALL":                        "choose a layer in small letters",
		"demo a_very_long_action_name x":       `Failed to create DirectiveType: DirectiveType "a_very_long_action_name" exceeds maximum length of 20 characters`,
		"demo show " + strings.Repeat("a", 31): `Failed to create LayerType: LayerType "` + strings.Repeat("a", 31) + `" exceeds maximum length of 30 characters`,
		"demo Upper all":                       `Failed to create DirectiveType: "Upper" has characters other than lower-case letters, digits, hyphens, and underscores`,
		"demo .. all":                          `Failed to create DirectiveType: ".." has characters other than lower-case letters, digits, hyphens, and underscores`,
		"demo -x all":                          "Invalid directive type. Must match pattern: ^(show|cut|fill|a_very_long_action_nam|-x|\\.\\.|Upper)",
		"demo show missing":                    "Template not found: .agent/climpt/prompts/demo/show/missing/ (layer directory missing)\nFallback: Directory structure incomplete: missing layer directory 'show/missing/'",
		"demo show only":                       "Template not found: .agent/climpt/prompts/demo/show/only/f_default.md",
		"demo show only -e=zzz -a=deep":        "Template not found: .agent/climpt/prompts/demo/show/only/f_zzz_deep.md\nAttempted paths: .agent/climpt/prompts/demo/show/only/f_zzz_deep.md, .agent/climpt/prompts/demo/show/only/f_zzz.md\nFallback: Attempted fallback to base template",
		"demo show all word":                   "An option is written as --name=value; \"word\" is not an option.\nToo many arguments. Maximum 2 arguments are allowed",
		"demo show all --bogus=1 --wrong":      "Invalid options for two parameters: --bogus=1, --wrong",
		"demo show all --edition=":             "Empty value not allowed for option: --edition=",
		"demo show all --uv-a==v":              "Empty value not allowed for option: --uv-a==v",
		"demo show all --uv-1=v":               "Invalid user variable format: uv-1",
		"demo show all --uv-=v":                "Invalid user variable format: uv-",
		"demo show all --uv-input_text=v":      "ReservedVariableName: uv-input_text",
		"demo show all --uv-a=\u00a0":          "EmptyVariableValue: uv-a",
		"demo show all --help":                 "Option --help shows help of the original program and creates no prompt",
		"demo show all --help=1":               "Flag option --help should not have a value",
		"demo show all --uv-a=x|y":             "Security error: shellInjection violation in argument",
		"demo show all -e=a<b":                 "Security error: shellInjection violation in option e",
		"demo sh;ow all":                       "Security error: shellInjection violation in positional",
		"demo show all -f=/etc/hosts":          "Security error: absolutePath violation in option from",
		"demo show all -f=//etc/hosts":         "Security error: absolutePath violation in option from",
		`demo show all -f=C:\x`:                "Security error: absolutePath violation in option from",
		"demo show all -f=../x":                "Security error: parentTraversal violation in option from",
		"demo show all -o=a/..":                "Security error: parentTraversal violation in option destination",
		"demo show all -o=~/x":                 "Security error: homeExpansion violation in option destination",
		"demo show all -o=a\x01b":              "Security error: specialChars violation in option destination",
		"prefix show all --uv-a=1":             "Invalid options for two parameters: --uv-a=1",
		"nothing show all":                     "[Warning] Configuration not found, using defaults: Failed to load configuration files profile: nothing (.agent/climpt/config/nothing-app.yml: no such file or directory)\nInvalid directive type. Must be one of: to, summary, defect",
		"badyaml show all":                     "[Warning] Configuration not found, using defaults: Failed to load configuration files profile: badyaml (.agent/climpt/config/badyaml-app.yml: not usable YAML: line 1: sequence end token ']' not found)\nInvalid directive type. Must be one of: to, summary, defect",
		"absolute show all":                    "[Warning] Configuration not found, using defaults: Failed to load configuration files profile: absolute (.agent/climpt/config/absolute-app.yml: \"/etc\" is not a directory below the workspace)\nInvalid directive type. Must be one of: to, summary, defect",
		"lookahead show all":                   "The directive pattern of profile lookahead cannot be used: error parsing regexp: invalid or unsupported Perl syntax: `(?!`. Go's regular expressions have no lookaround and no backreferences",
		"under_score show all":                 `Invalid profile name "under_score": it is the agent and the domain, of letters, digits, and hyphens`,
		"../demo show all":                     `Invalid profile name "../demo": it is the agent and the domain, of letters, digits, and hyphens`,
		"nobase show none":                     "[Warning] .agent/climpt/config/nobase-user.yml is not used: app_prompt and app_schema need a base_dir\nInvalid layer type. Must match pattern: ^all$\nTo accept \"none\", change params.two.layerType.pattern in .agent/climpt/config/nobase-app.yml.",
	} {
		got, err := render.Render(p, request(line, ""))
		if _, ok := errors.AsType[*render.Error](err); !ok {
			t.Errorf("%s: %q, %v", line, got.Prompt, err)
			continue
		}
		if diff := cmp.Diff(want, err.Error()); diff != "" {
			t.Errorf("%s: %s", line, diff)
		}
	}
	if _, err := render.Render(p, render.Request{Agent: "climpt", ID: command.ID{C2: "show", C3: "all"}}); err == nil || err.Error() != "Profile name cannot be empty, using default" {
		t.Errorf("without a domain: %v", err)
	}
}

// What the original lets out of the directory stays in.
func TestContainment(t *testing.T) {
	t.Parallel()
	p := project(t)
	outside := filepath.Join(filepath.Dir(p.Path), "outside")
	for _, dir := range []string{"outside/demo/show/all", "outside/prompts/demo/show/all"} {
		dir = filepath.Join(filepath.Dir(p.Path), filepath.FromSlash(dir))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "f_default.md"), []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	prompts := filepath.Join(p.Path, ".agent", "climpt", "prompts", "demo")
	links := map[string]string{
		"show/link":  filepath.Join(outside, "demo", "show", "all"),
		"linked":     filepath.Join(outside, "demo", "show"),
		"show/up":    "../../../../../../outside/demo/show/all",
		"show/inner": "all",
	}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(prompts, filepath.FromSlash(name))); err != nil {
			t.Skip("no symbolic links here")
		}
	}
	if err := os.Mkdir(filepath.Join(prompts, "show", "file"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "demo/show/all/f_default.md"), filepath.Join(prompts, "show/file/f_default.md")); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"demo show link", "demo show up", "demo show file", "leaving show all", "absuser show all",
		"demo show all -e=/../../../../../../outside/demo/show/all/f_default", "demo show all -a=/../../x", `demo show all -e=..\x`,
		"demo show all -e=a/../../../x", "demo show all -a=..",
	} {
		got, err := render.Render(p, request(line, ""))
		if err == nil || strings.Contains(got.Prompt, "secret") {
			t.Errorf("%s: %q", line, got.Prompt)
		} else if strings.Contains(err.Error(), p.Path) {
			t.Errorf("%s: the error names the folder: %v", line, err)
		}
	}
	if _, err := render.Render(p, request("demo show inner -e=alt", "")); err != nil {
		t.Errorf("a link that stays inside: %v", err)
	}
}

func TestTemplatesThatAreNoText(t *testing.T) {
	t.Parallel()
	p := project(t)
	dir := filepath.Join(p.Path, ".agent/climpt/prompts/demo/show/all")
	for name, data := range map[string][]byte{"f_latin.md": []byte("caf\xe9"), "f_huge.md": make([]byte, render.MaxTemplate+1)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "f_folder.md"), 0o755); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"demo show all -e=latin":  "Template .agent/climpt/prompts/demo/show/all/f_latin.md is not UTF-8 text",
		"demo show all -e=huge":   "Template .agent/climpt/prompts/demo/show/all/f_huge.md cannot be read: it has 1048577 bytes; the limit is 1048576",
		"demo show all -e=folder": "Template .agent/climpt/prompts/demo/show/all/f_folder.md cannot be read: it is a directory, not a file",
	} {
		if _, err := render.Render(p, request(line, "")); err == nil || err.Error() != want {
			t.Errorf("%s: %v", line, err)
		}
	}
	if _, err := render.Render(p, request("demo fill in", strings.Repeat("x", render.MaxInput+1))); err == nil {
		t.Error("too much input is taken")
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	o := render.Options{
		Edition: "alt", Adaptation: "deep", InputFile: "in.md", Destination: "out.md",
		Variables: []render.Value{{"a", "1"}, {"uv-b", "=2"}},
	}
	want := []string{"--edition=alt", "--adaptation=deep", "--from=in.md", "--destination=out.md", "--uv-a=1", "--uv-b==2"}
	if diff := cmp.Diff(want, o.Args().Flags()); diff != "" {
		t.Error(diff)
	}
	got, err := render.Render(project(t), render.Request{
		Agent: "climpt", ID: command.ID{C1: "demo", C2: "show", C3: "all"},
		Args: render.Options{Edition: "alt", Variables: []render.Value{{"a", "=2"}}}.Args(),
	})
	if err != nil || got.Prompt != "alt =2\n" {
		t.Errorf("%q, %v", got.Prompt, err)
	}
}

// Whatever the texts are, it ends, values go in as they are, and the result ends
// with a line break.
func FuzzRender(f *testing.F) {
	for _, s := range []string{"{uv-a}", "{{{{uv-a}}}}", "---\n---", "${", "{input_text}{", strings.Repeat("{", 1000)} {
		f.Add(s, s)
	}
	p := project(f)
	path := filepath.Join(p.Path, ".agent/climpt/prompts/demo/show/all/f_fuzz.md")
	f.Fuzz(func(t *testing.T, template, input string) {
		if err := os.WriteFile(path, []byte(template), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := render.Render(p, request("demo show all -e=fuzz --uv-a=A", input))
		if err != nil {
			return
		}
		if !strings.HasSuffix(got.Prompt, "\n") {
			t.Errorf("%q does not end", got.Prompt)
		}
	})
}
