package copse_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/mcp"
	"github.com/copse-dev/copse/internal/httpguard"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/test/mcptext"
	"github.com/copse-dev/copse/internal/wiring/servers"
)

// overHTTP returns what serves a conversation over HTTP as copse up does, nil for one
// that is about standard input and output.
func overHTTP(args []string) server {
	era, args := eraOf(args)
	if era == mcptext.Bare || len(args) < 4 || !slices.Equal(args[1:4], []string{"copse", "mcp", "serve"}) {
		return nil
	}
	var choice mcp.Choice
	var repo string
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	choice.Flags(flags)
	flags.StringVar(&repo, "repo", "", "")
	if flags.Parse(args[4:]) != nil {
		return nil // it has flags that copse up has not
	}
	return func(ctx context.Context, env app.Env) int {
		dir := env.Dir
		if repo != "" {
			if dir = repo; !filepath.IsAbs(dir) {
				dir = filepath.Join(env.Dir, repo)
			}
			// copse up serves the worktree that the path is in.
			if w, err := (servers.Repository{Env: env}).Worktree(ctx, dir); err == nil {
				dir = w.Path
			}
		}
		env.Secrets = secret.New(nil) // as app.Execute makes one
		served := servers.NewFleet(servers.Options{
			Env: env, Disabled: choice.Disabled(), ReadOnly: choice.ReadOnly, About: mcp.About, Logger: app.NewLogger(env.Stderr, 0),
		}).Serve(ctx, dir)
		defer served.Close()
		token := func() string { return "s3cret-token" }
		server := httptest.NewServer(httpguard.New(httpguard.Options{Token: token, Now: env.Now, Rate: 1000}, served))
		defer server.Close()
		header := http.Header{"Authorization": {"Bearer " + token()}}
		if err := mcptext.Bridge(ctx, server.URL+"/mcp", header, env.Stdin, env.Stdout); err != nil {
			return app.Failed
		}
		return app.OK
	}
}
