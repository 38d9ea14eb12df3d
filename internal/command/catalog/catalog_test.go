package catalog_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/command"
	"github.com/copse-dev/copse/internal/command/catalog"
	"github.com/copse-dev/copse/internal/command/library"
	"github.com/copse-dev/copse/internal/command/render"
	"github.com/copse-dev/copse/internal/command/runner"
	"github.com/copse-dev/copse/internal/rooted"
	"github.com/copse-dev/copse/internal/settings"
	"github.com/copse-dev/copse/internal/xec"
)

// workspace writes templates, by their paths below the prompts directory.
func workspace(t *testing.T, templates map[string]string) (*rooted.Root, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range templates {
		name = filepath.Join(dir, ".agent/climpt/prompts", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := rooted.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root, dir
}

func TestBuild(t *testing.T) {
	t.Parallel()
	root, _ := workspace(t, map[string]string{
		"git/write/message/f_default.md": `---
c1: git
c2: write
c3: message
title: dropped
description: 変更を <説明> & "quote"
usage: climpt-git write message
unknown: dropped
options:
  edition: default
  adaptation: [default, short]
  file: "yes"
  stdin: true
uv:
  - scope: What it is about
    max: 3
  - b: x
---
text`,
		"git/write/message/f_alt.md": "---\nc1: git\nc2: write\nc3: message\nuv: {k: v, a: w}\n---\n",
		"docs/a/b/f_default.md":      "---\nc1: docs\nc2: check-links\nc3: v2-page\nuv: []\noptions:\n---\n",
		"docs/a/c/f_default.md":      "---\r\nc1: docs\r\nc2: Bad\r\nc3: x_y\r\n---\r\n",
		"docs/a/d/f_default.md":      "no front matter",
		"docs/a/e/f_default.md":      "---\nc1: [\n---\n",
		"docs/a/notes.txt":           "not a template",
	})
	got, err := catalog.Build(root, "climpt")
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "version": "1.0.0",
  "description": "Climpt comprehensive configuration for MCP server and command registry",
  "tools": {
    "availableConfigs": [
      "docs",
      "git"
    ],
    "commands": [
      {
        "c1": "docs",
        "c2": "check-links",
        "c3": "v2-page",
        "description": "",
        "usage": "",
        "options": {
          "edition": "",
          "adaptation": "",
          "file": "",
          "stdin": "",
          "destination": ""
        },
        "uv": []
      },
      {
        "c1": "docs",
        "c2": "",
        "c3": "",
        "description": "",
        "usage": "",
        "options": {
          "edition": "",
          "adaptation": "",
          "file": "",
          "stdin": "",
          "destination": ""
        },
        "uv": ""
      },
      {
        "c1": "git",
        "c2": "write",
        "c3": "message",
        "description": "",
        "usage": "",
        "options": {
          "edition": "",
          "adaptation": "",
          "file": "",
          "stdin": "",
          "destination": ""
        },
        "uv": [
          {
            "k": "v",
            "a": "w"
          }
        ]
      },
      {
        "c1": "git",
        "c2": "write",
        "c3": "message",
        "description": "変更を <説明> & \"quote\"",
        "usage": "climpt-git write message",
        "options": {
          "edition": [
            "default"
          ],
          "adaptation": [
            "default",
            "short"
          ],
          "file": "yes",
          "stdin": true,
          "destination": ""
        },
        "uv": [
          {
            "scope": "What it is about",
            "max": 3
          },
          {
            "b": "x"
          }
        ]
      }
    ]
  }
}`
	if diff := cmp.Diff(want, string(got.JSON)); diff != "" {
		t.Error(diff)
	}
	var skipped []string
	for _, s := range got.Skipped {
		skipped = append(skipped, strings.TrimPrefix(s.File, ".agent/climpt/prompts/")+" "+s.Message)
	}
	wantSkipped := []string{
		`docs/a/c/f_default.md has the c2 "Bad", which does not match ^[a-z]+(-[a-z]+)?$ and is left empty`,
		`docs/a/c/f_default.md has the c3 "x_y", which does not match ^[a-z][a-z0-9]*(-[a-z][a-z0-9]*)*$ and is left empty`,
		"docs/a/d/f_default.md has no front matter, so it defines no prompt",
		"docs/a/e/f_default.md has front matter that is not YAML: line 1: sequence end token ']' not found",
	}
	if diff := cmp.Diff(wantSkipped, skipped); diff != "" {
		t.Error(diff)
	}
}

func TestBuildOfNothing(t *testing.T) {
	t.Parallel()
	root, _ := workspace(t, nil)
	if _, err := catalog.Build(root, "climpt"); !errors.Is(err, catalog.ErrNoTemplates) {
		t.Errorf("got %v", err)
	}
}

func TestLinksAreNotFollowed(t *testing.T) {
	t.Parallel()
	root, dir := workspace(t, map[string]string{"git/a/b/f_default.md": "---\nc1: git\nc2: a\nc3: b\n---\n"})
	secret := filepath.Join(t.TempDir(), "f_default.md")
	if err := os.WriteFile(secret, []byte("---\nc1: git\nc2: secret\nc3: x\n---\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(secret), filepath.Join(dir, ".agent/climpt/prompts/linked")); err != nil {
		t.Skip("no symbolic links here")
	}
	got, err := catalog.Build(root, "climpt")
	if err != nil || len(got.Entries) != 1 || len(got.Skipped) != 1 {
		t.Errorf("%v, %v, %v", got.Entries, got.Skipped, err)
	}
}

// check returns what Check finds in the workspace at root.
func check(t *testing.T, root *rooted.Root, dir string) []string {
	t.Helper()
	lib := library.New(dir, "")
	open, err := lib.Open("climpt")
	if err != nil {
		t.Fatal(err)
	}
	found, err := catalog.Check(t.Context(), root, "climpt", open, runner.New(dir, "", xec.Env{}, settings.OpenUser("")))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, f := range found {
		list = append(list, f.File+" "+f.Message)
	}
	return list
}

// A first registry works as it is, and a second Init changes nothing.
func TestInit(t *testing.T) {
	t.Parallel()
	root, dir := workspace(t, nil)
	made, err := catalog.Init(t.Context(), dir)
	if err != nil || len(made) != 5 {
		t.Fatalf("made %v, %v", made, err)
	}
	if found := check(t, root, dir); len(found) > 0 {
		t.Errorf("a first registry has %v", found)
	}
	if made, err := catalog.Init(t.Context(), dir); err != nil || len(made) > 0 {
		t.Errorf("again: made %v, %v", made, err)
	}
	built, err := catalog.Build(root, "climpt")
	if err != nil {
		t.Fatal(err)
	}
	if changed, err := catalog.Write(t.Context(), dir, "climpt", built.JSON); err != nil || changed {
		t.Errorf("the index of it is another: %v, %v", changed, err)
	}
	if changed, err := catalog.Write(t.Context(), dir, "climpt", []byte("{}")); err != nil || !changed {
		t.Errorf("another index changes nothing: %v, %v", changed, err)
	}
}

// Characters that nobody sees are a problem, in a template and in what describes it.
func TestCheckHidden(t *testing.T) {
	t.Parallel()
	root, dir := workspace(t, nil)
	if _, err := catalog.Init(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, ".agent/climpt/prompts/git/write/commit-message/f_default.md")
	const front = "---\nc1: git\nc2: write\nc3: commit-message\ndescription: \"Write\\u202e\"\nusage: \"a\\u200b\"\nuv:\n  - style: \"The style\\U000E0041\"\n---\n"
	if err := os.WriteFile(file, []byte(front+"{uv-style}\x1b[2J\r\n\u200d"), 0o600); err != nil {
		t.Fatal(err)
	}
	built, err := catalog.Build(root, "climpt")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := catalog.Write(t.Context(), dir, "climpt", built.JSON); err != nil {
		t.Fatal(err)
	}
	const name = ".agent/climpt/registry.json git write commit-message: "
	want := []string{
		name + "a template has control or invisible characters: U+001B, U+200D",
		name + "the description of the prompt has control or invisible characters: U+202E, U+200B, U+E0041",
	}
	if diff := cmp.Diff(want, check(t, root, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	root, dir := workspace(t, nil)
	if _, err := catalog.Init(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"prompts/git/write/commit-message/f_alt.md": "---\nc1: git\nc2: write\nc3: commit-message\ndescription: Another\noptions:\n  edition: [alt, gone]\nuv:\n  - style: \"\"\n  - idle: Never used\n---\n{uv-style} {uv-secret}",
		"prompts/git/never/b/f_default.md":          "---\nc1: git\nc2: never\nc3: b\n---\n",
		"prompts/loose.md":                          "text",
		"config/git-user.yml":                       "params:\n  two:\n    directiveType: {pattern: ^write$}\n    layerType: {pattern: .}\n",
	} {
		name = filepath.Join(dir, ".agent/climpt", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const registry = ".agent/climpt/registry.json"
	want := []string{
		".agent/climpt/prompts/loose.md has no front matter, so it defines no prompt",
		registry + " differs from the templates; run `copse prompt index` to build it again",
		".agent/climpt/prompts/git/write/commit-message/f_default.md describes git write commit-message differently than .agent/climpt/prompts/git/write/commit-message/f_alt.md, whose description is used",
	}
	if diff := cmp.Diff(want, check(t, root, dir)); diff != "" {
		t.Error(diff)
	}
	built, err := catalog.Build(root, "climpt")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := catalog.Write(t.Context(), dir, "climpt", built.JSON); err != nil {
		t.Fatal(err)
	}
	want = []string{
		".agent/climpt/prompts/loose.md has no front matter, so it defines no prompt",
		want[2],
		registry + " git never b cannot be executed: Invalid directive type. Must match pattern: ^write$; To accept \"never\", change params.two.directiveType.pattern in .agent/climpt/config/git-user.yml.",
		registry + " git write commit-message cannot be executed: Template not found: .agent/climpt/prompts/git/write/commit-message/f_gone.md",
		registry + " git write commit-message: the variable style has no description",
		registry + " git write commit-message: a template uses {uv-secret}, which is not declared",
	}
	if diff := cmp.Diff(want, check(t, root, dir)); diff != "" {
		t.Error(diff)
	}
}

func FuzzBuild(f *testing.F) {
	for _, s := range []string{"---\nc1: a\n---\n", "---\nuv: {a: {b: [1, 2.5, null, true]}}\noptions: [x]\n---", "---\n- a\n---\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		root, _ := workspace(t, map[string]string{"a.md": text})
		built, err := catalog.Build(root, "climpt")
		if err != nil {
			return
		}
		if _, err := catalog.Build(root, "climpt"); err != nil || len(built.JSON) == 0 {
			t.Errorf("%q: %s, %v", text, built.JSON, err)
		}
	})
}

// counter counts what a check fills in.
type counter struct{ runs int }

func (c *counter) Run(context.Context, *library.Catalog, render.Request) (render.Result, error) {
	c.runs++
	return render.Result{}, nil
}

// A registry can list any number of prompts and editions, of which a check fills in some and reports
// the rest.
func TestManyPrompts(t *testing.T) {
	t.Parallel()
	root, _ := workspace(t, nil)
	for name, commands := range map[string][]command.Command{
		"prompts":  slices.Repeat([]command.Command{{}}, 20_000),
		"editions": {{}, {Options: command.Options{Edition: make([]string, 20_000)}}},
	} {
		run := &counter{}
		found, err := catalog.Check(t.Context(), root, "climpt", &library.Catalog{Registry: &command.Registry{Commands: commands}, Path: "registry.json"}, run)
		if err != nil || run.runs > 5000 {
			t.Errorf("%s: %d editions were filled in: %v", name, run.runs, err)
		}
		if len(found) == 0 || !strings.Contains(found[len(found)-1].Message, "were not checked") {
			t.Errorf("%s: the rest is not reported: %v", name, found)
		}
	}
}
