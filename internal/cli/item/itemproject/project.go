// Package itemproject implements the commands about a project of work items: they create,
// configure, repair, and sync it.
package itemproject

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/item/itemcmd"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/git/sidebranch"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/gitmerge"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/postgres"
	"github.com/copse-dev/copse/internal/item/remerge"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/wiring/full"
)

// Commands returns the commands: init, iteration, config, doctor, sync, migrate, move, and
// the merge driver that git calls.
func Commands(b itemcmd.Base) []*cobra.Command {
	c := cli{b}
	return []*cobra.Command{c.init(), c.iteration(), c.config(), c.doctor(), c.sync(), c.migrate(), c.move(), c.mergeDriver()}
}

// cli is shared by all commands.
type cli struct{ itemcmd.Base }

// The JSON forms of what the commands about a project print.
type (
	initialized struct {
		Initialized   bool   `json:"initialized,omitempty"`
		AlreadyExists bool   `json:"alreadyExists,omitempty"`
		Backend       string `json:"backend"`
	}
	iterations struct {
		Iterations []string `json:"iterations"`
		Current    string   `json:"current"`
	}
	chosen struct {
		Current string `json:"current_iteration"`
	}
	configuration struct {
		Backend          string   `json:"backend"`
		NextID           item.ID  `json:"next_id"`
		Types            []string `json:"types"`
		Statuses         []string `json:"statuses"`
		Iterations       []string `json:"iterations"`
		CurrentIteration string   `json:"current_iteration"`
		DoneStatuses     []string `json:"done_statuses,omitempty"`
	}
	configured struct {
		Backend          string   `json:"backend,omitempty"`
		CurrentIteration string   `json:"current_iteration,omitempty"`
		DoneStatuses     []string `json:"done_statuses,omitzero"`
		Types            []string `json:"types,omitempty"`
		Statuses         []string `json:"statuses,omitempty"`
	}
)

func (c cli) init() *cobra.Command {
	var asJSON, driver, share, separate bool
	var chosen string
	var cmd *cobra.Command
	cmd = &cobra.Command{
		Use:     "init",
		Short:   "Create a project in the current directory",
		Example: "  " + c.InitCommand,
		Long: `Create a project in the current directory: a directory .tic. An existing project, here or in a
parent directory, does not change. There are three ways to store the items:

  committed  Commit .tic. The items are versioned with the code: each branch and each
             worktree has its own version of them, and git merges them.
  private    Exclude .tic from git. The worktrees of the repository share it, so it is
             in the main one, and it stays on this machine.
  shared     --shared creates one store for all worktrees, in git's directory. Its
             history is on a separate branch that is never checked out, and "sync"
             exchanges it with a remote. copse copies the items of this worktree.

If a remote of the repository has shared items, the command requires --shared, which uses them, or
--separate, which creates a store that has no connection with them.

"doctor" shows the active mode.`,
		Args: app.NoArgs,
		RunE: c.RunIn(func(ctx context.Context, ws *full.Workspace, store storage.Store, _ []string) error {
			s, ok := store.(*local.Store)
			if !ok {
				return c.initDatabase(ctx, store, asJSON, share || driver)
			}
			if err := checkBackend(chosen); err != nil {
				return err
			}
			if share {
				return c.initShared(ctx, ws, s, asJSON)
			}
			created, err := c.create(ctx, ws, s, separate)
			if err != nil {
				return err
			}
			if asJSON {
				if driver {
					if err := s.RegisterDriver(ctx, c.driverCommand()); err != nil {
						return err
					}
				}
				return c.Out().JSON(initialized{created, !created, backend})
			}
			place := ".tic/"
			if path, err := s.Path(); err == nil && filepath.Dir(path) != ws.Dir {
				place = path
			}
			if !created {
				return errors.Join(c.Out().Line("Already initialized in %s", place), c.offerDriver(ctx, s, cmd, driver))
			}
			return errors.Join(
				c.Out().Line("Initialized %s. Next: %s item create \"TITLE\"", place, strings.TrimSuffix(strings.TrimSuffix(c.InitCommand, " init"), " item")),
				c.explainModes(ctx, s),
				c.offerDriver(ctx, s, cmd, driver),
			)
		}),
	}
	cmd.Flags().BoolVar(&driver, "merge-driver", false, "register a merge driver for this clone, so that git merges single fields")
	cmd.Flags().BoolVar(&share, "shared", false, "create one store for all worktrees of the repository, with a separate history")
	cmd.Flags().BoolVar(&separate, "separate", false, "create a store beside the shared one of a remote")
	cmd.MarkFlagsMutuallyExclusive("shared", "separate")
	cmd.Flags().StringVar(&chosen, "backend", backend, "the store of the items: "+backend)
	output.JSONFlag[initialized](cmd, &asJSON)
	return cmd
}

// create creates a store in the worktree. If a remote has shared items and separate is false, the error says so.
func (c cli) create(ctx context.Context, ws *full.Workspace, s *local.Store, separate bool) (created bool, err error) {
	if ref := ws.Sync(s).Offered(ctx); ref != "" && !separate {
		return false, fmt.Errorf("%w. For a store without these items, run `%s --separate`", itemcmd.Shared(ref, c.InitCommand), c.InitCommand)
	}
	return s.Init(ctx)
}

// explainModes describes the ways to store the items of a new project in a repository.
func (c cli) explainModes(ctx context.Context, s *local.Store) error {
	if !s.InRepository(ctx) {
		return nil
	}
	group, o := strings.TrimSuffix(c.InitCommand, "init"), c.Out()
	return errors.Join(
		o.Line("There are three ways to store the items; `%sdoctor` reports the active one:", group),
		o.Hang("  committed  ", "Commit .tic. Each branch and each worktree has its own state of the items."),
		o.Hang("  private    ", "Leave .tic out of git. The worktrees on this machine share the items."),
		o.Hang("  shared     ", fmt.Sprintf("Run `%s --shared`. All worktrees share one store, and `%ssync` exchanges it with a remote.", c.InitCommand, group)),
	)
}

// initDatabase creates the project in the database that the user chose.
func (c cli) initDatabase(ctx context.Context, s storage.Store, asJSON, files bool) error {
	if files {
		return app.UsageError("--shared and --merge-driver are for items in files, and those of this project are in a database")
	}
	created, err := s.Init(ctx)
	switch {
	case err != nil:
		return err
	case asJSON:
		return c.Out().JSON(initialized{created, !created, backendOf(s)})
	case !created:
		return c.Out().Line("The project is already in the database")
	}
	return c.Out().Line("Created the project in the database. Next: %s create \"TITLE\"", c.Program)
}

// approve lets copse contact the remote of a shared store, because the user asked for the store or
// its sync.
func (c cli) approve(ws *full.Workspace, s storage.Store, remote *sidebranch.Remote) {
	if err := ws.Sync(s).Approve(remote); err != nil {
		c.Env.Notef("note: claims reach the remote only with `%s`: %v", strings.TrimSpace(c.Project("sync")), err)
	}
}

// approveUsual is approve with the remote that a sync without --remote has.
func (c cli) approveUsual(ctx context.Context, ws *full.Workspace, s storage.Store) {
	remote, _ := ws.Sync(s).Remote(ctx, "") // the next sync reports an error
	c.approve(ws, s, remote)
}

// InitShared creates the store that all worktrees share, and lets copse contact its remote. It changes
// nothing if the items are in a database.
func InitShared(ctx context.Context, ws *full.Workspace, store storage.Store) (created bool, err error) {
	s, ok := store.(*local.Store)
	if !ok {
		return false, nil
	}
	created, _, err = s.InitShared(ctx)
	if err != nil || !created {
		return created, err
	}
	remote, _ := ws.Sync(s).Remote(ctx, "") // the next sync reports an error
	return created, ws.Sync(s).Approve(remote)
}

// initShared creates the store that all worktrees share.
func (c cli) initShared(ctx context.Context, ws *full.Workspace, s *local.Store, asJSON bool) error {
	offered := ws.Sync(s).Offered(ctx)
	created, from, err := s.InitShared(ctx)
	if err != nil {
		return err
	}
	if created {
		c.approveUsual(ctx, ws, s)
	}
	o := c.Out()
	if asJSON {
		return o.JSON(initialized{created, !created, backend})
	}
	sync := strings.TrimSuffix(c.InitCommand, "init") + "sync"
	if !created {
		return o.Line("This repository already has a shared store. `%s` exchanges it with a remote.", sync)
	}
	if offered != "" {
		return o.Line("Initialized a shared store for all worktrees of this repository. Next: `%s` receives the items of %s.", sync, offered)
	}
	err = o.Line("Initialized a shared store for all worktrees of this repository. `%s` commits it to its branch and exchanges it with a remote.", sync)
	if from != "" {
		err = errors.Join(err, o.Line("It contains a copy of the items in %s, which is no longer used. Remove that directory, with `git rm -r` if it is committed.", from))
	}
	return err
}

func (c cli) iteration() *cobra.Command {
	list := c.iterationList()
	cmd := &cobra.Command{
		Use:     "iteration",
		Short:   "List iterations, or set the current one",
		Example: c.Project("iteration set sprint-2"),
		Args:    app.Subcommands,
		RunE:    list.RunE,
	}
	cmd.AddCommand(list, c.iterationSet())
	return cmd
}

func (c cli) iterationList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the iterations; a star marks the current one",
		Example: c.Project("iteration list"),
		Args:    app.NoArgs,
		RunE: c.Run(func(ctx context.Context, s storage.Store, _ []string) error {
			config, err := s.Config(ctx)
			if err != nil {
				return err
			}
			c.Warn(config.Warnings)
			if asJSON {
				return c.Out().JSON(iterations{append([]string{}, config.Iterations...), config.CurrentIteration})
			}
			var rows [][]string
			for _, name := range config.Iterations {
				mark := ""
				if name == config.CurrentIteration {
					mark = "*"
				}
				rows = append(rows, []string{mark, name})
			}
			return c.Out().Table([]output.Column{{Name: ""}, {Name: "iteration"}}, rows)
		}),
	}
	output.JSONFlag[iterations](cmd, &asJSON)
	return cmd
}

func (c cli) iterationSet() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "set NAME",
		Short:   "Set the current iteration; a new name adds an iteration",
		Example: c.Project("iteration set sprint-2"),
		Args:    app.Args(1, 1, "NAME"),
		ValidArgsFunction: c.CompleteConfig(func(config item.Config) []string {
			return config.Iterations
		}),
		RunE: c.Run(func(ctx context.Context, s storage.Store, args []string) error {
			if err := s.SetIteration(ctx, args[0]); err != nil {
				return err
			}
			if asJSON {
				return c.Out().JSON(chosen{args[0]})
			}
			return c.Out().Line("Current iteration: %s", args[0])
		}),
	}
	output.JSONFlag[chosen](cmd, &asJSON)
	return cmd
}

// settings returns the keys of a project's configuration and their values.
func settings(config item.Config, backend string) []setting {
	next := ""
	if config.NextID > 0 {
		next = config.NextID.String()
	}
	return []setting{
		{"backend", []string{backend}},
		{"types", config.Types},
		{"statuses", config.Statuses},
		{"iterations", config.Iterations},
		{"current_iteration", []string{config.CurrentIteration}},
		{"next_id", []string{next}},
		{"done_statuses", done(config)},
	}
}

// backend is the default backend.
const backend = "local"

// database is the other backend.
const database = "postgres"

// backendOf returns the name of the backend of a store.
func backendOf(s storage.Store) string {
	if _, ok := s.(*local.Store); ok {
		return backend
	}
	return database
}

// checkBackend refuses the original's backends that copse does not have.
func checkBackend(name string) error {
	if name == backend {
		return nil
	}
	if name == database {
		return app.UsageError("a database is chosen by its address: set COPSE_ITEMS, or items.database in your settings, and run the command again")
	}
	return app.UsageError(fmt.Sprintf("invalid backend %q: only %s is supported. For a database, set COPSE_ITEMS, or items.database in your settings", name, backend))
}

// done returns the statuses of a project that mean done.
func done(config item.Config) []string {
	return slices.DeleteFunc(slices.Clone(config.Statuses), func(status string) bool { return !config.Done(status) })
}

type setting struct {
	key    string
	values []string
}

func keys() []string {
	var names []string
	for _, s := range settings(item.Config{}, backend) {
		names = append(names, s.key)
	}
	return names
}

func unknownKey(key string) error {
	return fmt.Errorf("unknown config key %q. Valid keys: %s", key, strings.Join(keys(), ", "))
}

func (c cli) config() *cobra.Command {
	get := c.configGet()
	cmd := &cobra.Command{
		Use:     "config",
		Short:   "Show or change the configuration of the project",
		Example: c.Project("config get statuses"),
		Args:    app.Subcommands,
		RunE:    get.RunE,
	}
	cmd.AddCommand(get, c.configSet())
	return cmd
}

func (c cli) configGet() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "get [KEY]",
		Short: "Show one value or all values",
		Long: `Show one value or all values. For one key, the command prints the value, with a line for each
entry of a list; with --json, it prints an object with that key.`,
		Example:   c.Project("config get statuses"),
		ValidArgs: keys(),
		Args:      app.Args(0, 1, "no argument, or KEY"),
		RunE: c.Run(func(ctx context.Context, s storage.Store, args []string) error {
			if len(args) > 0 && !slices.Contains(keys(), args[0]) {
				return unknownKey(args[0])
			}
			config, err := s.Config(ctx)
			if err != nil {
				return err
			}
			c.Warn(config.Warnings)
			return c.printSettings(config, backendOf(s), args, asJSON)
		}),
	}
	output.JSONFlag[configuration](cmd, &asJSON)
	return cmd
}

func (c cli) printSettings(config item.Config, backend string, only []string, asJSON bool) error {
	if len(only) > 0 {
		return c.printSetting(config, backend, only[0], asJSON)
	}
	if asJSON {
		return c.Out().JSON(configuration{
			Backend: backend, NextID: config.NextID, Types: config.Types, Statuses: config.Statuses, Iterations: config.Iterations,
			CurrentIteration: config.CurrentIteration, DoneStatuses: config.DoneStatuses,
		})
	}
	var rows [][]string
	for _, s := range settings(config, backend) {
		rows = append(rows, []string{s.key, strings.Join(s.values, ",")})
	}
	return c.Out().Table([]output.Column{{Name: "key"}, {Name: "value", Handle: true}}, rows)
}

// printSetting prints one value in the form of the original.
func (c cli) printSetting(config item.Config, backend, key string, asJSON bool) error {
	all := settings(config, backend)
	s := all[slices.IndexFunc(all, func(s setting) bool { return s.key == key })]
	if !asJSON {
		var err error
		for _, value := range s.values {
			err = errors.Join(err, c.Out().Whole(value))
		}
		return err
	}
	switch key {
	case "next_id":
		return c.Out().JSON(map[string]item.ID{key: config.NextID})
	case "backend", "current_iteration":
		return c.Out().JSON(map[string]string{key: s.values[0]})
	}
	return c.Out().JSON(map[string][]string{key: append([]string{}, s.values...)})
}

func (c cli) configSet() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:       "set KEY VALUE",
		Short:     "Set current_iteration or done_statuses; in a database, also types and statuses",
		Example:   c.Project("config set current_iteration sprint-2") + "\n" + c.Project("config set done_statuses review,done"),
		ValidArgs: []string{"current_iteration", "done_statuses", "types", "statuses"},
		Args:      app.Args(2, 2, "KEY and VALUE"),
		RunE: c.Run(func(ctx context.Context, s storage.Store, args []string) error {
			var set configured
			var err error
			switch key := args[0]; {
			case key == "current_iteration":
				set.CurrentIteration = args[1]
				err = s.SetIteration(ctx, args[1])
			case key == "done_statuses":
				set.DoneStatuses = append([]string{}, item.SplitLabels(args[1])...)
				err = s.SetDoneStatuses(ctx, item.SplitLabels(args[1]))
			case key == "backend":
				set.Backend = args[1]
				err = checkBackend(args[1])
			case key == "types" || key == "statuses":
				set.Types, set.Statuses, err = setValues(ctx, s, key, item.SplitLabels(args[1]))
			case slices.Contains(keys(), key):
				err = fmt.Errorf("config key %q is read-only; edit .tic/config.yml", key)
			default:
				err = unknownKey(key)
			}
			switch {
			case err != nil:
				return err
			case asJSON:
				return c.Out().JSON(set)
			}
			return c.Out().Line("Set %s = %s", args[0], args[1])
		}),
	}
	output.JSONFlag[configured](cmd, &asJSON)
	return cmd
}

// setValues changes the types or the statuses of a project in a database.
func setValues(ctx context.Context, s storage.Store, key string, values []string) (types, statuses []string, err error) {
	db, ok := s.(*postgres.Store)
	if !ok {
		return nil, nil, fmt.Errorf("config key %q is read-only; edit .tic/config.yml", key)
	}
	if err := db.SetValues(ctx, key, values); err != nil {
		return nil, nil, err
	}
	if key == "types" {
		return values, nil, nil
	}
	return nil, values, nil
}

func (c cli) doctor() *cobra.Command {
	var repair, add, asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find and repair problems after a merge or an edit",
		Long: `Find problems in the files of the project: files that cannot be read or were not merged, and
references to items that do not exist. With --repair, make the repairs that need no decision:
finish an open merge, rebase, or cherry-pick of the items, field by field; give one of two items
with the same ID a new ID; and remove references to items that do not exist. Then the command
prints the git commands that finish the merge; with --add, it runs the first one, git add. The exit
code is 1 if problems remain.`,
		Example: "  " + strings.TrimSuffix(c.InitCommand, "init") + "doctor --repair",
		Args:    app.NoArgs,
		RunE: c.RunIn(func(ctx context.Context, ws *full.Workspace, store storage.Store, _ []string) error {
			s, ok := store.(*local.Store)
			if !ok {
				return c.examine(ctx, store, repair || add, asJSON)
			}
			report := report{Mode: s.Mode(ctx), Shared: ws.Sync(s).Elsewhere(ctx), repairs: repair}
			if add && !repair {
				return errors.New("--add requires --repair")
			}
			if repair {
				done, err := s.Repair(ctx)
				if err != nil {
					return err
				}
				for _, f := range done.Fixes {
					report.Repaired = append(report.Repaired, finding{f.File, f.Done})
				}
				if report.Next, err = c.finish(ctx, done, add); err != nil {
					return err
				}
			}
			found, err := s.Check(ctx)
			if err != nil {
				return err
			}
			for _, w := range found {
				report.Found = append(report.Found, finding{w.File, w.Reason})
			}
			return c.report(report, asJSON)
		}),
	}
	f := cmd.Flags()
	f.BoolVar(&repair, "repair", false, "make the repairs that need no decision")
	f.BoolVar(&add, "add", false, "with --repair, run git add after a finished merge")
	output.JSONFlag[report](cmd, &asJSON)
	return cmd
}

// inDatabase is the mode of a project in a database.
const inDatabase local.Mode = "database"

// examine reports problems of a project in a database. None of them can be repaired without a
// decision.
func (c cli) examine(ctx context.Context, s storage.Store, repair, asJSON bool) error {
	if repair {
		return app.UsageError("--repair is for items in files, and those of this project are in a database")
	}
	report := report{Mode: inDatabase}
	if db, ok := s.(*postgres.Store); ok {
		what, err := db.Describe(ctx)
		if err != nil {
			return err
		}
		report.Database = what.Lines()
	}
	found, err := s.Check(ctx)
	if err != nil {
		for _, line := range report.Database { // what is known explains the error
			c.Env.Notef("%s", line)
		}
		return err
	}
	for _, w := range found {
		report.Found = append(report.Found, finding{w.File, w.Reason})
	}
	return c.report(report, asJSON)
}

// finish returns the git commands that finish a repaired merge.
func (c cli) finish(ctx context.Context, done remerge.Result, add bool) ([]string, error) {
	if done.Merge == nil || done.Merge.Done && len(done.Fixes) == 0 {
		return nil, nil
	}
	steps := done.Merge.Steps()
	if done.Merge.Kind == gitmerge.OfRebase {
		// Later commits that git copies without a stop can refer to old numbers.
		steps = append(steps, strings.TrimSuffix(c.InitCommand, "init")+"doctor --repair, when the rebase is done")
	}
	if !add {
		return steps, nil
	}
	if err := done.Merge.Add(ctx); err != nil {
		return nil, fmt.Errorf("run %s: %w", steps[0], err)
	}
	return steps[1:], nil
}

// report is what doctor has done and found.
type report struct {
	repairs bool
	Mode    local.Mode `json:"mode"`
	// Shared is the ref of shared items on a remote that this store is not part of.
	Shared string `json:"shared,omitempty"`
	// Database says what the database is that has the items.
	Database []string  `json:"database,omitempty"`
	Repaired []finding `json:"repaired"`
	Found    []finding `json:"found"`
	// Next are the git commands that finish a merge.
	Next []string `json:"next,omitempty"`
}

type finding struct {
	File string `json:"file"`
	Text string `json:"text"`
}

// explained describes a mode.
func explained(m local.Mode) string {
	switch m {
	case local.Committed:
		return "mode: committed. The items are versioned with the code; each branch and each worktree has its own version of them"
	case inDatabase:
		return "mode: database. The items are in a database that every machine with its address can use"
	case local.InCommon:
		return "mode: shared. All worktrees use one store, with its history on a separate branch"
	}
	return "mode: private. The items are not in git, and nowhere else; worktrees without a .tic use that of the main worktree"
}

func (c cli) report(r report, asJSON bool) error {
	o := c.Out()
	var err error
	if asJSON {
		r.Repaired, r.Found = append([]finding{}, r.Repaired...), append([]finding{}, r.Found...)
		err = o.JSON(r)
	} else {
		if !r.repairs {
			err = o.Hang("", explained(r.Mode))
		}
		if r.Shared != "" {
			err = errors.Join(err, o.Hang("", fmt.Sprintf("note: this store is separate from the shared work items on %s. To join them, run `%s --shared`, then `%ssync`. "+
				"An item whose number is taken there gets a new one", cleantext.Line(r.Shared), c.InitCommand, strings.TrimSuffix(c.InitCommand, "init"))))
		}
		for _, line := range r.Database {
			err = errors.Join(err, o.Line("%s", line))
		}
		for _, f := range r.Repaired {
			err = errors.Join(err, o.Hang("", "repaired: "+item.Warning{File: f.File, Reason: c.Worded(f.Text)}.String()))
		}
		for _, f := range r.Found {
			err = errors.Join(err, o.Hang("", item.Warning{File: f.File, Reason: c.Worded(f.Text)}.String()))
		}
		for _, step := range r.Next {
			err = errors.Join(err, o.Line("next: %s", step))
		}
		if len(r.Found) == 0 && r.Shared == "" {
			err = errors.Join(err, o.Line("nothing is wrong"))
		}
	}
	if err == nil && len(r.Found) > 0 {
		err = errors.New(cleantext.Count(len(r.Found), "problem"))
	}
	return err
}
