// Package copse is the program copse: its root command, and what belongs to no
// noun.
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

// Run is the program.
func Run(ctx context.Context, env app.Env) int { return app.Execute(ctx, env, Command) }

// Command returns the root command, for running and for the documentation. Where the first
// argument names a command, only that one is made, since the others take a tenth of the
// time to the first answer.
func Command(env app.Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "copse",
		Short: "The developer's working context, for AI assistants and people",
		Long: `copse gives an AI assistant, and you, the context that you work in: the branch and its
stack, the Jira issue behind it, the pull request and its checks, the work items, files,
tasks and prompts of the project.

Results go to stdout: tables at a terminal, tab-separated values in a pipe, JSON with
--json. It ends with 0 for success, 1 when something could not be done, and 2 for a
command line that could not be understood.`,
		Example: `  copse init                        # set up the repository that you are in
  copse context                     # what an assistant would be told
  copse mcp doctor                  # does everything between it and copse work?`,
		Version: app.Version(),
		Args:    app.Subcommands,
		RunE:    app.Help,
	}
	for _, g := range []struct {
		id, title string
	}{
		{"begin", "To begin:"}, {"work", "To see and keep:"}, {"serve", "To serve each worktree over HTTP:"},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
	}
	nouns := nouns(env)
	if len(env.Args) > 0 {
		named := func(n noun) bool { return slices.Contains(n.names, env.Args[0]) }
		if i := slices.IndexFunc(nouns, named); i >= 0 {
			nouns = nouns[i : i+1]
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

// noun is one or more commands below the root that one package makes.
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
		one("work", "command", command.Command),
		one("work", "conflicts", conflicts.Command),
		one("work", "context", contextcmd.Command),
		one("work", "item", items),
		one("work", "prompt-line", promptline.Command),
		one("work", "repo", repo.Command),
		one("work", "search", search.Command),
		one("work", "stack", stack.Command),
		one("work", "task", task.Command),
		one("work", "worktrees", worktrees.Command),
		{"serve", []string{"up", "board", "open", "close", "status", "down"}, func() []*cobra.Command { return up.Commands(env) }},
		one("", "version", version),
	}
}

func items(env app.Env) *cobra.Command {
	var flags itemcmd.Flags
	cmd := item.Items(env, "copse item", "copse item init", &flags)
	cmd.AddCommand(itemproject.Commands(itemcmd.Base{Env: env, Program: "copse item", InitCommand: "copse item init", Flags: &flags})...)
	flags.Add(cmd)
	return cmd
}
