package jira

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/copse-dev/copse/internal/lazyregexp"
)

// Query selects issues for [Client.Search].
type Query struct {
	// Project is the project's key; its name works, too. It is required.
	Project string
	// Status is the name of a status; empty is any.
	Status string
	// Assignee is a user; "me" is the user of the credentials, empty is anyone or no one.
	Assignee string
}

var keyPattern = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_]*-[0-9]+$`)

// JQL returns the query in Jira's query language, the most recently updated issue
// first. The error is an [*InvalidError].
func (q Query) JQL() (string, error) {
	if strings.TrimSpace(q.Project) == "" {
		return "", &InvalidError{Argument: "project", Message: `must be a project key such as "PROJ"`}
	}
	var clauses []string
	for _, c := range []struct{ field, value string }{
		{"project", q.Project}, {"status", q.Status}, {"assignee", q.Assignee},
	} {
		switch {
		case c.value == "":
			continue
		case c.field == "assignee" && c.value == "me":
			clauses = append(clauses, "assignee = currentUser()")
			continue
		case !quotable(c.value):
			return "", &InvalidError{Argument: c.field, Message: "must be text without control characters"}
		}
		clauses = append(clauses, c.field+" = "+quote(c.value))
	}
	return strings.Join(clauses, " AND ") + " ORDER BY updated DESC", nil
}

// quotable reports whether s is valid in JQL: without characters that JQL does not allow, quoted or
// not.
func quotable(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(c rune) bool {
		return unicode.IsControl(c) || unicode.Is(unicode.Noncharacter_Code_Point, c)
	}) < 0
}

// quote returns s as a JQL string. Only these two characters have a special meaning in it.
func quote(s string) string {
	return `"` + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), `"`, `\"`) + `"`
}

// ParseKey returns key in the form that Jira displays. The error is an [*InvalidError].
func ParseKey(key string) (string, error) {
	key = strings.TrimSpace(key)
	if !keyPattern.Get().MatchString(key) {
		return "", &InvalidError{Argument: "issue_key", Message: `must be an issue key such as "PROJ-123"`}
	}
	return strings.ToUpper(key), nil
}
