// Package registry finds the registries of prompt commands for a place, and what
// executes their commands.
package registry

import (
	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/command/library"
	"github.com/copse-dev/copse/internal/command/runner"
	"github.com/copse-dev/copse/internal/settings"
	"github.com/copse-dev/copse/internal/wiring/place"
	"github.com/copse-dev/copse/internal/wiring/where"
	"github.com/copse-dev/copse/internal/xec"
)

// Open returns the library and the runner of a place. Nothing is read of them yet.
func Open(env app.Env, p where.Place) (*library.Library, *runner.Runner) {
	workspace := p.Workspace()
	user := settings.OpenUser(place.Settings(env))
	return library.New(workspace, env.Home()), runner.New(workspace, env.Home(), xec.Env(env.Environ), user)
}
