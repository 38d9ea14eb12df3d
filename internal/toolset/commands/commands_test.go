package commands_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/command/library"
	"github.com/copse-dev/copse/internal/command/runner"
	"github.com/copse-dev/copse/internal/settings"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/commands"
	"github.com/copse-dev/copse/internal/xec"
)

// registry makes the tools of a registry with n commands.
func registry(t *testing.T, n int) (*commands.Tools, string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, ".agent", "climpt", "registry.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, file, n)
	return commands.New(library.New(dir, ""), runner.New(dir, "", xec.Env{}, settings.OpenUser(""))), file
}

func write(t *testing.T, file string, n int) {
	t.Helper()
	var entries []string
	for i := range n {
		entries = append(entries, fmt.Sprintf(`{"c1":"a","c2":"b","c3":"c%d","description":"Command %d with a word"}`, i, i))
	}
	if err := os.WriteFile(file, []byte(`{"tools":{"commands":[`+strings.Join(entries, ",")+`]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
}

// What a client loads up front stays small, whatever a registry says, and points to the rest.
func TestOfferHasALimit(t *testing.T) {
	t.Parallel()
	tools, file := registry(t, 1000)
	set := tools.Toolset()
	offer := set.Offer(t.Context())
	own := len(offer.Prompts) - 1
	if own < 50 || own > 100 {
		t.Fatalf("%d of 1000 commands are prompts of their own", own)
	}
	finder := offer.Prompts[own]
	if finder.Name != "find-command" || finder.Description != fmt.Sprintf("Find and follow one of 1000 prompts; this list contains only the first %d", own) {
		t.Errorf("the last is %s: %s", finder.Name, finder.Description)
	}
	text, err := finder.Get(t.Context(), map[string]string{"query": "command 777"})
	if err != nil || !strings.Contains(text, "- `a b c777`: `Command 777 with a word`\n") {
		t.Errorf("%q, %v", text, err)
	}
	if set.Offer(t.Context()) != offer {
		t.Error("the same registry makes another offer")
	}
	write(t, file, 3)
	if changed := set.Offer(t.Context()); len(changed.Prompts) != 3 {
		t.Errorf("a changed registry offers %d prompts", len(changed.Prompts))
	}
}

// Sixty-six commands with long texts and every option take less than 8 KB as prompts.
func TestOfferOfLongTextsIsSmall(t *testing.T) {
	t.Parallel()
	tools, file := registry(t, 0)
	var entries []string
	for i := range 66 {
		entries = append(entries, fmt.Sprintf(`{"c1":"domain","c2":"action-%d","c3":"target","description":%q,`+
			`"uv":[{"name":"topic","description":%[2]q}],"options":{"edition":["default","long"],"adaptation":["default","strict"],"file":true,"stdin":true,"destination":true}}`,
			i, strings.Repeat("word ", 100)))
	}
	if err := os.WriteFile(file, []byte(`{"tools":{"commands":[`+strings.Join(entries, ",")+`]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	bytes := 0
	offer := tools.Toolset().Offer(t.Context())
	for _, p := range offer.Prompts {
		bytes += len(fmt.Sprintf(`{"name":%q,"title":%q,"description":%q,"arguments":[]},`, p.Name, p.Title, p.Description))
		for _, a := range p.Arguments {
			bytes += len(fmt.Sprintf(`{"name":%q,"description":%q,"required":true},`, a.Name, a.Description))
		}
	}
	if bytes > 8<<10 || len(offer.Prompts) < 10 || offer.Prompts[len(offer.Prompts)-1].Name != "find-command" {
		t.Errorf("%d prompts take %d bytes", len(offer.Prompts), bytes)
	}
}

// Default answers fit 10 KB, whatever a registry says.
func TestAnswersFit(t *testing.T) {
	t.Parallel()
	tools, file := registry(t, 0)
	var entries []string
	for i := range 50 {
		entries = append(entries, fmt.Sprintf(`{"c1":"a","c2":"b","c3":"c%d","description":%q}`, i, strings.Repeat("word ", 5000)))
	}
	if err := os.WriteFile(file, []byte(`{"tools":{"commands":[`+strings.Join(entries, ",")+`]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools.Toolset().Tools {
		if tool.Name != "search" {
			continue
		}
		res := tool.Call(context.Background(), json.RawMessage(`{"query":"word"}`))
		if res.IsError || len(res.Text[0]) > 10<<10 || len(res.Text[0]) < 1<<10 {
			t.Errorf("%d bytes: %.200s", len(res.Text[0]), res.Text[0])
		}
	}
}

func TestEachErrorIsJSON(t *testing.T) {
	t.Parallel()
	tools, _ := registry(t, 1)
	for _, tool := range tools.Toolset().Tools {
		for _, args := range []string{`[]`, `{"x":1}`, `{"agent":"nobody","c1":"a","c2":"b","c3":"c","query":"q"}`} {
			res := tool.Call(t.Context(), json.RawMessage(args))
			var doc struct{ Error string }
			if err := json.Unmarshal([]byte(res.Text[0]), &doc); !res.IsError || err != nil || doc.Error == "" {
				t.Errorf("%s %s: %s", tool.Name, args, res.Text[0])
			}
		}
	}
	res := tools.Toolset().Tools[0].Fail(&toolset.ArgumentError{Message: "m", Hint: "h"})
	if res.Text[0] != `{"error":"m","hint":"h"}` {
		t.Errorf("got %s", res.Text[0])
	}
}

// A prompt that is too long for a client comes in parts, which are the prompt together.
func TestLongPromptComesInParts(t *testing.T) {
	t.Parallel()
	tools, file := registry(t, 1)
	if err := os.WriteFile(file, []byte(`{"tools":{"commands":[{"c1":"git","c2":"create","c3":"issue"}]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	prompt := strings.Repeat("Write ünicode \"well\".\n\n", 1000) + "End\n"
	for name, content := range map[string]string{
		"config/git-app.yml":                    "working_dir: .agent/climpt\napp_prompt:\n  base_dir: prompts/git\napp_schema:\n  base_dir: schema/git\n",
		"config/git-user.yml":                   "params:\n  two:\n    directiveType:\n      pattern: \"^create$\"\n    layerType:\n      pattern: \"^issue$\"\n",
		"prompts/git/create/issue/f_default.md": prompt,
	} {
		path := filepath.Join(filepath.Dir(file), filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const room = 5000
	ctx := toolset.WithRoom(t.Context(), toolset.Room{Bytes: room})
	var all strings.Builder
	for range 20 {
		out, err := tools.Execute(ctx, commands.ExecuteIn{Agent: "climpt", C1: "git", C2: "create", C3: "issue", Offset: all.Len()})
		if err != nil {
			t.Fatal(err)
		}
		if data, err := json.Marshal(out.Prompt); err != nil || len(data) > room+10 {
			t.Fatalf("%d bytes, %v", len(data), err)
		}
		if !strings.Contains(out.Cut, "continue with offset=") {
			all.WriteString(out.Prompt)
			break
		}
		all.WriteString(strings.TrimSuffix(out.Prompt, "…"))
	}
	if all.String() != prompt {
		t.Errorf("the parts have %d bytes, the prompt %d", all.Len(), len(prompt))
	}
	for _, offset := range []int{len(prompt) + 1, strings.Index(prompt, "ü") + 1} {
		if _, err := tools.Execute(ctx, commands.ExecuteIn{Agent: "climpt", C1: "git", C2: "create", C3: "issue", Offset: offset}); err == nil {
			t.Errorf("offset %d is accepted", offset)
		}
	}
}

// A prompt comes as it is, with a note that names the characters that nobody sees. Its description has none.
func TestHiddenCharacters(t *testing.T) {
	t.Parallel()
	tools, file := registry(t, 1)
	const hidden = "\u202e\u200b\U000e0072"
	entry := strings.ReplaceAll(`{"c1":"git","c2":"create","c3":"issue","description":"Create~\nan issue","usage":"use~","options":{"edition":["default","x~"],"more~":"1"},"uv":[{"na~me":"A~ \nname"}],"other":{"a~":["b~\"c",1.50]},"usa~ge":"imitated"}`, "~", hidden)
	if err := os.WriteFile(file, []byte(`{"tools":{"commands":[`+entry+`]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	prompt := "Write " + hidden + "it.\r\n"
	for name, content := range map[string]string{
		"config/git-app.yml":                    "working_dir: .agent/climpt\napp_prompt:\n  base_dir: prompts/git\napp_schema:\n  base_dir: schema/git\n",
		"config/git-user.yml":                   "params:\n  two:\n    directiveType:\n      pattern: \"^create$\"\n    layerType:\n      pattern: \"^issue$\"\n",
		"prompts/git/create/issue/f_default.md": prompt,
	} {
		path := filepath.Join(filepath.Dir(file), filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const note = "control or invisible characters, which this text includes unchanged: U+202E, U+200B, U+E0072."
	set := tools.Toolset()
	for _, tool := range set.Tools {
		res := tool.Call(t.Context(), json.RawMessage(`{"agent":"climpt","c1":"git","c2":"create","c3":"issue"}`))
		switch tool.Name {
		case "execute":
			if len(res.Text) != 2 || res.Text[0] != prompt || !strings.Contains(res.Text[1], note) {
				t.Errorf("execute: %q", res.Text)
			}
		case "describe":
			const want = `{"c1":"git","c2":"create","c3":"issue","description":"Create\nan issue","usage":"use",` +
				`"options":{"edition":["default","x"],"adaptation":[],"file":false,"stdin":false,"destination":false},` +
				`"uv":[{"name":"name","description":"A \nname"}],"other":{"a":["b\"c",1.50]}}`
			if len(res.Text) != 1 || res.Text[0] != want || string(res.Structured) != want {
				t.Errorf("describe: %q, %s", res.Text, res.Structured)
			}
		}
	}
	offer := set.Offer(t.Context())
	if p := offer.Prompts[0]; p.Arguments[0].Name != "name" || p.Arguments[0].Description != "A  name" {
		t.Errorf("the arguments are %+v", p.Arguments)
	} else if text, err := p.Get(t.Context(), nil); err != nil || !strings.HasPrefix(text, prompt) || !strings.Contains(text, note) {
		t.Errorf("prompt: %q, %v", text, err)
	}
	if text, err := set.Skills(t.Context())[0].Read(t.Context()); err != nil || !strings.HasSuffix(text, prompt) || !strings.Contains(text, note) {
		t.Errorf("skill: %q, %v", text, err)
	}
	text, err := set.Templates[0].Read(t.Context(), map[string]string{"agent": "climpt", "c1": "git", "c2": "create", "c3": "issue"})
	if err != nil || strings.ContainsAny(text, hidden) || strings.Contains(text, note) {
		t.Errorf("resource: %q, %v", text, err)
	}
}
