package itemproject

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/input"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/merge"
	"github.com/copse-dev/copse/internal/item/merge/driver"
	"github.com/copse-dev/copse/internal/item/ticfile"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
	"github.com/copse-dev/copse/internal/wholefile"
)

// driverCommand returns the command line of the merge driver: "copse item merge-driver".
func (c cli) driverCommand() string {
	return strings.TrimSuffix(c.InitCommand, "init") + "merge-driver"
}

// mergeDriver returns the command that git runs to merge one file. It reports success by the exit
// code 0; otherwise the file has both versions, and git stops.
func (c cli) mergeDriver() *cobra.Command {
	return &cobra.Command{
		Use:     "merge-driver BASE OURS THEIRS PATH",
		Short:   "Merge one file of a store for git",
		Example: "  git config merge." + driver.Name + ".driver '" + c.driverCommand() + " %O %A %B %P'",
		Hidden:  true,
		Args:    app.Args(4, 4, "BASE OURS THEIRS PATH"),
		RunE: func(_ *cobra.Command, args []string) error {
			var texts [3]string
			for i, name := range args[:3] {
				text, err := regular.Read(c.path(name), ticfile.MaxSize)
				if err != nil {
					return err
				}
				texts[i] = string(text)
			}
			store, name, ok := splitStore(args[3])
			if !ok {
				return fmt.Errorf("%s is not a file of a store of work items", args[3])
			}
			config := c.storeConfig(store)
			merged, mergeErr := driver.Merge(name, texts[0], texts[1], texts[2], config)
			if mergeErr != nil {
				merged = driver.BothVersions(texts[1], texts[2])
			}
			// Git takes the file as it is after a failure, too: a part of it would look like an edit.
			if err := wholefile.Replace(c.path(args[1]), ".merge_file_copse_*", wholefile.Bytes([]byte(merged))); err != nil {
				return fmt.Errorf("%s: write the merged version: %w", args[3], rooted.WithoutPath(err))
			}
			if mergeErr != nil {
				return fmt.Errorf("%s: %w", args[3], mergeErr)
			}
			return nil
		},
	}
}

// storeConfig returns the configuration of a store in the worktree. It is empty if it is unusable,
// for example during its own merge.
func (c cli) storeConfig(store string) string {
	root, err := rooted.Open(c.path("."))
	if err != nil {
		return ""
	}
	defer root.Close()
	config, err := root.Read(store+"/"+merge.ConfigName, ticfile.MaxSize)
	if err != nil {
		return ""
	}
	if _, err := ticfile.ParseConfig(string(config)); err != nil {
		return ""
	}
	return string(config)
}

func (c cli) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.Env.Dir, name)
}

// splitStore splits the path of a file into the store's and its name in the store.
func splitStore(file string) (store, name string, ok bool) {
	name = path.Base(file)
	store = path.Dir(file)
	if directory := path.Base(store); directory == merge.ItemsDir || directory == merge.TrashDir || directory == merge.LinksDir {
		store, name = path.Dir(store), directory+"/"+name
	}
	return store, name, path.Base(store) == ".tic"
}

// offerDriver registers the merge driver if the user agrees.
func (c cli) offerDriver(ctx context.Context, s *local.Store, cmd *cobra.Command, wanted bool) error {
	if !cmd.Flags().Changed("merge-driver") {
		if !c.Env.Interactive() || !s.InRepository(ctx) {
			return nil
		}
		c.Env.Note("Git merges these files line by line. A merge driver merges them field by field. Registering it " +
			"writes .tic/.gitattributes, for you to commit, and merge." + driver.Name + " in .git/config of this clone.")
		yes, err := input.Yes(ctx, c.Env, "Register it?")
		if err != nil && !errors.Is(err, input.ErrInterrupted) {
			return err
		}
		if err != nil || !yes {
			c.Env.Notef("The merge driver is not registered. To register it later, run `%s --merge-driver`.", c.InitCommand)
		}
		if err != nil {
			return errors.New("interrupted; .tic exists, and git's configuration did not change")
		}
		wanted = yes
	}
	if !wanted {
		return nil
	}
	if err := s.RegisterDriver(ctx, c.driverCommand()); err != nil {
		return err
	}
	return c.Out().Line("Registered the merge driver %s in this clone. Commit .tic/.gitattributes. Git does not clone "+
		"configuration: in every other clone, run `%s --merge-driver` once. Without it, `%s --repair` finishes a merge.",
		driver.Name, c.InitCommand, strings.TrimSuffix(c.InitCommand, "init")+"doctor")
}
