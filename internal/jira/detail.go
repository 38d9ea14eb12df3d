package jira

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/jira/adf"
	"github.com/copse-dev/copse/internal/remote"
)

// maxComments is how many of the last comments are read.
const maxComments = 20

// detail adds to an issue what lists do not have. path is that of the issue. Whatever part
// has a shape other than Jira documents reads as empty.
func (c *Client) detail(ctx context.Context, path string, w wireIssue, issue *Issue) {
	issue.Type = name(member(w.Fields.Type, "name"))
	issue.Priority = name(member(w.Fields.Priority, "name"))
	if parent, ok := refOf(w.Fields.Parent); ok {
		issue.Parent = &parent
	}
	issue.Links = linksOf(w.Fields.Links)

	list := commentsOf(w.Fields.Comment)
	if list.Total > len(list.Comments) {
		// An issue comes with its first comments.
		var last json.RawMessage
		query := "?orderBy=-created&maxResults=" + strconv.Itoa(maxComments)
		if _, err := c.call(ctx, http.MethodGet, path+commentsPath+query, nil, &last); err != nil {
			issue.TotalComments = list.Total
			issue.Notes = append(issue.Notes, "the last comments could not be read: "+remote.Clean(err.Error()))
			return
		}
		list = commentsOf(last)
	}
	for _, comment := range list.Comments {
		issue.Comments = append(issue.Comments, Comment{
			Author:    name(member(comment.Author, "displayName", "name")),
			CreatedAt: name(text(comment.Created)),
			Text:      strings.TrimSpace(adf.Markdown(comment.Body)),
		})
	}
	slices.SortStableFunc(issue.Comments, func(a, b Comment) int { return strings.Compare(b.CreatedAt, a.CreatedAt) })
	issue.Comments = issue.Comments[:min(len(issue.Comments), maxComments)]
	if list.Total > len(issue.Comments) {
		issue.TotalComments = list.Total
	}
}

// refOf reads another issue, as it is part of one.
func refOf(raw json.RawMessage) (Ref, bool) {
	var w struct {
		Fields struct {
			Summary json.RawMessage `json:"summary"`
			Status  json.RawMessage `json:"status"`
		} `json:"fields"`
	}
	json.Unmarshal(raw, &w) //nolint:errcheck // ignore another form
	ref := Ref{
		Key: name(member(raw, "key")), Summary: name(text(w.Fields.Summary)),
		Status: name(member(w.Fields.Status, "name")),
	}
	return ref, ref.Key != ""
}

func linksOf(raw json.RawMessage) []Link {
	var list []struct {
		Type    json.RawMessage `json:"type"`
		Inward  json.RawMessage `json:"inwardIssue"`
		Outward json.RawMessage `json:"outwardIssue"`
	}
	json.Unmarshal(raw, &list) //nolint:errcheck // ignore another form
	var links []Link
	for _, l := range list {
		if ref, ok := refOf(l.Outward); ok {
			links = append(links, Link{Relation: name(member(l.Type, "outward", "name")), Ref: ref})
		}
		if ref, ok := refOf(l.Inward); ok {
			links = append(links, Link{Relation: name(member(l.Type, "inward", "name")), Ref: ref})
		}
	}
	return links
}

// wireComments is a page of comments, oldest first in an issue.
type wireComments struct {
	Comments []wireComment `json:"comments"`
	Total    int           `json:"total"`
}

type wireComment struct {
	Author  json.RawMessage `json:"author"`
	Created json.RawMessage `json:"created"`
	Body    json.RawMessage `json:"body"`
}

func commentsOf(raw json.RawMessage) wireComments {
	var list wireComments
	json.Unmarshal(raw, &list) //nolint:errcheck // ignore another form
	return list
}
