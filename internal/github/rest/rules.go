package rest

import (
	"context"
	"slices"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/github/remoteurl"
)

// Rules reads the requirements of a branch from its rule sets and its protection. It omits
// unreadable parts.
func (c *Conn) Rules(ctx context.Context, r remoteurl.Repo, branch string) pullrequest.Rules {
	var found pullrequest.Rules
	var sets []struct {
		Type       string `json:"type"`
		Parameters struct {
			Checks []struct {
				Context string `json:"context"`
			} `json:"required_status_checks"`
			Approvals int  `json:"required_approving_review_count"`
			Resolve   bool `json:"required_review_thread_resolution"`
			Owners    bool `json:"require_code_owner_review"`
		} `json:"parameters"`
	}
	if _, err := c.Get(ctx, c.Endpoint(r, page(1, PerPage), "rules", "branches", branch), &sets); err == nil {
		var others distinct.List[string]
		for _, s := range sets {
			for _, check := range s.Parameters.Checks {
				found.Checks = append(found.Checks, cleantext.Line(check.Context))
			}
			found.Approvals = max(found.Approvals, s.Parameters.Approvals)
			found.Resolve = found.Resolve || s.Parameters.Resolve
			found.CodeOwners = found.CodeOwners || s.Parameters.Owners
			if what := demand(s.Type); what != "" {
				others.Add(what)
			}
		}
		found.Other = others.Values()
	}
	var protected struct {
		Protection struct {
			Checks struct {
				Contexts []string `json:"contexts"`
			} `json:"required_status_checks"`
		} `json:"protection"`
	}
	if _, err := c.Get(ctx, c.Endpoint(r, nil, "branches", branch), &protected); err == nil {
		for _, name := range protected.Protection.Checks.Contexts {
			found.Checks = append(found.Checks, cleantext.Line(name))
		}
	}
	slices.Sort(found.Checks)
	found.Checks = slices.Compact(found.Checks)
	return found
}

// demand names a rule whose fulfillment copse cannot determine, by its type; "" for another rule.
func demand(rule string) string {
	switch rule {
	case "required_signatures":
		return "signed commits"
	case "required_linear_history":
		return "a linear history"
	case "required_deployments":
		return "deployments"
	case "merge_queue":
		return "its merge queue"
	case "code_scanning":
		return "code scanning results"
	case "workflows":
		return "workflows to pass"
	}
	return ""
}
