package remote

import (
	"fmt"
	"net/http"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
)

// NextStep returns what a person can do about the error, as sentences.
func (e *Error) NextStep() string {
	switch e.Kind {
	case NotFound:
		if e.Credential == "" {
			return "Check the name or number."
		}
		return fmt.Sprintf("Check the name or number, and whether the credentials from %s have access.", e.Credential)
	case RateLimited:
		return fmt.Sprintf("Rate limited by %s. Retry after %s.", e.Service, retryAfter(e.RetryAfter))
	case Refused:
		return fmt.Sprintf("%s refused the credentials from %s. Renew the token there, or give it access. HTTP status: %d.",
			e.Service, e.Credential, e.Status)
	case Misdirected:
		return fmt.Sprintf("Check the address of %s, and whether a proxy or a login page answers there.", e.Service)
	case Failed:
	}
	switch {
	case e.Status == http.StatusUnprocessableEntity || e.Status == http.StatusBadRequest:
		return fmt.Sprintf("%s did not accept the values of the request. Check the arguments. HTTP status: %d.", e.Service, e.Status)
	case e.Status >= http.StatusInternalServerError:
		return fmt.Sprintf("%s has an internal problem. Try again in a few minutes. HTTP status: %d.", e.Service, e.Status)
	case e.Status == http.StatusGone:
		return fmt.Sprintf("Update copse: %s no longer has the API that this version uses. HTTP status: %d.", e.Service, e.Status)
	case e.Status != 0:
		return fmt.Sprintf("Check your network connection. HTTP status: %d.", e.Status)
	}
	return "Check your network connection."
}

func retryAfter(d time.Duration) string {
	switch {
	case d <= 0:
		return "a few minutes"
	case d < time.Minute:
		return cleantext.Count(int((d+time.Second-1)/time.Second), "second")
	}
	return cleantext.Count(int((d+time.Minute-1)/time.Minute), "minute")
}
