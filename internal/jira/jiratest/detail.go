package jiratest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// refObject returns another issue, as a part of an issue.
func (s *Server) refObject(key string) map[string]any {
	for _, issue := range s.fixture.Issues {
		if issue.Key == key {
			return map[string]any{"id": key, "key": key, "fields": map[string]any{
				"summary": issue.Summary, "status": map[string]any{"name": issue.Status},
			}}
		}
	}
	return map[string]any{"id": key, "key": key, "fields": map[string]any{"summary": "", "status": map[string]any{"name": "Open"}}}
}

// detailFields adds the fields that lists do not ask for.
func (s *Server) detailFields(issue Issue, version int, fields map[string]any) {
	named := func(name string) any {
		if name == "" {
			return nil
		}
		return map[string]any{"name": name, "id": "1"}
	}
	fields["issuetype"], fields["priority"] = named(issue.Type), named(issue.Priority)
	if issue.Parent != "" {
		fields["parent"] = s.refObject(issue.Parent)
	}
	links := []any{}
	for _, l := range issue.Links {
		link := map[string]any{"id": "1", "type": map[string]any{"name": l.Type, "outward": l.Forward, "inward": l.Reverse}}
		if l.Outward != "" {
			link["outwardIssue"] = s.refObject(l.Outward)
		} else {
			link["inwardIssue"] = s.refObject(l.Inward)
		}
		links = append(links, link)
	}
	fields["issuelinks"] = links
	first := issue.Comments[:min(len(issue.Comments), MaxComments)]
	fields["comment"] = map[string]any{
		"comments": s.commentObjects(first, version), "startAt": 0, "maxResults": len(first), "total": len(issue.Comments),
	}
}

func (s *Server) commentObjects(comments []Comment, version int) []any {
	out := []any{}
	for i, c := range comments {
		o := map[string]any{"id": strconv.Itoa(i + 1), "author": nil, "created": c.Created, "updated": c.Created, "body": c.Wiki}
		if version == 3 {
			o["body"] = c.Document
		}
		if u, ok := s.user(c.Author); ok {
			o["author"] = map[string]any{"displayName": u.DisplayName, "active": true}
		}
		out = append(out, o)
	}
	return out
}

// comments lists the comments of an issue.
func (s *Server) comments(version int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ok, answered := s.admitted(w, r)
		if answered {
			return
		}
		i := slices.IndexFunc(s.fixture.Issues, func(i Issue) bool { return ok && strings.EqualFold(i.Key, r.PathValue("key")) })
		if i < 0 {
			s.problem(w, http.StatusNotFound, "Issue does not exist or you do not have permission to see it.")
			return
		}
		all := slices.Clone(s.fixture.Issues[i].Comments)
		if r.URL.Query().Get("orderBy") == "-created" {
			slices.Reverse(all)
		}
		limit := 50
		if n, err := strconv.Atoi(r.URL.Query().Get("maxResults")); err == nil {
			limit = n
		}
		shown := all[:min(len(all), limit)]
		s.send(w, http.StatusOK, map[string]any{
			"comments": s.commentObjects(shown, version), "startAt": 0, "maxResults": limit, "total": len(all),
		})
	}
}
