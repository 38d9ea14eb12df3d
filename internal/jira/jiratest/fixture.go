// Package jiratest is a fake Jira for tests and demonstrations: an http.Handler that answers as
// Jira Cloud or Jira Data Center does to the few requests that read issues.
//
// Use [New] with a [Fixture] and serve it, for example with httptest.NewServer. The server requires
// the fixture's credentials, answers with the fields, headers, and errors of its product, accepts
// the JQL that [ParseJQL] describes and refuses all other, pages as the product does, records its
// requests, and fails on demand: see [Server.Break].
//
// The behavior follows Atlassian's REST documentation and users' reports of undocumented details;
// nothing here contacts a real Jira.
package jiratest

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// Fixture is the content of a Jira.
type Fixture struct {
	// Cloud selects Jira Cloud; otherwise it is Data Center.
	Cloud bool `json:"cloud"`
	// Path is the context path, such as "/jira".
	Path string `json:"path"`
	// Login and Secret are required as Basic credentials; without a Login, the Secret is required
	// as a Bearer token.
	Login  string `json:"login"`
	Secret string `json:"secret"`
	// Me is the name of the user with these credentials.
	Me string `json:"me"`
	// MaxResults limits a page of a search; 0 is 100.
	MaxResults int     `json:"max_results"`
	Users      []User  `json:"users"`
	Issues     []Issue `json:"issues"`
}

// User is a possible assignee of issues.
type User struct {
	Name        string `json:"name"` // account id in Cloud, login in Data Center
	DisplayName string `json:"display_name"`
}

// Issue is one issue. Its project is the part of the key before the hyphen.
type Issue struct {
	Key     string `json:"key"`
	Summary string `json:"summary"`
	// Document is the description in the version 3 API, in Atlassian Document Format.
	Document json.RawMessage `json:"document"`
	// Wiki is the description in the version 2 API.
	Wiki   string `json:"wiki"`
	Status string `json:"status"`
	// Assignee is the name of a user, empty for no one.
	Assignee string `json:"assignee"`
	Type     string `json:"type"`
	Priority string `json:"priority"`
	// Parent is a key. Like the issues of links, its issue may be missing in the fixture.
	Parent   string    `json:"parent"`
	Links    []Link    `json:"links"`
	Comments []Comment `json:"comments"` // oldest first
	Updated  time.Time `json:"updated"`
}

// Link is a link to another issue. One of Outward and Inward is its key.
type Link struct {
	Type    string `json:"type"`    // "Blocks"
	Forward string `json:"forward"` // "blocks"
	Reverse string `json:"reverse"` // "is blocked by"
	Outward string `json:"outward"`
	Inward  string `json:"inward"`
}

// Comment is a comment. An issue comes with its first MaxComments.
type Comment struct {
	Author   string          `json:"author"` // the name of a user
	Document json.RawMessage `json:"document"`
	Wiki     string          `json:"wiki"`
	Created  string          `json:"created"`
}

// MaxComments is the number of comments that accompany an issue.
const MaxComments = 5

func (i Issue) project() string {
	project, _, _ := strings.Cut(i.Key, "-")
	return project
}

// Load reads a fixture from JSON. Unknown members are an error.
func Load(r io.Reader) (Fixture, error) {
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	var f Fixture
	if err := dec.Decode(&f); err != nil {
		return Fixture{}, fmt.Errorf("read Jira fixture: %w", err)
	}
	return f, nil
}
