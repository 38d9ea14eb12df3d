// Package repo implements "copse repo": the list of the user's repositories, which assistants see
// with list_repositories.
package repo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/repolist"
	"github.com/copse-dev/copse/internal/repolist/repoedit"
)

// Command returns "copse repo".
func Command(env app.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "repo",
		Short: "Manage the list of your repositories",
		Long: `Manage the list of your repositories, which assistants see with list_repositories. copse shares
the list with the program twig.`,
		Example: `  copse repo add .
  copse repo list`,
		Args: app.Expect(map[string]string{
			"ls view show info":     "did you mean `copse repo list`?",
			"new create clone init": "clone or create the repository with git, then run `copse repo add PATH`",
			"rm delete":             "did you mean `copse repo remove`?",
		}),
		RunE: app.Help,
	}
	cmd.AddCommand(list(env), add(env), remove(env))
	return cmd
}

func file(env app.Env) (string, error) { return repolist.Path(env.GOOS, env.Getenv, env.Home()) }

func list(env app.Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the repositories",
		Long:    "List the repositories. In a pipe, each line has name, path, and last fetch, separated by tabs.",
		Example: "  copse repo list --json",
		Args:    app.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			found, err := repolist.New(env.GOOS, env.Getenv, env.Home()).Load()
			if err != nil {
				return err
			}
			if asJSON {
				return output.New(env).JSON(rows(found))
			}
			if len(found) == 0 {
				env.Note("note: the list is empty; `copse repo add PATH` adds a repository")
			}
			var cells [][]string
			for _, r := range found {
				cells = append(cells, []string{r.Name, r.Path, r.LastFetch})
			}
			return output.New(env).Table([]output.Column{{Name: "name"}, {Name: "path", Handle: true}, {Name: "last fetch"}}, cells)
		},
	}
	output.JSONFlag[[]row](cmd, &asJSON)
	return cmd
}

// row is the JSON form of a repository.
type row struct {
	Name      string `json:"name"`
	Path      string `json:"path"`
	LastFetch string `json:"last_fetch,omitempty"`
}

func rows(found []repolist.Repository) []row {
	all := []row{}
	for _, r := range found {
		all = append(all, row{Name: r.Name, Path: r.Path, LastFetch: r.LastFetch})
	}
	return all
}

func add(env app.Env) *cobra.Command {
	return &cobra.Command{
		Use:     "add [PATH]",
		Short:   "Add a repository, by default the current one",
		Example: "  copse repo add ~/src/app",
		Args:    app.Args(0, 1, "no argument, or PATH"),
		RunE: func(cmd *cobra.Command, args []string) error {
			root, err := rootOf(cmd.Context(), env, args)
			if err != nil {
				return err
			}
			at, err := file(env)
			if err != nil {
				return err
			}
			added, err := repoedit.Add(cmd.Context(), at, root)
			if err != nil {
				return err
			}
			if !added {
				return output.New(env).Line("%s is already in the list", root)
			}
			return output.New(env).Line("added %s to the list", root)
		},
	}
}

func remove(env app.Env) *cobra.Command {
	return &cobra.Command{
		Use:     "remove [PATH]",
		Short:   "Remove a repository from the list, and change nothing else",
		Example: "  copse repo remove ~/src/old",
		Args:    app.Args(0, 1, "no argument, or PATH"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			found, _ := repolist.New(env.GOOS, env.Getenv, env.Home()).Load() // without any, there are no completions
			var paths []cobra.Completion
			for _, r := range found {
				paths = append(paths, cobra.CompletionWithDesc(r.Path, cleantext.Line(r.Name)))
			}
			return paths, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := file(env)
			if err != nil {
				return err
			}
			// A deleted repository appears in the list only by its path.
			root, err := rootOf(cmd.Context(), env, args)
			if err != nil {
				root = absolute(env, args)
			}
			removed, err := repoedit.Remove(cmd.Context(), at, root)
			if err != nil {
				return err
			}
			if !removed {
				return fmt.Errorf("%s is not in the list; `copse repo list` shows the list", foreign.Mention(root))
			}
			return output.New(env).Line("removed %s from the list", root)
		},
	}
}

func absolute(env app.Env, args []string) string {
	if len(args) == 0 {
		return env.Dir
	}
	if filepath.IsAbs(args[0]) {
		return filepath.Clean(args[0])
	}
	return filepath.Join(env.Dir, args[0])
}

// rootOf returns the root of the repository that contains a path: the root of the main worktree, as
// in twig, so a repository appears in the list once.
func rootOf(ctx context.Context, env app.Env, args []string) (string, error) {
	dir := absolute(env, args)
	info, err := os.Stat(dir)
	if regular.Unseen(err) {
		return "", err
	}
	if err != nil || !info.IsDir() {
		return "", fmt.Errorf("there is no directory %s", foreign.Mention(dir))
	}
	repo, err := git.Discover(ctx, dir, git.Options{Env: env.Environ, Named: len(args) > 0})
	if errors.Is(err, git.ErrNotRepository) {
		return "", fmt.Errorf("%s is not in a git repository", foreign.Mention(dir))
	}
	if err != nil {
		return "", err
	}
	return cmp.Or(repo.MainRoot(), repo.Root(), repo.GitDir()), nil
}
