package branch

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

var (
	// ErrNoBranches reports that neither git nor twig's file has a branch.
	ErrNoBranches = errors.New("the repository has no branches")
	// ErrNoRoot reports that there are branches, but no root: no configured root and no default
	// branch exists, and HEAD is detached.
	ErrNoRoot = errors.New("no root branch exists")
)

// NotFoundError reports that neither git nor twig's file knows a branch.
type NotFoundError struct {
	Branch  string
	Nearest []string // at most five similar names, best first
}

func (e *NotFoundError) Error() string {
	if len(e.Nearest) == 0 {
		return fmt.Sprintf("branch %q not found", e.Branch)
	}
	quoted := make([]string, len(e.Nearest))
	for i, name := range e.Nearest {
		quoted[i] = strconv.Quote(name)
	}
	return fmt.Sprintf("branch %q not found; the nearest names are %s", e.Branch, strings.Join(quoted, ", "))
}
