// Package branch is "copse branch": which branches there are, how they are stacked, and
// what they are linked to, and the keeping of it in .twig/state.json, which the program
// twig keeps too.
//
// Commands that show are those of the tools, for a person; commands that change go
// through [edit.File]. Results go to stdout: tables at a terminal, tab-separated values in
// a pipe, JSON with --json.
package branch

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/branch/twig/edit"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/wiring"
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
		c.init(), c.list(), c.tree(), c.stack(), c.status(), c.track(), c.depend(), c.undepend(), c.root(), c.link(), c.unlink(), c.adopt(),
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
	repo *git.Repo
}

// run finds the repository for a command, and words its errors for a person.
func (c *cli) run(do func(ctx context.Context, p place, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		p, err := c.find(cmd.Context())
		if err == nil {
			err = do(cmd.Context(), p, args)
		}
		return explain(err)
	}
}

func (c *cli) find(ctx context.Context) (place, error) {
	return open(ctx, wiring.New(wiring.Options{Program: "copse", Env: c.env, Repo: c.repo}))
}

func open(ctx context.Context, sources *wiring.Sources) (place, error) {
	repo, err := sources.Session.Repo(ctx)
	return place{Sources: sources, repo: repo}, err
}

// explain returns an error in the words of the command line.
func explain(err error) error {
	e, ok := errors.AsType[*failure.Error](err)
	if !ok {
		return err
	}
	words := failure.Words{Program: "copse", Track: "copse branch init", Repair: wiring.RepairState, Login: "copse mcp doctor --online", Branches: "copse branch list"}
	text := strings.TrimSuffix(e.Message(words), ".")
	if advice := e.Hint(words); advice != "" {
		text += ". " + advice
	}
	return errors.New(cleantext.Line(text))
}

// state is what is written down; empty where there is nothing yet.
func (p place) state(ctx context.Context) (*twig.State, error) {
	state, err := p.Session.View().State(ctx)
	if errors.Is(err, twig.ErrNoState) {
		return &twig.State{}, nil
	}
	return state, err
}

// change changes what is written down: the worktree's own file if it has one, else that of
// the main worktree.
func (c *cli) change(ctx context.Context, p place, do func(*edit.Draft) error) (bool, error) {
	root := p.repo.Root()
	if root == "" {
		return false, errors.New("a bare repository has no place for " + twig.Name)
	}
	if main := p.repo.MainRoot(); main != "" && !exists(twig.Path(root)) {
		root = main
	}
	changed, err := edit.At(root, c.env.Now).Change(ctx, do)
	if _, bad := errors.AsType[*twig.BadStateError](err); bad {
		err = session.Explain(err)
	}
	return changed, err
}

// current is the branch that a command without one is about.
func (p place) current(ctx context.Context) (string, error) {
	head, err := p.Session.View().Head(ctx)
	if err != nil {
		return "", err
	}
	if head.Detached {
		return "", app.UsageError("no branch is checked out: name one")
	}
	return head.Branch, nil
}

// named is the one branch of the arguments: "." and none are the current one.
func (p place) named(ctx context.Context, args []string) (string, error) {
	if len(args) == 0 || args[0] == "." {
		return p.current(ctx)
	}
	return args[0], nil
}

// check refuses a name that git does not have: it is a slip as a rule. What the state
// knows may be gone from git.
func (p place) check(ctx context.Context, names ...string) error {
	state, err := p.state(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if state.Known(name) || name == p.Branches.Checked(ctx) {
			continue
		}
		if has, err := p.repo.HasBranch(ctx, name); err != nil || !has {
			if err != nil {
				return session.Explain(err)
			}
			return p.unknown(ctx, state, name)
		}
	}
	return nil
}
