// Package branch is "copse branch": which branches there are, how they are stacked, and
// what they are linked to, and the keeping of it in .twig/state.json, which the program
// twig keeps too.
//
// Commands that show are those of the tools, for a person; commands that change go
// through package track. Results go to stdout: tables at a terminal, tab-separated values in
// a pipe, JSON with --json.
package branch

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/wiring"
	"github.com/copse-dev/copse/internal/wiring/workspace"
	"github.com/copse-dev/copse/internal/workflow/track"
)

// Command is "copse branch".
func Command(env app.Env) *cobra.Command {
	c := &cli{env: env}
	cmd := &cobra.Command{
		Use:   "branch",
		Short: "See and keep how branches are stacked, and what they belong to",
		Long: `See and keep how branches are stacked, and which Jira issue and pull request each
belongs to. It is kept in .twig/state.json, which the program twig reads and writes
too. A linked worktree without such a file shares that of the main worktree.
No command here changes a branch of git or anything at GitHub or Jira.`,
		Example: `  copse branch init                  # once in a repository
  copse branch adopt                 # propose parents, issues and pull requests
  copse branch depend feature/tests feature/login
  copse branch link --jira PROJ-12 --pr 34
  copse branch tree`,
		Args: app.Subcommands,
		RunE: app.Help,
	}
	cmd.PersistentFlags().StringVar(&c.repo, "repo", "", "the `path` of the repository (default: found from the working folder upwards)")
	cmd.AddCommand(
		c.init(), c.list(), c.tree(), c.stack(), c.status(), c.track(), c.depend(), c.undepend(), c.root(), c.link(), c.unlink(), c.adopt(), c.untrack(), c.prune(),
	)
	return cmd
}

// cli is what all commands have.
type cli struct {
	env  app.Env
	repo string
}

func (c *cli) out() *output.Writer { return output.New(c.env) }

// place is the repository that a command is about.
type place struct {
	*wiring.Sources
	*track.Tracker
}

// run finds the repository for a command, and words its errors for a person.
func (c *cli) run(do func(ctx context.Context, p place, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		p, err := c.find(cmd.Context())
		if err == nil {
			c.note(p.Branches.Note(cmd.Context()))
			err = do(cmd.Context(), p, args)
		}
		return explain(err)
	}
}

func (c *cli) find(ctx context.Context) (place, error) {
	return c.open(ctx, wiring.New(wiring.Options{Program: "copse", Env: c.env, Repo: c.repo, Recorded: workspace.Recorded(c.env)}))
}

func (c *cli) open(ctx context.Context, sources *wiring.Sources) (place, error) {
	tracker, err := track.Open(ctx, sources.Session, sources.Pulls, c.env.Now)
	return place{Sources: sources, Tracker: tracker}, err
}

// explain returns an error in the words of the command line.
func explain(err error) error {
	if errors.Is(err, track.ErrNoBranch) {
		return app.UsageError(err.Error())
	}
	if stacked, ok := errors.AsType[*track.StackedError](err); ok {
		return fmt.Errorf("%w; `copse branch depend --replace` moves it, and `--add` gives it one more parent", stacked)
	}
	return output.Explain(err)
}

// named is the one branch of the arguments: "." and none are the current one.
func (p place) named(ctx context.Context, args []string) (string, error) {
	if len(args) == 0 || args[0] == "." {
		return p.Current(ctx)
	}
	return args[0], nil
}
