package githubtest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// queryValue returns the root of the graph.
func (s *Server) queryValue() *value {
	return &value{kind: "Query", fields: map[string]any{
		"repository": resolver(func(a map[string]any) any {
			name := fmt.Sprintf("%s/%s", a["owner"], a["name"])
			s.mu.Lock()
			defer s.mu.Unlock()
			for _, repo := range s.fixture.Repositories {
				if strings.EqualFold(repo.Name, name) || slices.Contains(repo.FormerNames, name) {
					return repositoryValue(repo)
				}
			}
			return missing(fmt.Sprintf("Could not resolve to a Repository with the name '%s'.", name))
		}),
	}}
}

func repositoryValue(repo Repository) *value {
	return &value{kind: "Repository", fields: map[string]any{
		"nameWithOwner": repo.Name,
		"pullRequest": resolver(func(a map[string]any) any {
			for _, p := range repo.PullRequests {
				if fmt.Sprint(p.Number) == fmt.Sprint(a["number"]) {
					return pullValue(repo, p.filled())
				}
			}
			return missing(fmt.Sprintf("Could not resolve to a PullRequest with the number of %v.", a["number"]))
		}),
		"pullRequests": resolver(func(a map[string]any) any { return pullList(repo, a).page(a) }),
	}}
}

// pullList returns the pull requests with a head and in one of some states, the newest first.
func pullList(repo Repository, a map[string]any) connection {
	states, _ := a["states"].([]any)
	var list connection
	for _, p := range slices.Backward(repo.PullRequests) {
		p = p.filled()
		v := pullValue(repo, p)
		if head, ok := a["headRefName"]; ok && head != any(p.Head) || len(states) > 0 && !slices.Contains(states, v.fields["state"]) {
			continue
		}
		list = append(list, v)
	}
	return list
}

// actorValue returns an account, nil for a deleted one.
func actorValue(login string) *value {
	if login == "" {
		return nil
	}
	if name, ok := strings.CutSuffix(login, "[bot]"); ok {
		return &value{kind: "Bot", fields: map[string]any{"login": name}}
	}
	return &value{kind: "User", fields: map[string]any{"login": login}}
}

// constant returns a value of an enumeration, nil for none.
func constant(s string) any {
	if s == "" {
		return nil
	}
	return strings.ToUpper(s)
}

func pullValue(repo Repository, p PullRequest) *value {
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
	var requests, labels connection
	for _, login := range p.RequestedReviewers {
		requests = append(requests, &value{kind: "ReviewRequest", fields: map[string]any{"requestedReviewer": actorValue(login)}})
	}
	for _, slug := range p.RequestedTeams {
		team := &value{kind: "Team", fields: map[string]any{"slug": slug}}
		requests = append(requests, &value{kind: "ReviewRequest", fields: map[string]any{"requestedReviewer": team}})
	}
	for _, name := range p.Labels {
		labels = append(labels, &value{kind: "Label", fields: map[string]any{"name": name}})
	}
	var reviews connection
	for _, r := range p.Reviews {
		reviews = append(reviews, &value{kind: "PullRequestReview", fields: map[string]any{"author": actorValue(r.Author), "state": r.State}})
	}
	fields := map[string]any{
		"number": p.Number, "title": p.Title, "url": fmt.Sprintf("https://github.com/%s/pull/%d", repo.Name, p.Number), "body": body,
		"state": state, "isDraft": p.Draft, "createdAt": p.CreatedAt, "updatedAt": p.UpdatedAt, "author": actorValue(p.Author),
		"authorAssociation": cmp.Or(p.Association, "CONTRIBUTOR"), "baseRefName": p.Base, "headRefName": p.Head, "headRefOid": p.SHA,
		"isCrossRepository": p.HeadRepo != "" && p.HeadRepo != repo.Name,
		"headRepository":    &value{kind: "Repository", fields: map[string]any{"nameWithOwner": cmp.Or(p.HeadRepo, repo.Name)}},
		"mergeable":         mergeable, "mergeStateStatus": strings.ToUpper(p.MergeableState), "reviewDecision": constant(p.ReviewDecision),
		"labels": labels, "reviewRequests": requests, "reviews": reviews, "reviewThreads": threadValues(repo, p),
		"autoMergeRequest": (*value)(nil), "mergeQueueEntry": (*value)(nil), "statusCheckRollup": (*value)(nil),
		"baseRef": &value{kind: "Ref", fields: map[string]any{"refUpdateRule": (*value)(nil)}},
	}
	if p.AutoMerge != "" {
		fields["autoMergeRequest"] = &value{kind: "AutoMergeRequest", fields: map[string]any{
			"enabledAt": p.UpdatedAt, "mergeMethod": strings.ToUpper(p.AutoMerge), "enabledBy": actorValue(p.Author),
		}}
	}
	if p.QueuePosition > 0 {
		fields["mergeQueueEntry"] = &value{kind: "MergeQueueEntry", fields: map[string]any{"position": p.QueuePosition, "state": "QUEUED"}}
	}
	if rule := repo.Protection; rule != nil {
		fields["baseRef"] = &value{kind: "Ref", fields: map[string]any{"refUpdateRule": &value{kind: "RefUpdateRule", fields: map[string]any{
			"requiredApprovingReviewCount": rule.Approvals, "requiredStatusCheckContexts": rule.Checks,
			"requiresConversationResolution": rule.ResolveThreads, "requiresCodeOwnerReviews": rule.CodeOwners,
		}}}}
	}
	if contexts := contextValues(repo, p); len(contexts) > 0 {
		fields["statusCheckRollup"] = &value{kind: "StatusCheckRollup", fields: map[string]any{"contexts": contexts, "state": rollupState(contexts)}}
	}
	overrideFields(fields, p.Override)
	return &value{kind: "PullRequest", fields: fields}
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

func threadValues(repo Repository, p PullRequest) connection {
	var threads connection
	for i, t := range p.Threads {
		var comments connection
		for j, c := range t.Comments {
			comments = append(comments, &value{kind: "PullRequestReviewComment", fields: map[string]any{
				"author": actorValue(c.Author), "authorAssociation": cmp.Or(c.Association, "MEMBER"), "body": c.Body,
				"createdAt": cmp.Or(c.CreatedAt, p.UpdatedAt),
				"url":       fmt.Sprintf("https://github.com/%s/pull/%d#discussion_r%d", repo.Name, p.Number, 100*i+j+1),
			}})
		}
		line := any(nil)
		if t.Line > 0 && !t.Outdated {
			line = t.Line
		}
		original := any(nil)
		if t.Line > 0 {
			original = t.Line
		}
		threads = append(threads, &value{kind: "PullRequestReviewThread", fields: map[string]any{
			"path": t.File, "line": line, "originalLine": original, "isResolved": t.Resolved, "isOutdated": t.Outdated, "comments": comments,
		}})
	}
	return threads
}

func contextValues(repo Repository, p PullRequest) connection {
	required := func(name string) bool { return repo.Protection != nil && slices.Contains(repo.Protection.Checks, name) }
	var contexts connection
	for i, c := range p.CheckRuns {
		contexts = append(contexts, &value{kind: "CheckRun", fields: map[string]any{
			"databaseId": jobID(p, i), "name": c.Name, "status": strings.ToUpper(cmp.Or(c.Status, "completed")), "conclusion": constant(c.Conclusion),
			"detailsUrl": c.details(), "isRequired": required(c.Name),
			"checkSuite": &value{kind: "CheckSuite", fields: map[string]any{"app": &value{kind: "App", fields: map[string]any{"slug": c.app()}}}},
		}})
	}
	for _, st := range p.Statuses {
		contexts = append(contexts, &value{kind: "StatusContext", fields: map[string]any{
			"context": st.Context, "state": strings.ToUpper(st.State), "targetUrl": nilIfEmpty(st.URL), "isRequired": required(st.Context),
		}})
	}
	return contexts
}

// rollupState returns the state of all checks together, in GitHub's order of importance.
func rollupState(contexts connection) string {
	state := "SUCCESS"
	for _, c := range contexts {
		switch verdict := fmt.Sprint(c.fields["conclusion"], c.fields["state"]); {
		case strings.Contains(verdict, "FAILURE"), strings.Contains(verdict, "ERROR"), strings.Contains(verdict, "TIMED_OUT"):
			return "FAILURE"
		case strings.Contains(verdict, "PENDING"), c.kind == "CheckRun" && c.fields["status"] != "COMPLETED":
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
