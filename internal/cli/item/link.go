package item

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/local"
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
		Short: "Say on which branch, in which worktree and in which pull request an item is done",
		Long: `Say on which branch, in which worktree and in which pull request an item is done.
Without flags, show it. An empty value clears it. It is kept beside the item, in
.tic/links, where the original leaves it alone.`,
		Example: fmt.Sprintf("  %[1]s link 3 --branch login --pr 12\n  %[1]s link 3 --worktree \"\"", c.program),
		Args:    app.Args(1, 1, "ID"), ValidArgsFunction: c.completeItem,
	}
	f := cmd.Flags()
	f.StringVar(&branch, "branch", "", "its `branch`; empty for none")
	f.StringVar(&worktree, "worktree", "", "the `directory` of its worktree; empty for none")
	f.StringVar(&pullRequest, "pr", "", "its pull request: a `number`, owner/name#12 or an address; empty for none")
	output.JSONFlag[linked](cmd, &asJSON)
	cmd.RunE = c.run(func(ctx context.Context, s *local.Store, args []string) error {
		id, err := parseID(args[0])
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
		o := c.out()
		if err == nil && p != (item.Patch{}) {
			o = c.changed()
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

// started is what start proposes or did, in JSON.
type started struct {
	ID       item.ID  `json:"id"`
	Branch   string   `json:"branch"`
	Worktree string   `json:"worktree,omitempty"`
	Command  []string `json:"command"`
	Ran      bool     `json:"ran"`
}

func (c cli) start() *cobra.Command {
	var name string
	var worktree, run, asJSON bool
	cmd := &cobra.Command{
		Use:   "start ID",
		Short: "Propose a branch for an item, and print the git command that makes it",
		Long: `Propose a branch for an item, and print the git command that makes it: from the
current commit, in this worktree or with --worktree in a new one. With --run, run the
command, link the item with the branch, and set it in progress if it was not begun
and the project has a status in-progress. An item that is linked keeps its branch.
No hook and no filter of the repository runs.`,
		Example: fmt.Sprintf("  %[1]s start 3\n  %[1]s start 3 --worktree --run", c.program),
		Args:    app.Args(1, 1, "ID"), ValidArgsFunction: c.completeItem,
	}
	f := cmd.Flags()
	f.StringVar(&name, "branch", "", "another `name` for the branch")
	f.BoolVar(&worktree, "worktree", false, "in a new worktree, .worktrees/<branch> beside the main one")
	f.BoolVar(&run, "run", false, "run the command")
	output.JSONFlag[started](cmd, &asJSON)
	cmd.RunE = c.run(func(ctx context.Context, s *local.Store, args []string) error {
		id, err := parseID(args[0])
		if err != nil {
			return err
		}
		it, err := s.Item(ctx, id)
		if err != nil {
			return err
		}
		if _, err := (item.Config{}).Check(item.Patch{Branch: &name}); err != nil {
			return err
		}
		repo, err := git.Discover(ctx, c.env.Dir, git.Options{Env: c.env.Environ})
		if err != nil {
			return err
		}
		r, err := c.proposal(ctx, repo, &it, name, worktree)
		if err != nil {
			return err
		}
		o := c.out()
		if run {
			o = c.changed()
			if err := c.begin(ctx, s, repo, &it, r); err != nil {
				return err
			}
			r.Ran = true
		}
		if asJSON {
			return o.JSON(r)
		}
		return o.Line("%s", shellLine(r.Command))
	})
	return cmd
}

// proposal is what start would do.
func (c cli) proposal(ctx context.Context, repo *git.Repo, it *item.Item, name string, worktree bool) (started, error) {
	r := started{ID: it.ID, Branch: name}
	if r.Branch == "" {
		r.Branch = it.Link.Branch
	}
	if r.Branch == "" {
		r.Branch = it.BranchName()
	}
	exists, err := repo.HasBranch(ctx, r.Branch)
	if err != nil {
		return started{}, err
	}
	switch {
	case worktree:
		main := repo.MainRoot()
		if main == "" {
			main = repo.Root()
		}
		r.Worktree = filepath.Join(main, ".worktrees", strings.ReplaceAll(strings.TrimPrefix(r.Branch, "tic/"), "/", "-"))
		r.Command = []string{"git", "worktree", "add", "-b", r.Branch, r.Worktree}
		if exists {
			r.Command = []string{"git", "worktree", "add", r.Worktree, r.Branch}
		}
	case exists:
		r.Command = []string{"git", "switch", r.Branch}
	default:
		r.Command = []string{"git", "switch", "-c", r.Branch}
	}
	return r, nil
}

const inProgress = "in-progress"

// begin runs the command of a proposal, and notes it.
func (c cli) begin(ctx context.Context, s *local.Store, repo *git.Repo, it *item.Item, r started) error {
	p := item.Patch{Branch: &r.Branch}
	if r.Worktree != "" {
		p.Worktree = &r.Worktree
	}
	config, err := s.Config(ctx)
	if err != nil {
		return err
	}
	if it.Status == config.Statuses[0] && slices.Contains(config.Statuses, inProgress) {
		p.Status = new(inProgress)
	}
	if _, err := config.Check(p); err != nil { // before anything is done
		return err
	}
	if _, err := repo.Program().Run(ctx, r.Command[1:]...); err != nil {
		return fmt.Errorf("%s: %w", shellLine(r.Command[:2]), err)
	}
	if _, err := s.Update(ctx, it.ID, p); err != nil {
		return errors.Join(fmt.Errorf("the branch %s was made, and the item was not linked", r.Branch), err)
	}
	return nil
}

// shellLine is a command as a person would type it.
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
