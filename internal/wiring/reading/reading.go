// Package reading makes the toolsets that only read: branches, github and jira. They
// are all that twig-mcp serves, so the package must not import anything that writes.
package reading

import (
	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/repolist"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/branches"
	"github.com/copse-dev/copse/internal/toolset/envelope"
	"github.com/copse-dev/copse/internal/toolset/github"
	"github.com/copse-dev/copse/internal/toolset/jira"
	"github.com/copse-dev/copse/internal/wiring"
)

// Toolsets returns the three toolsets over the sources of a place, in the order of the
// documentation, without those that are disabled.
func Toolsets(env app.Env, s *wiring.Sources, disabled ...string) []toolset.Toolset {
	form := envelope.Form{Words: s.Words}
	return toolset.Without([]toolset.Toolset{
		branches.New(s.Branches, branches.Options{
			Form: form, Services: s.Services, Repositories: repolist.New(env.GOOS, env.Getenv, env.Home()),
		}).Toolset(),
		github.New(form, s.Pulls).Toolset(),
		jira.New(form, s.Issues).Toolset(),
	}, disabled)
}
