package branch

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/branch/twig/edit"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/workflow/track"
)

func (c *cli) depend() *cobra.Command {
	var how track.Stacking
	cmd := &cobra.Command{
		Use:   "depend BRANCH PARENT",
		Short: "Record that a branch is stacked on another",
		Long: `Record that a branch is stacked on another. "." is the branch that is checked out.

A branch that has a parent keeps it unless you say what the other one is: --replace moves the
branch to PARENT, and --add makes PARENT one more parent. Of several parents the first one
counts where one is asked for.`,
		Example: "  copse branch depend feature/tests feature/login\n  copse branch depend . main --replace",
		Args:    app.Args(2, 2, "BRANCH and PARENT"), ValidArgsFunction: c.completeBranches(2),
		RunE: c.run(func(ctx context.Context, p place, args []string) error {
			child, err := p.named(ctx, args[:1])
			if err != nil {
				return err
			}
			parent, err := p.named(ctx, args[1:])
			if err != nil {
				return err
			}
			if err := p.Check(ctx, child, parent); err != nil {
				return err
			}
			parents, changed, err := p.Stack(ctx, child, parent, how)
			if err != nil {
				return err
			}
			if first := parents[0]; first != parent {
				return c.said(changed, "%s is stacked on %s, after its first parent %s,", child, parent, first)
			}
			return c.said(changed, "%s is stacked on %s", child, parent)
		}),
	}
	f := cmd.Flags()
	f.BoolVar(&how.Replace, "replace", false, "move the branch from the parents that it has")
	f.BoolVar(&how.Add, "add", false, "add a parent to those that it has")
	cmd.MarkFlagsMutuallyExclusive("replace", "add")
	return cmd
}

// said tells the outcome: that it is so now, or was so before.
func (c *cli) said(changed bool, format string, args ...any) error {
	word := " now"
	if !changed {
		word = " already"
	}
	return c.out().Line(format+word, args...)
}

func (c *cli) undepend() *cobra.Command {
	return &cobra.Command{
		Use:               "undepend BRANCH [PARENT]",
		Short:             "Take back that a branch is stacked on another, or on any",
		Example:           "  copse branch undepend feature/tests feature/login\n  copse branch undepend .",
		Args:              app.Args(1, 2, "BRANCH, or BRANCH and PARENT"),
		ValidArgsFunction: c.completeBranches(2),
		RunE: c.run(func(ctx context.Context, p place, args []string) error {
			child, err := p.named(ctx, args[:1])
			if err != nil {
				return err
			}
			parent := ""
			if len(args) == 2 {
				if parent, err = p.named(ctx, args[1:]); err != nil {
					return err
				}
			}
			var removed []string
			if _, err := p.Change(ctx, func(d *edit.Draft) error {
				removed = d.Undepend(child, parent)
				return nil
			}); err != nil {
				return err
			}
			if len(removed) == 0 {
				return fmt.Errorf("%s is not stacked on %s", child, anything(parent))
			}
			return c.out().Line("%s is not stacked on %s any more", child, strings.Join(removed, ", "))
		}),
	}
}

func anything(parent string) string {
	if parent == "" {
		return "anything"
	}
	return parent
}

func (c *cli) root() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "root",
		Short: "Keep the branches that stacks end at",
		Long: `Keep the branches that stacks end at, such as main. One of them can be the default: it is
where a tree begins, and where branches without a parent are shown.`,
		Example: "  copse branch root add main --default\n  copse branch root list",
		Args:    app.Subcommands,
		RunE:    app.Help,
	}
	cmd.AddCommand(c.rootAdd(), c.rootRemove(), c.rootList())
	return cmd
}

func (c *cli) rootAdd() *cobra.Command {
	var standard bool
	cmd := &cobra.Command{
		Use:     "add BRANCH",
		Short:   "Make a branch a root",
		Example: "  copse branch root add develop",
		Args:    app.Args(1, 1, "BRANCH"), ValidArgsFunction: c.completeBranches(1),
		RunE: c.run(func(ctx context.Context, p place, args []string) error {
			name, err := p.named(ctx, args)
			if err == nil {
				err = p.Check(ctx, name)
			}
			if err != nil {
				return err
			}
			changed, err := p.Change(ctx, func(d *edit.Draft) error { return d.AddRoot(name, standard) })
			if err != nil {
				return err
			}
			kind := "a root"
			if standard {
				kind = "the default root"
			}
			return c.said(changed, "%s is %s", name, kind)
		}),
	}
	cmd.Flags().BoolVar(&standard, "default", false, "make it the default root")
	return cmd
}

func (c *cli) rootRemove() *cobra.Command {
	return &cobra.Command{
		Use:     "remove BRANCH",
		Short:   "Make a branch no root any more",
		Example: "  copse branch root remove develop",
		Args:    app.Args(1, 1, "BRANCH"),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return c.complete(cmd, typed, (*twig.State).IsRoot), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: c.run(func(ctx context.Context, p place, args []string) error {
			name, err := p.named(ctx, args)
			if err != nil {
				return err
			}
			changed, err := p.Change(ctx, func(d *edit.Draft) error {
				d.RemoveRoot(name)
				return nil
			})
			if err != nil {
				return err
			}
			if !changed {
				return fmt.Errorf("%s is not a root; `copse branch root list` shows them", name)
			}
			return c.out().Line("%s is not a root any more", name)
		}),
	}
}

// rootRow is a root in JSON.
type rootRow struct {
	Branch  string `json:"branch"`
	Default bool   `json:"default"`
}

func (c *cli) rootList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the roots",
		Example: "  copse branch root list --json",
		Args:    app.NoArgs,
		RunE: c.run(func(ctx context.Context, p place, _ []string) error {
			state, err := p.State(ctx)
			if err != nil {
				return err
			}
			rows := []rootRow{}
			var cells [][]string
			for _, r := range state.Roots {
				rows = append(rows, rootRow{r.Branch, r.IsDefault})
				note := ""
				if r.IsDefault {
					note = "default"
				}
				cells = append(cells, []string{r.Branch, note})
			}
			if asJSON {
				return c.out().JSON(rows)
			}
			return c.out().Table([]output.Column{{Name: "root", Flexible: true}, {Name: ""}}, cells)
		}),
	}
	output.JSONFlag[[]rootRow](cmd, &asJSON)
	return cmd
}

// key is the form of a Jira key that is typed: letters of any case.
var key = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Z][A-Z0-9_]*-[1-9][0-9]*$`) })

// links reads the flags of link.
func links(jira, pr string) (edit.Links, error) {
	var found edit.Links
	if jira != "" {
		// An address ends with the key.
		jira = jira[strings.LastIndex(strings.TrimRight(jira, "/"), "/")+1:]
		if found.Jira = strings.ToUpper(strings.TrimSpace(jira)); !key().MatchString(found.Jira) {
			return found, app.UsageError(fmt.Sprintf("invalid value %q for --jira: use a key such as PROJ-12", jira))
		}
	}
	if pr != "" {
		text := strings.TrimPrefix(pr, "#")
		if _, number, ok := strings.Cut(text, "/pull/"); ok {
			text, _, _ = strings.Cut(strings.FieldsFunc(number+" ", func(r rune) bool { return strings.ContainsRune("/?# ", r) })[0], " ")
		}
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil || n == 0 {
			return found, app.UsageError(fmt.Sprintf("invalid value %q for --pr: use a number such as 34, or the address of a pull request", pr))
		}
		found.PR = uint32(n)
	}
	return found, nil
}

func (c *cli) link() *cobra.Command {
	var jira, pr string
	cmd := &cobra.Command{
		Use:   "link [BRANCH]",
		Short: "Link a branch to a Jira issue, a pull request, or both",
		Long: `Link a branch, by default the one that is checked out, to a Jira issue, a pull request,
or both. What it was linked to of the same kind is replaced; the other kind stays.
Nothing is asked of the services.`,
		Example: "  copse branch link --jira PROJ-12\n  copse branch link feature/login --pr 34",
		Args:    app.Args(0, 1, "none or BRANCH"), ValidArgsFunction: c.completeBranches(1),
		RunE: c.run(func(ctx context.Context, p place, args []string) error {
			wanted, err := links(jira, pr)
			if err != nil {
				return err
			}
			if wanted == (edit.Links{}) {
				return app.UsageError("say what to link to: --jira KEY, --pr NUMBER, or both")
			}
			name, err := p.named(ctx, args)
			if err == nil {
				err = p.Check(ctx, name)
			}
			if err != nil {
				return err
			}
			changed, err := p.Change(ctx, func(d *edit.Draft) error { return d.Link(name, wanted) })
			if err != nil {
				return err
			}
			return c.said(changed, "%s is linked to %s", name, word(wanted))
		}),
	}
	cmd.Flags().StringVar(&jira, "jira", "", "the `key` of a Jira issue, or its address")
	cmd.Flags().StringVar(&pr, "pr", "", "the `number` of a pull request, or its address")
	return cmd
}

func word(l edit.Links) string {
	var words []string
	if l.Jira != "" {
		words = append(words, l.Jira)
	}
	if l.PR != 0 {
		words = append(words, fmt.Sprintf("#%d", l.PR))
	}
	return strings.Join(words, " and ")
}

func (c *cli) unlink() *cobra.Command {
	var jira, pr bool
	cmd := &cobra.Command{
		Use:     "unlink [BRANCH]",
		Short:   "Forget what a branch is linked to",
		Example: "  copse branch unlink --pr\n  copse branch unlink feature/login",
		Args:    app.Args(0, 1, "none or BRANCH"), ValidArgsFunction: c.completeBranches(1),
		RunE: c.run(func(ctx context.Context, p place, args []string) error {
			name, err := p.named(ctx, args)
			if err != nil {
				return err
			}
			both := jira == pr
			changed, err := p.Change(ctx, func(d *edit.Draft) error {
				d.Unlink(name, jira || both, pr || both)
				return nil
			})
			if err != nil {
				return err
			}
			if !changed {
				return errors.New(name + " is not linked to that")
			}
			return c.out().Line("%s is not linked to that any more", name)
		}),
	}
	cmd.Flags().BoolVar(&jira, "jira", false, "only the Jira issue")
	cmd.Flags().BoolVar(&pr, "pr", false, "only the pull request")
	return cmd
}
