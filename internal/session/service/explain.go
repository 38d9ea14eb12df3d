package service

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/remote"
)

// Explain converts an error of a service to a failure. Other errors, and nil, remain unchanged.
func Explain(err error) error {
	if err == nil {
		return nil
	}
	if _, done := errors.AsType[*failure.Error](err); done {
		return err
	}
	if e, ok := errors.AsType[*remote.Error](err); ok {
		kind, do := meaning(e)
		return &failure.Error{Kind: kind, What: failure.Text(e.Error()), Do: failure.Text(do), Err: err}
	}
	if errors.Is(err, remote.ErrNotAllowed) {
		// Only a redirect leads here: clients send only allowed requests.
		return &failure.Error{
			Kind: failure.Unreachable, Err: err,
			What: failure.Text("The service redirected the request to an address that copse does not use: " + err.Error()),
			Do:   failure.Text("Check the address of the service and the name of the repository."),
		}
	}
	return err
}

// meaning returns the meaning of a service's error and the next step.
func meaning(e *remote.Error) (failure.Kind, string) {
	switch e.Kind {
	case remote.NotFound:
		if e.Credential == "" {
			return failure.NotFound, "Check the name or number."
		}
		return failure.NotFound, fmt.Sprintf("Check the name or number, and whether the credentials from %s have access.", e.Credential)
	case remote.RateLimited:
		return failure.RateLimited, fmt.Sprintf("Rate limited by %s. Retry after %s.", e.Service, retryAfter(e.RetryAfter))
	case remote.Refused:
		return failure.Unreachable, fmt.Sprintf("%s refused the credentials from %s. Renew the token there, or give it access. HTTP status: %d.",
			e.Service, e.Credential, e.Status)
	}
	switch {
	case e.Kind == remote.Misdirected:
		return failure.Unreachable, fmt.Sprintf("Check the address of %s, and whether a proxy or a login page answers there.", e.Service)
	case e.Status == http.StatusUnprocessableEntity || e.Status == http.StatusBadRequest:
		return failure.Unreachable, fmt.Sprintf("%s did not accept the values of the request. Check the arguments. HTTP status: %d.", e.Service, e.Status)
	case e.Status >= http.StatusInternalServerError:
		return failure.Unreachable, fmt.Sprintf("%s has an internal problem. Try again in a few minutes. HTTP status: %d.", e.Service, e.Status)
	case e.Status == http.StatusGone:
		return failure.Unreachable, fmt.Sprintf("Update copse: %s no longer has the API that this version uses. HTTP status: %d.", e.Service, e.Status)
	case e.Status != 0:
		return failure.Unreachable, fmt.Sprintf("Check your network connection. HTTP status: %d.", e.Status)
	}
	return failure.Unreachable, "Check your network connection."
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
