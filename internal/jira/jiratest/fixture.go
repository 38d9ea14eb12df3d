// Package jiratest is a Jira for tests and demonstrations: an http.Handler that
// answers as Jira Cloud or Jira Data Center does to the few requests that read
// issues.
//
// Use [New] with a [Fixture] and serve it, for example with httptest.NewServer.
// The server demands the fixture's credentials, answers with the fields,
// headers and errors of the product it plays, understands the JQL that
// [ParseJQL] describes and refuses all other, pages as the product pages,
// records what it was asked, and breaks on demand: see [Server.Break].
//
// What it plays is written down in Atlassian's REST documentation and in the
// reports of those who found out what that leaves open; nothing here asks a
// real Jira.
package jiratest

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// Fixture is what one Jira holds.
type Fixture struct {
	// Cloud makes it Jira Cloud; it is Data Center otherwise.
	Cloud bool `json:"cloud"`
	// Path is the context path, such as "/jira".
	Path string `json:"path"`
	// Login and Secret are demanded as Basic credentials; without a Login the
	// Secret is demanded as a Bearer token.
	Login  string `json:"login"`
	Secret string `json:"secret"`
	// Me is the name of the user whom the credentials belong to.
	Me string `json:"me"`
	// MaxResults caps a page of a search; 0 is 100.
	MaxResults int     `json:"max_results"`
	Users      []User  `json:"users"`
	Issues     []Issue `json:"issues"`
}

// User is someone whom issues are assigned to.
type User struct {
	Name        string `json:"name"` // account id in Cloud, login in Data Center
	DisplayName string `json:"display_name"`
}

// Issue is one issue. Its project is the part of the key before the hyphen.
type Issue struct {
	Key     string `json:"key"`
	Summary string `json:"summary"`
	// Document is the description as the version 3 API has it, in Atlassian
	// Document Format.
	Document json.RawMessage `json:"document"`
	// Wiki is the description as the version 2 API has it.
	Wiki   string `json:"wiki"`
	Status string `json:"status"`
	// Assignee is the name of a user, empty for no one.
	Assignee string `json:"assignee"`
	Type     string `json:"type"`
	Priority string `json:"priority"`
	// Parent is a key. Like the issues of links, its issue need not be in the fixture.
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

// MaxComments is how many comments an issue comes with.
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
