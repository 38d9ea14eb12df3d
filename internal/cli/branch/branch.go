// Package branch implements "copse branch": the branches of a repository, their parents and trunks,
// and their links. copse tracks them in .twig/state.json, a file that it shares with the program
// twig.
//
// Commands that show data give a person the answers of the tools; commands that change data use
// package track. Results go to stdout: tables at a terminal, tab-separated values in a pipe, JSON
// with --json.
package branch

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/wiring"
	"github.com/copse-dev/copse/internal/wiring/full"
	"github.com/copse-dev/copse/internal/workflow/track"
)

// Command returns "copse branch".
func Command(env app.Env) *cobra.Command {
	c := &cli{env: env}
	cmd := &cobra.Command{
		Use:   "branch",
		Short: "Track the parents, Jira issues, and pull requests of branches",
		Long: `Track how branches are stacked, and the Jira issue and pull request of each. The data is in
.twig/state.json, which copse shares with the program twig. A linked worktree without this file
uses the file of the main worktree. These commands never change a git branch, GitHub, or Jira.`,
		Example: `  copse branch init    # once in each repository
  copse branch adopt   # propose parents, issues, and pull requests
  copse branch parent feature/tests feature/login
  copse branch link --jira PROJ-12 --pr 34
  copse branch tree`,
		Args: app.Expect(map[string]string{
			"create new add":     "copse never changes your branches: use `git switch -c BRANCH`, then `copse branch track`",
			"checkout switch co": "copse never changes your branches: use `git switch BRANCH`",
			"delete rm remove":   "copse never changes your branches: use `git branch -d BRANCH`, then `copse branch prune`",
			"rename move mv":     "copse never changes your branches: use `git branch -m NEW`, then `copse branch prune`",
			"restack rebase onto sync up down top bottom next prev previous cascade": "copse never changes your branches: use git or your stack tool; `copse stack` names the next command",
			"submit push merge squash":    "copse never changes your branches: use git, `gh pr`, or your stack tool; `copse stack` names the next command",
			"pr pull-request":             "use `copse branch status` or `copse stack` to see pull requests, and `copse branch link --pr NUMBER` to link one",
			"issue jira":                  "use `copse branch link --jira KEY`",
			"ls":                          "did you mean `copse branch list`?",
			"show view info":              "did you mean `copse branch status`?",
			"log":                         "did you mean `copse branch tree` or `copse branch stack`?",
			"edit update set-parent base": "did you mean `copse branch parent` or `copse branch link`?",
		}),
		RunE: app.Help,
	}
	app.ExpectFlags(cmd, map[string]string{
		"d D delete":                             "copse never changes your branches: use `git branch -d BRANCH`, then `copse branch prune`",
		"m M move":                               "copse never changes your branches: use `git branch -m NEW`, then `copse branch prune`",
		"a all r remotes v vv list show-current": "did you mean `copse branch list` or `copse branch status`?",
	})
	cmd.PersistentFlags().StringVar(&c.repo, "repo", "", "the `path` of the repository (default: the one that contains the current directory)")
	cmd.AddCommand(
		c.init(), c.list(), c.tree(), c.stack(), c.status(), c.track(), c.parent(), c.depend(), c.undepend(), c.trunk(), c.link(), c.unlink(), c.adopt(), c.untrack(), c.prune(),
	)
	return cmd
}

// cli is shared by all commands.
type cli struct {
	env  app.Env
	repo string
}

func (c *cli) out() *output.Writer { return output.New(c.env) }

// repository is that of a command.
type repository struct {
	*wiring.Sources
	*track.Tracker
}

// run finds the repository for a command, and explains its errors to a person.
func (c *cli) run(do func(ctx context.Context, p repository, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		p, err := c.find(cmd.Context())
		if err == nil {
			c.note(p.Branches.Note(cmd.Context()))
			err = do(cmd.Context(), p, args)
		}
		return explain(err)
	}
}

func (c *cli) find(ctx context.Context) (repository, error) {
	return c.open(ctx, wiring.New(wiring.Options{Program: "copse", Env: c.env, Repo: c.repo, Recorded: full.Recorded(c.env)}))
}

func (c *cli) open(ctx context.Context, sources *wiring.Sources) (repository, error) {
	tracker, err := track.Open(ctx, sources.Session, sources.Pulls, c.env.Now)
	return repository{Sources: sources, Tracker: tracker}, err
}

// explain returns an error in the words of the command line.
func explain(err error) error {
	if errors.Is(err, track.ErrNoBranch) {
		return app.UsageError(err.Error())
	}
	if stacked, ok := errors.AsType[*track.StackedError](err); ok {
		return fmt.Errorf("%w; `%s` moves it, and `--add` adds a parent", stacked, cleantext.Command("copse", "branch", "parent", stacked.Branch, "PARENT"))
	}
	return output.Explain(err)
}

// existing returns the branches that the arguments name, all of which exist.
func (p repository) existing(ctx context.Context, args ...string) ([]string, error) {
	names, err := p.names(ctx, args)
	if err != nil {
		return nil, err
	}
	return names, p.Check(ctx, names...)
}

// names returns the branches that the arguments name.
func (p repository) names(ctx context.Context, args []string) (names []string, err error) {
	for _, arg := range args {
		name, err := p.named(ctx, []string{arg})
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// one returns the first branch of the arguments, which exists.
func (p repository) one(ctx context.Context, args []string) (string, error) {
	name, err := p.named(ctx, args)
	if err == nil {
		err = p.Check(ctx, name)
	}
	return name, err
}

// named returns the first branch of the arguments. "." and no argument mean the current branch.
func (p repository) named(ctx context.Context, args []string) (string, error) {
	if len(args) == 0 || args[0] == "." {
		return p.Current(ctx)
	}
	return args[0], nil
}
