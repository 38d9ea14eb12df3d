package mcp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/bearer"
	"github.com/copse-dev/copse/internal/clientconfig"
	"github.com/copse-dev/copse/internal/clientconfig/clientfile"
	"github.com/copse-dev/copse/internal/supervisor"
	"github.com/copse-dev/copse/internal/supervisor/control"
	"github.com/copse-dev/copse/internal/wiring/servers"
)

// entries returns the server to write: one to start, or the server of copse up for all worktrees.
// With --repo, it is the worktree's own server.
func (o *clientOptions) entries(ctx context.Context) ([]clientconfig.Named, error) {
	if o.transport != overHTTP {
		command, err := o.command()
		if err != nil {
			return nil, err
		}
		args := []string{"mcp", "serve"}
		if o.repo != "" {
			args = append(args, "--repo", o.directory())
		}
		if o.readOnly {
			args = append(args, "--read-only")
		}
		if len(o.toolsets) > 0 {
			args = append(args, "--toolsets", strings.Join(o.toolsets, ","))
		}
		return []clientconfig.Named{{Name: o.name, Server: clientconfig.Server{Command: command, Args: args, Without: o.lifted}}}, nil
	}
	files, err := servers.Places(o.env)
	if err != nil {
		return nil, err
	}
	status, err := control.NewClient(files.Runtime).Status(ctx)
	if err != nil {
		return nil, err
	}
	if status.Guarded && o.scope == string(clientfile.Project) {
		return nil, errors.New("a project's file is shared, and the token must stay private: use --scope user, or --transport stdio")
	}
	here, err := o.served(ctx, status)
	if err != nil {
		return nil, err
	}
	if o.repo == "" {
		here = status.Shared
	}
	switch {
	case here == nil:
		return nil, errors.New("the running copse up is an older version; run `copse down`, then `copse up`")
	case !here.MCP.ServerRunning:
		return nil, errors.New(here.MCP.LastError)
	}
	server := clientconfig.Server{URL: address(here.MCP.Port)}
	if here.TokenFile != "" {
		if server.Token, err = bearer.New(here.TokenFile).Token(ctx); err != nil {
			return nil, err
		}
	}
	return []clientconfig.Named{{Name: o.name, Server: server}}, nil
}

// served returns the state of the command's worktree, or of another worktree of its repository if
// that one is not served. There must be one: without a server, there are no answers.
func (o *clientOptions) served(ctx context.Context, status control.Status) (*supervisor.State, error) {
	unnamed := ""
	if o.repo == "" {
		unnamed = o.directory()
	}
	repository := servers.Repository{Env: o.env, Unnamed: unnamed}
	here, err := repository.Worktree(ctx, o.directory())
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, s := range status.Worktrees {
		paths = append(paths, s.Path)
	}
	all, _, err := repository.Worktrees(ctx, o.directory(), paths)
	if err != nil {
		return nil, err
	}
	var found *supervisor.State
	failure := ""
	for _, s := range status.Worktrees {
		switch {
		case !slices.ContainsFunc(all, func(w supervisor.Worktree) bool { return w.Path == s.Path }):
		case !s.MCP.ServerRunning:
			failure = s.MCP.LastError
		case found == nil || s.Path == here.Path:
			found = &s
		}
	}
	switch {
	case found == nil && failure != "":
		return nil, errors.New(failure)
	case found == nil:
		return nil, errors.New("copse up does not serve this repository; run `copse up` in it")
	}
	return found, nil
}

func address(port int) string { return fmt.Sprintf("http://localhost:%d/mcp", port) }

func (o *clientOptions) directory() string {
	dir := o.repo
	if dir == "" {
		dir = o.env.Dir
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(o.env.Dir, dir)
	}
	return filepath.Clean(dir)
}

// command returns how a client starts copse: in a project's file, which others read, by name; in
// the user's file by the path of this program, because programs with windows have their own PATH.
func (o *clientOptions) command() (string, error) {
	if o.scope == string(clientfile.Project) {
		return "copse", nil
	}
	return o.env.Program()
}
