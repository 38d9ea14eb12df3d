package item

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/item/itemcmd"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/wiring/full"
	"github.com/copse-dev/copse/internal/workflow/backlog"
)

func (c cli) claim() *cobra.Command {
	var (
		r      storage.ClaimRequest
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "claim [ID]",
		Short: "Claim an item, so that no other agent works on it",
		Long: `Claim an item, so that no other agent works on it. Without ID, claim the best ready
item: one of the current iteration before others, then by priority from
critical to low, then by number.

The claim ends when you release the item or set it to a done status, and when the lease
ends. Each item command that you run in this worktree renews the lease. If the server that made
a claim ends, or the worktree of your claim is removed, the next call about items on this machine
notices it, and the claim ends 2 minutes later.

In a shared store with a remote, the remote decides between clones. Without a connection,
the claim is valid in this clone, and the next sync can give the item to another one.`,
		Example: fmt.Sprintf("  %[1]s claim\n  %[1]s claim 3 --lease 4h\n  %[1]s claim 3 --steal", c.Program),
		Args:    app.Args(0, 1, "no argument, or ID"), ValidArgsFunction: c.CompleteItem,
	}
	f := cmd.Flags()
	f.DurationVar(&r.Lease, "lease", claim.DefaultLease, "how long the claim lasts after your last command: 1m to 24h")
	f.BoolVar(&r.Steal, "steal", false, "take the item from the agent that holds it; the history records it")
	output.JSONFlag[backlog.Document](cmd, &asJSON)
	cmd.RunE = c.RunIn(func(ctx context.Context, ws *full.Workspace, s storage.Store, args []string) error {
		if len(args) > 0 {
			var err error
			if r.ID, err = itemcmd.ParseID(args[0]); err != nil {
				return err
			}
		}
		if r.Lease == 0 {
			return app.UsageError("invalid value 0s for --lease: use 1m to 24h")
		}
		got, err := ws.Claims(s).Claim(ctx, r)
		if err != nil {
			return err
		}
		c.NoteClaim(got)
		if got.Claim.StolenFrom != "" {
			c.Env.Notef("taken from %s", cleantext.Line(got.Claim.StolenFrom))
		}
		if asJSON {
			d := backlog.DocumentOf(&got.Item)
			d.Claim = backlog.ClaimOf(got.Claim)
			return c.Out().JSON(d)
		}
		c.Env.Notef("claimed until %s", got.Claim.Expires.UTC().Format(time.RFC3339))
		return itemcmd.Table(c.Out(), []*item.Summary{&got.Item.Summary}, itemcmd.TableOptions{})
	})
	return cmd
}

// released is the outcome in JSON.
type released struct {
	Released   item.ID        `json:"released"`
	WasClaimed bool           `json:"wasClaimed"`
	Claim      *backlog.Claim `json:"claim,omitempty"`
}

func (c cli) release() *cobra.Command {
	var steal, asJSON bool
	cmd := &cobra.Command{
		Use:     "release ID",
		Short:   "End the claim of an item",
		Example: fmt.Sprintf("  %[1]s release 3\n  %[1]s release 3 --steal", c.Program),
		Args:    app.Args(1, 1, "ID"), ValidArgsFunction: c.CompleteItem,
	}
	cmd.Flags().BoolVar(&steal, "steal", false, "end the claim of another agent, too; the history records it")
	output.JSONFlag[released](cmd, &asJSON)
	cmd.RunE = c.RunIn(func(ctx context.Context, ws *full.Workspace, s storage.Store, args []string) error {
		id, err := itemcmd.ParseID(args[0])
		if err != nil {
			return err
		}
		ended, err := ws.Claims(s).Release(ctx, id, steal)
		if err != nil {
			return c.ExplainHeld(err, "end that claim")
		}
		if ended.Unconfirmed != nil {
			c.Env.Notef("warning: other clones do not have it yet: %v", ended.Unconfirmed)
		}
		out := released{Released: id, WasClaimed: ended.Was}
		if ended.Was {
			out.Claim = backlog.ClaimOf(ended.Claim)
		}
		switch {
		case asJSON:
			return c.Out().JSON(out)
		case !ended.Was:
			return c.Out().Line("Nobody held #%d.", id)
		default:
			return c.Out().Line("Released #%d, which %s held.", id, ended.Claim.Holder.Short())
		}
	})
	return cmd
}
