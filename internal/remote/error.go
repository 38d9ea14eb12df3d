package remote

import (
	"fmt"
	"time"
)

// Kind is the kind of failure of a service.
type Kind int

const (
	// Failed is every other failure: no connection, a timeout, a 5xx.
	Failed Kind = iota
	// NotFound is a 404.
	NotFound
	// RateLimited is a 429, or a 403 whose headers name a rate limit.
	RateLimited
	// Refused is a 401, or any other 403: the credentials were not accepted.
	Refused
	// Misdirected is an answer that does not come from the service, as far as one can tell: a web page
	// of a proxy or a login, a redirect to one, or data of another form.
	Misdirected
)

// Error is the one error type of a service client. Clients return it for every answer that is not a
// success; any other error (a bad argument) never reached the network.
type Error struct {
	// Service is the name for people: "GitHub", "Jira".
	Service string
	Kind    Kind
	// Status is the HTTP status, 0 if there was no answer.
	Status int
	// RetryAfter is how long to wait, for RateLimited; 0 is unknown.
	RetryAfter time.Duration
	// Credential is the origin of the credentials ("~/.netrc machine github.com"), never the
	// credentials.
	Credential string
	// Detail is a short text without secrets: the service's own message,
	// cleaned, or the cause.
	Detail string
	// Err is the cause, if there is one.
	Err error
}

// Error begins with "<Service> API error: ", as the tools' messages do.
func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s API error: %s (HTTP %d)", e.Service, e.Detail, e.Status)
	}
	return fmt.Sprintf("%s API error: %s", e.Service, e.Detail)
}

func (e *Error) Unwrap() error { return e.Err }
