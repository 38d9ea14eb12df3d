// Package product makes all toolsets of copse for a place: those of package
// wiring, which only read, and those that write. The read-only program must not
// link it.
package product

import (
	"context"

	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/commands"
	"github.com/copse-dev/copse/internal/toolset/items"
	"github.com/copse-dev/copse/internal/wiring"
	"github.com/copse-dev/copse/internal/wiring/itemstore"
	"github.com/copse-dev/copse/internal/wiring/registry"
	"github.com/copse-dev/copse/internal/wiring/where"
)

// Names are the toolsets in the order of the documentation.
func Names() []string { return []string{"branches", "github", "jira", "items", "commands"} }

// Product is all toolsets of a place. Close it after use.
type Product struct {
	Toolsets []toolset.Toolset

	close func() error
}

// New makes the toolsets. Little is read before a tool needs it.
func New(ctx context.Context, o wiring.Options) *Product {
	place := where.Find(ctx, o.Env, o.Repo)
	store := itemstore.Open(o.Env, place)
	lib, run := registry.Open(o.Env, place)
	return &Product{
		Toolsets: append(wiring.New(o).Toolsets(), items.New(store, o.Env.Now).Toolset(), commands.New(lib, run).Toolset()),
		close:    store.Close,
	}
}

// Close lets go of what the toolsets hold.
func (p *Product) Close() error { return p.close() }
