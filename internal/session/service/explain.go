package service

import (
	"errors"

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
		return &failure.Error{Kind: meaning(e), What: failure.Text(e.Error()), Do: failure.Text(e.NextStep()), Err: err}
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

// meaning returns the kind of a service's error.
func meaning(e *remote.Error) failure.Kind {
	switch e.Kind {
	case remote.NotFound:
		return failure.NotFound
	case remote.RateLimited:
		return failure.RateLimited
	case remote.Failed, remote.Refused, remote.Misdirected:
	}
	return failure.Unreachable
}
