package itemproject

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/shared"
	"github.com/copse-dev/copse/internal/wiring/workspace"
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
	watch    bool
	interval time.Duration
	asJSON   bool
}

func (c cli) sync() *cobra.Command {
	var o syncOptions
	cmd := &cobra.Command{
		Use:   "sync",
		Short: "Exchange the shared store with a remote",
		Long: `Commit the shared store to its branch, copse-items, fetch that branch of a remote,
merge it, and push. The command tries again while others push. Nothing is checked
out: index, working trees and other branches stay as they are.

Without a remote, or while it cannot be reached, the changes are committed here, and
the command says how many wait. With --watch it goes on after each change here, and
looks at the remote at an interval.

The address of the remote comes from the repository. Credentials, SSH commands and
helpers come from your own git configuration only.`,
		Example: c.Project("sync") + "\n" + c.Project("sync --watch --interval 10s"),
		Args:    app.NoArgs,
	}
	f := cmd.Flags()
	f.StringVar(&o.remote, "remote", "", "`name` or address of the remote (default: origin, else the only one)")
	f.BoolVar(&o.watch, "watch", false, "go on until interrupted")
	f.DurationVar(&o.interval, "interval", 30*time.Second, "how often --watch looks at the remote")
	output.JSONFlag[synced](cmd, &o.asJSON)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if o.interval < time.Second {
			return app.UsageError(fmt.Sprintf("invalid value %s for --interval: use 1s or more", o.interval))
		}
		return c.RunIn(func(ctx context.Context, here *workspace.Workspace, s item.Store, _ []string) error {
			syncer, err := here.Sync(s).Open(ctx, o.remote)
			if errors.Is(err, itemsync.ErrNotShared) {
				return fmt.Errorf("%w; '%s --shared' makes one", err, c.InitCommand)
			}
			if err != nil {
				return err
			}
			defer syncer.Branch.Close()
			if o.watch {
				return c.keepSynced(ctx, syncer, o)
			}
			r, err := syncer.Sync(ctx)
			if err != nil {
				return err
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
	switch r.Waiting {
	case 0:
		return "nothing here waits for it"
	case 1:
		return "1 file here waits for it"
	}
	return fmt.Sprintf("%d files here wait for it", r.Waiting)
}

// told prints what a sync did.
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
		err = o.Line("Committed here. There is no remote to push to")
	case r.Offline == nil:
		err = o.Line("Received %d, sent %d", r.Received, r.Sent)
	}
	for _, n := range r.Renumbered {
		err = errors.Join(err, o.Line("#%d is #%d now: %s", n.From, n.To, n.Title))
	}
	for _, report := range r.Reports {
		err = errors.Join(err, o.Line("%s %s", report.File, report.Text))
	}
	return err
}

// keepSynced syncs until the context ends, and prints what each exchange did. It reports
// each outage once.
func (c cli) keepSynced(ctx context.Context, syncer *shared.Syncer, o syncOptions) error {
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
