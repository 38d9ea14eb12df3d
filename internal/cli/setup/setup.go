// Package setup implements "copse init": the first run in a repository, which sets up branches,
// work items, prompts, and clients.
//
// At a terminal without flags, it asks, summarizes what it will change, and asks for consent.
// Elsewhere, it asks nothing, and changes only what no other person sees. A second run changes
// nothing.
package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/branch"
	"github.com/copse-dev/copse/internal/cli/input"
	"github.com/copse-dev/copse/internal/cli/item/itemcmd"
	"github.com/copse-dev/copse/internal/cli/item/itemproject"
	"github.com/copse-dev/copse/internal/cli/mcp"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/clientconfig"
	"github.com/copse-dev/copse/internal/command/catalog"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/wiring/full"
)

// options are the flags.
type options struct {
	env                      app.Env
	branches, items, prompts bool
	clients                  []string
	all, asJSON              bool
}

// Command returns "copse init".
func Command(env app.Env) *cobra.Command {
	o := options{env: env}
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Set up a repository and your MCP clients",
		Long: `Set up the current repository: tracked branches, a store of work items, a registry of
prompts, and the entry of copse in the configuration of your MCP clients.

At a terminal without flags, the command asks, shows what it will change, and asks you to confirm.
Elsewhere, it does not ask. Without flags, it then sets up only branches, in a file that git
ignores. You can run it again: it keeps what exists.`,
		Example: `  copse init
  copse init --branches --items --client claude-code
  copse init --all   # everything, and all clients that copse finds`,
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
	app.ExpectFlags(cmd, map[string]string{
		"y yes defaults no-interactive": "use --all to set up everything, or name the parts, for example --branches --items",
		"f force":                       "you can run the command again: it keeps what exists",
	})
	f := cmd.Flags()
	f.BoolVar(&o.branches, "branches", false, "track branches (.twig/state.json, hidden from git)")
	f.BoolVar(&o.items, "items", false, "create a store of work items (.tic, which you can commit)")
	for _, name := range []string{"prompts", "commands"} { // "commands" is the earlier name
		f.BoolVar(&o.prompts, name, false, "create a registry of prompts (.agent, which you can commit)")
	}
	f.Lookup("commands").Hidden = true
	f.StringSliceVar(&o.clients, "client", nil, "add copse to the configuration of these `clients`, separated by commas: "+strings.Join(clientconfig.IDs(), ", "))
	f.BoolVar(&o.all, "all", false, "set up everything, and all clients that copse finds")
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

// outcome is the result for a part.
type outcome struct {
	Part    string `json:"part"`
	Outcome string `json:"outcome"`
	Detail  string `json:"detail"`
}

// part is a unit of the setup.
type part struct {
	name, question string
	// plan describes the change, for the summary.
	plan   string
	wanted bool
	// usual parts are those that a person gets by pressing Enter.
	usual bool
	// quiet parts are set up without questions if there are no flags.
	quiet bool
	flag  string
	do    func(context.Context) (what string, changed bool, err error)
	// exists reports whether the part is set up.
	exists func(context.Context) bool
}

func (o *options) parts(ctx context.Context, ws *full.Workspace, ask bool) []part {
	env := o.env
	list := []part{
		{
			name: "branches", question: "Track the parents, issues, and pull requests of branches, in .twig (hidden from git)?",
			plan: "create .twig/state.json, hidden from git", wanted: o.branches, usual: true, quiet: true, flag: "--branches",
			do: func(ctx context.Context) (string, bool, error) {
				root, changed, err := branch.Init(ctx, env, ws.Sources)
				return "the default trunk is " + root + "; next: copse branch adopt", changed, err
			},
			exists: func(ctx context.Context) bool {
				_, err := ws.Session.View().State(ctx)
				return err == nil
			},
		},
		o.itemsPart(ctx, ws, ask),
		{
			name: "prompts", question: "Create a registry of prompts, in .agent (to commit)?", plan: "create .agent, with one prompt",
			wanted: o.prompts, flag: "--prompts",
			do: func(ctx context.Context) (string, bool, error) {
				made, err := catalog.Init(ctx, ws.Workspace())
				return ".agent; next: copse prompt list", len(made) > 0, err
			},
			exists: func(context.Context) bool {
				_, err := os.Lstat(filepath.Join(ws.Workspace(), ".agent"))
				return !regular.Absent(err)
			},
		},
	}
	clients := o.clients
	if len(clients) == 0 {
		clients = mcp.Present(env)
	}
	for _, id := range clients {
		list = append(list, part{
			name: id, question: "Add copse to " + title(id) + "?", plan: "add copse to " + title(id) + configuration(env, id),
			wanted: slices.Contains(o.clients, id), usual: true, flag: "--client " + id,
			do:     func(ctx context.Context) (string, bool, error) { return mcp.Install(ctx, env, id) },
			exists: func(ctx context.Context) bool { return mcp.Installed(ctx, env, id) },
		})
	}
	return list
}

// itemsPart sets up work items. If a remote has shared ones, a second store would be a mistake: a person
// is asked to use the shared ones, and without a person, the part fails.
func (o *options) itemsPart(ctx context.Context, ws *full.Workspace, ask bool) part {
	store := func() storage.Store {
		root := *ws
		root.Dir = root.Workspace()
		return root.Items()
	}
	p := part{
		name: "items", question: "Track work items, in .tic (to commit)?", plan: "create .tic, a store of work items",
		wanted: o.items, flag: "--items",
		do: func(ctx context.Context) (string, bool, error) {
			s := store()
			defer s.Close()
			changed, err := s.Init(ctx)
			return ".tic; next: copse item create TITLE", changed, err
		},
		exists: func(ctx context.Context) bool {
			s := ws.Items()
			defer s.Close()
			_, err := s.Config(ctx)
			return err == nil
		},
	}
	s := store()
	defer s.Close()
	ref := cleantext.Line(ws.Sync(s).Offered(ctx))
	if ref == "" {
		return p
	}
	const initItems = "copse item init"
	if !ask {
		p.do = func(context.Context) (string, bool, error) { return "", false, itemcmd.Shared(ref, initItems) }
		return p
	}
	p.question, p.plan = "Use the shared work items on "+ref+"?", "create a store for the shared work items, in git's directory"
	p.do = func(ctx context.Context) (string, bool, error) {
		s := store()
		defer s.Close()
		changed, err := itemproject.InitShared(ctx, ws, s)
		return "shared; next: copse item sync", changed, err
	}
	return p
}

func title(id string) string {
	client, err := clientconfig.Lookup(id)
	if err != nil {
		return id
	}
	return client.Title
}

// configuration returns the file of a client for the summary, "" if it has none here.
func configuration(env app.Env, id string) string {
	path := mcp.File(context.Background(), env, id)
	if path == "" {
		return ""
	}
	return ", in " + path
}

func (o *options) run(ctx context.Context) error {
	said := o.branches || o.items || o.prompts || len(o.clients) > 0 || o.all
	ask := !said && !o.asJSON && o.env.Interactive()
	ws := full.Find(ctx, o.env, "")
	parts := o.parts(ctx, ws, ask)
	switch {
	case ask:
		agreed, err := o.ask(ctx, ws, parts)
		if errors.Is(err, input.ErrEnd) || err == nil && !agreed {
			o.env.Note("No changes made.")
			return nil
		}
		if err != nil {
			return err
		}
	default:
		for i, p := range parts {
			parts[i].wanted = p.wanted || o.all || !said && p.quiet
		}
	}
	var outcomes []outcome
	var errs []error
	for _, p := range parts {
		out := outcome{Part: p.name, Outcome: skipped, Detail: "to set it up: copse init " + p.flag}
		switch {
		case !p.wanted && p.exists(ctx):
			out.Outcome, out.Detail = already, "exists; nothing to set up"
		case p.wanted:
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
	if !ask && !o.asJSON && len(o.clients) == 0 {
		o.absent(parts)
	}
	return errors.Join(errs...)
}

// ask asks a person which parts to set up, and reports whether the person agrees to the
// summary.
func (o *options) ask(ctx context.Context, ws *full.Workspace, parts []part) (bool, error) {
	_, err := ws.Session.Repo(ctx)
	outside := errors.Is(err, git.ErrNotRepository)
	o.env.Notef("copse init sets up %s. Press Enter for the default answer.", ws.Workspace())
	if _, unnamed := errors.AsType[*git.UnnamedError](err); unnamed {
		o.env.Note(failure.Of(err).Message(ws.Words) + ", so there are no branches to track. Run `copse init` in one of its worktrees.")
	} else if outside {
		o.env.Note("This directory is not in a git repository, so there are no branches to track.")
	}
	o.present(parts)
	o.absent(parts)
	var plans []string
	asked := 0
	for i, p := range parts {
		if outside && p.name == "branches" {
			continue
		}
		if p.exists(ctx) {
			o.env.Notef("%s: already set up.", title(p.name))
			continue
		}
		asked++
		yes, err := input.Confirm(ctx, o.env, p.question, p.usual)
		if err != nil {
			return false, err
		}
		if parts[i].wanted = yes; yes {
			plans = append(plans, p.plan)
		}
	}
	if asked == 0 {
		o.env.Note("Everything is set up. To check it, run `copse mcp doctor`.")
	}
	if len(plans) == 0 {
		return false, nil
	}
	for _, plan := range plans {
		o.env.Note("copse will " + plan + ".")
	}
	return input.Confirm(ctx, o.env, "Continue?", true)
}

// present names the clients that are among the parts.
func (o *options) present(parts []part) {
	var found []string
	for _, id := range clientconfig.IDs() {
		if slices.ContainsFunc(parts, func(p part) bool { return p.name == id }) {
			found = append(found, title(id))
		}
	}
	if len(found) > 0 {
		o.env.Notef("MCP clients found: %s.", strings.Join(found, ", "))
	}
}

// absent names the clients that are not among the parts.
func (o *options) absent(parts []part) {
	var missing []string
	for _, id := range clientconfig.IDs() {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.name == id }) {
			missing = append(missing, title(id))
		}
	}
	if len(missing) > 0 {
		o.env.Notef("MCP clients not found: %s. To add copse to one of them, run `copse mcp install --client NAME`.", strings.Join(missing, ", "))
	}
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
	if !w.Terminal() {
		return w.Table([]output.Column{{Name: "part"}, {Name: "outcome"}, {Name: "detail"}}, rows)
	}
	// Wrapped, not cut: the next step is at the end.
	part := 0
	for _, r := range rows {
		part = max(part, len(r[0]))
	}
	for _, r := range rows {
		if err := w.Hang(fmt.Sprintf("%-7s  %-*s  ", r[1], part, r[0]), r[2]); err != nil {
			return err
		}
	}
	return w.Drawn("\nTo check the result: copse mcp doctor\n")
}
