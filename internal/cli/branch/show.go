package branch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/branch"
	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/cli/progress"
	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/foreign"
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

// notes returns the special states of a branch.
func notes(current, trunk, missing bool) string {
	var list []string
	if current {
		list = append(list, "current")
	}
	if trunk {
		list = append(list, "trunk")
	}
	if missing {
		list = append(list, "not in git")
	}
	return strings.Join(list, ", ")
}

// cells returns the columns of a branch. A person sees a dash for a missing value.
func (r row) cells(person bool) []string {
	pr := ""
	if r.PRNumber != 0 {
		pr = fmt.Sprintf("#%d", r.PRNumber)
	}
	cells := []string{r.Branch, r.ParentBranch, r.JiraIssue, pr}
	if person {
		for i, c := range cells {
			cells[i] = cmp.Or(c, "-")
		}
	}
	return append(cells, notes(r.Current, r.Root, r.Missing))
}

var columns = []output.Column{
	{Name: "branch", Handle: true}, {Name: "parent", Handle: true}, {Name: "jira"}, {Name: "pr"}, {Name: "note"},
}

func (c *cli) print(rows []row, asJSON bool) error {
	o := c.out()
	if asJSON {
		for i := range rows {
			if rows[i].ParentBranch != "" {
				rows[i].Source = cmp.Or(rows[i].Source, twigSource)
			}
		}
		return o.JSON(append([]row{}, rows...))
	}
	var cells [][]string
	for _, r := range rows {
		cells = append(cells, r.cells(o.Terminal()))
	}
	return o.Table(columns, cells)
}

func (c *cli) list() *cobra.Command {
	var tracked, asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List branches with their parents, issues, and pull requests",
		Long: `List the local branches with their parents, issues, and pull requests. The list includes
tracked branches that no longer exist in git. In a pipe, each line has branch, parent, issue,
pull request, and notes ("current", "trunk", "not in git"), separated by tabs.`,
		Example: "  copse branch list --tracked\n  copse branch list --json",
		Args:    app.NoArgs,
		RunE: c.run(func(ctx context.Context, p repository, _ []string) error {
			state, err := p.State(ctx)
			if found, unread := p.Branches.Stacked(ctx); unread == nil && !tracked {
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
			if len(rows) == 0 {
				c.note("no branch is tracked; `copse branch adopt` proposes what to track")
			}
			return c.print(rows, asJSON)
		}),
	}
	cmd.Flags().BoolVar(&tracked, "tracked", false, "list only tracked branches")
	output.JSONFlag[[]row](cmd, &asJSON)
	return cmd
}

func (c *cli) tree() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "tree [BRANCH]",
		Short:   "Show branches below their parents",
		Long:    "Show branches below their parents, from the default trunk or from BRANCH. A star marks the\ncurrent branch. In a pipe, the tree is drawn, too; programs can use --json.",
		Example: "  copse branch tree\n  copse branch tree feature/login --json",
		Args:    app.Args(0, 1, "no argument, or BRANCH"), ValidArgsFunction: c.completeBranches(1),
		RunE: c.run(func(ctx context.Context, p repository, args []string) error {
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
				if err := c.out().Fold(cleantext.Block(tree.MarkedText())); err != nil {
					return err
				}
			}
			return nil
		}),
	}
	output.JSONFlag[forest](cmd, &asJSON)
	return cmd
}

// forest is the tree of the first trunk, with those of the other trunks, in JSON.
type forest struct {
	branch.Node
	OtherRoots []*branch.Node `json:"other_roots,omitempty"`
}

func (c *cli) stack() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "stack [BRANCH]",
		Short:   "List a branch and its ancestors, down to the trunk",
		Long:    "List a branch, by default the current one, and the branches below it in the stack, down to the\ntrunk. In a pipe, the columns are those of \"copse branch list\".",
		Example: "  copse branch stack\n  copse branch stack feature/tests --json",
		Args:    app.Args(0, 1, "no argument, or BRANCH"), ValidArgsFunction: c.completeBranches(1),
		RunE: c.run(func(ctx context.Context, p repository, args []string) error {
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

// rows returns the stack of the branch in args.
func (c *cli) rows(ctx context.Context, p repository, args []string) ([]row, error) {
	start, err := p.named(ctx, args)
	if err != nil {
		return nil, err
	}
	state, err := p.Branches.Stacked(ctx)
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

// standing is a branch of a stack with all known data, in JSON.
type standing struct {
	stack.Context
	Root bool `json:"root,omitempty"`
	// Ahead and Behind compare with the parent; null if there is none.
	Ahead  *int `json:"ahead"`
	Behind *int `json:"behind"`
}

func (c *cli) status() *cobra.Command {
	var fresh, asJSON bool
	cmd := &cobra.Command{
		Use:   "status [BRANCH]",
		Short: "Show commits, issues, pull requests, and checks of a stack",
		Long: `Show, for a branch and its ancestors, the commits ahead of and behind the parent, and the state
of the Jira issue and the pull request. copse shows the last answers of GitHub and Jira with
their age; --fresh asks again. In a pipe, each line has branch, parent, commits ahead, commits
behind, issue, state of the issue, pull request, state of the pull request, and notes, separated
by tabs.`,
		Example: "  copse branch status --fresh",
		Args:    app.Args(0, 1, "no argument, or BRANCH"), ValidArgsFunction: c.completeBranches(1),
		RunE: c.run(func(ctx context.Context, p repository, args []string) error {
			stack, err := c.rows(ctx, p, args)
			if err != nil {
				return err
			}
			asking := ctx
			if !fresh {
				asking = remote.WithCachedOnly(ctx)
			}
			stop := progress.Show(c.env, "waiting for GitHub and Jira")
			defer stop()
			all, err := p.standings(ctx, asking, stack)
			if err != nil {
				return err
			}
			stop()
			if asJSON {
				return c.out().JSON(all)
			}
			why := &reasons{}
			if o := c.out(); !o.Terminal() {
				err = o.Table(make([]output.Column, statusColumns), c.statusRows(all, why))
			} else {
				err = o.Fold(c.drawStatus(all, why))
			}
			for _, line := range why.lines {
				c.note(line)
			}
			return err
		}),
	}
	cmd.Flags().BoolVar(&fresh, "fresh", false, "request new answers from GitHub and Jira")
	output.JSONFlag[[]standing](cmd, &asJSON)
	return cmd
}

// standings reads all branches of a stack at once, and sends requests to the services if asking is
// set.
func (p repository) standings(ctx, asking context.Context, stack []row) ([]standing, error) {
	const atOnce = 8 // few stacks are higher
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
				// A branch without a commit has nothing to count.
				if ahead, behind, err := history.Distance(ctx, p.Repo().Program(), r.Branch, stack[i+1].Branch); err == nil {
					all[i].Ahead, all[i].Behind = &ahead, &behind
				}
			}
			return nil
		})
	}
	return all, group.Wait()
}

// statusColumns is the number of columns in a pipe.
const statusColumns = 9

// reasons are why GitHub and Jira report nothing, each once.
type reasons struct{ lines []string }

// state returns the known state of an issue or a pull request. For another one, it returns a few
// words, and keeps the reason.
func state[T any](why *reasons, f fact.Fact[T], jira bool, known foreign.Line) string {
	brief, line, unknown := wording.Unknown(f, jira)
	if !unknown {
		return known.Plain()
	}
	if text := strings.ReplaceAll(line.Plain(), "fresh=true", "--fresh"); !slices.Contains(why.lines, text) {
		why.lines = append(why.lines, text)
	}
	return brief.Plain()
}

func (c *cli) issue(s standing, why *reasons) string {
	return state(why, s.Jira, true, wording.Issue(s.Jira, c.env.Now()))
}

func (c *cli) pull(s standing, why *reasons) string {
	return state(why, s.PullRequest, false, wording.PullRequest(s.PullRequest, c.env.Now()))
}

// statusRows returns a line for each branch, for a program.
func (c *cli) statusRows(all []standing, why *reasons) [][]string {
	rows := make([][]string, len(all))
	for i, s := range all {
		row := make([]string, statusColumns)
		row[0], row[1], row[8] = s.Branch, s.ParentBranch, notes(s.Current, s.Root, s.Missing)
		if s.Ahead != nil && s.Behind != nil {
			row[2], row[3] = strconv.Itoa(*s.Ahead), strconv.Itoa(*s.Behind)
		}
		if s.JiraIssue != "" {
			row[4], row[5] = s.JiraIssue, c.issue(s, why)
		}
		if s.PRNumber != 0 {
			row[6], row[7] = fmt.Sprintf("#%d", s.PRNumber), c.pull(s, why)
		}
		rows[i] = row
	}
	return rows
}

func (c *cli) drawStatus(all []standing, why *reasons) string {
	o := c.out()
	var b strings.Builder
	for _, s := range all {
		var notes []string
		switch {
		case s.Missing:
			notes = append(notes, "no longer in git")
		case s.Ahead != nil:
			notes = append(notes, fmt.Sprintf("%s ahead of %s, %d behind", cleantext.Count(*s.Ahead, "commit"), s.ParentBranch, *s.Behind))
		case s.Root:
			notes = append(notes, "trunk")
		}
		if s.Current {
			notes = append(notes, "current")
		}
		line := o.Bold(cleantext.Line(s.Branch))
		if len(notes) > 0 {
			line += "  " + o.Faint(cleantext.Line(strings.Join(notes, "; ")))
		}
		fmt.Fprintln(&b, line)
		if s.JiraIssue != "" {
			fmt.Fprintf(&b, "  %s  %s\n", cleantext.Line(s.JiraIssue), c.issue(s, why))
		}
		if s.PRNumber != 0 {
			fmt.Fprintf(&b, "  #%d  %s\n", s.PRNumber, c.pull(s, why))
			if pr, ok := s.PullRequest.Get(); ok {
				for _, blocker := range pr.Summary.Blockers {
					fmt.Fprintln(&b, "    "+cleantext.Line(blocker))
				}
			}
		}
	}
	return b.String()
}
