// Package setup is "copse init": the first run in a repository, which sets up what the
// person wants of branches, items, commands and clients.
//
// At a terminal it asks for what no flag speaks of; elsewhere it asks nothing, and does
// what nobody else would notice. It can be run again: what is there stays as it is.
package setup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/branch"
	"github.com/copse-dev/copse/internal/cli/input"
	"github.com/copse-dev/copse/internal/cli/mcp"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/clientconfig"
	"github.com/copse-dev/copse/internal/command/catalog"
	"github.com/copse-dev/copse/internal/wiring/workspace"
)

// options are the flags.
type options struct {
	env                       app.Env
	branches, items, commands bool
	clients                   []string
	all, asJSON               bool
}

// Command is "copse init".
func Command(env app.Env) *cobra.Command {
	o := options{env: env}
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Set up a repository: branches, work items, commands, and your assistant",
		Long: `Set up the repository that you are in, as far as you want: the state of its branches, a
project of work items, a registry of prompt commands, and the entry of copse in the
configurations of your MCP clients.

At a terminal it asks; flags answer beforehand. Elsewhere it asks nothing: without a
flag it sets up the branches alone, which is seen by nobody else. It can be run
again; what is there stays as it is.`,
		Example: `  copse init
  copse init --branches --items --client claude-code
  copse init --all                  # everything, and all clients that you have`,
		Args: app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, id := range o.clients {
				if _, err := clientconfig.Lookup(id); err != nil {
					return app.UsageError(err.Error())
				}
			}
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.branches, "branches", false, "begin to keep the branches (.twig/state.json, hidden from git)")
	f.BoolVar(&o.items, "items", false, "make a project of work items (.tic, which can be committed)")
	f.BoolVar(&o.commands, "commands", false, "make a registry of prompt commands (.agent, which can be committed)")
	f.StringSliceVar(&o.clients, "client", nil, "write copse into the configuration of this `client`, or several: "+strings.Join(clientconfig.IDs(), ", "))
	f.BoolVar(&o.all, "all", false, "all of it, and all clients that you have")
	output.JSONFlag[[]outcome](cmd, &o.asJSON)
	if err := cmd.RegisterFlagCompletionFunc("client", cobra.FixedCompletions(clientconfig.IDs(), cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag is defined above
	}
	return cmd
}

// Outcomes of a part.
const (
	done    = "done"
	already = "already"
	skipped = "skipped"
	failed  = "failed"
)

// outcome is what became of a part.
type outcome struct {
	Part    string `json:"part"`
	Outcome string `json:"outcome"`
	Detail  string `json:"detail"`
}

// part is something that can be set up.
type part struct {
	name, question string
	wanted         bool
	// quiet parts are set up where nobody can be asked and nothing was said.
	quiet bool
	flag  string
	do    func(context.Context) (what string, changed bool, err error)
}

func (o *options) parts(here *workspace.Workspace) []part {
	env := o.env
	list := []part{
		{"branches", "Keep how branches are stacked, in .twig (hidden from git)?", o.branches, true, "--branches", func(ctx context.Context) (string, bool, error) {
			root, changed, err := branch.Init(ctx, env, here.Sources)
			return "the default root is " + root + "; copse branch adopt proposes the rest", changed, err
		}},
		{"items", "Keep work items, in .tic (to commit)?", o.items, false, "--items", func(ctx context.Context) (string, bool, error) {
			root := *here
			root.Dir = root.Workspace()
			store := root.Items()
			defer store.Close()
			changed, err := store.Init(ctx)
			return ".tic; copse item create makes the first", changed, err
		}},
		{"commands", "Keep prompt commands, in .agent (to commit)?", o.commands, false, "--commands", func(ctx context.Context) (string, bool, error) {
			made, err := catalog.Init(ctx, here.Workspace())
			return ".agent; copse command list shows them", len(made) > 0, err
		}},
	}
	clients := o.clients
	if len(clients) == 0 {
		clients = mcp.Present(env)
	}
	for _, id := range clients {
		list = append(list, part{id, "Let " + title(id) + " use copse?", slices.Contains(o.clients, id), false, "--client " + id, func(ctx context.Context) (string, bool, error) {
			return mcp.Install(ctx, env, id)
		}})
	}
	return list
}

func title(id string) string {
	client, err := clientconfig.Lookup(id)
	if err != nil {
		return id
	}
	return client.Title
}

func (o *options) run(ctx context.Context) error {
	said := o.branches || o.items || o.commands || len(o.clients) > 0 || o.all
	ask := !said && !o.asJSON && o.env.Interactive()
	var outcomes []outcome
	var errs []error
	for _, p := range o.parts(workspace.Find(ctx, o.env, "")) {
		wanted := p.wanted || o.all || !said && !ask && p.quiet
		if ask {
			var err error
			if wanted, err = input.Yes(o.env, p.question); err != nil {
				return err
			}
		}
		out := outcome{Part: p.name, Outcome: skipped, Detail: "copse init " + p.flag + " does it"}
		if wanted {
			what, changed, err := p.do(ctx)
			switch out.Detail = what; {
			case err != nil:
				out.Outcome, out.Detail = failed, err.Error()
				errs = append(errs, fmt.Errorf("%s: %w", p.name, err))
			case changed:
				out.Outcome = done
			default:
				out.Outcome = already
			}
		}
		out.Detail = cleantext.Line(out.Detail)
		outcomes = append(outcomes, out)
	}
	if err := o.print(outcomes); err != nil {
		return err
	}
	return errors.Join(errs...)
}

func (o *options) print(outcomes []outcome) error {
	w := output.New(o.env)
	if o.asJSON {
		return w.JSON(outcomes)
	}
	var rows [][]string
	for _, out := range outcomes {
		rows = append(rows, []string{out.Part, out.Outcome, out.Detail})
	}
	if err := w.Table([]output.Column{{Name: "part"}, {Name: "outcome"}, {Name: "", Flexible: true}}, rows); err != nil {
		return err
	}
	if w.Terminal() {
		return w.Drawn("\nTo check all of it: copse mcp doctor\n")
	}
	return nil
}
