package jiratest

import (
	"fmt"
	"strconv"
	"strings"
)

// JQL is a query that [ParseJQL] accepts.
type JQL struct {
	Project string
	// Status and Assignee are nil if the query has no such clause.
	Status   *string
	Assignee *string
	// CurrentUser means that the assignee is currentUser().
	CurrentUser bool
}

// ParseJQL reads a query of exactly this form, with the parts in brackets
// optional:
//
//	project = "…" [AND status = "…"] [AND assignee = "…"|currentUser()] ORDER BY updated DESC
//
// A string is quoted with double quotes and has the escapes of Jira's own: \",
// \', \\, \t, \n, \r, "\ " and \uXXXX. The error's text is Jira's.
func ParseJQL(jql string) (JQL, error) {
	p := jqlParser{rest: jql, all: jql}
	var q JQL
	q.Project = p.clause("project")
	if p.accept(" AND status = ") {
		status := p.str()
		q.Status = &status
	}
	switch {
	case p.accept(" AND assignee = currentUser()"):
		q.CurrentUser = true
	case p.accept(" AND assignee = "):
		assignee := p.str()
		q.Assignee = &assignee
	}
	if !p.accept(" ORDER BY updated DESC") || p.rest != "" {
		p.fail("Expecting operator, end of query or ORDER BY")
	}
	if p.err != nil {
		return JQL{}, p.err
	}
	return q, nil
}

// jqlError is an error as Jira words it.
type jqlError struct {
	problem string
	at      int
}

func (e *jqlError) Error() string {
	return fmt.Sprintf("Error in the JQL Query: %s. (line 1, character %d)", e.problem, e.at)
}

type jqlParser struct {
	all, rest string
	err       error
}

func (p *jqlParser) fail(problem string) {
	if p.err == nil {
		p.err = &jqlError{problem, len(p.all) - len(p.rest) + 1}
	}
}

func (p *jqlParser) accept(token string) bool {
	rest, ok := strings.CutPrefix(p.rest, token)
	if ok {
		p.rest = rest
	}
	return ok
}

func (p *jqlParser) clause(field string) string {
	if !p.accept(field + " = ") {
		p.fail("Expecting the field '" + field + "'")
	}
	return p.str()
}

// str reads a quoted string.
func (p *jqlParser) str() string {
	if !p.accept(`"`) {
		p.fail("Expecting a string in quotes")
		return ""
	}
	var b strings.Builder
	for p.rest != "" {
		c := p.rest[0]
		p.rest = p.rest[1:]
		switch {
		case c == '"':
			return b.String()
		case c == '\\':
			p.escape(&b)
		case c < ' ' || c == 0x7f:
			p.fail("The character '\\u" + fmt.Sprintf("%04x", c) + "' is a reserved JQL character")
		default:
			b.WriteByte(c)
		}
	}
	p.fail("The quoted string has not been completed")
	return ""
}

func (p *jqlParser) escape(b *strings.Builder) {
	if p.rest == "" {
		return // the string is not completed either
	}
	c := p.rest[0]
	p.rest = p.rest[1:]
	switch c {
	case '"', '\'', '\\', ' ':
		b.WriteByte(c)
	case 't':
		b.WriteByte('\t')
	case 'n':
		b.WriteByte('\n')
	case 'r':
		b.WriteByte('\r')
	case 'u':
		n, err := strconv.ParseUint(p.rest[:min(4, len(p.rest))], 16, 16)
		if err != nil || len(p.rest) < 4 {
			p.fail("'\\u' is an illegal JQL escape sequence")
			return
		}
		b.WriteRune(rune(n))
		p.rest = p.rest[4:]
	default:
		p.fail("'\\" + string(rune(c)) + "' is an illegal JQL escape sequence")
	}
}
