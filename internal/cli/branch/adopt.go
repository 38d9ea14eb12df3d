package branch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/branch/adopt"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/input"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/cli/progress"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/wiring"
	"github.com/copse-dev/copse/internal/workflow/pull"
	"github.com/copse-dev/copse/internal/workflow/track"
)

func (c *cli) init() *cobra.Command {
	var root string
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Start tracking the branches of a repository",
		Long: `Start tracking the branches of a repository: create .twig/state.json with the default trunk.
copse finds the trunk itself. Running the command again changes nothing.`,
		Example: "  copse branch init\n  copse branch init --trunk develop",
		Args:    app.NoArgs,
		RunE: c.run(func(ctx context.Context, p repository, _ []string) error {
			name, changed, err := p.Begin(ctx, root)
			if err != nil {
				return err
			}
			if !changed {
				return c.out().Line("copse already tracks the branches; the default trunk is %s", name)
			}
			return c.out().Line("copse now tracks the branches; the default trunk is %s. Next: copse branch adopt", name)
		}),
	}
	f := cmd.Flags()
	for _, name := range []string{"trunk", "root"} { // "root" is the earlier name
		f.StringVar(&root, name, "", "the `branch` that stacks end at (default: the one that others start from)")
		c.completeFlag(cmd, name)
	}
	f.Lookup("root").Hidden = true
	cmd.MarkFlagsMutuallyExclusive("trunk", "root")
	return cmd
}

// Init starts to track the branches of the repository of sources, for "copse init". It returns the
// default trunk, and false if copse already tracks them.
func Init(ctx context.Context, env app.Env, sources *wiring.Sources) (root string, changed bool, err error) {
	c := &cli{env: env}
	p, err := c.open(ctx, sources)
	if err == nil {
		root, changed, err = p.Begin(ctx, "")
	}
	return root, changed, explain(err)
}

// show prints proposals with their evidence.
func (c *cli) show(found []adopt.Proposal) error {
	var cells [][]string
	for _, f := range found {
		for _, fact := range []struct {
			what string
			*adopt.Fact
		}{{"parent", f.Parent}, {"jira", f.Jira}, {"pr", f.PR}} {
			if fact.Fact != nil {
				cells = append(cells, []string{f.Branch, fact.what, fact.Value, fact.Evidence})
			}
		}
	}
	return c.out().Table([]output.Column{{Name: "branch", Handle: true}, {Name: "fact", Label: true}, {Name: "value", Handle: true}, {Name: "reason", Clear: true}}, cells)
}

// adopted is the outcome in JSON.
type adopted struct {
	Proposals []adopt.Proposal `json:"proposals"`
	Applied   bool             `json:"applied"`
	Note      string           `json:"note,omitempty"`
}

func (c *cli) adopt() *cobra.Command {
	var yes, offline, asJSON bool
	var parents, skip []string
	cmd := &cobra.Command{
		Use:   "adopt [BRANCH...]",
		Short: "Propose parents, issues, and pull requests for branches that have none",
		Long: `Propose what copse does not track yet, for all branches or for the named ones: parents from
other stack tools, from the history, and from pull requests; Jira issues from names and commits;
pull requests from GitHub. Each proposal has a reason. At a terminal, the command asks before it
writes, for all branches or for each one. Elsewhere, pass --yes, and choose with --parent and
--skip. In a pipe, each line has branch, fact, value, and reason, separated by tabs.`,
		Example:           "  copse branch adopt\n  copse branch adopt --parent feature/tests=main --skip old --yes\n  copse branch adopt feature/login --yes\n  copse branch adopt --offline --json",
		ValidArgsFunction: c.completeBranches(maxCompletions),
		RunE: c.run(func(ctx context.Context, p repository, args []string) error {
			only, err := p.existing(ctx, args...)
			if err != nil {
				return err
			}
			said, err := p.parents(ctx, parents)
			if err != nil {
				return err
			}
			stop := c.asking(offline)
			answer, err := p.Propose(ctx, track.Question{Only: only, Offline: offline, Said: said, Recorded: p.Branches.Recorded(ctx)})
			stop()
			if err != nil {
				return err
			}
			answer.Proposals = slices.DeleteFunc(answer.Proposals, func(f adopt.Proposal) bool { return slices.Contains(skip, f.Branch) })
			if asJSON {
				return c.adoptJSON(ctx, p, answer, yes)
			}
			return c.adoptFor(ctx, p, answer, yes)
		}),
	}
	f := cmd.Flags()
	f.BoolVarP(&yes, "yes", "y", false, "apply the proposals without asking")
	f.BoolVar(&offline, "offline", false, "do not look up pull requests on GitHub")
	f.StringArrayVar(&parents, "parent", nil, "set a parent other than the proposed one: `BRANCH=PARENT`; can be repeated")
	f.StringArrayVar(&skip, "skip", nil, "leave out a `branch`; can be repeated")
	output.JSONFlag[adopted](cmd, &asJSON)
	return cmd
}

// adoptJSON prints proposals as JSON, after applying them if yes.
func (c *cli) adoptJSON(ctx context.Context, p repository, a track.Answer, yes bool) error {
	if yes {
		var err error
		if a.Proposals, err = p.Apply(ctx, a.Proposals); err != nil {
			return err
		}
	}
	return c.out().JSON(adopted{append([]adopt.Proposal{}, a.Proposals...), yes, strings.Join(left(p, a), "; ")})
}

// adoptFor shows a person the proposals, and applies them if yes is set or the person agrees.
func (c *cli) adoptFor(ctx context.Context, p repository, a track.Answer, yes bool) (err error) {
	c.notes(p, a)
	if len(a.Proposals) == 0 {
		c.env.Note("nothing to propose: copse tracks everything that it can find; `copse branch tree` shows it")
		return nil
	}
	if err := c.show(a.Proposals); err != nil {
		return err
	}
	if !yes && c.env.Interactive() {
		answer, err := input.Choose(ctx, c.env, "Apply these proposals? [y/N], or c to choose for each branch: ", "n", "y", "c")
		if err != nil {
			return err
		}
		if answer == "n" {
			c.env.Note("No changes made.")
			return nil
		}
		yes = true
		if answer == "c" {
			if a.Proposals, err = c.choose(ctx, p, a.Proposals); err != nil {
				return err
			}
		}
	}
	if !yes {
		c.env.Note("No changes made. Run it again with --yes to apply.")
		return nil
	}
	written, err := p.Apply(ctx, a.Proposals)
	if err != nil {
		return err
	}
	c.wrote(written)
	return nil
}

// choose asks a person about each proposal: to apply it, to skip it, or to set another parent.
func (c *cli) choose(ctx context.Context, p repository, found []adopt.Proposal) ([]adopt.Proposal, error) {
	var chosen []adopt.Proposal
	for _, one := range found {
		question := one.Branch + ": apply this? [Y/n] "
		if one.Parent != nil {
			question = fmt.Sprintf("%s on %s? [Y/n, or another parent] ", one.Branch, one.Parent.Value)
		}
		for {
			answer, err := input.Line(ctx, c.env, question)
			if err != nil {
				return nil, err
			}
			lower := strings.ToLower(answer)
			if lower == "n" || lower == "no" {
				break
			}
			if lower != "" && lower != "y" && lower != "yes" {
				if one.Parent == nil {
					c.env.Notef("%q is not an answer; answer with y, n", answer)
					continue
				}
				if err := p.Check(ctx, answer); err != nil {
					c.note(err.Error())
					continue
				}
				one.Parent = &adopt.Fact{Value: answer, Evidence: adopt.Said}
			}
			chosen = append(chosen, one)
			break
		}
	}
	return chosen, nil
}

// wrote reports what was applied.
func (c *cli) wrote(found []adopt.Proposal) {
	if len(found) == 0 {
		c.note("nothing changed: copse tracks all of it already")
		return
	}
	for _, one := range found {
		var what []string
		if one.Parent != nil {
			what = append(what, "on "+one.Parent.Value)
		}
		if one.Jira != nil {
			what = append(what, one.Jira.Value)
		}
		if one.PR != nil {
			what = append(what, "#"+one.PR.Value)
		}
		c.env.Note(cleantext.Line(fmt.Sprintf("tracked %s: %s", one.Branch, strings.Join(what, ", "))))
	}
}

// parents returns the parents in values like "feature/tests=feature/login", by branch. All of them
// exist, and none of the branches has another parent yet.
func (p repository) parents(ctx context.Context, values []string) (map[string]string, error) {
	said := make(map[string]string)
	state, err := p.State(ctx)
	if err != nil {
		return nil, err
	}
	for _, value := range values {
		child, parent, ok := strings.Cut(value, "=")
		if !ok || child == "" || parent == "" {
			return nil, app.UsageError(fmt.Sprintf("invalid value %q for --parent: use BRANCH=PARENT", value))
		}
		names, err := p.existing(ctx, child, parent)
		if err != nil {
			return nil, err
		}
		if now, declared := state.Parent(names[0]); declared && now != names[1] {
			return nil, &track.StackedError{Branch: names[0], Parent: now}
		}
		said[names[0]] = names[1]
	}
	return said, nil
}

// asking shows a person that a request to GitHub is in progress, until stop is called.
func (c *cli) asking(offline bool) (stop func()) {
	if offline {
		return func() {}
	}
	return progress.Show(c.env, "waiting for the pull requests from GitHub")
}

// unasked returns the reason why copse did not look for pull requests, "" if it did.
func unasked(p repository, a track.Answer) string {
	if a.Unasked == nil {
		return ""
	}
	if none, ok := errors.AsType[*pull.AbsentError](a.Unasked); ok {
		return "copse did not look for pull requests: " + none.Reason + "."
	}
	reason := failure.Of(a.Unasked)
	return strings.TrimRight("copse did not look for pull requests: "+strings.TrimSuffix(reason.Message(p.Words), ".")+". "+reason.Hint(p.Words), " ")
}

// left returns what copse did not look for or examine.
func left(p repository, a track.Answer) []string {
	if a.Unasked == nil {
		return a.Notes
	}
	return append([]string{unasked(p, a)}, a.Notes...)
}

func (c *cli) notes(p repository, a track.Answer) {
	for _, text := range left(p, a) {
		c.note(text)
	}
}

func (c *cli) note(text string) {
	if text != "" {
		c.env.Note("note: " + cleantext.Line(text))
	}
}

func (c *cli) track() *cobra.Command {
	var parent string
	cmd := &cobra.Command{
		Use:   "track [BRANCH]",
		Short: "Track a branch with its parent, issue, and pull request",
		Long: `Track a branch, by default the current one, with the parent that you name, or with the parent,
issue, and pull request that copse finds. It is "adopt" for one branch, without a question.`,
		Example: "  copse branch track\n  copse branch track feature/tests --parent feature/login",
		Args:    app.Args(0, 1, "no argument, or BRANCH"), ValidArgsFunction: c.completeBranches(1),
		RunE: c.run(func(ctx context.Context, p repository, args []string) error {
			name, err := p.one(ctx, args)
			if err == nil && parent != "" {
				parent, err = p.one(ctx, []string{parent})
			}
			if err != nil {
				return err
			}
			stop := c.asking(false)
			answer, err := p.Track(ctx, name, parent)
			stop()
			if err != nil {
				return err
			}
			c.notes(p, answer)
			if len(answer.Proposals) == 0 {
				return c.out().Line("copse already tracks %s, with everything that it can find", name)
			}
			return c.show(answer.Proposals)
		}),
	}
	cmd.Flags().StringVar(&parent, "parent", "", "the parent `branch`")
	c.completeFlag(cmd, "parent")
	return cmd
}
