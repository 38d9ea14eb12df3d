package githubtest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/github/githubtest/graph"
)

// queryValue returns the root of the graph.
func (s *Server) queryValue() *graph.Value {
	return graph.Of("Query", object{
		"repository": graph.Resolver(func(a map[string]any) any {
			name := fmt.Sprintf("%s/%s", a["owner"], a["name"])
			s.mu.Lock()
			defer s.mu.Unlock()
			for _, repo := range s.fixture.Repositories {
				if strings.EqualFold(repo.Name, name) || slices.Contains(repo.FormerNames, name) {
					return repositoryValue(repo)
				}
			}
			return graph.Missing(fmt.Sprintf("Could not resolve to a Repository with the name '%s'.", name))
		}),
	})
}

func repositoryValue(repo Repository) *graph.Value {
	return graph.Of("Repository", object{
		"nameWithOwner": repo.Name,
		"pullRequest": graph.Resolver(func(a map[string]any) any {
			for _, p := range repo.PullRequests {
				if fmt.Sprint(p.Number) == fmt.Sprint(a["number"]) {
					return pullValue(repo, p.filled())
				}
			}
			return graph.Missing(fmt.Sprintf("Could not resolve to a PullRequest with the number of %v.", a["number"]))
		}),
		"pullRequests": graph.Resolver(func(a map[string]any) any { return pullList(repo, a) }),
	})
}

// pullList returns the pull requests with a head and in one of some states, the newest first.
func pullList(repo Repository, a map[string]any) graph.Connection {
	states, _ := a["states"].([]any)
	var list graph.Connection
	for _, p := range slices.Backward(repo.PullRequests) {
		p = p.filled()
		v := pullValue(repo, p)
		if head, ok := a["headRefName"]; ok && head != any(p.Head) || len(states) > 0 && !slices.Contains(states, v.Fields["state"]) {
			continue
		}
		list = append(list, v)
	}
	return list
}

// actorValue returns an account, nil for a deleted one.
func actorValue(login string) *graph.Value {
	if login == "" {
		return nil
	}
	if name, ok := strings.CutSuffix(login, "[bot]"); ok {
		return graph.Of("Bot", object{"login": name})
	}
	return graph.Of("User", object{"login": login})
}

// constant returns a value of an enumeration, nil for none.
func constant(s string) any {
	if s == "" {
		return nil
	}
	return strings.ToUpper(s)
}

func pullValue(repo Repository, p PullRequest) *graph.Value {
	state := strings.ToUpper(p.State)
	if p.Merged {
		state = "MERGED"
	}
	mergeable := "UNKNOWN"
	if p.Mergeable != nil {
		mergeable = map[bool]string{true: "MERGEABLE", false: "CONFLICTING"}[*p.Mergeable]
	}
	body := ""
	if p.Body != nil {
		body = *p.Body
	}
	var requests, labels graph.Connection
	for _, login := range p.RequestedReviewers {
		requests = append(requests, graph.Of("ReviewRequest", object{"requestedReviewer": actorValue(login)}))
	}
	for _, slug := range p.RequestedTeams {
		team := graph.Of("Team", object{"slug": slug})
		requests = append(requests, graph.Of("ReviewRequest", object{"requestedReviewer": team}))
	}
	for _, name := range p.Labels {
		labels = append(labels, graph.Of("Label", object{"name": name}))
	}
	var reviews graph.Connection
	for _, r := range p.Reviews {
		reviews = append(reviews, graph.Of("PullRequestReview", object{"author": actorValue(r.Author), "state": r.State}))
	}
	fields := object{
		"number": p.Number, "title": p.Title, "url": fmt.Sprintf("https://github.com/%s/pull/%d", repo.Name, p.Number), "body": body,
		"state": state, "isDraft": p.Draft, "createdAt": p.CreatedAt, "updatedAt": p.UpdatedAt, "author": actorValue(p.Author),
		"authorAssociation": cmp.Or(p.Association, "CONTRIBUTOR"), "baseRefName": p.Base, "headRefName": p.Head, "headRefOid": p.SHA,
		"isCrossRepository": p.HeadRepo != "" && p.HeadRepo != repo.Name,
		"headRepository":    graph.Of("Repository", object{"nameWithOwner": cmp.Or(p.HeadRepo, repo.Name)}),
		"mergeable":         mergeable, "mergeStateStatus": strings.ToUpper(p.MergeableState), "reviewDecision": constant(p.ReviewDecision),
		"labels": labels, "reviewRequests": requests, "reviews": reviews, "reviewThreads": threadValues(repo, p),
		"autoMergeRequest": (*graph.Value)(nil), "mergeQueueEntry": (*graph.Value)(nil), "statusCheckRollup": (*graph.Value)(nil),
		"baseRef": graph.Of("Ref", object{"refUpdateRule": (*graph.Value)(nil)}),
	}
	if p.AutoMerge != "" {
		fields["autoMergeRequest"] = graph.Of("AutoMergeRequest", object{
			"enabledAt": p.UpdatedAt, "mergeMethod": strings.ToUpper(p.AutoMerge), "enabledBy": actorValue(p.Author),
		})
	}
	if p.QueuePosition > 0 {
		fields["mergeQueueEntry"] = graph.Of("MergeQueueEntry", object{"position": p.QueuePosition, "state": "QUEUED"})
	}
	if rule := repo.Protection; rule != nil {
		fields["baseRef"] = graph.Of("Ref", object{"refUpdateRule": graph.Of("RefUpdateRule", object{
			"requiredApprovingReviewCount": rule.Approvals, "requiredStatusCheckContexts": rule.Checks,
			"requiresConversationResolution": rule.ResolveThreads, "requiresCodeOwnerReviews": rule.CodeOwners,
		})})
	}
	if contexts := contextValues(repo, p); len(contexts) > 0 {
		fields["statusCheckRollup"] = graph.Of("StatusCheckRollup", object{"contexts": contexts, "state": rollupState(contexts)})
	}
	overrideFields(fields, p.Override)
	return graph.Of("PullRequest", fields)
}

// overrideFields applies a fixture's null overrides, in REST's spelling, to the graph, if it has
// such fields.
func overrideFields(fields map[string]any, override map[string]any) {
	for rest, graph := range map[string]string{
		"user": "author", "head": "headRepository", "requested_reviewers": "reviewRequests", "updated_at": "updatedAt",
		"created_at": "createdAt", "title": "title", "mergeable_state": "mergeStateStatus",
	} {
		v, ok := override[rest]
		if !ok || v != nil {
			continue
		}
		fields[graph] = nil
		if rest == "head" {
			fields["headRefName"], fields["headRefOid"] = nil, nil
		}
	}
	for rest, graph := range map[string]string{"draft": "isDraft", "base": "baseRefName"} {
		if v, ok := override[rest]; ok && v == nil {
			fields[graph] = nil
		}
	}
}

func threadValues(repo Repository, p PullRequest) graph.Connection {
	var threads graph.Connection
	for i, t := range p.Threads {
		var comments graph.Connection
		for j, c := range t.Comments {
			comments = append(comments, graph.Of("PullRequestReviewComment", object{
				"author": actorValue(c.Author), "authorAssociation": cmp.Or(c.Association, "MEMBER"), "body": c.Body,
				"createdAt": cmp.Or(c.CreatedAt, p.UpdatedAt),
				"url":       fmt.Sprintf("https://github.com/%s/pull/%d#discussion_r%d", repo.Name, p.Number, 100*i+j+1),
			}))
		}
		line := any(nil)
		if t.Line > 0 && !t.Outdated {
			line = t.Line
		}
		original := any(nil)
		if t.Line > 0 {
			original = t.Line
		}
		threads = append(threads, graph.Of("PullRequestReviewThread", object{
			"path": t.File, "line": line, "originalLine": original, "isResolved": t.Resolved, "isOutdated": t.Outdated, "comments": comments,
		}))
	}
	return threads
}

func contextValues(repo Repository, p PullRequest) graph.Connection {
	required := func(name string) bool { return repo.Protection != nil && slices.Contains(repo.Protection.Checks, name) }
	var contexts graph.Connection
	for i, c := range p.CheckRuns {
		contexts = append(contexts, graph.Of("CheckRun", object{
			"databaseId": jobID(p, i), "name": c.Name, "status": strings.ToUpper(cmp.Or(c.Status, "completed")), "conclusion": constant(c.Conclusion),
			"detailsUrl": c.details(), "isRequired": required(c.Name),
			"checkSuite": graph.Of("CheckSuite", object{"app": graph.Of("App", object{"slug": c.app()})}),
		}))
	}
	for _, st := range p.Statuses {
		contexts = append(contexts, graph.Of("StatusContext", object{
			"context": st.Context, "state": strings.ToUpper(st.State), "targetUrl": nilIfEmpty(st.URL), "isRequired": required(st.Context),
		}))
	}
	return contexts
}

// rollupState returns the state of all checks together, in GitHub's order of importance.
func rollupState(contexts graph.Connection) string {
	state := "SUCCESS"
	for _, c := range contexts {
		switch verdict := fmt.Sprint(c.Fields["conclusion"], c.Fields["state"]); {
		case strings.Contains(verdict, "FAILURE"), strings.Contains(verdict, "ERROR"), strings.Contains(verdict, "TIMED_OUT"):
			return "FAILURE"
		case strings.Contains(verdict, "PENDING"), c.Kind == "CheckRun" && c.Fields["status"] != "COMPLETED":
			state = "PENDING"
		}
	}
	return state
}

func nilIfEmpty(s string) any {
	if s == "" {
		return nil
	}
	return s
}
