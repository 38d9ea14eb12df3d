package item

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/input"
	"github.com/copse-dev/copse/internal/cli/item/itemcmd"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/workflow/backlog"
)

// writeOptions are the flags that give an item its fields.
type writeOptions struct {
	title, kind, status, priority, assignee, labels, iteration, parent, dependsOn string
	text                                                                          textOptions
	asJSON                                                                        bool
}

func (o *writeOptions) add(c cli, cmd *cobra.Command, clear string) {
	f := cmd.Flags()
	f.StringVar(&o.kind, "type", "", "set the `type`")
	f.StringVar(&o.status, "status", "", "set the `status`")
	f.StringVar(&o.priority, "priority", "", "set the `priority`: low, medium, high, or critical")
	f.StringVar(&o.assignee, "assignee", "", "set the `person` who works on the item"+clear)
	f.StringVar(&o.labels, "labels", "", "set the `labels`, separated by commas"+clear)
	f.StringVar(&o.iteration, "iteration", "", "set the `iteration`")
	f.StringVar(&o.parent, "parent", "", "set the `ID` of the parent"+clear)
	f.StringVar(&o.dependsOn, "depends-on", "", "set the `IDs` of the items that block it, separated by commas"+clear)
	o.text.add(f, "description")
	output.JSONFlag[backlog.Document](cmd, &o.asJSON)
	c.CompleteFields(cmd)
}

// done prints an item that was written.
func (o *writeOptions) done(out *output.Writer, it *item.Item) error {
	if o.asJSON {
		return out.JSON(backlog.DocumentOf(it))
	}
	return itemcmd.Table(out, []*item.Summary{&it.Summary}, itemcmd.TableOptions{})
}

func (c cli) create() *cobra.Command {
	var o writeOptions
	cmd := &cobra.Command{
		Use:   "create TITLE",
		Short: "Create an item",
		Long: `Create an item. The defaults come from the project: the first status, the type task if there is
one, and the current iteration.

` + textHelp,
		Example: fmt.Sprintf("  %[1]s create \"Show the login form\" --type issue --labels ui,login\n"+
			"  %[1]s create \"Crash at start\" --edit\n  git log -1 --format=%%b | %[1]s create \"Follow up\"", c.Program),
		Args: app.Args(1, 1, "TITLE"),
	}
	o.add(c, cmd, "")
	app.ExpectFlags(cmd, map[string]string{"title name": "the title is an argument: `" + c.Program + " create TITLE`"})
	cmd.RunE = c.Run(func(ctx context.Context, s storage.Store, args []string) error {
		d := item.Draft{
			Title: args[0], Type: o.kind, Status: o.status, Priority: o.priority, Assignee: o.assignee,
			Iteration: o.iteration, Labels: item.SplitLabels(o.labels),
		}
		var err error
		if o.parent != "" {
			if d.Parent, err = itemcmd.ParseID(o.parent); err != nil {
				return err
			}
		}
		if d.DependsOn, err = itemcmd.ParseIDs(o.dependsOn); err != nil {
			return err
		}
		// Checked before a person writes a long text.
		config, err := s.Config(ctx)
		if err != nil {
			return err
		}
		if _, err := config.Complete(d); err != nil {
			return err
		}
		if text, given, err := o.text.read(ctx, c.Env, cmd.Flags(), "", input.Patience); err != nil {
			return err
		} else if given {
			d.Description = text
		}
		it, err := s.Create(ctx, d)
		if err != nil {
			return err
		}
		return o.done(c.Out(), &it)
	})
	return cmd
}

func (c cli) update() *cobra.Command {
	var o writeOptions
	cmd := &cobra.Command{
		Use:   "update ID",
		Short: "Change fields of an item",
		Long: `Change the given fields of an item. An empty value clears the assignee, labels, parent,
dependencies, or description.

` + textHelp,
		Example: fmt.Sprintf("  %[1]s update 3 --status done\n  %[1]s update 3 --parent \"\" --labels \"\"\n  %[1]s update 3 --edit", c.Program),
		Args:    app.Args(1, 1, "ID"), ValidArgsFunction: c.CompleteItem,
	}
	cmd.Flags().StringVar(&o.title, "title", "", "set the `title`")
	steal := cmd.Flags().Bool("steal", false, "finish an item that another agent holds; the history records it")
	o.add(c, cmd, "; empty clears it")
	app.ExpectFlags(cmd, map[string]string{"claim": "did you mean `" + c.Program + " claim ID`?", "comment note": "did you mean `" + c.Program + " comment ID`?"})
	cmd.RunE = c.Run(func(ctx context.Context, s storage.Store, args []string) error {
		id, err := itemcmd.ParseID(args[0])
		if err != nil {
			return err
		}
		p, err := o.patch(cmd.Flags())
		if err != nil {
			return err
		}
		it, err := s.Item(ctx, id)
		if err != nil {
			return err
		}
		wait := input.Patience
		if p != (item.Patch{}) {
			wait = input.Glance
		}
		if text, given, err := o.text.read(ctx, c.Env, cmd.Flags(), it.Description, wait); err != nil {
			return err
		} else if given {
			p.Description = &text
		}
		if p == (item.Patch{}) {
			return app.UsageError("nothing to change: set at least one field, for example --status done")
		}
		p.Steal = *steal
		if it, err = s.Update(ctx, id, p); err != nil {
			return c.ExplainHeld(err, "finish it anyway")
		}
		return o.done(c.Out(), &it)
	})
	return cmd
}

// patch returns the fields whose flags were given.
func (o *writeOptions) patch(f *pflag.FlagSet) (item.Patch, error) {
	var p item.Patch
	for name, field := range map[string]struct {
		value *string
		into  **string
	}{
		"title": {&o.title, &p.Title}, "type": {&o.kind, &p.Type}, "status": {&o.status, &p.Status},
		"priority": {&o.priority, &p.Priority}, "assignee": {&o.assignee, &p.Assignee}, "iteration": {&o.iteration, &p.Iteration},
	} {
		if f.Changed(name) {
			*field.into = field.value
		}
	}
	if f.Changed("labels") {
		p.Labels = new(item.SplitLabels(o.labels))
	}
	if f.Changed("parent") {
		p.Parent = new(item.ID)
		if o.parent != "" {
			id, err := itemcmd.ParseID(o.parent)
			if err != nil {
				return item.Patch{}, err
			}
			p.Parent = &id
		}
	}
	if f.Changed("depends-on") {
		ids, err := itemcmd.ParseIDs(o.dependsOn)
		if err != nil {
			return item.Patch{}, err
		}
		p.DependsOn = &ids
	}
	return p, nil
}

func (c cli) comment() *cobra.Command {
	var (
		author string
		text   textOptions
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "comment ID [TEXT]",
		Short: "Add a comment to an item",
		Long: `Add a comment to an item. The text is TEXT, standard input, or what you write in your editor
with --edit.`,
		Example:           fmt.Sprintf("  %[1]s comment 3 \"Seen on Firefox, too.\" --author ada\n  make test 2>&1 | tail | %[1]s comment 3", c.Program),
		Args:              app.Args(1, 2, "ID, or ID and TEXT"),
		ValidArgsFunction: c.CompleteItem,
	}
	app.ExpectFlags(cmd, map[string]string{"m message body text b": "the comment is an argument: `" + c.Program + " comment ID TEXT`"})
	f := cmd.Flags()
	f.StringVar(&author, "author", "", "set the `author` (default: you, as the history names you)")
	output.JSONFlag[backlog.Comment](cmd, &asJSON)
	text.addEdit(f)
	cmd.RunE = c.Run(func(ctx context.Context, s storage.Store, args []string) error {
		id, err := itemcmd.ParseID(args[0])
		if err != nil {
			return err
		}
		if _, err := s.Item(ctx, id); err != nil {
			return err
		}
		var body string
		if len(args) > 1 {
			body = args[1]
		} else {
			var given bool
			if body, given, err = text.read(ctx, c.Env, f, "", input.Forever); err != nil {
				return err
			} else if !given {
				return app.UsageError("the comment is empty: pass TEXT or standard input, or use --edit")
			}
		}
		said, err := s.AddComment(ctx, id, author, body)
		if err != nil {
			return err
		}
		if asJSON {
			return c.Out().JSON(backlog.Comment(said))
		}
		return c.Out().Table([]output.Column{{Name: "author"}, {Name: "date"}, {Name: "text", Flexible: true}},
			[][]string{{said.Author, c.When(said.Date), said.Body}})
	})
	return cmd
}
