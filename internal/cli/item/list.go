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
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/wiring/full"
	"github.com/copse-dev/copse/internal/workflow/backlog"
)

// listOptions are the flags that select items.
type listOptions struct {
	filter item.Filter
	limit  int
	// claimOrder sorts the items as claims take them, not by ID.
	claimOrder bool
	headers    bool
	merged     bool
	asJSON     bool
}

// add adds the flags to a command.
func (o *listOptions) add(c cli, cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.filter.Status, "status", "", "list only items with this `status`")
	f.StringVar(&o.filter.Type, "type", "", "list only items of this `type`")
	f.StringVar(&o.filter.Priority, "priority", "", "list only items with this `priority`")
	f.StringVar(&o.filter.Assignee, "assignee", "", "list only items of this `person`")
	f.StringVar(&o.filter.Label, "label", "", "list only items with this `label`")
	f.StringVar(&o.filter.Iteration, "iteration", "", "list the items of this `iteration` (default: the current one)")
	f.BoolVar(&o.filter.All, "all", false, "list the items of all iterations")
	c.CompleteFields(cmd)
}

// addReady adds the flag for items that can be started.
func (o *listOptions) addReady(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.filter.Ready, "ready", false, "list only items on which work can begin")
}

// read reads the items, and prints warnings about them.
func (c cli) read(ctx context.Context, s storage.Store) (backlog.View, error) {
	v, err := backlog.New(s).Read(ctx)
	if err == nil {
		c.Warn(v.Warnings())
	}
	return v, err
}

// checkValues returns an error that names the valid values of a filter that no item of the project
// can match.
func (o *listOptions) checkValues(v backlog.View) error {
	for _, f := range []struct {
		flag, value string
		valid       []string
	}{
		{"status", o.filter.Status, v.Config.Statuses},
		{"type", o.filter.Type, v.Config.Types},
		{"priority", o.filter.Priority, item.Priorities()},
		{"iteration", o.filter.Iteration, v.Config.Iterations},
	} {
		if f.value != "" && !slices.Contains(f.valid, f.value) {
			return app.UsageError(fmt.Sprintf("invalid value %q for --%s: use %s", cleantext.Line(f.value), f.flag, foreign.Mention(f.valid...)))
		}
	}
	return nil
}

// explain explains an empty result, and says how many more items a query finds in other iterations.
func (o *listOptions) explain(c cli, v backlog.View, found, elsewhere int) error {
	if found == 0 {
		return o.explainNone(c, v, elsewhere)
	}
	if elsewhere > 0 {
		c.Env.Notef("--all finds %d more in other iterations", elsewhere)
	}
	return nil
}

// explainNone explains an empty result: it refuses unknown values of filters, says how many items the
// query finds in all iterations, and tells a person how to create one.
func (o *listOptions) explainNone(c cli, v backlog.View, elsewhere int) error {
	if err := o.checkValues(v); err != nil {
		return err
	}
	in := cmp.Or(o.filter.Iteration, v.Config.CurrentIteration)
	switch {
	case elsewhere == 0 && !c.Out().Terminal():
	case o.filter.All || in == "":
		c.Env.Notef("no item matches; `%s create TITLE` creates one", c.Program)
	case elsewhere == 0:
		c.Env.Notef("no item matches in iteration %q or in any other; `%s create TITLE` creates one", cleantext.Line(in), c.Program)
	default:
		c.Env.Notef("no item matches in iteration %q; --all finds %d in all iterations", cleantext.Line(in), elsewhere)
	}
	return nil
}

// listing turns cmd into a list of the items that the flags, and a text argument if there is one,
// select.
func (o *listOptions) listing(c cli, cmd *cobra.Command) *cobra.Command {
	o.add(c, cmd)
	cmd.Flags().IntVar(&o.limit, "limit", 0, "list at most this `number` of items (default: all)")
	cmd.Flags().BoolVar(&o.merged, "merged", false, "report open items whose pull request is merged, according to GitHub's last answers")
	output.HeadersFlag(cmd, &o.headers)
	output.JSONFlag[[]row](cmd, &o.asJSON)
	cmd.RunE = c.RunIn(func(ctx context.Context, ws *full.Workspace, s storage.Store, args []string) error {
		if o.limit < 0 {
			return app.UsageError(fmt.Sprintf("invalid value %d for --limit: use a positive number", o.limit))
		}
		v, err := c.read(ctx, s)
		if err != nil {
			return err
		}
		hits, elsewhere := v.Select(backlog.Query{Filter: o.filter, Text: strings.Join(args, "")})
		var found []*item.Summary
		for _, hit := range hits {
			found = append(found, hit.Summary)
		}
		if o.claimOrder {
			slices.SortStableFunc(found, v.Config.ClaimOrder)
		}
		if err := o.explain(c, v, len(found), elsewhere); err != nil {
			return err
		}
		if o.limit > 0 && len(found) > o.limit {
			c.Env.Notef("showing %d of %d", o.limit, len(found))
			found = found[:o.limit]
		}
		merged, err := backlog.Merged(ctx, s, ws.Pulls, v.Config, found)
		if err != nil {
			return err
		}
		if o.merged {
			c.sayMerged(merged, found)
		}
		if !o.asJSON {
			return itemcmd.Table(c.Out().Headed(o.headers), found, itemcmd.TableOptions{Merged: merged, Held: v.Holder})
		}
		rows := make([]row, len(found))
		for i, s := range found {
			rows[i] = row{Fields: backlog.FieldsOf(s), Claimed: v.HeldBy(s.ID)}
			if _, ok := merged[s.ID]; ok {
				rows[i].PR = prMerged
			}
		}
		return c.Out().JSON(rows)
	})
	return cmd
}

func (c cli) list() *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List items, by default of the current iteration",
		Long: `List items by ID, by default the items of the current iteration. In a pipe, each line has ID,
type, status, priority, title, and iteration, separated by tabs. Claims, assignees, and labels are
in --json.`,
		Example: "  " + c.Program + " list --status todo --label ui\n  " + c.Program + " list --all --json",
		Args:    app.NoArgs,
	}
	o.addReady(cmd)
	return o.listing(c, cmd)
}

func (c cli) ready() *cobra.Command {
	o := listOptions{filter: item.Filter{Claimable: true}, claimOrder: true}
	return o.listing(c, &cobra.Command{
		Use:   "ready",
		Short: "List the items on which work can begin, the best first",
		Long: `List the items on which work can begin, in the order in which "claim" takes them. Such an item is
not done, and not in review. It has no open dependency, no open child, and no claim. It is not in
progress with an assignee.`,
		Example: "  " + c.Program + " ready --assignee ada",
		Args:    app.NoArgs,
	})
}

func (c cli) search() *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:     "search TEXT",
		Short:   "Find items by text in titles and descriptions",
		Example: "  " + c.Program + ` search "session cookie" --all`,
		Args:    app.Args(1, 1, "TEXT"),
	}
	o.addReady(cmd)
	return o.listing(c, cmd)
}

// treeLimit is the default number of items in a tree. The lines of a deep tree are as long as it is
// deep.
const treeLimit = 1000

func (c cli) tree() *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:               "tree [ID]",
		Short:             "Show items below their parents",
		Long:              "Show items below their parents. The output is the same in a pipe; programs can use --json.",
		Example:           "  " + c.Program + " tree --all\n  " + c.Program + " tree 12",
		Args:              app.Args(0, 1, "no argument, or ID"),
		ValidArgsFunction: c.CompleteItem,
		RunE: c.Run(func(ctx context.Context, s storage.Store, args []string) error {
			var root item.ID
			if len(args) > 0 {
				var err error
				if root, err = itemcmd.ParseID(args[0]); err != nil {
					return err
				}
			}
			v, err := c.read(ctx, s)
			if err != nil {
				return err
			}
			nodes := o.limit
			if nodes == 0 {
				nodes = item.AllNodes
			}
			tree, err := v.Tree(v.Config, o.filter, root, nodes, nil)
			if err != nil {
				return err
			}
			if len(tree.Roots) == 0 {
				_, elsewhere := v.Select(backlog.Query{Filter: o.filter})
				if err := o.explainNone(c, v, elsewhere); err != nil {
					return err
				}
			}
			if o.asJSON {
				nodes := []backlog.Node{}
				for _, root := range tree.Roots {
					nodes = append(nodes, backlog.NodeOf(root, func(n *backlog.Node) { n.Claimed = v.HeldBy(n.ID) }))
				}
				return c.Out().JSON(nodes)
			}
			return drawTree(c.Out(), tree, v.HeldBy)
		}),
	}
	o.add(c, cmd)
	cmd.Flags().IntVar(&o.limit, "limit", treeLimit, "show at most this `number` of items; 0 for all")
	output.JSONFlag[[]backlog.Node](cmd, &o.asJSON)
	o.addReady(cmd)
	return cmd
}

// drawTree writes a tree for a person; the same in a pipe.
func drawTree(o *output.Writer, t item.Tree, held func(item.ID) string) error {
	var b strings.Builder
	d := drawing{&b, o, held}
	for _, root := range t.Roots {
		fmt.Fprintln(&b, d.label(root))
		d.below("", root)
	}
	if t.Omitted > 0 {
		fmt.Fprintf(&b, "(%s)\n", more(t.Omitted))
	}
	return o.Fold(b.String())
}

// more describes how to show the items that a tree omits.
func more(n int) string { return fmt.Sprintf("%d more; --limit 0 shows all", n) }

// drawing is a tree that is being drawn.
type drawing struct {
	b    *strings.Builder
	o    *output.Writer
	held func(item.ID) string
}

func (d drawing) label(n *item.Node) string {
	state := n.Type + ", " + n.Status
	if holder := d.held(n.ID); holder != "" {
		state += ", claimed by " + holder
	}
	return fmt.Sprintf("#%d %s %s", n.ID, cleantext.Line(n.Title), d.o.Faint("["+cleantext.Line(state)+"]"))
}

func (d drawing) below(indent string, n *item.Node) {
	for i, child := range n.Children {
		branch, further := "├─ ", "│  "
		if i == len(n.Children)-1 && n.Omitted == 0 {
			branch, further = "└─ ", "   "
		}
		fmt.Fprintln(d.b, indent+branch+d.label(child))
		d.below(indent+further, child)
	}
	if n.Omitted > 0 {
		fmt.Fprintf(d.b, "%s└─ (%s)\n", indent, more(n.Omitted))
	}
}

// prMerged is the mark of an open item whose pull request is merged.
const prMerged = "merged"

// sayMerged names on stderr the listed items whose pull request is merged.
func (c cli) sayMerged(merged map[item.ID]item.Link, list []*item.Summary) {
	for _, it := range list {
		if l, ok := merged[it.ID]; ok {
			c.Env.Notef("#%d: pull request %s is merged, and the item is still %s", it.ID, cleantext.Line(l.PullRequest), cleantext.Line(it.Status))
		}
	}
}
