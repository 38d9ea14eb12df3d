package item

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/item/itemcmd"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/workflow/backlog"
)

// linked is a link in JSON.
type linked struct {
	ID          item.ID `json:"id"`
	Branch      string  `json:"branch,omitempty"`
	Worktree    string  `json:"worktree,omitempty"`
	PullRequest string  `json:"pull_request,omitempty"`
}

func (c cli) link() *cobra.Command {
	var branch, worktree, pullRequest string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "link ID",
		Short: "Link an item to a branch, a worktree, and a pull request",
		Long: `Link an item to the branch, the worktree, and the pull request of the work on it. Without flags,
show the links. An empty value clears a link. The links are in .tic/links, which the original
program tic ignores.`,
		Example: fmt.Sprintf("  %[1]s link 3 --branch login --pr 12\n  %[1]s link 3 --worktree \"\"", c.Program),
		Args:    app.Args(1, 1, "ID"), ValidArgsFunction: c.CompleteItem,
	}
	f := cmd.Flags()
	f.StringVar(&branch, "branch", "", "set the `branch`; empty clears it")
	f.StringVar(&worktree, "worktree", "", "set the `directory` of the worktree; empty clears it")
	f.StringVar(&pullRequest, "pr", "", "set the pull request: a `number`, owner/name#12, or a URL; empty clears it")
	output.JSONFlag[linked](cmd, &asJSON)
	cmd.RunE = c.Run(func(ctx context.Context, s item.Store, args []string) error {
		id, err := itemcmd.ParseID(args[0])
		if err != nil {
			return err
		}
		var p item.Patch
		for name, field := range map[string]struct {
			value *string
			into  **string
		}{"branch": {&branch, &p.Branch}, "worktree": {&worktree, &p.Worktree}, "pr": {&pullRequest, &p.PullRequest}} {
			if f.Changed(name) {
				*field.into = field.value
			}
		}
		it, err := s.Item(ctx, id)
		o := c.Out()
		if err == nil && p != (item.Patch{}) {
			o = c.Out()
			it, err = s.Update(ctx, id, p)
		}
		if err != nil {
			return err
		}
		return printLink(o, &it, asJSON)
	})
	return cmd
}

func printLink(o *output.Writer, it *item.Item, asJSON bool) error {
	l := it.Link
	if asJSON {
		return o.JSON(linked{it.ID, l.Branch, l.Worktree, l.PullRequest})
	}
	return o.Table([]output.Column{{Name: "link"}, {Name: "value", Flexible: true}}, [][]string{
		{"branch", l.Branch}, {"worktree", l.Worktree}, {"pull_request", l.PullRequest},
	})
}

// started is the proposal or outcome of start in JSON.
type started struct {
	backlog.Start
	Ran bool `json:"ran"`
}

func (c cli) start() *cobra.Command {
	var o backlog.StartOptions
	var run, asJSON bool
	cmd := &cobra.Command{
		Use:   "start ID",
		Short: "Propose a branch for an item, and print the git command",
		Long: `Propose a branch for an item, and print the git command that creates it from the current commit,
in this worktree, or in a new one with --worktree. With --run, also run the command, link the item
to the branch, and set the item in progress if it is not started and the project has a status
in-progress. A linked item keeps its branch. No hook or filter of the repository runs. An item that another
agent holds is refused.`,
		Example: fmt.Sprintf("  %[1]s start 3\n  %[1]s start 3 --worktree --run", c.Program),
		Args:    app.Args(1, 1, "ID"), ValidArgsFunction: c.CompleteItem,
	}
	f := cmd.Flags()
	f.StringVar(&o.Branch, "branch", "", "use another `name` for the branch")
	f.BoolVar(&o.NewWorktree, "worktree", false, "create a new worktree, .worktrees/<branch> in the main one")
	f.BoolVar(&run, "run", false, "run the command")
	output.JSONFlag[started](cmd, &asJSON)
	cmd.RunE = c.Run(func(ctx context.Context, s item.Store, args []string) error {
		id, err := itemcmd.ParseID(args[0])
		if err != nil {
			return err
		}
		repo, err := git.Discover(ctx, c.Env.Dir, git.Options{Env: c.Env.Environ})
		if err != nil {
			return err
		}
		work := backlog.New(s)
		plan, err := work.PlanStart(ctx, repo, id, o)
		if err != nil {
			return err
		}
		out := c.Out()
		if run {
			out = c.Out()
			if err := work.Begin(ctx, repo, plan); err != nil {
				return err
			}
		}
		if asJSON {
			return out.JSON(started{plan, run})
		}
		if run && plan.Worktree != "" {
			c.Env.Note("note: to work on the item, run " + shellLine([]string{"cd", plan.Worktree}))
		}
		return out.Line("%s", shellLine(plan.Command))
	})
	return cmd
}

// shellLine returns a command as a person would type it.
func shellLine(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = word
		if strings.ContainsFunc(word, func(r rune) bool {
			return !strings.ContainsRune("-_./:=,@+", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r < 0x80
		}) {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
