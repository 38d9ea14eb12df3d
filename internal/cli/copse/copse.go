// Package copse implements the program copse: its root command, and the commands without a noun.
package copse

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/branch"
	"github.com/copse-dev/copse/internal/cli/command"
	"github.com/copse-dev/copse/internal/cli/conflicts"
	contextcmd "github.com/copse-dev/copse/internal/cli/context"
	"github.com/copse-dev/copse/internal/cli/item"
	"github.com/copse-dev/copse/internal/cli/item/itemcmd"
	"github.com/copse-dev/copse/internal/cli/item/itemproject"
	"github.com/copse-dev/copse/internal/cli/mcp"
	"github.com/copse-dev/copse/internal/cli/promptline"
	"github.com/copse-dev/copse/internal/cli/repo"
	"github.com/copse-dev/copse/internal/cli/search"
	"github.com/copse-dev/copse/internal/cli/setup"
	"github.com/copse-dev/copse/internal/cli/stack"
	"github.com/copse-dev/copse/internal/cli/task"
	"github.com/copse-dev/copse/internal/cli/up"
	"github.com/copse-dev/copse/internal/cli/worktrees"
)

// Run runs the program.
func Run(ctx context.Context, env app.Env) int { return app.Execute(ctx, env, Command) }

// Command returns the root command, for running and for the documentation. If the first argument
// names a command, it creates only that one, because the others take a tenth of the time to the
// first answer.
func Command(env app.Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "copse",
		Short: "Working context for you and your AI assistant",
		Long: `copse gives you and your AI assistant the context of your work: the branch and its stack, the
Jira issue, the pull request and its checks, and the work items, files, tasks, and prompts of the
project.

Results go to stdout. A table is aligned at a terminal and tab-separated in a pipe; trees and
the context are text, wrapped at a terminal. --json prints JSON. The exit code is 0 for success,
1 for a failure, and 2 for an invalid command line.`,
		Example: `  copse init         # set up the current repository
  copse context      # show what an assistant sees
  copse mcp doctor   # diagnose the connection to your assistant`,
		Version: app.Version(),
		Args:    task.Own(env, app.Expect(expected())),
		RunE:    app.Help,
	}
	for _, g := range []struct {
		id, title string
	}{
		{"begin", "Getting started:"}, {"work", "Core commands:"}, {"serve", "HTTP servers for worktrees:"},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
	}
	nouns := nouns(env)
	if len(env.Args) > 0 {
		named := func(n noun) bool { return slices.Contains(n.names, env.Args[0]) }
		if i := slices.IndexFunc(nouns, named); i >= 0 {
			nouns = nouns[i : i+1]
			root.CompletionOptions.DisableDefaultCmd = true
		}
	}
	for _, n := range nouns {
		for _, c := range n.commands() {
			c.GroupID = n.group
			root.AddCommand(c)
		}
	}
	return root
}

// noun is one or more commands below the root from one package.
type noun struct {
	group    string
	names    []string
	commands func() []*cobra.Command
}

func nouns(env app.Env) []noun {
	one := func(group, name string, command func(app.Env) *cobra.Command) noun {
		return noun{group, []string{name}, func() []*cobra.Command { return []*cobra.Command{command(env)} }}
	}
	return []noun{
		one("begin", "init", setup.Command),
		one("begin", "mcp", mcp.Command),
		one("work", "branch", branch.Command),
		{"work", []string{"prompt", "command"}, func() []*cobra.Command { return []*cobra.Command{command.Command(env)} }},
		one("work", "conflicts", conflicts.Command),
		one("work", "context", contextcmd.Command),
		one("work", "item", items),
		one("work", "prompt-line", promptline.Command),
		one("work", "repo", repo.Command),
		one("work", "search", search.Command),
		one("work", "stack", stack.Command),
		one("work", "task", task.Command),
		one("work", "worktrees", worktrees.Command),
		{"serve", []string{"up", "board", "open", "close", "status", "down", "server"}, func() []*cobra.Command { return up.Commands(env) }},
		one("", "version", version),
	}
}

// expected returns advice for words that people try because other programs have such a
// command.
func expected() map[string]string {
	return map[string]string{
		"pr prs pull pull-request": "`copse stack` and `copse branch status` show pull requests; to change one, use `gh pr`",
		"issue issues jira":        "`copse branch status` shows the Jira issue of a branch, and `copse branch link --jira KEY` links one",
		"create":                   "did you mean `copse item create`? copse never changes your branches: for a branch, use `git switch -c BRANCH`",
		"checkout switch":          "copse never changes your branches: use `git switch BRANCH`, or `git switch -c BRANCH` for a new one",
		"commit push submit restack rebase merge cascade fetch stash reset revert cherry-pick tag": "copse never changes your branches: use git or your stack tool; `copse stack` names the next command",
		"sync":                             "did you mean `copse item sync`? copse never changes your branches: for those, use git or your stack tool",
		"ls list":                          "did you mean `copse branch list`, `copse item list`, `copse task list`, or `copse prompt list`?",
		"new add":                          "did you mean `copse item create`, `copse branch track`, or `copse repo add`?",
		"edit update":                      "did you mean `copse item update` or `copse item open`?",
		"rm remove delete":                 "did you mean `copse item delete`, `copse branch untrack`, or `copse repo remove`?",
		"done finish":                      "did you mean `copse item update ID --status done`?",
		"show view get describe explain":   "did you mean `copse context`, `copse item show`, or `copse branch status`?",
		"diff":                             "use `git diff`; `copse context` summarizes the changes",
		"log":                              "did you mean `copse item log`? For commits, use `git log`; `copse context` shows the recent ones",
		"run exec":                         "did you mean `copse task run` or `copse prompt run`?",
		"serve":                            "did you mean `copse mcp serve` or `copse up`?",
		"start":                            "did you mean `copse up` or `copse item start`?",
		"login logout auth":                "copse has no login of its own: it uses `gh auth login` for GitHub, and the variables in docs/settings.md for Jira",
		"web dashboard ui browse":          "did you mean `copse board`?",
		"github gh checks":                 "did you mean `copse branch status` or `copse stack`?",
		"agents agent":                     "did you mean `copse worktrees`?",
		"upgrade self-update":              "update copse with the program that installed it, such as `brew upgrade copse`",
		"stop":                             "did you mean `copse down` or `copse task stop`?",
		"install setup quickstart onboard": "did you mean `copse init` or `copse mcp install`?",
		"config settings":                  "did you mean `copse mcp config` or `copse item config`? The settings are a file; see docs/settings.md",
		"doctor check":                     "did you mean `copse mcp doctor`?",
		"todo todos backlog":               "did you mean `copse item list`?",
		"worktree":                         "did you mean `copse worktrees`?",
		"find grep":                        "did you mean `copse search`?",
		"ctx prime":                        "did you mean `copse context`?",
		"dep deps depend block blocked":    "did you mean `copse item update ID --depends-on IDS` or `copse branch parent`?",
		"label labels":                     "did you mean `copse item update ID --labels LABELS`?",
		"just":                             "did you mean `copse task list` or `copse task run`?",
		"top watch":                        "did you mean `copse stack --watch` or `copse board`?",
		"twig":                             "did you mean `copse branch`?",
		"tic bd":                           "did you mean `copse item`?",
		"climpt":                           "did you mean `copse prompt`?",
		"tree":                             "did you mean `copse branch tree` or `copse item tree`?",
	}
}

func items(env app.Env) *cobra.Command {
	var flags itemcmd.Flags
	cmd := item.Items(env, "copse item", "copse item init", &flags)
	cmd.AddCommand(itemproject.Commands(itemcmd.Base{Env: env, Program: "copse item", InitCommand: "copse item init", Flags: &flags})...)
	flags.Add(cmd)
	return cmd
}
