// Package itemlink implements the commands that connect work items with branches, worktrees, and pull
// requests.
package itemlink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/item/itemcmd"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/wiring/full"
	"github.com/copse-dev/copse/internal/workflow/backlog"
	"github.com/copse-dev/copse/internal/workflow/claims"
	"github.com/copse-dev/copse/internal/workflow/track"
	"github.com/copse-dev/copse/internal/workflow/verdict/nextstep"
)

// Commands returns the commands.
func Commands(b itemcmd.Base) []*cobra.Command {
	c := cli{b}
	return []*cobra.Command{c.link(), c.start()}
}

// cli is shared by both commands.
type cli struct{ itemcmd.Base }

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
	cmd.RunE = c.Run(func(ctx context.Context, s storage.Store, args []string) error {
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
		if it.Link.Branch+it.Link.Worktree+it.Link.PullRequest == "" && o.Terminal() {
			c.Env.Notef("note: the item has no links; `%s start %d` proposes a branch", c.Program, it.ID)
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
	// Claim is the claim of the started item.
	Claim *backlog.Claim `json:"claim,omitempty"`
}

func (c cli) start() *cobra.Command {
	var o backlog.StartOptions
	var run, asJSON bool
	cmd := &cobra.Command{
		Use:   "start ID",
		Short: "Propose a branch for an item, and with --run, start work on it",
		Long: `Propose a branch for an item, and print the git command that creates it from the current commit, or
from another branch with --base, in this worktree, or in a new one with --worktree. Without --run,
nothing changes. With --run, also run the command, and
  - claim the item for the worktree;
  - assign it to you if it is assigned to nobody;
  - link it to the branch;
  - set it in progress if it is not started and the project has a status in-progress;
  - record the branch on which it starts as the parent if copse tracks the branches of the repository.

The claim is like that of "claim". An assistant in the worktree can use it: it can take the item
over, finish it, and release it. A linked item keeps its branch. No hook or filter of the
repository runs. The command fails if another agent holds the item, or if the new worktree would
not have it, because .tic is committed without it.`,
		Example: fmt.Sprintf("  %[1]s start 3\n  %[1]s start 3 --worktree --base main\n  %[1]s start 3 --worktree --run", c.Program),
		Args:    app.Args(1, 1, "ID"), ValidArgsFunction: c.CompleteItem,
	}
	f := cmd.Flags()
	f.StringVar(&o.Branch, "branch", "", "use another `name` for the branch")
	f.StringVar(&o.Base, "base", "", "start a new branch on this `branch`, such as the trunk (default: the current one)")
	f.BoolVar(&o.NewWorktree, "worktree", false, "create a new worktree in .worktrees of the main one")
	f.BoolVar(&run, "run", false, "run the command")
	output.JSONFlag[started](cmd, &asJSON)
	if err := cmd.RegisterFlagCompletionFunc("base", c.completeBranch); err != nil {
		panic(err) // the flag is defined above
	}
	cmd.RunE = c.RunIn(func(ctx context.Context, ws *full.Workspace, s storage.Store, args []string) error {
		id, err := itemcmd.ParseID(args[0])
		if err != nil {
			return err
		}
		repo, err := git.Discover(ctx, c.Env.Dir, git.Options{Env: c.Env.Environ, Self: c.Env.Self})
		if err != nil {
			return err
		}
		work := backlog.New(s)
		o.Redact = c.Env.Secrets.Redact
		plan, err := work.PlanStart(ctx, repo, id, o)
		if err != nil {
			return c.explainStart(ctx, ws, err)
		}
		out, done := c.Out(), started{Start: plan, Ran: run}
		if run {
			if done.Claim, err = c.run(ctx, ws, s, plan, func(ctx context.Context) error { return work.Begin(ctx, repo, plan) }); err != nil {
				return err
			}
		}
		if asJSON {
			return out.JSON(done)
		}
		if !run {
			err := out.Whole(cleantext.Command(plan.Command...))
			c.Env.Note("note: nothing has changed; --run runs this command, claims the item, and links it to the branch")
			return err
		}
		if err := c.begun(ctx, s, plan); err != nil {
			return err
		}
		if plan.Worktree != "" {
			c.Env.Notef("note: to work on the item, run `%s`", cleantext.Command("cd", plan.Worktree))
		}
		return nil
	})
	return cmd
}

// completeBranch offers the branches of git.
func (c cli) completeBranch(cmd *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	names, err := full.Find(cmd.Context(), c.Env, "").Session.View().Branches(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.HasPrefix(name, prefix) }), cobra.ShellCompDirectiveNoFileComp
}

// run starts work on an item by do, and reports what else it records. It returns the claim of the item.
func (c cli) run(ctx context.Context, ws *full.Workspace, s storage.Store, plan backlog.Start, do func(context.Context) error) (*backlog.Claim, error) {
	got, err := begin(ctx, ws.Claims(s), plan, do)
	if err != nil {
		return nil, err
	}
	c.NoteClaim(got)
	c.Env.Notef("note: claimed until %s", got.Claim.Expires.UTC().Format(time.RFC3339))
	if err := c.recordThere(ctx, s, plan); err != nil {
		c.Env.Notef("warning: the items of the new worktree do not have the new state: %v; there, run `%s start %d --run`", err, c.Program, plan.ID)
	}
	if err := c.recordParent(ctx, ws, plan); err != nil {
		c.Env.Notef("warning: the parent of %s is not recorded: %v; run `%s`", plan.Branch, err, cleantext.Command("copse", "branch", "parent", plan.Branch, plan.Parent))
	}
	return backlog.ClaimOf(got.Claim), nil
}

// begun prints what the start of work on an item has changed.
func (c cli) begun(ctx context.Context, s storage.Store, plan backlog.Start) error {
	it, err := s.Item(ctx, plan.ID)
	if err != nil {
		return err
	}
	out := c.Out()
	return errors.Join(
		out.Whole("Ran: "+cleantext.Command(plan.Command...)),
		out.Line("#%d %s: %s, linked to the branch %s", it.ID, it.Title, it.Status, it.Link.Branch),
	)
}

// begin claims an item for the worktree of a start, and calls do as its holder. A claim in this
// worktree moves to the new one. If do fails, everything is as before.
func begin(ctx context.Context, c *claims.Claims, s backlog.Start, do func(context.Context) error) (claims.Taken, error) {
	worker := claim.WithAgent(ctx, s.Worker(claim.AgentOf(ctx)))
	moves := s.Held && s.Worktree != ""
	if moves {
		if _, err := c.Release(ctx, s.ID, false); err != nil {
			return claims.Taken{}, err
		}
	}
	got, err := c.Claim(worker, storage.ClaimRequest{ID: s.ID})
	if err != nil {
		return claims.Taken{}, err
	}
	if err := do(worker); err != nil {
		if !s.Held || moves {
			_, released := c.Release(worker, s.ID, false)
			err = errors.Join(err, released)
		}
		if moves {
			_, claimed := c.Claim(ctx, storage.ClaimRequest{ID: s.ID})
			err = errors.Join(err, claimed)
		}
		return claims.Taken{}, err
	}
	return got, nil
}

// explainStart adds the next step to an error of an item that the same person holds in another
// worktree, and of a branch or directory that exists.
func (c cli) explainStart(ctx context.Context, ws *full.Workspace, err error) error {
	if unknown, ok := errors.AsType[*backlog.UnknownBaseError](err); ok {
		tracker, err := track.Open(ctx, ws.Session, ws.Pulls, c.Env.Now)
		if err != nil {
			return err
		}
		return tracker.Unknown(ctx, &twig.State{}, unknown.Branch)
	}
	if held, ok := errors.AsType[*storage.HeldError](err); ok {
		by, me := held.Claim.Holder, claim.AgentOf(ctx)
		if there := me.Worktree != by.Worktree; there && by.Name == me.Name && by.Host == me.Host && by.Process == me.Process {
			return itemcmd.Explained(err, fmt.Sprintf("to work on it there, run `%s`", cleantext.Command("cd", by.Worktree)))
		}
	}
	if missing, ok := errors.AsType[*backlog.NotInCommitError](err); ok {
		commit := "commit " + cleantext.Line(missing.Store)
		if missing.Branch != "" {
			commit += " to that branch"
		}
		return fmt.Errorf("%w; %s first, or run `%s --shared` to share the items with all worktrees", err, commit, c.InitCommand)
	}
	if taken, ok := errors.AsType[*backlog.CheckedOutError](err); ok && !taken.InThisWorktree {
		return fmt.Errorf("%w; run `%s`", err, cleantext.Command("cd", taken.Path))
	} else if ok {
		return fmt.Errorf("%w; choose another branch with --branch, or work on the item here, without --worktree", err)
	}
	if taken, ok := errors.AsType[*backlog.OccupiedError](err); ok {
		return fmt.Errorf("%w; choose another branch with --branch, or, if it is an old worktree, run `%s`", err, cleantext.Command("git", "worktree", "remove", taken.Path))
	}
	return err
}

// recordThere records a start in the new worktree if that has a store of its own. Both versions of
// the item have the same time, so that git can merge them.
func (c cli) recordThere(ctx context.Context, s storage.Store, plan backlog.Start) error {
	here, ok := s.(*local.Store)
	if !ok || plan.Worktree == "" {
		return nil
	}
	it, err := s.Item(ctx, plan.ID)
	if err != nil {
		return err
	}
	env := c.Env
	env.Dir = plan.Worktree
	if at, err := time.Parse(time.RFC3339, it.Updated); err == nil {
		env.Now = func() time.Time { return at }
	}
	there := full.Find(ctx, env, "").FilesOfItems()
	defer there.Close()
	if place, err := there.Path(); err != nil || sameAs(here, place) {
		return err
	}
	return backlog.New(there).Record(claim.WithAgent(ctx, plan.Worker(claim.AgentOf(ctx))), plan)
}

// sameAs reports whether a store is at a path.
func sameAs(s *local.Store, path string) bool {
	own, err := s.Path()
	return err == nil && own == path
}

// recordParent tracks a new branch with its parent if copse tracks the branches of the repository.
// If a stack tool manages them, it names that tool's command instead. Otherwise, git's reflog names
// the parent.
func (c cli) recordParent(ctx context.Context, ws *full.Workspace, s backlog.Start) error {
	if s.Parent == "" {
		return nil
	}
	tracker, err := track.Open(ctx, ws.Session, ws.Pulls, c.Env.Now)
	if err != nil {
		return err
	}
	own, err := tracker.State(ctx)
	if err != nil {
		return err
	}
	if len(own.Roots)+len(own.Dependencies) > 0 {
		if _, _, err := tracker.Stack(ctx, s.Branch, s.Parent, track.Stacking{Add: true}); err != nil {
			return err
		}
		c.Env.Notef("note: tracked %s on %s", s.Branch, s.Parent)
		return nil
	}
	merged, err := ws.Branches.State(ctx)
	if err != nil {
		return nil //nolint:nilerr // no tool records anything
	}
	for _, d := range merged.Dependencies {
		if command := nextstep.Command(nextstep.Track, nextstep.Branch{Name: s.Branch, Parent: s.Parent, Tool: d.Source}); command != "" {
			c.Env.Notef("note: to add the branch to %s, run `%s`", d.Source, command)
			return nil
		}
	}
	return nil
}
