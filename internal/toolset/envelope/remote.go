package envelope

import (
	"fmt"
	"time"

	"github.com/copse-dev/copse/internal/remote"
)

// ofRemote says what an error of a service means and what to do about it.
func ofRemote(e *remote.Error) *Error {
	out := &Error{Code: NetworkError, Message: e.Error()}
	switch e.Kind {
	case remote.NotFound:
		out.Code = NotFound
		out.Hint = fmt.Sprintf("Check the name or number, and that the credentials from %s may see it.", e.Credential)
		if e.Credential == "" {
			out.Hint = "Check the name or number."
		}
	case remote.RateLimited:
		out.Code = RateLimited
		out.Hint = fmt.Sprintf("Rate limited by %s. Retry after %s.", e.Service, retryAfter(e.RetryAfter))
	case remote.Refused:
		out.Hint = fmt.Sprintf("%s refused the credentials from %s. Renew the token there, or give it access. HTTP status: %d.",
			e.Service, e.Credential, e.Status)
	case remote.Failed:
		out.Hint = "Check your network connection."
		if e.Status != 0 {
			out.Hint = fmt.Sprintf("Check your network connection. HTTP status: %d.", e.Status)
		}
	}
	return out
}

func retryAfter(d time.Duration) string {
	switch {
	case d <= 0:
		return "a few minutes"
	case d <= time.Second:
		return "1 second"
	case d < time.Minute:
		return fmt.Sprintf("%d seconds", int((d+time.Second-1)/time.Second))
	case d == time.Minute:
		return "1 minute"
	}
	return fmt.Sprintf("%d minutes", int((d+time.Minute-1)/time.Minute))
}
