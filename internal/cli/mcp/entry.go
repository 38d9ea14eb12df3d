package mcp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/copse-dev/copse/internal/bearer"
	"github.com/copse-dev/copse/internal/clientconfig"
	"github.com/copse-dev/copse/internal/supervisor/control"
	"github.com/copse-dev/copse/internal/wiring/servers"
	"github.com/copse-dev/copse/internal/xec"
)

// entries are the servers to write: one to start, or those that copse up serves for this
// repository.
func (o *clientOptions) entries(ctx context.Context) ([]clientconfig.Named, error) {
	if o.transport == overStdio {
		command, err := o.command()
		if err != nil {
			return nil, err
		}
		args := []string{"mcp", "serve"}
		if o.repo != "" {
			args = append(args, "--repo", o.folder())
		}
		if o.readOnly {
			args = append(args, "--read-only")
		}
		if len(o.toolsets) > 0 {
			args = append(args, "--toolsets", strings.Join(o.toolsets, ","))
		}
		return []clientconfig.Named{{Name: o.name, Server: clientconfig.Server{Command: command, Args: args}}}, nil
	}
	files, err := servers.Places(o.env)
	if err != nil {
		return nil, err
	}
	status, err := control.NewClient(files.Runtime).Status(ctx)
	if err != nil {
		return nil, err
	}
	if status.Guarded && o.scope == string(clientconfig.Project) {
		return nil, errors.New("the file of a project is for everybody, and the token is not: use --scope user, or --transport stdio")
	}
	return o.served(ctx, status)
}

// served are the servers of this repository's worktrees, each with its own token. There
// must be one: which port a worktree will have is not known before it is served.
func (o *clientOptions) served(ctx context.Context, status control.Status) ([]clientconfig.Named, error) {
	unnamed := ""
	if o.repo == "" {
		unnamed = o.folder()
	}
	here, err := servers.Repository{Env: o.env, Unnamed: unnamed}.Worktrees(ctx, o.folder())
	if err != nil {
		return nil, err
	}
	ours := map[string]bool{}
	for _, w := range here {
		ours[w.Path] = true
	}
	var found []clientconfig.Named
	failure := ""
	for _, s := range status.Worktrees {
		if !ours[s.Path] {
			continue
		}
		if !s.MCP.ServerRunning {
			failure = s.MCP.LastError
			continue
		}
		server := clientconfig.Server{URL: address(s.MCP.Port)}
		if s.TokenFile != "" {
			if server.Token, err = bearer.New(s.TokenFile).Token(ctx); err != nil {
				return nil, err
			}
		}
		found = append(found, clientconfig.Named{Name: o.name + "-" + nameOf(s.Branch, s.Path), Server: server})
	}
	switch {
	case len(found) == 0 && failure != "":
		return nil, errors.New(failure)
	case len(found) == 0:
		return nil, errors.New("copse up does not serve this repository; run `copse up` in it")
	case len(found) == 1:
		found[0].Name = o.name
	}
	return found, nil
}

// nameOf is a branch as a part of a name.
func nameOf(branch, path string) string {
	if branch == "" {
		branch = filepath.Base(path)
	}
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '-'
	}, branch)
}

func address(port int) string { return fmt.Sprintf("http://localhost:%d/mcp", port) }

func (o *clientOptions) folder() string {
	dir := o.repo
	if dir == "" {
		dir = o.env.Dir
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(o.env.Dir, dir)
	}
	return filepath.Clean(dir)
}

// command returns how a client starts copse: in a project's file, which others read, by its
// name; in the user's by the path of this program, since programs with windows have a PATH
// of their own. Where the PATH leads to this program its path there is written, which an
// update keeps.
func (o *clientOptions) command() (string, error) {
	if o.scope == string(clientconfig.Project) {
		return "copse", nil
	}
	self, err := o.env.Program()
	if err != nil {
		return "", err
	}
	if found, err := xec.Env(o.env.Environ).LookPath("copse"); err == nil && sameFile(found, self) {
		return found, nil
	}
	return self, nil
}

// sameFile reports whether two paths lead to one file.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}
