// Package credential finds the login a developer already has for a service,
// and says where it was found. It never writes one, never logs one, and never
// hands the credentials of one host to another.
//
// Use a [Finder]. It keeps nothing: every call looks again, so that a login
// added meanwhile is found. What it does not find is a [*MissingError], which
// tells a person where it looked.
package credential

import (
	"fmt"
	"log/slog"
	"strings"
)

// Credential is a login for one host. Printed, logged or marshalled it hides the
// secret, so that doing so by accident gives nothing away. One hole is left:
// package fmt cannot see these methods through an unexported struct field, so do
// not print a struct that has a Credential in one.
type Credential struct {
	// Login is the user name; empty for a bare token.
	Login string
	// Secret is the password or token, never empty.
	Secret string
	// Source says where it came from: "~/.netrc machine github.com",
	// "$GH_TOKEN", "gh auth token".
	Source string
}

func (c Credential) String() string {
	return fmt.Sprintf("credential(%s, secret hidden)", c.Source)
}

// Format prints what String returns, whatever the verb; package fmt would go
// round String for %d and %#v.
func (c Credential) Format(s fmt.State, _ rune) { fmt.Fprint(s, c.String()) }

// LogValue returns what package slog writes.
func (c Credential) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalText returns what the JSON, XML and YAML encoders write.
func (c Credential) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// MissingError says that there are no credentials for a host.
type MissingError struct {
	// Host is the host, or the netrc machine, that they are for.
	Host string
	// Tried has one text for each place that was looked at, in order, with what was there:
	// "~/.netrc: no machine github.com", "gh: not logged in". It holds no secret and no path of the
	// home directory.
	Tried []string
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("no credentials for %s: %s", e.Host, strings.Join(e.Tried, "; "))
}
