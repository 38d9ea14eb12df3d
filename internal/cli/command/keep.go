package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/command/catalog"
	"github.com/copse-dev/copse/internal/command/export"
	"github.com/copse-dev/copse/internal/command/library"
	"github.com/copse-dev/copse/internal/command/render"
	"github.com/copse-dev/copse/internal/command/runner"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/rooted"
	"github.com/copse-dev/copse/internal/wiring/full"
)

// open opens the workspace.
func (c *cli) workspace(ctx context.Context) (*rooted.Root, string, error) {
	dir := full.Find(ctx, c.env, "").Workspace()
	root, err := rooted.Open(dir)
	if err != nil {
		return nil, "", fmt.Errorf("open the workspace: %w", err)
	}
	return root, dir, nil
}

func (c *cli) index() *cobra.Command {
	return &cobra.Command{
		Use:     "index",
		Short:   "Build registry.json from the front matter of the templates",
		Example: "  copse prompt index",
		Long: `Build .agent/<agent>/registry.json from the front matter of the templates in
.agent/<agent>/prompts. The result is identical to that of climpt's generator. Templates that
define no prompt, and prompts that cannot be executed, are reported on stderr. A domain without a
configuration gets one that accepts any action and target.`,
		Args: app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, dir, err := c.workspace(cmd.Context())
			if err != nil {
				return err
			}
			defer root.Close()
			built, err := catalog.Build(root, c.agent)
			for _, s := range built.Skipped {
				c.env.Notef("%s %s", s.File, s.Message)
			}
			if err != nil {
				return err
			}
			made, err := catalog.Configure(dir, c.agent, built)
			for _, name := range made {
				err = errors.Join(err, c.out().Line("created %s", name))
			}
			if err != nil {
				return err
			}
			changed, err := catalog.Write(cmd.Context(), dir, c.agent, built.JSON)
			if err != nil {
				return err
			}
			if err := c.unusable(cmd.Context()); err != nil {
				return err
			}
			what := "is up to date"
			if changed {
				what = "is written"
			}
			return c.out().Line("%s %s: %s", catalog.RegistryFile(c.agent), what, cleantext.Count(len(built.Entries), "prompt"))
		},
	}
}

// unusable warns about the prompts that cannot be executed.
func (c *cli) unusable(ctx context.Context) error {
	opened, run, err := c.open(ctx)
	if err != nil {
		return err
	}
	found, err := catalog.Unusable(ctx, opened, c.agent, run)
	for i, f := range found {
		if i == maxNotes {
			c.env.Notef("%s more cannot be executed; `copse prompt check` lists all", cleantext.Count(len(found)-i, "prompt"))
			break
		}
		c.env.Notef("%s %s", f.File, f.Message)
	}
	return err
}

// maxNotes is the number of prompts that cannot be executed that "copse prompt index" lists.
const maxNotes = 10

func (c *cli) check() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "check",
		Short:   "Report problems of the registry and its templates",
		Example: "  copse prompt check --json",
		Long: `Report entries that differ from their templates, prompts that the patterns of the profile
reject, missing templates, variables that are not described, not declared, or not used, and
control or invisible characters. The exit code is 1 if there is a problem. In a pipe, each line has a file and a message.`,
		Args: app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opened, run, err := c.open(cmd.Context())
			if err != nil {
				return err
			}
			root, _, err := c.workspace(cmd.Context())
			if err != nil {
				return err
			}
			defer root.Close()
			found, err := catalog.Check(cmd.Context(), root, c.agent, opened, run)
			if err != nil {
				return err
			}
			o := c.out()
			if asJSON {
				err = o.JSON(append([]catalog.Finding{}, found...))
			} else {
				for _, f := range found {
					err = errors.Join(err, o.Line("%s %s", f.File, f.Message))
				}
				if len(found) == 0 {
					err = o.Line("no problems in %s", cleantext.Count(len(opened.Commands), "prompt"))
				}
			}
			if err == nil && len(found) > 0 {
				return fmt.Errorf("found %s", cleantext.Count(len(found), "problem"))
			}
			return err
		},
	}
	output.JSONFlag[[]catalog.Finding](cmd, &asJSON)
	return cmd
}

func (c *cli) init() *cobra.Command {
	return &cobra.Command{
		Use:     "init",
		Short:   "Create a registry with one prompt",
		Example: "  copse prompt init",
		Long: `Create a small registry for the agent climpt: a configuration, one template, and
registry.json. Existing files do not change.`,
		Args: app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			made, err := catalog.Init(cmd.Context(), full.Find(cmd.Context(), c.env, "").Workspace())
			o := c.out()
			for _, name := range made {
				err = errors.Join(err, o.Line("created %s", name))
			}
			if err == nil && len(made) == 0 {
				return o.Line("the registry already exists; `copse prompt list` shows its prompts")
			}
			if err == nil {
				return o.Whole("Try: copse prompt run git write commit-message --uv style=short")
			}
			return err
		},
	}
}

// exportOptions are the flags of "copse prompt export".
type exportOptions struct {
	client string
	check  bool
	force  bool
	remove bool
	asJSON bool
}

func (c *cli) export() *cobra.Command {
	var o exportOptions
	var names []string
	for _, client := range export.Clients() {
		names = append(names, client.Name)
	}
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the prompts as slash commands or skills of a client",
		Long: `Write each prompt to a file in the directory where a client looks for slash commands. The
variables become the arguments of the client.

With --client skills, each prompt becomes an agent skill, .agents/skills/NAME/SKILL.md, for
Codex, Gemini CLI, opencode, Copilot CLI, and Qwen Code. Claude Code reads the skills of --client
claude-skills. With --client agents-md, copse writes a section of AGENTS.md, between two markers,
that describes copse and lists the prompts for every assistant. The rest of the file does not
change.

copse copies a template unchanged. Some clients run parts of it as shell commands, such as
!{command} in Gemini CLI: read the templates of others before you export them.

copse keeps a file or section that you edited, and removes the files of deleted prompts. --check
reports what is out of date, and its exit code is 1 if something is. A prompt that a file of the
client cannot hold is refused; the other prompts are written, and the exit code is 1.`,
		Example: `  copse prompt export --client claude-code
  copse prompt export --client skills
  copse prompt export --client agents-md
  copse prompt export --client gemini --check`,
		Args: app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.runExport(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.client, "client", "", "the `client`: "+strings.Join(names, ", "))
	f.BoolVar(&o.check, "check", false, "report what is out of date, and write nothing")
	f.BoolVar(&o.force, "force", false, "replace files that you edited")
	f.BoolVar(&o.remove, "remove", false, "remove the files that copse wrote for the client")
	output.JSONFlag[[]export.File](cmd, &o.asJSON)
	if err := cmd.RegisterFlagCompletionFunc("client", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag exists
	}
	return cmd
}

func (c *cli) runExport(ctx context.Context, o exportOptions) error {
	client, err := export.ByName(o.client)
	if err != nil {
		return app.UsageError(err.Error())
	}
	plan, err := c.plan(ctx, client, o.remove)
	if err != nil {
		return reason(err)
	}
	if !o.check {
		if err := plan.Write(o.force); err != nil {
			return err
		}
	}
	out := c.out()
	if o.asJSON {
		err = out.JSON(append([]export.File{}, plan.Files...))
	} else {
		for _, f := range plan.Files {
			err = errors.Join(err, out.Line("%s %s", words(f, o), f.Name))
			if f.Problem != "" {
				c.env.Notef("%s is refused: %s", foreign.Mention(f.Name), f.Problem)
			}
		}
	}
	if err == nil && o.check && plan.Stale() {
		return errors.New("the files are out of date; run it without --check to update them")
	}
	if n := plan.Refused(); err == nil && n > 0 {
		return fmt.Errorf("%s cannot be exported; the other files are not affected", cleantext.Count(n, "prompt"))
	}
	return err
}

// plan compares the existing files of a client with the intended ones.
func (c *cli) plan(ctx context.Context, client export.Client, remove bool) (*export.Plan, error) {
	base := full.Find(ctx, c.env, "").Workspace()
	if client.Home {
		if base = c.env.Home(); base == "" {
			return nil, errors.New("the environment names no home directory; set HOME")
		}
	}
	if remove {
		return export.Removal(ctx, client, base)
	}
	opened, run, err := c.open(ctx)
	if client.Optional && errors.Is(err, fs.ErrNotExist) {
		return export.New(ctx, client, base, nil, full.Advice(ctx, "commands")...)
	}
	if err != nil {
		return nil, err
	}
	return export.New(ctx, client, base, c.exported(opened, run), full.Advice(ctx)...)
}

// words returns what happened to a file, or what would happen.
func words(f export.File, o exportOptions) string {
	part := ""
	if f.Section {
		part = " a section of"
	}
	switch {
	case o.check, f.State == export.Refused:
		return string(f.State)
	case f.State == export.Missing, f.State == export.Stale, f.State == export.Edited && o.force && !o.remove:
		return "wrote" + part
	case f.State == export.Gone, f.State == export.Edited && o.force:
		return "removed" + part
	case f.State == export.Edited:
		return "kept, because it was edited:"
	}
	return "current"
}

// exported returns the commands that can be executed, with their prompts.
func (c *cli) exported(from *library.Catalog, run *runner.Runner) []export.Command {
	var list []export.Command
	for _, one := range from.Commands {
		list = append(list, export.Command{
			Agent: c.agent, Command: one,
			Prompt: func(_ context.Context, values map[string]string) (string, error) {
				options := render.Options{}
				for _, v := range one.UV {
					options.Variables = append(options.Variables, render.Value{Name: v.Name, Value: values[v.Name]})
				}
				res, err := run.Portable(from, render.Request{Agent: c.agent, ID: one.ID, Args: options.Args(), InputText: values["input_text"]})
				return res.Prompt, err
			},
			Plain: func() (render.Result, error) {
				return run.Portable(from, render.Request{Agent: c.agent, ID: one.ID})
			},
		})
	}
	return list
}
