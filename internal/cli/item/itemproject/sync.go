package itemproject

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/shared"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/wiring/full"
	"github.com/copse-dev/copse/internal/workflow/itemsync"
)

// synced is the outcome of a sync in JSON.
type synced struct {
	Committed  bool         `json:"committed"`
	Received   int          `json:"received"`
	Sent       int          `json:"sent"`
	Waiting    int          `json:"waiting"`
	Remote     bool         `json:"remote"`
	Offline    string       `json:"offline,omitempty"`
	Renumbered []renumbered `json:"renumbered,omitempty"`
	Reports    []finding    `json:"reports,omitempty"`
}

type renumbered struct {
	From  item.ID `json:"from"`
	To    item.ID `json:"to"`
	Title string  `json:"title"`
}

type syncOptions struct {
	remote   string
	join     bool
	watch    bool
	interval time.Duration
	asJSON   bool
}

func (c cli) sync() *cobra.Command {
	var o syncOptions
	cmd := &cobra.Command{
		Use:   "sync",
		Short: "Exchange the shared store with a remote",
		Long: `Commit the shared store to its branch, copse-items, fetch that branch from a remote, merge it, and
push. If others push at the same time, the command tries again. It checks nothing out: the index,
the working trees, and other branches do not change.

A store that was synced before is not joined with a branch that has no commit and no item in common with
it, because that is the branch of another repository. --join joins it: both stores then have all items.

Without a reachable remote, the command commits locally, and reports how many changes wait. With
--watch, it syncs after each local change, and fetches from the remote at an interval.

The URL of the remote comes from the repository. Logins, SSH commands, and helpers come only from
your own git configuration.`,
		Example: c.Project("sync") + "\n" + c.Project("sync --watch --interval 10s"),
		Args:    app.NoArgs,
	}
	f := cmd.Flags()
	f.StringVar(&o.remote, "remote", "", "the `name` or URL of the remote (default: origin, or the only one)")
	f.BoolVar(&o.join, "join", false, "join a branch that has nothing in common with the store")
	f.BoolVar(&o.watch, "watch", false, "keep syncing until you stop the command")
	f.DurationVar(&o.interval, "interval", 30*time.Second, "how often --watch fetches from the remote")
	output.JSONFlag[synced](cmd, &o.asJSON)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if o.interval < time.Second {
			return app.UsageError(fmt.Sprintf("invalid value %s for --interval: use 1s or more", o.interval))
		}
		return c.RunIn(func(ctx context.Context, ws *full.Workspace, s storage.Store, _ []string) error {
			if backendOf(s) == database {
				return errors.New("the items of this project are in a database, so there is nothing to sync; every machine reads the same items")
			}
			syncer, err := ws.Sync(s).Open(ctx, o.remote)
			if errors.Is(err, itemsync.ErrNotShared) {
				return fmt.Errorf("%w; `%s --shared` creates one", err, c.InitCommand)
			}
			if err != nil {
				return err
			}
			defer syncer.Branch.Close()
			c.approve(ws, s, syncer.Remote)
			syncer.Join = o.join
			if o.watch {
				return c.keepSynced(ctx, syncer, o)
			}
			r, err := syncer.Sync(ctx)
			if err != nil {
				return err
			}
			if to, err := syncer.Store.Moved(ctx); err == nil && to != "" {
				c.Env.Notef("note: the items were moved to %q; choose that store with COPSE_ITEMS or items.database. It lacks what was changed here after the move", to)
			}
			if err := c.told(r, syncer.Remote != nil, o.asJSON); err != nil || r.Offline == nil {
				return err
			}
			return fmt.Errorf("%w; %s", r.Offline, waiting(r))
		})(cmd, nil)
	}
	return cmd
}

func waiting(r shared.Result) string {
	if r.Waiting == 0 {
		return "no local changes wait"
	}
	return "waiting: " + cleantext.Count(r.Waiting, "changed file")
}

// told prints the outcome of a sync.
func (c cli) told(r shared.Result, remote, asJSON bool) error {
	o := c.Out()
	if asJSON {
		out := synced{Committed: r.Committed, Received: r.Received, Sent: r.Sent, Waiting: r.Waiting, Remote: remote}
		if r.Offline != nil {
			out.Offline = r.Offline.Error()
		}
		for _, n := range r.Renumbered {
			out.Renumbered = append(out.Renumbered, renumbered{n.From, n.To, n.Title})
		}
		for _, report := range r.Reports {
			out.Reports = append(out.Reports, finding{report.File, report.Text})
		}
		return o.JSON(out)
	}
	var err error
	switch {
	case !remote:
		err = o.Line("Committed locally. There is no remote to push to")
	case r.Offline == nil:
		err = o.Line("Received %s, sent %s", cleantext.Count(r.Received, "file"), cleantext.Count(r.Sent, "file"))
	}
	for _, n := range r.Renumbered {
		err = errors.Join(err, o.Line("#%d is now #%d: %s", n.From, n.To, n.Title))
	}
	for _, report := range r.Reports {
		err = errors.Join(err, o.Line("%s %s", report.File, report.Text))
	}
	return err
}

// keepSynced syncs until the context ends, and prints what each exchange did. It reports
// each outage once.
func (c cli) keepSynced(ctx context.Context, syncer *shared.Syncer, o syncOptions) error {
	if !o.asJSON {
		c.Env.Notef("Syncing after each change, and every %s. To stop, press Ctrl-C.", o.interval)
	}
	offline := ""
	return itemsync.Watch(ctx, syncer, o.interval, func(r shared.Result) error {
		switch {
		case r.Offline != nil:
			if now := r.Offline.Error(); now != offline {
				c.Env.Notef("%s; %s", now, waiting(r))
				offline = now
			}
		case r.Received+r.Sent > 0 || offline != "":
			offline = ""
			return c.told(r, syncer.Remote != nil, o.asJSON)
		}
		return nil
	})
}
