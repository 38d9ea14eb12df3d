// Package runner executes the commands of a library: in this process, or with the original program
// if the user chooses that.
package runner

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/copse-dev/copse/internal/command/deno"
	"github.com/copse-dev/copse/internal/command/library"
	"github.com/copse-dev/copse/internal/command/render"
	"github.com/copse-dev/copse/internal/rooted"
	"github.com/copse-dev/copse/internal/settings"
	"github.com/copse-dev/copse/internal/xec"
)

// Runner executes commands for a workspace. It is safe for concurrent use.
type Runner struct {
	workspace string
	home      string
	env       xec.Env
	settings  Settings

	here, there render.Profiles // of the workspace and of the home directory
}

// Settings are the user's choices.
type Settings interface {
	Get() (settings.User, error)
}

// New returns the runner of a workspace and a home directory at these absolute paths; home can be
// empty.
func New(workspace, home string, env xec.Env, user Settings) *Runner {
	return &Runner{workspace: workspace, home: home, env: env, settings: user}
}

// Run executes a command of a catalog, which the request names. The error can be a *render.Error.
func (r *Runner) Run(ctx context.Context, from *library.Catalog, request render.Request) (render.Result, error) {
	s, err := r.settings.Get()
	if err != nil {
		return render.Result{}, &render.Error{Reason: err.Error(), Err: err}
	}
	if s.Commands.Runner == settings.Deno {
		return deno.Run(ctx, r.env, r.workspace, request)
	}
	var result render.Result
	err = r.at(from, func(p render.Workspace) (err error) {
		result, err = render.Render(p, request)
		return err
	})
	return result, err
}

// Portable runs a command in this process, with paths relative to the workspace: for a prompt that
// is used elsewhere.
func (r *Runner) Portable(from *library.Catalog, request render.Request) (render.Result, error) {
	var result render.Result
	err := r.at(from, func(p render.Workspace) (err error) {
		p.Path, p.Dir = "", ""
		result, err = render.Render(p, request)
		return err
	})
	return result, err
}

// at calls do with the place of a catalog.
func (r *Runner) at(from *library.Catalog, do func(render.Workspace) error) error {
	if !strings.HasPrefix(from.Path, library.HomePrefix) {
		return do(render.Workspace{Root: rooted.NewLook(rooted.Directory(r.workspace)), Path: r.workspace, Dir: r.workspace, Profiles: &r.here})
	}
	root := agentsOnly{rooted.NewLook(rooted.Directory(filepath.Join(r.home, agents)))}
	return do(render.Workspace{Root: root, Path: r.home, Dir: r.workspace, Profiles: &r.there})
}

// agents is the only directory of a home directory that is read.
const agents = ".agent"

// agentsOnly is a home directory of which only the directory of agents is visible.
type agentsOnly struct{ directory rooted.Look }

func (a agentsOnly) Read(name string, limit int64) ([]byte, error) {
	inner, ok := strings.CutPrefix(name, agents+"/")
	if !ok {
		return nil, rooted.ErrOutside
	}
	return a.directory.Read(inner, limit)
}

func (a agentsOnly) Stat(name string) (fs.FileInfo, error) {
	inner, ok := strings.CutPrefix(name, agents+"/")
	if !ok {
		return nil, rooted.ErrOutside
	}
	return a.directory.Stat(inner)
}
