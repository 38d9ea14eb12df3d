package catalog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
)

// file is a file that is created if it does not exist.
type file struct{ name, content string }

// first returns the content of a first registry: one command that works.
func first() []file {
	return append(profile("climpt", "git"), []file{
		{".agent/climpt/config/registry_config.json", `{
  "registries": {
    "climpt": ".agent/climpt/registry.json"
  }
}
`},
		{".agent/climpt/prompts/git/write/commit-message/f_default.md", `---
c1: git
c2: write
c3: commit-message
title: Write a commit message
description: Write a commit message for the staged changes
usage: climpt-git write commit-message --uv-style=<style>
c3l_version: "0.5"
options:
  edition:
    - default
  adaptation:
    - default
  file: false
  stdin: true
  destination: false
uv:
  - style: How the project words its messages, such as "imperative, with the reason in the body"
---

Write a commit message for the staged changes.

1. Read them with git diff --staged. If nothing is staged, say so and stop.
2. Find out what they are for, not only what they do.
3. Write a subject of at most 72 characters, an empty line, and the reasons.

Style: {uv-style}

What the author says about them:

{input_text}
`},
	}...)
}

// profile returns the configuration of a domain, which accepts any action and target that climpt does.
func profile(agent, domain string) []file {
	name := domain
	if agent != "climpt" {
		name = agent + "-" + domain
	}
	return []file{
		{".agent/climpt/config/" + name + "-app.yml", fmt.Sprintf(`# The directories of the templates of the domain %[2]q.
working_dir: ".agent/%[1]s"
app_prompt:
  base_dir: "prompts/%[2]s"
app_schema:
  base_dir: "schema/%[2]s"
`, agent, domain)},
		{".agent/climpt/config/" + name + "-user.yml", `# The actions (directiveType) and targets (layerType) of the domain: any. To accept only certain ones,
# list them, for example as "^(write|review)$".
params:
  two:
    directiveType:
      pattern: "^[a-z0-9_-]{1,20}$"
    layerType:
      pattern: "^[a-z0-9_-]{1,30}$"
`},
	}
}

// Configure creates the configuration of each domain of a registry that has none, and returns the new
// files. A domain without a configuration cannot be executed.
func Configure(dir, agent string, built Built) (made []string, err error) {
	var domains distinct.List[string]
	for _, e := range built.Entries {
		if word.Get().MatchString(e.C1) {
			domains.Add(e.C1)
		}
	}
	for _, domain := range domains.Values() {
		for _, f := range profile(agent, domain) {
			created, err := create(dir, f.name, []byte(f.content))
			if err != nil {
				return made, err
			}
			if !created {
				break // it is configured, also without the optional file
			}
			made = append(made, f.name)
		}
	}
	return made, nil
}

// Init creates a first registry for the agent climpt in the workspace at dir, with one command, and
// returns the new files. Existing files do not change; it builds a registry only if there is none.
func Init(ctx context.Context, dir string) (made []string, err error) {
	for _, f := range first() {
		created, err := create(dir, f.name, []byte(f.content))
		if err != nil {
			return made, err
		}
		if created {
			made = append(made, f.name)
		}
	}
	if err := ctx.Err(); err != nil {
		return made, err
	}
	root, err := rooted.Open(dir)
	if err != nil {
		return made, fmt.Errorf("open the workspace: %w", err)
	}
	defer root.Close()
	built, err := Build(root, "climpt")
	if err != nil {
		return made, err
	}
	created, err := create(dir, RegistryFile("climpt"), built.JSON)
	if created {
		made = append(made, RegistryFile("climpt"))
	}
	return made, err
}

// create creates a file unless it exists. A link in its path that points outside the workspace is an
// error.
func create(dir, name string, content []byte) (bool, error) {
	root, err := regular.OpenRoot(dir)
	if err != nil {
		return false, errors.New("the workspace cannot be opened")
	}
	defer root.Close()
	if err := rooted.CheckWrite(root, name); err != nil {
		return false, fmt.Errorf("create %q: %w", name, err)
	}
	name = filepath.FromSlash(name)
	if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return false, fmt.Errorf("create the directory of %q: %w", name, rooted.WithoutPath(err))
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("make %q: %w", name, rooted.WithoutPath(err))
	}
	_, err = file.Write(content)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return false, fmt.Errorf("write %q: %w", name, rooted.WithoutPath(err))
	}
	return true, nil
}
