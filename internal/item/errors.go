package item

import (
	"errors"
	"fmt"
)

// NotFoundError reports that there is no such item.
type NotFoundError struct {
	ID ID
}

func (e *NotFoundError) Error() string { return fmt.Sprintf("Work item #%d not found", e.ID) }

// InvalidError reports that an input breaks a rule.
type InvalidError struct {
	Field   string // "title", "parent"; as in the files: "depends_on"
	Problem string
}

func (e *InvalidError) Error() string { return e.Problem }

// IsNotFound reports whether err says that there is no such item.
func IsNotFound(err error) bool {
	_, ok := errors.AsType[*NotFoundError](err)
	return ok
}
