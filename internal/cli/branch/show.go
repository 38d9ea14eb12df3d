package branch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/branch"
	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/cli/progress"
	"github.com/copse-dev/copse/internal/git/history"
	"github.com/copse-dev/copse/internal/remote"
	"github.com/copse-dev/copse/internal/workflow/projectcontext/wording"
	"github.com/copse-dev/copse/internal/workflow/stack"
)

// row is a branch in JSON.
type row struct {
	twig.Metadata
	Root    bool `json:"root,omitempty"`
	Current bool `json:"current,omitempty"`
	Missing bool `json:"missing,omitempty"`
}

// cells are the columns of a branch; for a person with what is special about it.
func (r row) cells(person bool) []string {
	pr := ""
	if r.PRNumber != 0 {
		pr = fmt.Sprintf("#%d", r.PRNumber)
	}
	cells := []string{r.Branch, r.ParentBranch, r.JiraIssue, pr}
	if !person {
		return cells
	}
	for i, c := range cells {
		cells[i] = cmp.Or(c, "-")
	}
	var notes []string
	for note, is := range map[string]bool{"root": r.Root, "here": r.Current, "not in git": r.Missing} {
		if is {
			notes = append(notes, note)
		}
	}
	slices.Sort(notes)
	return append(cells, strings.Join(notes, ", "))
}

var columns = []output.Column{
	{Name: "branch", Flexible: true}, {Name: "parent", Flexible: true}, {Name: "jira"}, {Name: "pr"}, {Name: "", Flexible: true},
}

func (c *cli) print(rows []row, asJSON bool) error {
	o := c.out()
	if asJSON {
		return o.JSON(append([]row{}, rows...))
	}
	var cells [][]string
	for _, r := range rows {
		cells = append(cells, r.cells(o.Terminal()))
	}
	if o.Terminal() {
		return o.Table(columns, cells)
	}
	return o.Table(columns[:4], cells)
}

func (c *cli) list() *cobra.Command {
	var tracked, asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the branches with their parents, issues and pull requests",
		Long: `List the local branches, and those that are written down and gone from git, with their
parents, issues and pull requests. In a pipe each line has branch, parent, issue and
pull request, separated by tabs.`,
		Example: "  copse branch list --tracked\n  copse branch list --json",
		Args:    app.NoArgs,
		RunE: c.run(func(ctx context.Context, p place, _ []string) error {
			state, err := p.State(ctx)
			if found, unread := p.Branches.State(ctx); unread == nil && !tracked {
				state, err = found, nil
			}
			if err != nil {
				return err
			}
			refs, err := p.Branches.Refs(ctx)
			if err != nil {
				return err
			}
			names := state.Names()
			if !tracked {
				names = branch.Names(state, refs)
			}
			current := p.Branches.Checked(ctx)
			rows := make([]row, len(names))
			for i, name := range names {
				rows[i] = row{Metadata: state.Metadata(name), Root: state.IsRoot(name), Current: name == current, Missing: !refs.Exists(name)}
			}
			return c.print(rows, asJSON)
		}),
	}
	cmd.Flags().BoolVar(&tracked, "tracked", false, "only those that are written down")
	output.JSONFlag[[]row](cmd, &asJSON)
	return cmd
}

func (c *cli) tree() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "tree [ROOT]",
		Short:   "Show branches below their parents",
		Example: "  copse branch tree\n  copse branch tree feature/login --json",
		Args:    app.Args(0, 1, "none or ROOT"), ValidArgsFunction: c.completeBranches(1),
		RunE: c.run(func(ctx context.Context, p place, args []string) error {
			root := ""
			if len(args) > 0 {
				var err error
				if root, err = p.named(ctx, args); err != nil {
					return err
				}
			}
			trees, err := p.Branches.Trees(ctx, root)
			if err != nil {
				return err
			}
			if asJSON {
				return c.out().JSON(forest{Node: *trees[0], OtherRoots: trees[1:]})
			}
			for _, tree := range trees {
				if err := c.out().Drawn(cleantext.Block(tree.Text())); err != nil {
					return err
				}
			}
			return nil
		}),
	}
	output.JSONFlag[forest](cmd, &asJSON)
	return cmd
}

// forest is the tree of the first root, with those of the other roots, in JSON.
type forest struct {
	branch.Node
	OtherRoots []*branch.Node `json:"other_roots,omitempty"`
}

func (c *cli) stack() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "stack [BRANCH]",
		Short:   "List a branch and the branches that it is stacked on, up to the root",
		Example: "  copse branch stack\n  copse branch stack feature/tests --json",
		Args:    app.Args(0, 1, "none or BRANCH"), ValidArgsFunction: c.completeBranches(1),
		RunE: c.run(func(ctx context.Context, p place, args []string) error {
			rows, err := c.rows(ctx, p, args)
			if err != nil {
				return err
			}
			return c.print(rows, asJSON)
		}),
	}
	output.JSONFlag[[]row](cmd, &asJSON)
	return cmd
}

// rows is the stack of the branch in args.
func (c *cli) rows(ctx context.Context, p place, args []string) ([]row, error) {
	start, err := p.named(ctx, args)
	if err != nil {
		return nil, err
	}
	state, err := p.Branches.State(ctx)
	if err != nil {
		return nil, err
	}
	stack, err := p.Branches.Stack(ctx, start)
	if err != nil {
		return nil, err
	}
	current := p.Branches.Checked(ctx)
	rows := make([]row, len(stack))
	for i, e := range stack {
		rows[i] = row{Metadata: e.Metadata, Missing: e.Missing, Root: state.IsRoot(e.Branch), Current: e.Branch == current}
	}
	return rows, nil
}

// standing is a branch of a stack with all that is known of it, in JSON.
type standing struct {
	stack.Context
	Root bool `json:"root,omitempty"`
	// Ahead and Behind compare with the parent; null where there is none to compare with.
	Ahead  *int `json:"ahead"`
	Behind *int `json:"behind"`
}

func (c *cli) status() *cobra.Command {
	var fresh, asJSON bool
	cmd := &cobra.Command{
		Use:   "status [BRANCH]",
		Short: "Show how a stack stands: commits, issues, pull requests and checks",
		Long: `Show, for a branch and those that it is stacked on, how many commits it has that its
parent has not and the other way round, and the state of its issue and pull request.
Issues and pull requests come from the last answers of their services and say how
old they are; --fresh asks again.`,
		Example: "  copse branch status --fresh",
		Args:    app.Args(0, 1, "none or BRANCH"), ValidArgsFunction: c.completeBranches(1),
		RunE: c.run(func(ctx context.Context, p place, args []string) error {
			stack, err := c.rows(ctx, p, args)
			if err != nil {
				return err
			}
			asking := ctx
			if !fresh {
				asking = remote.WithCachedOnly(ctx)
			}
			stop := progress.Show(c.env, "asking how the stack stands")
			defer stop()
			all, err := p.standings(ctx, asking, stack)
			if err != nil {
				return err
			}
			stop()
			if asJSON {
				return c.out().JSON(all)
			}
			return c.out().Drawn(strings.ReplaceAll(c.drawStatus(all), "fresh=true", "--fresh"))
		}),
	}
	cmd.Flags().BoolVar(&fresh, "fresh", false, "ask GitHub and Jira instead of showing their last answers")
	output.JSONFlag[[]standing](cmd, &asJSON)
	return cmd
}

// standings asks for all branches of a stack at once: the services with asking.
func (p place) standings(ctx, asking context.Context, stack []row) ([]standing, error) {
	const atOnce = 8 // a stack is seldom higher
	all := make([]standing, len(stack))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, r := range stack {
		group.Go(func() error {
			found, err := p.Branches.Context(asking, r.Branch, p.Services)
			if err != nil {
				return err
			}
			all[i] = standing{Context: found, Root: r.Root}
			if i+1 < len(stack) && !r.Missing && !stack[i+1].Missing {
				// A branch without a commit has none to count.
				if ahead, behind, err := history.Distance(ctx, p.Repo().Program(), r.Branch, stack[i+1].Branch); err == nil {
					all[i].Ahead, all[i].Behind = &ahead, &behind
				}
			}
			return nil
		})
	}
	return all, group.Wait()
}

func (c *cli) drawStatus(all []standing) string {
	o := c.out()
	var b strings.Builder
	for _, s := range all {
		var notes []string
		switch {
		case s.Missing:
			notes = append(notes, "not in git any more")
		case s.Ahead != nil:
			notes = append(notes, fmt.Sprintf("%s ahead of %s, %d behind", history.Count(*s.Ahead), s.ParentBranch, *s.Behind))
		case s.Root:
			notes = append(notes, "root")
		}
		if s.Current {
			notes = append(notes, "here")
		}
		line := o.Bold(cleantext.Line(s.Branch))
		if len(notes) > 0 {
			line += "  " + o.Faint(cleantext.Line(strings.Join(notes, "; ")))
		}
		fmt.Fprintln(&b, line)
		if s.JiraIssue != "" {
			fmt.Fprintf(&b, "  %s  %s\n", cleantext.Line(s.JiraIssue), wording.Issue(s.Jira, c.env.Now()).Plain())
		}
		if s.PRNumber != 0 {
			fmt.Fprintf(&b, "  #%d  %s\n", s.PRNumber, wording.PullRequest(s.PullRequest, c.env.Now()).Plain())
			if pr, ok := s.PullRequest.Get(); ok {
				for _, blocker := range pr.Summary.Blockers {
					fmt.Fprintln(&b, "    "+cleantext.Line(blocker))
				}
			}
		}
	}
	return b.String()
}
