// Package stack implements the command "copse stack": a stack of branches with what blocks it.
package stack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/cli/progress"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/wiring/full"
	"github.com/copse-dev/copse/internal/workflow/verdict"
	"github.com/copse-dev/copse/internal/workflow/verdict/gather"
)

// options are the flags.
type options struct {
	repo           string
	fresh, offline bool
	watch          bool
	headers        bool
	asJSON         bool
}

// Command returns "copse stack".
func Command(env app.Env) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "stack [BRANCH]",
		Short: "Show a stack, what blocks it, and the next step",
		Long: `Show the stack of a branch, by default of the current one, from the bottom up: the pull
request, review, checks, commits ahead of and behind the parent, unpushed commits, worktree, and
work items of each branch. Then the command names the first blocker and the next step, as a
command of your stack tool. copse never runs it.

copse reads the stacks of twig, git-spice, Graphite, git-town, git-machete, gh-stack, and git. It
requests the pull requests of all branches at once if the last answers are older than a minute.

In a pipe, each line has branch, parent, source, pull request, its state, review, checks, restack,
ahead, behind, unpushed, worktree, dirty files, items, and issue, separated by tabs; --headers names them. The verdict, the next step,
and the notes are on standard error. A program uses --json, which has them all.`,
		Example: "  copse stack\n  copse stack feature/tests --offline\n  copse stack --json",
		Args:    app.Args(0, 1, "no argument, or BRANCH"),
		RunE:    func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), env, o, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.repo, "repo", "", "the `path` of the repository (default: the one that contains the current directory)")
	f.BoolVar(&o.fresh, "fresh", false, "request new answers from GitHub and Jira, even if the last ones are recent")
	f.BoolVar(&o.offline, "offline", false, "use no network; show the last answers")
	f.BoolVar(&o.watch, "watch", false, "show the stack again after each change, until you stop the command")
	cmd.MarkFlagsMutuallyExclusive("fresh", "offline")
	cmd.MarkFlagsMutuallyExclusive("watch", "offline")
	output.HeadersFlag(cmd, &o.headers)
	output.JSONFlag[verdict.Status](cmd, &o.asJSON)
	return cmd
}

func (o options) asking() gather.Asking {
	switch {
	case o.fresh:
		return gather.Fresh
	case o.offline:
		return gather.Cached
	}
	return gather.Recent
}

func run(ctx context.Context, env app.Env, o options, args []string) (err error) {
	ws := full.Find(ctx, env, o.repo)
	store := ws.Items()
	defer func() { err = errors.Join(err, store.Close()) }()
	start := ""
	if len(args) > 0 && args[0] != "." {
		start = args[0]
	}
	verdicts := ws.Verdicts(store)
	stop := progress.Show(env, "waiting for GitHub and Jira")
	found, err := verdicts.Stack(ctx, start, o.asking())
	stop()
	if err != nil {
		return output.Explain(err)
	}
	if err := show(env, found, o); err != nil || !o.watch {
		return err
	}
	return output.Explain(verdicts.Watch(ctx, start, func(s verdict.Status) {
		// A reader that has closed the pipe ends the program.
		_ = output.New(env).Drawn("\n")
		_ = show(env, s, o)
	}))
}

// show prints a status.
func show(env app.Env, s verdict.Status, o options) error {
	out := output.New(env).Headed(o.headers)
	if o.asJSON {
		return out.JSON(s)
	}
	if !out.Terminal() {
		return pipe(env, out, s)
	}
	var cells [][]string
	for _, b := range s.Branches {
		cells = append(cells, personal(b))
	}
	shown := columns
	if s.GitHub.State == verdict.PullAbsent {
		shown = withoutGitHub(shown)
		for i := range cells {
			cells[i] = withoutGitHub(cells[i])
		}
	}
	if err := out.Table(shown, cells); err != nil {
		return err
	}
	if err := out.Fold("\n" + out.Bold(cleantext.Line(summary(s))) + "\n"); err != nil {
		return err
	}
	if s.First != "" {
		if err := out.Fold("First:  " + cleantext.Line(s.First) + "\n"); err != nil {
			return err
		}
	}
	if s.Next != "" { // a command, which is copied as a whole
		if err := out.Drawn("Next:   " + cleantext.Line(s.Next) + "\n"); err != nil {
			return err
		}
	}
	var lines []string
	if text := asked(s.GitHub); text != "" {
		lines = append(lines, out.Faint(cleantext.Line(text)))
	}
	for _, line := range conflicts(s) {
		lines = append(lines, cleantext.Line(line))
	}
	for _, note := range notes(s) {
		lines = append(lines, out.Faint(cleantext.Line("Note: "+note)))
	}
	for _, line := range lines {
		if err := out.Fold(line + "\n"); err != nil {
			return err
		}
	}
	return nil
}

// notes returns the remarks about a status.
func notes(s verdict.Status) []string {
	return slices.DeleteFunc(append(slices.Clone(s.Notes), s.Showing), func(note string) bool { return note == "" })
}

// pipe prints the branches to stdout, and the notes about the stack to stderr.
func pipe(env app.Env, out *output.Writer, s verdict.Status) error {
	var cells [][]string
	for _, b := range s.Branches {
		cells = append(cells, fields(b))
	}
	if err := out.Table(fieldColumns, cells); err != nil {
		return err
	}
	env.Note(s.Headline())
	if s.First != "" {
		env.Note("First: " + cleantext.Line(s.First))
	}
	if s.Next != "" {
		env.Note("Next: " + cleantext.Line(s.Next))
	}
	if s.GitHub.Reason != "" { // otherwise the answers are recent
		env.Note(asked(s.GitHub))
	}
	for _, line := range conflicts(s) {
		env.Note(line)
	}
	for _, note := range notes(s) {
		env.Note("note: " + cleantext.Line(note))
	}
	return nil
}

// conflicts returns a line for each conflict, and one for what is not compared.
func conflicts(s verdict.Status) []string {
	var lines []string
	for _, c := range s.Conflicts {
		lines = append(lines, conflict(c))
	}
	if s.ConflictsUnknown != "" {
		lines = append(lines, "There can be further conflicts: "+s.ConflictsUnknown+". `copse conflicts` looks for them.")
	}
	return lines
}

// conflict returns a conflict in one line.
func conflict(c verdict.Conflict) string {
	var names [2]string
	for i, name := range c.Branches {
		if names[i] = foreign.Mention(name); c.Above[name] > 0 {
			names[i] = fmt.Sprintf("%s (and %d above it)", foreign.Mention(name), c.Above[name])
		}
	}
	text := fmt.Sprintf("Conflict: %s and %s in %s", names[0], names[1], foreign.Mention(c.Files...))
	if c.MoreFiles > 0 {
		text += " and " + cleantext.Count(c.MoreFiles, "more file")
	}
	return text
}

// summary returns the verdict in one line for a terminal.
func summary(s verdict.Status) string {
	text := strings.ToUpper(string(s.Verdict)[:1]) + string(s.Verdict)[1:]
	if s.Blocker != "" {
		text += ": " + s.Blocker
	}
	return text
}

// asked states the age of GitHub's answers, or the reason why there are none.
func asked(g verdict.GitHub) string {
	if g.Reason == "" && g.Age == "" {
		return ""
	}
	if g.Reason == "" {
		return "GitHub answered " + g.Age + "."
	}
	text := strings.TrimSuffix(g.Reason, ".") + "."
	if !strings.HasPrefix(text, "GitHub ") {
		text = "GitHub: " + text
	}
	if g.Hint != "" {
		text += " " + g.Hint
	}
	if g.Age != "" {
		text += " Last answer: " + g.Age + "."
	}
	return text
}

// columns are the columns of a person's table.
var columns = []output.Column{
	{Name: "branch", Handle: true}, {Name: "on", Handle: true}, {Name: "pr"}, {Name: "review"}, {Name: "checks", Flexible: true},
	{Name: "commits"}, {Name: "push", Clear: true}, {Name: "worktree", Flexible: true, Path: true}, {Name: "work", Flexible: true},
}

// fieldColumns are the columns in a pipe.
var fieldColumns = []output.Column{
	{Name: "branch"}, {Name: "parent"}, {Name: "source"}, {Name: "pr"}, {Name: "state"}, {Name: "review"}, {Name: "checks"},
	{Name: "restack"}, {Name: "ahead"}, {Name: "behind"}, {Name: "unpushed"}, {Name: "worktree"}, {Name: "dirty"}, {Name: "items"},
	{Name: "issue"},
}

// withoutGitHub returns the columns, or the cells of a line, without those of pull requests.
func withoutGitHub[T any](all []T) []T { return slices.Concat(all[:2], all[5:]) }

// personal returns the cells of a person's table; "?" for an unknown value, "-" for none.
func personal(b verdict.Branch) []string {
	name := b.Branch
	if b.Current {
		name += " *"
	}
	pr, review, checks := "?", "?", "?"
	switch p := b.PullRequest; {
	case p.State == verdict.PullNone, p.State == verdict.PullAbsent:
		pr, review, checks = "-", "-", "-"
	case p.State != verdict.PullUnknown && p.State != verdict.PullFailed:
		pr = fmt.Sprintf("#%d %s", p.Number, state(p))
		review, checks = reviewed(p), checked(p)
	case p.Number > 0:
		pr = fmt.Sprintf("#%d ?", p.Number)
	}
	commits := "?"
	switch {
	case b.Missing:
		commits = "not in git"
	case b.Ahead != nil:
		commits = gap(*b.Ahead, *b.Behind)
	}
	switch {
	case b.Merged != "":
		commits += " merged"
	case b.NeedsRestack != nil && *b.NeedsRestack:
		commits += " restack"
	}
	push := "?"
	if b.Unpushed != nil {
		switch {
		case *b.Unpushed > 0:
			push = fmt.Sprintf("%d to push", *b.Unpushed)
		case b.Remote == "":
			push = "never pushed"
		default:
			push = "pushed"
		}
		if b.Unpulled > 0 {
			push += fmt.Sprintf(", %d to pull", b.Unpulled)
		}
	}
	held := "-"
	if w := b.Worktree; w != nil {
		held = w.Name
		if w.Operation != "" {
			held += " (" + w.Operation + ")"
		}
		if w.Dirty != nil && *w.Dirty > 0 {
			held += fmt.Sprintf(" (%d changed)", *w.Dirty)
		}
	}
	var items []string
	for _, it := range itemsOf(b) {
		items = append(items, "#"+it)
	}
	work := strings.Join(append(items, issueOf(b)...), ", ")
	if work == "" {
		work = "-"
	}
	return []string{name, b.Parent, pr, review, checks, commits, push, held, work}
}

// gap returns the numbers of commits that a branch and its parent have of their own, "-" for none.
func gap(ahead, behind int) string {
	var parts []string
	if ahead > 0 {
		parts = append(parts, fmt.Sprintf("+%d", ahead))
	}
	if behind > 0 {
		parts = append(parts, fmt.Sprintf("-%d", behind))
	}
	return cmp.Or(strings.Join(parts, " "), "-")
}

// fields returns the cells of a line in a pipe; unknown values are empty.
func fields(b verdict.Branch) []string {
	p := b.PullRequest
	number := ""
	if p.Number > 0 {
		number = strconv.Itoa(p.Number)
	}
	restack := ""
	if b.NeedsRestack != nil {
		restack = strconv.FormatBool(*b.NeedsRestack)
	}
	worktree, dirty := "", ""
	if b.Worktree != nil {
		worktree, dirty = b.Worktree.Name, count(b.Worktree.Dirty)
	}
	return []string{
		b.Branch, b.Parent, b.Source, number, state(p), p.ReviewDecision, p.Checks, restack, count(b.Ahead), count(b.Behind), count(b.Unpushed),
		worktree, dirty, strings.Join(itemsOf(b), ","), strings.Join(issueOf(b), ","),
	}
}

func count(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

// state returns the state of a pull request; "draft" is one of the states.
func state(p verdict.PullRequest) string {
	switch {
	case p.MergeQueue != nil:
		return "queued"
	case p.Draft:
		return "draft"
	}
	return p.State
}

func reviewed(p verdict.PullRequest) string {
	text := strings.ReplaceAll(p.ReviewDecision, "_", " ")
	if text == "" || text == "none" {
		text = "-"
	}
	if p.UnresolvedThreads != nil && *p.UnresolvedThreads > 0 {
		text += ", " + cleantext.Count(*p.UnresolvedThreads, "thread")
	}
	return text
}

func checked(p verdict.PullRequest) string {
	if n := len(p.Failing) + p.FailingMore; n > 0 {
		return fmt.Sprintf("%d failing: %s", n, strings.Join(p.Failing, ", "))
	}
	if p.Checks == "" || p.Checks == "none" {
		return "-"
	}
	return p.Checks
}

func itemsOf(b verdict.Branch) []string {
	var list []string
	for _, it := range b.Items {
		list = append(list, fmt.Sprintf("%d %s", it.ID, it.Status))
	}
	return list
}

func issueOf(b verdict.Branch) []string {
	if b.Jira == nil {
		return nil
	}
	return []string{strings.TrimSpace(b.Jira.Key + " " + b.Jira.Status)}
}
