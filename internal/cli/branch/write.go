package branch

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/branch/twig/edit"
	"github.com/copse-dev/copse/internal/lazyregexp"
)

// key is the form of a typed Jira key: letters of any case.
var key = lazyregexp.New(`^[A-Z][A-Z0-9_]*-[1-9][0-9]*$`)

// links reads the flags of link.
func links(jira, pr string) (edit.Links, error) {
	var found edit.Links
	if jira != "" {
		// An address ends with the key.
		jira = jira[strings.LastIndex(strings.TrimRight(jira, "/"), "/")+1:]
		if found.Jira = strings.ToUpper(strings.TrimSpace(jira)); !key.Get().MatchString(found.Jira) {
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
			return found, app.UsageError(fmt.Sprintf("invalid value %q for --pr: use a number such as 34, or the URL of a pull request", pr))
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
		Long: `Link a branch, by default the current one, to a Jira issue, a pull request, or both. A new
link replaces an earlier link of the same kind. copse sends no request to GitHub or Jira.`,
		Example: "  copse branch link --jira PROJ-12\n  copse branch link feature/login --pr 34",
		Args:    app.Args(0, 1, "no argument, or BRANCH"), ValidArgsFunction: c.completeBranches(1),
		RunE: c.run(func(ctx context.Context, p repository, args []string) error {
			wanted, err := links(jira, pr)
			if err != nil {
				return err
			}
			if wanted == (edit.Links{}) {
				return app.UsageError("name what to link to: --jira KEY, --pr NUMBER, or both")
			}
			name, err := p.one(ctx, args)
			if err != nil {
				return err
			}
			changed, err := p.Change(ctx, func(d *edit.Draft) error { return d.Link(name, wanted) })
			if err != nil {
				return err
			}
			return c.said(changed, "%s is %s linked to %s", name, word(wanted))
		}),
	}
	cmd.Flags().StringVar(&jira, "jira", "", "the `key` or the URL of a Jira issue")
	cmd.Flags().StringVar(&pr, "pr", "", "the `number` or the URL of a pull request")
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
		Short:   "Remove the links of a branch",
		Example: "  copse branch unlink --pr\n  copse branch unlink feature/login",
		Args:    app.Args(0, 1, "no argument, or BRANCH"), ValidArgsFunction: c.completeBranches(1),
		RunE: c.run(func(ctx context.Context, p repository, args []string) error {
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
				return fmt.Errorf("%s has no such link; `copse branch list` shows the links", name)
			}
			return c.out().Line("unlinked %s", name)
		}),
	}
	cmd.Flags().BoolVar(&jira, "jira", false, "remove only the link to the Jira issue")
	cmd.Flags().BoolVar(&pr, "pr", false, "remove only the link to the pull request")
	return cmd
}
