// Package product makes all toolsets of copse for a place: those of package
// wiring, which only read, and those that write. The read-only program must not
// link it.
package product

import (
	"context"

	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/commands"
	"github.com/copse-dev/copse/internal/toolset/items"
	toolworkspace "github.com/copse-dev/copse/internal/toolset/workspace"
	"github.com/copse-dev/copse/internal/wiring"
	"github.com/copse-dev/copse/internal/wiring/itemstore"
	"github.com/copse-dev/copse/internal/wiring/preferences"
	"github.com/copse-dev/copse/internal/wiring/reading"
	"github.com/copse-dev/copse/internal/wiring/registry"
	"github.com/copse-dev/copse/internal/wiring/where"
	"github.com/copse-dev/copse/internal/wiring/workspace"
)

// Names are the toolsets in the order of the documentation.
func Names() []string {
	return []string{"branches", "github", "jira", "items", "commands", "workspace"}
}

// Product is all toolsets of a place. Close it after use.
type Product struct {
	Toolsets    []toolset.Toolset
	Preferences preferences.Preferences

	close func() error
}

// New returns the toolsets that are not disabled. Little is read before a tool needs it.
func New(ctx context.Context, o wiring.Options) *Product {
	place := where.Find(ctx, o.Env, o.Repo)
	store := itemstore.Open(o.Env, place)
	lib, run := registry.Open(o.Env, place)
	facts := wiring.New(o)
	here := workspace.Open(o, place, facts, store)
	return &Product{
		Preferences: preferences.Open(o.Env, place),
		Toolsets: toolset.Without(append(reading.Toolsets(o.Env, facts),
			items.New(store, o.Env.Now).Toolset(),
			commands.New(lib, run).Toolset(),
			toolworkspace.New(here.Files, here.Tasks, here.Sources).Toolset(),
		), o.Disabled),
		close: func() error {
			here.Close()
			return store.Close()
		},
	}
}

// Close lets go of what the toolsets hold, and stops the tasks that run.
func (p *Product) Close() error { return p.close() }
