// Package context is the command "copse context": what an assistant would be
// told about the place where the command is run, for a person to read.
package context

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/remote"
	"github.com/copse-dev/copse/internal/toolset/envelope"
	"github.com/copse-dev/copse/internal/wiring"
)

// Command is "copse context".
func Command(env app.Env) *cobra.Command {
	var (
		repo   string
		fresh  bool
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "context",
		Short: "Show what an assistant would be told about this repository",
		Long: `Show where you are and what is going on: branch, changes, stack, and the issue
and pull request that are linked to the branch.

Issue and pull request come from the last answers of their services and say how
old they are; nothing is fetched unless you ask for it with --fresh.`,
		Example: `  copse context
  copse context --fresh
  copse context --json`,
		Args: app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			if !fresh {
				ctx = remote.WithCachedOnly(ctx)
			}
			v, err := look(ctx, wiring.New(wiring.Options{Program: "copse", Env: env, Repo: repo}))
			if err != nil {
				return explain(err)
			}
			if asJSON {
				enc := json.NewEncoder(env.Stdout)
				enc.SetEscapeHTML(false)
				enc.SetIndent("", "  ")
				return enc.Encode(v)
			}
			return v.write(env.Stdout, env.Now())
		},
	}
	f := cmd.Flags()
	f.StringVar(&repo, "repo", "", "the `path` of the repository (default: found from the working folder upwards)")
	f.BoolVar(&fresh, "fresh", false, "ask GitHub and Jira instead of showing their last answers")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// explain adds to an error of the tools what they would hint.
func explain(err error) error {
	if e, ok := errors.AsType[*envelope.Error](err); ok && e.Hint != "" {
		return fmt.Errorf("%w. %s", err, e.Hint)
	}
	return err
}
