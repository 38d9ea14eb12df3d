package remote

import (
	"fmt"
	"time"
)

// Kind says which of the few things that can go wrong with a service did.
type Kind int

const (
	// Failed is everything that is none of the others: no connection, a
	// timeout, a 5xx, a body that is not what the service documents.
	Failed Kind = iota
	// NotFound is a 404.
	NotFound
	// RateLimited is a 429, or a 403 whose headers speak of a rate limit.
	RateLimited
	// Refused is a 401, or any other 403: the credentials were not accepted.
	Refused
)

// Error is the one error type of a service client. Clients return it for
// every answer that is not a success; what else they return (a bad argument)
// never reached the network.
type Error struct {
	// Service is the name a person knows: "GitHub", "Jira".
	Service string
	Kind    Kind
	// Status is the HTTP status, 0 when there was no answer.
	Status int
	// RetryAfter is how long to wait, for RateLimited; 0 is unknown.
	RetryAfter time.Duration
	// Credential says where the credentials came from ("~/.netrc machine
	// github.com"), never what they are.
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
