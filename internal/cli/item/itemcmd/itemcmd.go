// Package itemcmd is the common part of all commands about work items: the store that they
// open, their flags, completions, and the table of items.
package itemcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/wiring/full"
	"github.com/copse-dev/copse/internal/workflow/claims"
)

// Base is what a command about work items needs.
type Base struct {
	Env app.Env
	// Program is the name of the command in examples: "tic item".
	Program string
	// InitCommand is the command that creates a project: "tic init".
	InitCommand string
	Flags       *Flags
}

// Project returns an example of a command about the project.
func (c Base) Project(rest string) string {
	return "  " + strings.TrimSuffix(c.InitCommand, "init") + rest
}

// Flags are the flags that the original accepts anywhere on its command line.
type Flags struct {
	json  bool // only accepted here: commands that print have the flag themselves
	quiet bool
}

// Add adds the flags to the topmost command.
func (f *Flags) Add(cmd *cobra.Command) {
	p := cmd.PersistentFlags()
	p.BoolVar(&f.json, "json", false, "print JSON")
	p.BoolVar(&f.quiet, "quiet", false, "print only errors")
	if err := p.MarkHidden("json"); err != nil { // only if there is no such flag
		panic(err)
	}
}

// Run opens the store for a command.
func (c Base) Run(do func(ctx context.Context, s storage.Store, args []string) error) func(*cobra.Command, []string) error {
	return c.RunIn(func(ctx context.Context, _ *full.Workspace, s storage.Store, args []string) error {
		return do(ctx, s, args)
	})
}

// errNoFiles is the error of a command about files if there are none.
var errNoFiles = errors.New("the items of this project are in a database, and this command is about the files of a .tic directory")

// ErrNoDatabase is the error of a command about a database if the items are in files.
var ErrNoDatabase = errors.New("the items of this project are in files; choose a database with COPSE_ITEMS, or items.database in your settings")

// RunFiles opens the store for a command about its files.
func (c Base) RunFiles(do func(ctx context.Context, s *local.Store, args []string) error) func(*cobra.Command, []string) error {
	return c.Run(func(ctx context.Context, s storage.Store, args []string) error {
		files, ok := s.(*local.Store)
		if !ok {
			return errNoFiles
		}
		return do(ctx, files, args)
	})
}

// RunIn opens the workspace and the store for a command.
func (c Base) RunIn(do func(ctx context.Context, ws *full.Workspace, s storage.Store, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		ws := full.Find(cmd.Context(), c.Env, "")
		ws.Warn()
		store := ws.Items()
		defer store.Close()
		ctx := claim.WithAgent(cmd.Context(), ws.Person())
		if err := do(ctx, ws, store, args); err != nil {
			return c.explain(ctx, err, ws, store)
		}
		_ = store.Renew(ctx) // a claim that cannot be renewed expires
		c.syncChange(cmd.Context(), ws, store)
		return nil
	}
}

// syncChange syncs after a change, if the user's settings request it. After a failure, the next
// sync tries again.
func (c Base) syncChange(ctx context.Context, ws *full.Workspace, s storage.Store) {
	if files, ok := s.(*local.Store); !ok || !files.Changed() {
		return
	}
	if err := ws.Sync(s).AfterChange(ctx); err != nil {
		c.Env.Notef("warning: not synced: %v; run `%s sync` to try again", err, strings.TrimSuffix(c.InitCommand, " init"))
	}
}

// Shared returns the error of a clone that does not use the shared work items on ref.
func Shared(ref, initCommand string) error {
	return fmt.Errorf("this repository has shared work items on %s. Run `%s --shared`, then `%ssync`", cleantext.Line(ref), initCommand, strings.TrimSuffix(initCommand, "init"))
}

// explain explains an error to a person, who has the program and not the tools.
func (c Base) explain(ctx context.Context, err error, ws *full.Workspace, store storage.Store) error {
	if missing, ok := errors.AsType[*storage.NoProjectError](err); ok {
		return fmt.Errorf("%w%s. Run `%s` to create it, or name another one in items.project", missing, others(ctx, store), c.InitCommand)
	}
	if errors.Is(err, storage.ErrNoProject) {
		if ref := ws.Sync(store).Offered(ctx); ref != "" {
			return Shared(ref, c.InitCommand)
		}
		return fmt.Errorf("not a tic project (no .tic/ directory found in %s or above it). Run `%s` first", foreign.Mention(c.Env.Dir), c.InitCommand)
	}
	if bad, ok := errors.AsType[*storage.ConfigError](err); ok {
		if path := pathOf(store); path != "" {
			return fmt.Errorf("%s %s", foreign.Mention(filepath.Join(path, bad.File)), bad.Reason)
		}
	}
	if _, done := errors.AsType[*explainedError](err); done {
		return err
	}
	if held, ok := errors.AsType[*storage.HeldError](err); ok {
		return fmt.Errorf("%w; choose another item with `%s claim`, or take this one with `%[2]s claim %[3]d --steal`", err, c.Program, held.ID)
	}
	if missing, ok := errors.AsType[*item.NotFoundError](err); ok {
		if deleted, _, err := store.Deleted(ctx); err == nil && slices.ContainsFunc(deleted, func(t storage.Trashed) bool { return t.ID == missing.ID }) {
			return fmt.Errorf("%w: it is deleted; run `%s restore %d` to restore it", missing, c.Program, missing.ID)
		}
		return err
	}
	if _, none := errors.AsType[*item.NothingToClaimError](err); none {
		return fmt.Errorf("%w; `%s list` shows who holds what", err, c.Program)
	}
	if _, changed := errors.AsType[*storage.ChangedError](err); changed {
		return errors.New("the item or a related item has changed in the meantime; run the command again")
	}
	return err
}

// explainedError is an error with the next step.
type explainedError struct {
	err  error
	next string
}

func (e *explainedError) Error() string { return e.err.Error() + "; " + e.next }
func (e *explainedError) Unwrap() error { return e.err }

// NoteClaim warns of a claim that another clone can still get.
func (c Base) NoteClaim(got claims.Taken) {
	if got.Unconfirmed != nil {
		c.Env.Notef("warning: not confirmed by the remote, so another clone can still get the item: %v", got.Unconfirmed)
	}
}

// Explained returns an error with the next step, in place of the one that commands about items add.
func Explained(err error, next string) error { return &explainedError{err, next} }

// ExplainHeld adds the next step to a [*storage.HeldError] of a command with the flag --steal. what is
// what the command does then.
func (c Base) ExplainHeld(err error, what string) error {
	if _, ok := errors.AsType[*storage.HeldError](err); ok {
		return Explained(err, "to "+what+", add --steal")
	}
	return err
}

// pathOf returns the directory of a store, "" if it has none.
func pathOf(s storage.Store) string {
	files, ok := s.(*local.Store)
	if !ok {
		return ""
	}
	path, _ := files.Path() // it is unknown without a project
	return path
}

// lister is a store that lists the projects of its database that the role may see.
type lister interface {
	Projects(ctx context.Context, maximum int) (names []string, err error)
}

// others names the projects that the database has, as far as the role may see them.
func others(ctx context.Context, store storage.Store) string {
	const maximum, longest = 10, 60
	database, ok := store.(lister)
	if !ok {
		return ""
	}
	names, err := database.Projects(ctx, maximum+1)
	if err != nil || len(names) == 0 {
		return "" // the database is empty, or shows its projects to others
	}
	quoted := make([]string, 0, maximum)
	for _, name := range names[:min(len(names), maximum)] {
		quoted = append(quoted, strconv.Quote(cleantext.Cut(cleantext.Line(name), longest)))
	}
	text := ", but has " + strings.Join(quoted, ", ")
	if len(names) > maximum {
		text += ", and more"
	}
	return text
}

// Out returns the writer of results. With --quiet, it discards them.
func (c Base) Out() *output.Writer {
	if c.Flags.quiet {
		c.Env.Stdout = io.Discard
	}
	return output.New(c.Env)
}

// When returns a time that the store recorded: its age at a terminal, else as it is recorded.
func (c Base) When(at string) string {
	if when, err := time.Parse(time.RFC3339, at); err == nil && c.Out().Terminal() {
		return fact.Age(when, c.Env.Now())
	}
	return at
}

// ParseID reads the number of an item as a person writes it: 3, #3.
func ParseID(arg string) (item.ID, error) { return item.ParseID(strings.TrimPrefix(arg, "#")) }

// ParseIDs reads numbers that are separated by commas.
func ParseIDs(list string) ([]item.ID, error) {
	ids := []item.ID{}
	for part := range strings.SplitSeq(list, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		id, err := ParseID(part)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// The columns of items: in a pipe those of the original, in its order; for a person the most useful
// ones.
var (
	pipeColumns = []output.Column{{Name: "id"}, {Name: "type"}, {Name: "status"}, {Name: "priority"}, {Name: "title"}, {Name: "iteration"}}
	termColumns = []output.Column{
		{Name: "id", Right: true}, {Name: "title", Flexible: true}, {Name: "type"}, {Name: "status"}, {Name: "priority"},
		{Name: "assignee", Flexible: true}, {Name: "labels", Flexible: true},
	}
	claimedBy = output.Column{Name: "claimed by", Flexible: true}
)

// TableOptions configure a table of items.
type TableOptions struct {
	// Merged are items whose pull request is merged. A person sees a mark after their status.
	Merged map[item.ID]item.Link
	// Held returns the holder of an item, "" if there is none, for a person.
	Held func(item.ID) string
}

// Table writes items.
func Table(o *output.Writer, list []*item.Summary, opts TableOptions) error {
	var rows [][]string
	claimed := false
	for _, s := range list {
		if o.Terminal() {
			status := s.Status
			if _, ok := opts.Merged[s.ID]; ok {
				status += " (PR merged)"
			}
			held := ""
			if opts.Held != nil {
				held = opts.Held(s.ID)
			}
			claimed = claimed || held != ""
			rows = append(rows, []string{
				s.ID.String(), s.Title, s.Type, status, s.Priority, cmp.Or(s.Assignee, "-"), cmp.Or(strings.Join(s.Labels, ","), "-"),
				cmp.Or(held, "-"),
			})
		} else {
			rows = append(rows, []string{s.ID.String(), s.Type, s.Status, s.Priority, s.Title, s.Iteration})
		}
	}
	switch {
	case o.Terminal() && claimed:
		return o.Table(append(slices.Clone(termColumns), claimedBy), rows)
	case o.Terminal():
		for i, row := range rows {
			rows[i] = row[:len(termColumns)]
		}
		return o.Table(termColumns, rows)
	}
	return o.Table(pipeColumns, rows)
}

// Worded returns a text of the store with the names that commands have in this program.
func (c Base) Worded(text string) string {
	return strings.ReplaceAll(text, "`copse item ", "`"+strings.TrimSuffix(c.InitCommand, "init"))
}

// Warn reports on stderr what could not be read.
func (c Base) Warn(lists ...[]item.Warning) {
	const maximum = 3
	n := 0
	for _, list := range lists {
		for _, w := range list {
			if n++; n <= maximum {
				c.Env.Notef("warning: %s", c.Worded(w.String()))
			}
		}
	}
	if n > maximum {
		c.Env.Notef("warning: %d more; `%s doctor` lists all", n-maximum, strings.TrimSuffix(c.InitCommand, " init"))
	}
}
