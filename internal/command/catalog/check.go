package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/copse-dev/copse/internal/command"
	"github.com/copse-dev/copse/internal/command/library"
	"github.com/copse-dev/copse/internal/command/render"
	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/rooted"
)

// Runner executes commands.
type Runner interface {
	Run(ctx context.Context, from *library.Catalog, r render.Request) (render.Result, error)
}

// Check finds problems of an agent's registry and templates: entries that differ from the
// templates, descriptions that differ, commands that the profile's patterns reject, missing
// templates, and variables that are not described, not declared, or not used.
func Check(ctx context.Context, root *rooted.Root, agent string, catalog *library.Catalog, run Runner) ([]Finding, error) {
	c := &check{agent: agent, catalog: catalog, run: run}
	built, err := Build(root, agent)
	switch {
	case errors.Is(err, ErrNoTemplates): // maintained manually, or elsewhere
	case err != nil:
		return nil, err
	default:
		c.found = append(c.found, built.Skipped...)
		c.registry(root, built)
	}
	for i, one := range catalog.Commands {
		if c.runs += len(editions(one)); c.runs > maxRuns {
			c.add(catalog.Path, "the last %d of %d prompts were not checked: a check fills in at most %d editions", len(catalog.Commands)-i, len(catalog.Commands), maxRuns)
			break
		}
		if err := c.command(ctx, one); err != nil {
			return nil, err
		}
	}
	return c.found, ctx.Err()
}

// maxRuns is the maximum number of editions that a check fills in, far more than anybody maintains.
// Each costs several files, and a registry of a few megabytes can list a hundred thousand.
const maxRuns = 5000

type check struct {
	agent   string
	catalog *library.Catalog
	run     Runner
	runs    int
	found   []Finding
	hidden  distinct.List[string] // of the templates of the current command
}

func (c *check) add(file, format string, args ...any) {
	c.found = append(c.found, Finding{file, fmt.Sprintf(format, args...)})
}

// registry compares the file with the templates.
func (c *check) registry(root *rooted.Root, built Built) {
	if content, err := root.Read(RegistryFile(c.agent), library.MaxSize); err == nil && !bytes.Equal(content, built.JSON) {
		c.add(RegistryFile(c.agent), "differs from the templates; run `copse prompt index` to build it again")
	}
	first := make(map[command.ID]Entry)
	for _, e := range built.Entries {
		id := command.ID{C1: e.C1, C2: e.C2, C3: e.C3}
		if before, ok := first[id]; !ok {
			first[id] = e
		} else if before.Description != e.Description {
			c.add(e.File, "describes %s differently than %s, whose description is used", id, before.File)
		}
	}
}

// Unusable returns the commands of a registry that cannot be executed, with the reason.
func Unusable(ctx context.Context, catalog *library.Catalog, agent string, run Runner) ([]Finding, error) {
	c := &check{agent: agent, catalog: catalog, run: run}
	for _, one := range catalog.Commands {
		if c.runs += len(editions(one)); c.runs > maxRuns {
			break
		}
		if _, _, err := c.execute(ctx, one); err != nil {
			return nil, err
		}
	}
	return c.found, ctx.Err()
}

// execute executes a command in each edition, and returns the variables that its templates use.
func (c *check) execute(ctx context.Context, one command.Command) (used distinct.List[string], failed bool, err error) {
	for _, edition := range editions(one) {
		res, err := c.run.Run(ctx, c.catalog, render.Request{Agent: c.agent, ID: one.ID, Args: render.Options{Edition: edition}.Args()})
		if refused, ok := errors.AsType[*render.Error](err); ok {
			c.add(c.catalog.Path, "%s cannot be executed: %s", one.ID, strings.ReplaceAll(refused.Reason, "\n", "; "))
			failed = true
			continue
		}
		if err != nil {
			return used, failed, err
		}
		if names := foreign.HiddenIn(res.Prompt); names != "" {
			c.hidden.Add(names)
		}
		for _, name := range res.Missing {
			if name, ok := strings.CutPrefix(name, "uv-"); ok {
				used.Add(name)
			}
		}
	}
	return used, failed, nil
}

// command checks one command in each edition.
func (c *check) command(ctx context.Context, one command.Command) error {
	c.hidden = distinct.List[string]{}
	used, failed, err := c.execute(ctx, one)
	if err != nil {
		return err
	}
	for _, names := range c.hidden.Values() {
		c.add(c.catalog.Path, "%s: a template has control or invisible characters: %s", one.ID, names)
	}
	if names := foreign.HiddenIn(described(one)); names != "" {
		c.add(c.catalog.Path, "%s: the description of the prompt has control or invisible characters: %s", one.ID, names)
	}
	declared := make(map[string]bool, len(one.UV))
	for _, v := range one.UV {
		declared[v.Name] = true
		if strings.TrimSpace(v.Description) == "" {
			c.add(c.catalog.Path, "%s: the variable %s has no description", one.ID, v.Name)
		}
		if !failed && !used.Has(v.Name) {
			c.add(c.catalog.Path, "%s: the variable %s is used in no template", one.ID, v.Name)
		}
	}
	for _, name := range used.Values() {
		if !declared[name] {
			c.add(c.catalog.Path, "%s: a template uses {uv-%s}, which is not declared", one.ID, name)
		}
	}
	return nil
}

// described returns all texts that describe a command.
func described(c command.Command) string {
	texts := []string{c.String(), c.Description, c.Usage}
	texts = append(append(texts, c.Options.Edition...), c.Options.Adaptation...)
	for _, v := range c.UV {
		texts = append(texts, v.Name, v.Description)
	}
	return strings.Join(texts, "\n")
}

// editions returns those with their own templates.
func editions(c command.Command) []string {
	if len(c.Options.Edition) == 0 {
		return []string{""}
	}
	return c.Options.Edition
}
