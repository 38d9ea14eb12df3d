// Package command implements "copse prompt": the registry of prompts for a person. The registry,
// its files, and the tools call a prompt a command.
package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/command"
	"github.com/copse-dev/copse/internal/command/library"
	"github.com/copse-dev/copse/internal/command/render"
	"github.com/copse-dev/copse/internal/command/runner"
	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/suggest"
	"github.com/copse-dev/copse/internal/wiring/full"
)

// Command returns "copse prompt".
func Command(env app.Env) *cobra.Command {
	c := &cli{env: env}
	cmd := &cobra.Command{
		Use:     "prompt",
		Aliases: []string{"command"},
		Short:   "Find, run, and maintain prompts",
		Long: `Find, run, and maintain prompts: reusable instructions for an assistant, such as how to write
a commit message in this project. Three words name a prompt: a domain, an action, and a target
(c1, c2, and c3 in the files), for example "git write commit-message". A prompt can have
variables, several editions (templates for different inputs), and adaptations (variants of an
edition).

The prompts of an agent are in .agent/<agent>/registry.json, in the project or in your home
directory.`,
		Example: `  copse prompt init
  copse prompt search "commit message"
  copse prompt run git write commit-message --uv style=short`,
		Args: app.Expect(map[string]string{
			"ls":                                   "did you mean `copse prompt list`?",
			"find":                                 "did you mean `copse prompt search`?",
			"describe view cat info get":           "did you mean `copse prompt show`?",
			"exec execute render":                  "did you mean `copse prompt run`?",
			"new add create edit rm remove delete": "prompts are files below .agent/<agent>/prompts: change them there, then run `copse prompt index`",
			"reload build":                         "did you mean `copse prompt index`?",
			"validate lint doctor":                 "did you mean `copse prompt check`?",
		}),
		RunE: app.Help,
	}
	cmd.PersistentFlags().StringVar(&c.agent, "agent", library.DefaultAgent, "the `agent` whose registry to use")
	cmd.AddCommand(c.list(), c.search(), c.show(), c.run(), c.index(), c.check(), c.init(), c.export())
	return cmd
}

// cli is shared by all commands.
type cli struct {
	env   app.Env
	agent string
}

func (c *cli) out() *output.Writer { return output.New(c.env) }

// open opens the registry.
func (c *cli) open(ctx context.Context) (*library.Catalog, *runner.Runner, error) {
	ws := full.Find(ctx, c.env, "")
	ws.Warn()
	lib, run := ws.Commands()
	catalog, err := lib.Open(c.agent)
	if unread, ok := errors.AsType[*library.LoadError](err); ok {
		hint := ""
		if unread.Details() == "File not found" {
			hint = "; `copse prompt init` creates one"
		}
		return nil, nil, &registryError{text: fmt.Sprintf("registry %s in %q: %s%s", foreign.Mention(unread.Path), ws.Workspace(), unread.Details(), hint), cause: unread}
	}
	return catalog, run, err
}

// registryError explains to a person why a registry cannot be read.
type registryError struct {
	text  string
	cause error
}

func (e *registryError) Error() string { return e.text }
func (e *registryError) Unwrap() error { return e.cause }

// find looks up the command with a name of three words.
func (c *cli) find(ctx context.Context, words []string) (*library.Catalog, *runner.Runner, command.Command, error) {
	catalog, run, err := c.open(ctx)
	if err != nil {
		return nil, nil, command.Command{}, err
	}
	id := command.ID{C1: words[0], C2: words[1], C3: words[2]}
	found, ok := catalog.Find(id)
	if !ok {
		var names []string
		for _, one := range catalog.Commands {
			names = append(names, one.String())
		}
		next := "`copse prompt list` shows the prompts"
		if near := suggest.Near(id.String(), names); len(near) > 0 {
			next = "did you mean " + foreign.Mention(near...) + "?"
		}
		return nil, nil, command.Command{}, fmt.Errorf("there is no prompt %q in %s; %s", id.String(), foreign.Mention(catalog.Path), next)
	}
	return catalog, run, found, nil
}

// threeWords takes the name of a command.
func threeWords(_ *cobra.Command, args []string) error {
	if len(args) != 3 {
		return app.UsageError(fmt.Sprintf("expected three words, a domain, an action, and a target, but got %d; `copse prompt list` shows the prompts", len(args)))
	}
	return nil
}

// complete offers the next word of a command's name.
func (c *cli) complete(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const done = cobra.ShellCompDirectiveNoFileComp
	catalog, _, err := c.open(cmd.Context())
	if err != nil || len(args) > 2 {
		return nil, done
	}
	var list distinct.List[cobra.Completion]
	for _, one := range catalog.Commands {
		words := []string{one.C1, one.C2, one.C3}
		if !slices.Equal(words[:len(args)], args) {
			continue
		}
		word := words[len(args)]
		if len(args) == 2 {
			word = cobra.CompletionWithDesc(word, cleantext.Line(one.Description))
		}
		list.Add(word)
	}
	return list.Values(), done
}

// row is a command in a list.
type row struct {
	C1          string  `json:"c1"`
	C2          string  `json:"c2"`
	C3          string  `json:"c3"`
	Description string  `json:"description"`
	Score       float64 `json:"score,omitzero"`
}

func (c *cli) print(rows []row, asJSON, scored bool) error {
	if asJSON {
		return c.out().JSON(append([]row{}, rows...))
	}
	columns := []output.Column{{Name: "prompt", Handle: true}, {Name: "description", Flexible: true}}
	if scored {
		columns = append([]output.Column{{Name: "score", Right: true}}, columns...)
	}
	var cells [][]string
	for _, r := range rows {
		line := []string{r.C1 + " " + r.C2 + " " + r.C3, r.Description}
		if scored {
			line = append([]string{fmt.Sprintf("%.2f", r.Score)}, line...)
		}
		cells = append(cells, line)
	}
	return c.out().Table(columns, cells)
}

func (c *cli) list() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the prompts",
		Example: "  copse prompt list --json",
		Args:    app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			catalog, _, err := c.open(cmd.Context())
			if err != nil {
				return err
			}
			var rows []row
			for _, one := range catalog.Commands {
				rows = append(rows, row{C1: one.C1, C2: one.C2, C3: one.C3, Description: one.Description})
			}
			if len(rows) == 0 && !asJSON {
				c.env.Note("the registry has no prompts; `copse prompt index` builds it from the templates")
			}
			return c.print(rows, asJSON, false)
		},
	}
	output.JSONFlag[[]row](cmd, &asJSON)
	return cmd
}

func (c *cli) search() *cobra.Command {
	var (
		limit  int
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:     "search WORDS...",
		Short:   "Find prompts for a job, best match first",
		Long:    "Find prompts for a job, best match first. In a pipe, each line has score, prompt, and description,\nseparated by tabs.",
		Example: "  copse prompt search commit message",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return app.UsageError("name some words to search for")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 1 {
				return app.UsageError(fmt.Sprintf("invalid value %d for --limit: use a positive number", limit))
			}
			catalog, _, err := c.open(cmd.Context())
			if err != nil {
				return err
			}
			var rows []row
			for _, m := range catalog.Search(strings.Join(args, " "), limit) {
				rows = append(rows, row{m.Command.C1, m.Command.C2, m.Command.C3, m.Command.Description, m.Score})
			}
			if len(rows) == 0 && !asJSON {
				c.env.Note("no prompt matches; `copse prompt list` shows all prompts")
			}
			return c.print(rows, asJSON, true)
		},
	}
	f := cmd.Flags()
	f.IntVar(&limit, "limit", 5, "show at most this `number` of prompts")
	output.JSONFlag[[]row](cmd, &asJSON)
	return cmd
}

func (c *cli) show() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "show C1 C2 C3",
		Short:   "Show what a prompt does, and its options and variables",
		Example: "  copse prompt show git write commit-message",
		Args:    threeWords, ValidArgsFunction: c.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, _, found, err := c.find(cmd.Context(), args)
			if err != nil {
				return err
			}
			if asJSON {
				return c.out().JSON(found)
			}
			return c.out().Fold(summary(found, c.usage(found)))
		},
	}
	output.JSONFlag[command.Command](cmd, &asJSON)
	return cmd
}

// usage returns a prompt's command line for a person. The registry's own usage is for climpt.
func (c *cli) usage(p command.Command) string {
	words := []string{"copse prompt run", p.String()}
	if c.agent != library.DefaultAgent {
		words = append(words, "--agent "+c.agent)
	}
	if len(p.Options.Edition) > 1 {
		words = append(words, "[--edition EDITION]")
	}
	if len(p.Options.Adaptation) > 1 {
		words = append(words, "[--adaptation ADAPTATION]")
	}
	for _, v := range p.UV {
		words = append(words, "[--uv "+v.Name+"=VALUE]")
	}
	return cleantext.Line(strings.Join(words, " "))
}

// summary describes a prompt to a person. It indents the registry's text, so that no line of it looks
// like one of copse's own.
func summary(p command.Command, usage string) string {
	const margin = "    "
	var b strings.Builder
	add := func(label, value string) {
		value = strings.Trim(cleantext.Block(value), "\n")
		if value == "" {
			return
		}
		for i, line := range strings.Split(value, "\n") {
			switch {
			case i == 0 && label != "":
				line = label + line
			case line != "":
				line = margin + line
			}
			b.WriteString(line + "\n")
		}
	}
	b.WriteString(cleantext.Line(p.String()) + "\n")
	add("", p.Description)
	add("usage: ", usage)
	if !strings.HasPrefix(p.Usage, "climpt") {
		add("usage in the registry: ", p.Usage)
	}
	add("editions: ", strings.Join(p.Options.Edition, ", "))
	add("adaptations: ", strings.Join(p.Options.Adaptation, ", "))
	var takes []string
	for _, o := range []struct {
		does bool
		name string
	}{{p.Options.Stdin, "text on standard input"}, {p.Options.File, "--input-file"}, {p.Options.Destination, "--destination"}} {
		if o.does {
			takes = append(takes, o.name)
		}
	}
	add("accepts: ", strings.Join(takes, ", "))
	for _, v := range p.UV {
		add("--uv ", strings.TrimSpace(v.Name+"=… "+v.Description))
	}
	return b.String()
}

// reason explains to a person why there is no prompt.
func reason(err error) error {
	if refused, ok := errors.AsType[*render.Error](err); ok {
		return errors.New(strings.ReplaceAll(refused.Reason, "\n", "; "))
	}
	return err
}
