package jira

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/jira/adf"
	"github.com/copse-dev/copse/internal/remote"
)

// fields are the fields that lists request, and details those of a single issue.
var (
	fields  = [...]string{"summary", "description", "status", "assignee"}
	details = [...]string{"issuetype", "priority", "parent", "issuelinks", "comment"}
)

// Issue returns the issue with the given key. The error is an [*InvalidError], or a *remote.Error:
// of kind NotFound for an issue that does not exist, or that the user may not see, which Jira does
// not distinguish.
func (c *Client) Issue(ctx context.Context, key string) (Issue, error) {
	key, err := ParseKey(key)
	if err != nil {
		return Issue{}, err
	}
	ctx, cancel := remote.WithCallLimit(ctx, c.timeout)
	defer cancel()
	kind, err := c.product(ctx)
	if err != nil {
		return Issue{}, err
	}
	path := cloudIssue
	if kind == dataCenter {
		path = dataCenterIssue
	}
	path += url.PathEscape(key)
	var answer wireIssue
	asOf, err := c.call(ctx, http.MethodGet, path+"?fields="+strings.Join(slices.Concat(fields[:], details[:]), ","), nil, &answer)
	if err != nil {
		return Issue{}, err
	}
	if answer.Key == "" {
		return Issue{}, c.failed(http.StatusOK, "returned something that is not an issue")
	}
	issue := answer.issue()
	issue.AsOf = asOf
	c.detail(ctx, path, answer, &issue)
	c.note(ctx, issue)
	return issue, nil
}

// wireIssue is an issue in Jira's answer. Any of its fields may be missing, null, or in an
// undocumented form; it then reads as empty.
type wireIssue struct {
	Key    string `json:"key"`
	Fields struct {
		Summary     json.RawMessage `json:"summary"`
		Description json.RawMessage `json:"description"`
		Status      json.RawMessage `json:"status"`
		Assignee    json.RawMessage `json:"assignee"`
		Type        json.RawMessage `json:"issuetype"`
		Priority    json.RawMessage `json:"priority"`
		Parent      json.RawMessage `json:"parent"`
		Links       json.RawMessage `json:"issuelinks"`
		Comment     json.RawMessage `json:"comment"`
	} `json:"fields"`
}

func (w wireIssue) issue() Issue {
	issue := Issue{
		Key:      name(w.Key),
		Summary:  name(text(w.Fields.Summary)),
		Status:   name(member(w.Fields.Status, "name")),
		Assignee: name(member(w.Fields.Assignee, "displayName", "name")),
	}
	description := strings.TrimSpace(adf.Markdown(w.Fields.Description))
	issue.Description = cleantext.Cut(description, maxDescription)
	if issue.Description != description {
		more := utf8.RuneCountInString(description) - (utf8.RuneCountInString(issue.Description) - 1) // without its "…"
		issue.Notes = append(issue.Notes, "the description is cut; it has "+cleantext.Count(more, "more character"))
	}
	return issue
}

// name returns a summary or a name as one line with a limited length.
func name(s string) string { return cleantext.Cut(cleantext.Line(s), maxName) }

// text returns the JSON string raw, or "".
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// member returns the first of the named members of the JSON object raw that is a
// string and not empty.
func member(raw json.RawMessage, names ...string) string {
	var object map[string]json.RawMessage
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) || json.Unmarshal(raw, &object) != nil {
		return ""
	}
	for _, name := range names {
		if s := text(object[name]); s != "" {
			return s
		}
	}
	return ""
}
