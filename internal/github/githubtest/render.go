package githubtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"
)

func (s *Server) api(repo Repository, parts ...string) string {
	return s.URL + "/repos/" + repo.Name + "/" + strings.Join(parts, "/")
}

// id invents a number for a thing.
func id(parts ...any) uint32 {
	h := fnv.New32a()
	fmt.Fprint(h, parts...)
	return h.Sum32() >> 1
}

// userObject returns a user, or null for a deleted one.
func (s *Server) userObject(login string) any {
	if login == "" {
		return nil
	}
	u := s.URL + "/users/" + login
	return object{
		"login": login, "id": id("user", login), "node_id": fmt.Sprintf("U_%08x", id("user", login)), "gravatar_id": "",
		"avatar_url": fmt.Sprintf("https://avatars.githubusercontent.com/u/%d?v=4", id("user", login)),
		"url":        u, "html_url": "https://github.com/" + login, "followers_url": u + "/followers",
		"following_url": u + "/following{/other_user}", "gists_url": u + "/gists{/gist_id}", "starred_url": u + "/starred{/owner}{/repo}",
		"subscriptions_url": u + "/subscriptions", "organizations_url": u + "/orgs", "repos_url": u + "/repos",
		"events_url": u + "/events{/privacy}", "received_events_url": u + "/received_events",
		"type": "User", "user_view_type": "public", "site_admin": false,
	}
}

// repositoryObject returns a repository, which a list has twice in each row; it is created once.
func (s *Server) repositoryObject(repo Repository) json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if made, ok := s.made[repo.Name]; ok {
		return made
	}
	owner, name, _ := strings.Cut(repo.Name, "/")
	html := "https://github.com/" + repo.Name
	o := object{
		"id": id("repo", repo.Name), "node_id": fmt.Sprintf("R_%08x", id("repo", repo.Name)), "name": name, "full_name": repo.Name,
		"private": false, "owner": s.userObject(owner), "html_url": html, "description": nil, "fork": false,
		"url": s.URL + "/repos/" + repo.Name, "git_url": "git://github.com/" + repo.Name + ".git",
		"ssh_url": "git@github.com:" + repo.Name + ".git", "clone_url": html + ".git", "svn_url": html, "homepage": nil,
		"created_at": "2025-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "pushed_at": "2026-01-01T00:00:00Z",
		"size": 1024, "stargazers_count": 3, "watchers_count": 3, "language": "Go", "has_issues": true, "has_projects": true,
		"has_downloads": true, "has_wiki": false, "has_pages": false, "has_discussions": false, "forks_count": 0, "mirror_url": nil,
		"archived": false, "disabled": false, "open_issues_count": 1, "license": nil, "allow_forking": true, "is_template": false,
		"web_commit_signoff_required": false, "topics": []string{}, "visibility": "public", "forks": 0, "open_issues": 1,
		"watchers": 3, "default_branch": "main",
	}
	for _, part := range [...]string{
		"archive_url", "assignees_url", "blobs_url", "branches_url", "collaborators_url", "comments_url", "commits_url", "compare_url",
		"contents_url", "contributors_url", "deployments_url", "downloads_url", "events_url", "forks_url", "git_commits_url",
		"git_refs_url", "git_tags_url", "hooks_url", "issue_comment_url", "issue_events_url", "issues_url", "keys_url", "labels_url",
		"languages_url", "merges_url", "milestones_url", "notifications_url", "pulls_url", "releases_url", "stargazers_url",
		"statuses_url", "subscribers_url", "subscription_url", "tags_url", "teams_url", "trees_url",
	} {
		o[part] = s.api(repo, strings.TrimSuffix(part, "_url"))
	}
	made, err := json.Marshal(o)
	if err != nil {
		panic(err) // it consists of strings and numbers
	}
	s.made[repo.Name] = made
	return made
}

// pullObject returns a pull request in the form of lists.
func (s *Server) pullObject(repo Repository, p PullRequest) object {
	owner, _, _ := strings.Cut(repo.Name, "/")
	number := fmt.Sprint(p.Number)
	self, issue := s.api(repo, "pulls", number), s.api(repo, "issues", number)
	html := "https://github.com/" + repo.Name + "/pull/" + number
	ref := func(name, sha, fork string) object {
		at := repo
		if fork != "" {
			at = Repository{Name: fork}
		}
		return object{"label": owner + ":" + name, "ref": name, "sha": sha, "user": s.userObject(owner), "repo": s.repositoryObject(at)}
	}
	var closedAt, mergedAt any
	if p.State == "closed" {
		closedAt = p.UpdatedAt
	}
	if p.Merged {
		mergedAt = p.UpdatedAt
	}
	reviewers, teams := []any{}, []any{}
	for _, login := range p.RequestedReviewers {
		reviewers = append(reviewers, s.userObject(login))
	}
	for _, slug := range p.RequestedTeams {
		teams = append(teams, object{"id": id("team", slug), "name": slug, "slug": slug, "privacy": "closed"})
	}
	labels := []any{}
	for _, name := range p.Labels {
		labels = append(labels, object{"id": id("label", name), "name": name, "color": "ededed", "default": false, "description": nil})
	}
	var autoMerge any
	if p.AutoMerge != "" {
		autoMerge = object{"enabled_by": s.userObject(p.Author), "merge_method": p.AutoMerge, "commit_title": nil, "commit_message": nil}
	}
	link := func(href string) object { return object{"href": href} }
	return object{
		"url": self, "id": id("pull", repo.Name, p.Number), "node_id": fmt.Sprintf("PR_%08x", id("pull", repo.Name, p.Number)),
		"html_url": html, "diff_url": html + ".diff", "patch_url": html + ".patch", "issue_url": issue,
		"commits_url": self + "/commits", "review_comments_url": self + "/comments",
		"review_comment_url": s.api(repo, "pulls", "comments{/number}"), "comments_url": issue + "/comments",
		"statuses_url": s.api(repo, "statuses", p.SHA),
		"number":       p.Number, "state": p.State, "locked": false, "title": p.Title, "user": s.userObject(p.Author), "body": p.Body,
		"created_at": p.CreatedAt, "updated_at": p.UpdatedAt, "closed_at": closedAt, "merged_at": mergedAt, "merge_commit_sha": nil,
		"assignee": nil, "assignees": []any{}, "requested_reviewers": reviewers, "requested_teams": teams, "labels": labels,
		"milestone": nil, "draft": p.Draft, "head": ref(p.Head, p.SHA, p.HeadRepo), "base": ref(p.Base, strings.Repeat("0", 39)+"b", ""),
		"_links": object{
			"self": link(self), "html": link(html), "issue": link(issue), "comments": link(issue + "/comments"),
			"review_comments": link(self + "/comments"), "commits": link(self + "/commits"), "statuses": link(s.api(repo, "statuses", p.SHA)),
		},
		"author_association": cmp.Or(p.Association, "CONTRIBUTOR"), "auto_merge": autoMerge, "active_lock_reason": nil,
	}
}

func (s *Server) reviewObject(repo Repository, p PullRequest, r Review, i int) object {
	o := object{
		"id": id("review", repo.Name, p.Number, i), "node_id": fmt.Sprintf("PRR_%08x", id("review", repo.Name, p.Number, i)),
		"user": s.userObject(r.Author), "body": r.Body, "state": r.State, "html_url": "https://github.com/" + repo.Name,
		"pull_request_url": s.api(repo, "pulls", fmt.Sprint(p.Number)), "author_association": "MEMBER", "commit_id": p.SHA,
	}
	if r.State != "PENDING" {
		o["submitted_at"] = p.UpdatedAt
	}
	return o
}

func (s *Server) checkRunObject(repo Repository, sha string, c numberedRun, i int) object {
	o := object{
		"id": c.id, "node_id": fmt.Sprintf("CR_%08x", id("check", sha, c.Name, i)), "name": c.Name, "head_sha": sha,
		"external_id": "", "url": s.api(repo, "check-runs", fmt.Sprint(id("check", sha, c.Name, i))), "html_url": nil, "details_url": c.details(),
		"status": "completed", "conclusion": nil, "started_at": nil, "completed_at": nil,
		"output":      object{"title": nil, "summary": nil, "text": nil, "annotations_count": 0, "annotations_url": ""},
		"check_suite": object{"id": id("suite", sha)}, "app": object{"slug": c.app()}, "pull_requests": []any{},
	}
	if c.Status != "" {
		o["status"] = c.Status
	}
	if c.Conclusion != "" {
		o["conclusion"] = c.Conclusion
	}
	return o
}

func (s *Server) statusObject(repo Repository, sha string, st Status, i int) object {
	return object{
		"url": s.api(repo, "statuses", sha), "avatar_url": nil, "id": id("status", sha, st.Context, i),
		"node_id": fmt.Sprintf("SC_%08x", id("status", sha, st.Context, i)), "state": st.State, "description": nil, "target_url": nilIfEmpty(st.URL),
		"context": st.Context, "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
	}
}

// numberedRun is a check run with its number.
type numberedRun struct {
	CheckRun
	id int
}
