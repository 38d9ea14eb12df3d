// Package item implements the command line of the work-item tracker, for two programs: "tic item
// list" is "copse item list".
//
// [Items] is the group of commands about items; those about branches are in package itemlink, those
// about deleted items in package itemtrash, and those about the project in package itemproject. A
// command is an options struct and a run function. Results go to stdout: tables at a terminal,
// tab-separated values in a pipe, JSON with --json.
package item

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/item/itemcmd"
	"github.com/copse-dev/copse/internal/cli/item/itemlink"
	"github.com/copse-dev/copse/internal/cli/item/itemtrash"
	"github.com/copse-dev/copse/internal/workflow/backlog"
)

// Items returns "item", the commands about items. program is their parent on the command line: "tic
// item", "copse item".
func Items(env app.Env, program, initCommand string, flags *itemcmd.Flags) *cobra.Command {
	c := cli{itemcmd.Base{Env: env, Program: program, InitCommand: initCommand, Flags: flags}}
	cmd := &cobra.Command{
		Use:   "item",
		Short: "Create, list, search, and change work items",
		Example: strings.ReplaceAll(`  PROGRAM create "Show the login form" --type issue --labels ui,login
  PROGRAM list --ready
  PROGRAM update 3 --status done
  echo "Seen on Firefox, too." | PROGRAM comment 3`, "PROGRAM", program),
		Args: app.Expect(expected(program)),
		RunE: app.Help,
	}
	cmd.AddCommand(
		c.list(), c.ready(), c.search(), c.tree(), c.show(), c.create(), c.update(), c.comment(), c.open(),
		c.claim(), c.release(), c.log(), c.undo(),
	)
	cmd.AddCommand(itemlink.Commands(c.Base)...)
	cmd.AddCommand(itemtrash.Commands(c.Base)...)
	return cmd
}

// expected returns advice for words that people try because other trackers have such a
// command.
func expected(program string) map[string]string {
	mean := func(command string) string { return "did you mean `" + program + " " + command + "`?" }
	return map[string]string{
		"ls":                                    mean("list"),
		"new add import draft":                  mean("create TITLE"),
		"rm remove del":                         mean("delete ID"),
		"edit":                                  mean("open ID") + " To change a field, use `" + program + " update ID`",
		"close done finish complete":            mean("update ID --status done"),
		"reopen":                                mean("update ID --status STATUS"),
		"set move mv priority":                  mean("update ID"),
		"assign":                                mean("update ID --assignee PERSON"),
		"label labels tag":                      mean("update ID --labels LABELS"),
		"block blocked dep deps depend":         mean("update ID --depends-on IDS"),
		"status state stats count board kanban": "did you mean `" + program + " list` or `" + program + " update ID --status STATUS`?",
		"export":                                mean("list --json"),
		"split decompose subtask":               mean("create TITLE --parent ID"),
		"history":                               mean("log"),
		"unclaim":                               mean("release ID"),
		"view cat get describe info":            mean("show ID"),
		"note":                                  mean("comment ID"),
		"find":                                  mean("search TEXT"),
		"next":                                  mean("ready"),
		"undelete undo":                         mean("restore ID"),
		"branch":                                mean("start ID"),
	}
}

// cli is shared by all commands.
type cli struct{ itemcmd.Base }

// row is an item of a list in JSON.
type row struct {
	backlog.Fields
	// PR is "merged" if the pull request is merged and the item is open, according to the cache.
	PR string `json:"pr,omitempty"`
	// Claimed is the holder of the item, and the end of the claim.
	Claimed string `json:"claimed,omitempty"`
}
