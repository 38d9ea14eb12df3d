package prompts_test

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/board"
	"github.com/copse-dev/copse/internal/board/markup"
	"github.com/copse-dev/copse/internal/board/prompts"
	"github.com/copse-dev/copse/internal/command/library"
	"github.com/copse-dev/copse/internal/command/runner"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/settings"
)

const evil = `\"'><img src=x onerror=alert(1)>`

// view returns the view of a directory with these files.
func view(t *testing.T, files map[string]string) *prompts.View {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		gittest.Write(t, filepath.Join(dir, filepath.FromSlash(name)), content)
	}
	kit := markup.NewKit(markup.Options{Now: time.Now, Field: "token", Token: "TOKEN"})
	return prompts.New(kit, prompts.Options{
		Library: library.New(dir, ""), Runner: runner.New(dir, "", nil, settings.OpenUser(filepath.Join(dir, "none"))),
	})
}

func registry(entries ...string) string {
	return `{"tools":{"commands":[` + strings.Join(entries, ",") + `]}}`
}

func render(t *testing.T, v *prompts.View, query string) string {
	t.Helper()
	q, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	page, err := v.Render(t.Context(), board.Request{Query: q})
	return shown(t, page, err)
}

// ask sends a form with values.
func ask(t *testing.T, v *prompts.View, query, form string) string {
	t.Helper()
	q, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	values, err := url.ParseQuery(form)
	if err != nil {
		t.Fatal(err)
	}
	page, err := v.Ask(t.Context(), board.Request{Query: q, ReadOnly: true}, values)
	return shown(t, page, err)
}

func shown(t *testing.T, page board.Page, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	text := string(page.Tools)
	for _, s := range page.Sections {
		text += string(s.Head) + string(s.Foot)
		for _, r := range s.Rows {
			text += string(r.HTML)
		}
	}
	if page.Detail != nil {
		text += string(page.Detail.Sub)
		for _, r := range page.Detail.Blocks {
			text += string(r.HTML)
		}
	}
	return text
}

func TestEmptyStatesSayWhatToDo(t *testing.T) {
	t.Parallel()
	if got := render(t, view(t, nil), ""); !strings.Contains(got, "copse prompt init") {
		t.Error(got)
	}
	v := view(t, map[string]string{".agent/climpt/registry.json": registry(), ".agent/other/registry.json": "{"})
	if got := render(t, v, "q=x"); !strings.Contains(got, "show all prompts") || !strings.Contains(got, "Some registries cannot be read") {
		t.Error(got)
	}
	if _, err := v.Render(t.Context(), board.Request{Query: url.Values{"c1": {"a"}, "c2": {"b"}, "c3": {"c"}}}); err == nil {
		t.Error("a prompt that is not there is shown")
	}
}

// Prompts of all agents are listed and found, also by the beginning of a word, and rendered
// with values. No text of theirs does anything.
func TestPrompts(t *testing.T) {
	t.Parallel()
	v := view(t, map[string]string{
		".agent/climpt/registry.json": registry(
			`{"c1":"git","c2":"write","c3":"commit-message","description":"Write a commit message `+evil+`","usage":"`+evil+`","options":{"edition":["default"],"adaptation":["default"],"file":false,"stdin":true,"destination":false},"uv":[{"name":"style","description":"`+evil+`"}]}`,
			`{"c1":"review","c2":"check","c3":"login","description":"Check a form"}`,
		),
		".agent/team/registry.json":                                   registry(`{"c1":"team","c2":"say","c3":"hello","description":"Hello"}`),
		".agent/climpt/config/git-app.yml":                            "working_dir: .agent/climpt\napp_prompt:\n  base_dir: prompts/git\napp_schema:\n  base_dir: schema/git\n",
		".agent/climpt/config/git-user.yml":                           "params:\n  two:\n    directiveType:\n      pattern: \"^(write)$\"\n    layerType:\n      pattern: \"^(commit-message)$\"\n",
		".agent/climpt/prompts/git/write/commit-message/f_default.md": "Style: {uv-style}\n<script>alert(1)</script>\n{input_text}\n",
	})
	if got := render(t, v, ""); !strings.Contains(got, "git write commit-message") || !strings.Contains(got, "team say hello") || v.Count(t.Context()).Text != "3" {
		t.Error(got)
	}
	if got := render(t, v, "q=revi"); !strings.Contains(got, "review check login") || strings.Contains(got, "git write") {
		t.Error(got)
	}
	const at = "agent=climpt&c1=git&c2=write&c3=commit-message"
	all := render(t, v, at) + render(t, v, "q=commit&"+at)
	if got := render(t, v, at+"&render=1&uv0=short&input_text=diff"); strings.Contains(got, "Style: ") || strings.Contains(got, "short") {
		t.Errorf("values in the address count: %s", got)
	}
	done := ask(t, v, at, "uv0=short&input_text=diff+%3Cb%3E")
	if !strings.Contains(done, "Style: short") || !strings.Contains(done, "diff &lt;b&gt;") || !strings.Contains(done, "data-copy") {
		t.Error(done)
	}
	if got := ask(t, v, at, ""); !strings.Contains(got, "Without a value") {
		t.Error(got)
	}
	for _, bad := range []string{"<img", "<script", `"'>`} {
		if strings.Contains(all+done, bad) {
			t.Errorf("a page has %s", bad)
		}
	}
	if got := ask(t, v, "agent=team&c1=team&c2=say&c3=hello", ""); !strings.Contains(got, `class="red"`) {
		t.Errorf("a prompt without a template has no reason: %s", got)
	}
}
