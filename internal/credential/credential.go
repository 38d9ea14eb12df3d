// Package credential finds a developer's existing login for a service, and names its origin. It
// never writes one, never logs one, and never returns the credentials of one host for another.
//
// Use a [Finder]. It caches nothing: every call searches again, and finds new logins. If it finds
// none, the error is a [*MissingError], which lists the places that it searched.
package credential

import (
	"fmt"
	"log/slog"
	"strings"
)

// Credential is a login for one host. Printed, logged, or marshaled, it hides the secret, so an
// accident reveals nothing. One gap remains: package fmt cannot see these methods through an
// unexported struct field, so do not print a struct that has a Credential in one.
type Credential struct {
	// Login is the user name; empty for a bare token.
	Login string
	// Secret is the password or token, never empty.
	Secret string
	// Source is its origin: "~/.netrc machine github.com", "$GH_TOKEN", "gh auth token".
	Source string
}

func (c Credential) String() string {
	return fmt.Sprintf("credential(%s, secret hidden)", c.Source)
}

// Format prints the result of String, whatever the verb; package fmt would bypass String for %d and
// %#v.
func (c Credential) Format(s fmt.State, _ rune) { fmt.Fprint(s, c.String()) }

// LogValue returns the value for package slog.
func (c Credential) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalText returns the text for the JSON, XML, and YAML encoders.
func (c Credential) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// MissingError reports that there are no credentials for a host.
type MissingError struct {
	// Host is the host, or the netrc machine, that they are for.
	Host string
	// Tried has one text for each examined place, in order, with the finding: "~/.netrc: no machine
	// github.com", "gh: not logged in". It contains no secret and no path of the home directory.
	Tried []string
	// Half says which half of a login is missing, if only the other half was found: "$JIRA_EMAIL is
	// set, but $JIRA_TOKEN is not". Otherwise, it is empty.
	Half string
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("no credentials for %s: %s", e.Host, strings.Join(e.Tried, "; "))
}
