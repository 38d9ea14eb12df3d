package item

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/item/itemcmd"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/storage"
)

// change is a change of an item in JSON.
type change struct {
	Change string       `json:"change,omitempty"`
	Item   item.ID      `json:"item"`
	At     string       `json:"at"`
	Kind   changes.Kind `json:"kind"`
	By     by           `json:"by,omitzero"`
	Fields []fieldValue `json:"fields,omitempty"`
	// Cut names the fields whose values are too long to store.
	Cut        []string      `json:"cut,omitempty"`
	Comment    *item.Comment `json:"comment,omitempty"`
	StolenFrom string        `json:"stolen_from,omitempty"`
	Undoes     string        `json:"undoes,omitempty"`
}

// by is the author of a change in JSON.
type by struct {
	Agent    string `json:"agent"`
	Worktree string `json:"worktree,omitempty"`
	Host     string `json:"host,omitempty"`
}

// fieldValue is a changed field in JSON.
type fieldValue struct {
	Field  string `json:"field"`
	Before string `json:"before"`
	After  string `json:"after"`
}

func changeOf(c changes.Change) change {
	out := change{
		Change: c.ID, Item: c.Item, At: c.At, Kind: c.Kind, By: by{c.By.Name, c.By.Worktree, c.By.Host},
		Cut: c.Cut, Comment: c.Comment, StolenFrom: c.StolenFrom, Undoes: c.Undoes,
	}
	for _, v := range c.Values() {
		out.Fields = append(out.Fields, fieldValue(v))
	}
	return out
}

// summary describes a change on one line. A brief summary has the beginnings of long values.
func summary(c changes.Change, brief bool) string {
	const maximum = 60
	quote := func(s string) string {
		if s = cleantext.Line(s); brief {
			s = cleantext.Cut(s, maximum)
		}
		return fmt.Sprintf("%q", s)
	}
	var parts []string
	for _, v := range c.Values() {
		parts = append(parts, fmt.Sprintf("%s %s to %s", v.Field, quote(v.Before), quote(v.After)))
	}
	for _, name := range c.Cut {
		parts = append(parts, name+" (too long to keep)")
	}
	if c.Comment != nil {
		parts = append(parts, quote(c.Comment.Body))
	}
	if c.Kind == changes.Elsewhere {
		parts = append(parts, "by another program; the changes are unknown")
	}
	if c.StolenFrom != "" {
		parts = append(parts, "taken from "+cleantext.Line(c.StolenFrom))
	}
	if c.Undoes != "" {
		parts = append(parts, "undoes "+cleantext.Line(c.Undoes))
	}
	return strings.Join(parts, "; ")
}

func (c cli) log() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "log [ID]",
		Short: "List who changed an item, what, and when",
		Long: fmt.Sprintf(`List who changed an item, what, and when, the latest change first. Without ID, list the
latest changes of all items. The history contains the last %d changes of each item by copse
or tic. A change by another program appears as "elsewhere". If a merge of two clones did not keep
the last change of a field, the list begins with a line "merged", which has the value that it kept.

In a pipe, each line has change, item, time, kind, agent, and changed fields, separated by
tabs.`, changes.MaxChanges),
		Example: fmt.Sprintf("  %[1]s log 3\n  %[1]s log --json", c.Program),
		Args:    app.Args(0, 1, "no argument, or ID"), ValidArgsFunction: c.CompleteItem,
	}
	output.JSONFlag[[]change](cmd, &asJSON)
	cmd.RunE = c.Run(func(ctx context.Context, s storage.Store, args []string) error {
		var id item.ID
		if len(args) > 0 {
			var err error
			if id, err = itemcmd.ParseID(args[0]); err != nil {
				return err
			}
		}
		log, err := s.History(ctx, id)
		if err != nil {
			return err
		}
		slices.Reverse(log)
		if asJSON {
			list := make([]change, len(log))
			for i, one := range log {
				list[i] = changeOf(one)
			}
			return c.Out().JSON(list)
		}
		if len(log) == 0 {
			c.Env.Notef("no changes are recorded yet")
		}
		rows := make([][]string, len(log))
		for i, one := range log {
			rows[i] = []string{cmp.Or(one.ID, "-"), one.Item.String(), c.When(one.At), string(one.Kind), cmp.Or(one.By.Name, "-"), summary(one, c.Out().Terminal())}
		}
		return c.Out().Table([]output.Column{
			{Name: "change"}, {Name: "item", Right: true}, {Name: "at"}, {Name: "kind"}, {Name: "by", Flexible: true}, {Name: "what", Flexible: true},
		}, rows)
	})
	return cmd
}

func (c cli) undo() *cobra.Command {
	var steal, asJSON bool
	cmd := &cobra.Command{
		Use:   "undo ID [CHANGE]",
		Short: "Undo a change of an item",
		Long: `Undo the latest change of an item, or the CHANGE that "log" names: restore the old values
of an update, remove a comment, restore a deleted item, or move a new item to the trash.
Later changes to other fields stay. If somebody has changed a field again, the command
fails and names that agent. An undo is a change in the history, which you can undo. If another
agent holds the item, the command requires --steal.`,
		Example: fmt.Sprintf("  %[1]s undo 3\n  %[1]s undo 3 k3f9a2mq\n  %[1]s undo 3 --steal", c.Program),
		Args:    app.Args(1, 2, "ID, or ID and CHANGE"), ValidArgsFunction: c.CompleteItem,
	}
	cmd.Flags().BoolVar(&steal, "steal", false, "undo a change of an item that another agent holds; the history records it")
	output.JSONFlag[change](cmd, &asJSON)
	cmd.RunE = c.Run(func(ctx context.Context, s storage.Store, args []string) error {
		id, err := itemcmd.ParseID(args[0])
		if err != nil {
			return err
		}
		name := ""
		if len(args) > 1 {
			if name = args[1]; name == "" {
				return app.UsageError("CHANGE is empty: use one that \"log\" lists")
			}
		}
		undone, err := s.Undo(ctx, id, name, steal)
		if err != nil {
			return c.ExplainHeld(err, "undo it anyway")
		}
		if asJSON {
			return c.Out().JSON(changeOf(undone))
		}
		what := string(undone.Kind)
		if text := summary(undone, true); text != "" {
			what += ": " + text
		}
		next := ""
		if _, err := s.Item(ctx, id); item.IsNotFound(err) {
			next = fmt.Sprintf(" It is in the trash now; `%s restore %d` restores it.", c.Program, id)
		}
		return c.Out().Line("Undid change %s of #%d (%s).%s", undone.ID, id, what, next)
	})
	return cmd
}
