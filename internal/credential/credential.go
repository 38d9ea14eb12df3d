// Package credential finds the login a developer already has for a service,
// and says where it was found. It never writes one, never logs one, and never
// hands the credentials of one host to another.
package credential

import "fmt"

// Credential is a login for one host. Its String and GoString hide the secret,
// so that printing one by accident gives nothing away.
type Credential struct {
	// Login is the user name; empty for a bare token.
	Login string
	// Secret is the password or token.
	Secret string
	// Source says where it came from: "~/.netrc machine github.com",
	// "$GH_TOKEN", "gh auth token".
	Source string
}

func (c Credential) String() string {
	return fmt.Sprintf("credential(%s, secret hidden)", c.Source)
}

// GoString is String, for %#v.
func (c Credential) GoString() string { return c.String() }
