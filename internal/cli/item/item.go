// Package item is the command line of the work-item tracker, which two programs
// have: "tic item list" is "copse item list".
//
// [Items] is the group of commands about items, [Project] the commands about the
// project that they are in. A command is an options struct and a run function.
// Results go to stdout: tables at a terminal, tab-separated values in a pipe, JSON
// with --json.
package item

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/wiring/workspace"
	"github.com/copse-dev/copse/internal/workflow/backlog"
)

// Items is "item", the commands about items. program is the way to them on the
// command line: "tic item", "copse item".
func Items(env app.Env, program, initCommand string, flags *Flags) *cobra.Command {
	c := cli{env: env, program: program, initCommand: initCommand, flags: flags}
	cmd := &cobra.Command{
		Use:   "item",
		Short: "Create, list, search and change work items",
		Example: strings.ReplaceAll(`  PROGRAM create "Show the login form" --type issue --labels ui,login
  PROGRAM list --ready
  PROGRAM update 3 --status done
  echo "Seen on Firefox, too." | PROGRAM comment 3`, "PROGRAM", program),
		Args: app.Subcommands,
		RunE: app.Help,
	}
	cmd.AddCommand(
		c.list(), c.ready(), c.search(), c.tree(), c.show(), c.create(), c.update(), c.comment(), c.open(), c.delete(), c.restore(), c.trash(), c.link(), c.start(),
	)
	return cmd
}

// Project is the commands about the project: init, iteration, config, doctor and sync.
// program is what comes before them: "tic", "copse item".
func Project(env app.Env, program, initCommand string, flags *Flags) []*cobra.Command {
	c := cli{env: env, program: program, initCommand: initCommand, flags: flags}
	return []*cobra.Command{c.init(), c.iteration(), c.config(), c.doctor(), c.sync(), c.mergeDriver()}
}

// cli is what all commands have.
type cli struct {
	env         app.Env
	program     string // as in examples
	initCommand string // what makes a project
	flags       *Flags
}

// Flags are the flags that the original takes anywhere on its command line.
type Flags struct {
	json  bool // only accepted here: commands that print have the flag themselves
	quiet bool
}

// Add adds the flags to the command above all others.
func (f *Flags) Add(cmd *cobra.Command) {
	p := cmd.PersistentFlags()
	p.BoolVar(&f.json, "json", false, "print JSON")
	p.BoolVar(&f.quiet, "quiet", false, "print nothing when a change succeeds")
	if err := p.MarkHidden("json"); err != nil { // only if there is no such flag
		panic(err)
	}
}

// run opens the store for a command.
func (c cli) run(do func(ctx context.Context, s *local.Store, args []string) error) func(*cobra.Command, []string) error {
	return c.runIn(func(ctx context.Context, _ *workspace.Workspace, s *local.Store, args []string) error {
		return do(ctx, s, args)
	})
}

// runIn opens the workspace and the store for a command.
func (c cli) runIn(do func(ctx context.Context, here *workspace.Workspace, s *local.Store, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		here := workspace.Find(cmd.Context(), c.env, "")
		here.Warn()
		store := here.Items()
		defer store.Close()
		if err := do(cmd.Context(), here, store, args); err != nil {
			return c.explain(err)
		}
		c.syncChange(cmd.Context(), here, store)
		return nil
	}
}

// explain words an error for a person, who has the program and not the tools.
func (c cli) explain(err error) error {
	if errors.Is(err, item.ErrNoProject) {
		return fmt.Errorf("not a tic project (no .tic/ directory found). Run '%s' first", c.initCommand)
	}
	if _, changed := errors.AsType[*item.ChangedError](err); changed {
		return errors.New("the item, or one that it affects, has changed meanwhile; look at it again")
	}
	return err
}

func (c cli) out() *output.Writer { return output.New(c.env) }

// changed is for what a command prints about a change that it made.
func (c cli) changed() *output.Writer {
	if c.flags.quiet {
		c.env.Stdout = io.Discard
	}
	return output.New(c.env)
}

// parseID reads the number of an item as a person writes it: 3, #3.
func parseID(arg string) (item.ID, error) { return item.ParseID(strings.TrimPrefix(arg, "#")) }

// parseIDs reads numbers that are separated by commas.
func parseIDs(list string) ([]item.ID, error) {
	ids := []item.ID{}
	for part := range strings.SplitSeq(list, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		id, err := parseID(part)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// row is an item of a list in JSON.
type row struct {
	backlog.Fields
	// PR is "merged" if the pull request is merged and the item is open, as far as the
	// cache knows.
	PR string `json:"pr,omitempty"`
}

// The columns of items: for a pipe those that the original prints, in its order;
// for a person those that are worth the room.
var (
	pipeColumns = []output.Column{{Name: "id"}, {Name: "type"}, {Name: "status"}, {Name: "priority"}, {Name: "title"}, {Name: "iteration"}}
	termColumns = []output.Column{
		{Name: "id", Right: true}, {Name: "title", Flexible: true}, {Name: "type"}, {Name: "status"}, {Name: "priority"},
		{Name: "assignee", Flexible: true}, {Name: "labels", Flexible: true},
	}
)

// table writes items.
func table(o *output.Writer, list []*item.Summary) error { return (&listOptions{}).table(o, list, nil) }

// table writes items, with a line of column names where a person reads or asked for it.
// The status of an item in merged is marked for a person.
func (opts *listOptions) table(o *output.Writer, list []*item.Summary, merged map[item.ID]item.Link) error {
	var rows [][]string
	if opts.headers && !o.Terminal() {
		var names []string
		for _, c := range pipeColumns {
			names = append(names, c.Name)
		}
		rows = append(rows, names)
	}
	for _, s := range list {
		if o.Terminal() {
			status := s.Status
			if _, ok := merged[s.ID]; ok {
				status += " (PR merged)"
			}
			rows = append(rows, []string{
				s.ID.String(), s.Title, s.Type, status, s.Priority, cmp.Or(s.Assignee, "-"), cmp.Or(strings.Join(s.Labels, ","), "-"),
			})
		} else {
			rows = append(rows, []string{s.ID.String(), s.Type, s.Status, s.Priority, s.Title, s.Iteration})
		}
	}
	if o.Terminal() {
		return o.Table(termColumns, rows)
	}
	return o.Table(pipeColumns, rows)
}

// warn says on stderr what could not be read.
func (c cli) warn(lists ...[]item.Warning) {
	const most = 3
	n := 0
	for _, list := range lists {
		for _, w := range list {
			if n++; n <= most {
				c.env.Notef("warning: %s %s", w.File, w.Reason)
			}
		}
	}
	if n > most {
		c.env.Notef("warning: %d more; '%s doctor' lists all", n-most, strings.TrimSuffix(c.initCommand, " init"))
	}
}
