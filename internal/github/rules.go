package github

import (
	"context"
	"slices"

	"github.com/copse-dev/copse/internal/cleantext"
)

// Rules are the known requirements of a pull request's base.
type Rules struct {
	Checks    []string // names of checks that must pass
	Approvals int      // reviews that must approve
	Resolve   bool     // review threads must be resolved
	Other     []string // further requirements, in words
}

// rules reads the requirements of a branch from its rule sets and its protection. It omits
// unreadable parts.
func (c *Client) rules(ctx context.Context, r Repo, branch string) Rules {
	var found Rules
	var sets []struct {
		Type       string `json:"type"`
		Parameters struct {
			Checks []struct {
				Context string `json:"context"`
			} `json:"required_status_checks"`
			Approvals int  `json:"required_approving_review_count"`
			Resolve   bool `json:"required_review_thread_resolution"`
		} `json:"parameters"`
	}
	if _, err := c.get(ctx, c.endpoint(r, page(1, perPage), "rules", "branches", branch), &sets); err == nil {
		for _, s := range sets {
			for _, check := range s.Parameters.Checks {
				found.Checks = append(found.Checks, cleantext.Line(check.Context))
			}
			found.Approvals = max(found.Approvals, s.Parameters.Approvals)
			found.Resolve = found.Resolve || s.Parameters.Resolve
			if what := demands[s.Type]; what != "" && !slices.Contains(found.Other, what) {
				found.Other = append(found.Other, what)
			}
		}
	}
	var protected struct {
		Protection struct {
			Checks struct {
				Contexts []string `json:"contexts"`
			} `json:"required_status_checks"`
		} `json:"protection"`
	}
	if _, err := c.get(ctx, c.endpoint(r, nil, "branches", branch), &protected); err == nil {
		for _, name := range protected.Protection.Checks.Contexts {
			found.Checks = append(found.Checks, cleantext.Line(name))
		}
	}
	slices.Sort(found.Checks)
	found.Checks = slices.Compact(found.Checks)
	return found
}

// demands are the rules whose fulfillment copse cannot determine, by their type.
var demands = map[string]string{ //nolint:gochecknoglobals // a constant
	"required_signatures":     "signed commits",
	"required_linear_history": "a linear history",
	"required_deployments":    "deployments",
	"merge_queue":             "its merge queue",
	"code_scanning":           "code scanning results",
	"workflows":               "workflows to pass",
}

// with returns the requirements of both.
func (r Rules) with(other Rules) Rules {
	for _, name := range other.Checks {
		if !slices.Contains(r.Checks, name) {
			r.Checks = append(slices.Clip(r.Checks), name)
		}
	}
	r.Approvals = max(r.Approvals, other.Approvals)
	r.Resolve = r.Resolve || other.Resolve
	r.Other = append(slices.Clip(r.Other), other.Other...)
	return r
}
