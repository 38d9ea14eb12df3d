package item

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/copse-dev/copse/internal/lazyregexp"
)

// Link names where the work on an item happens. Empty fields are unknown.
type Link struct {
	Branch   string
	Worktree string // a directory, as it was given
	// PullRequest is a number, or "owner/name#12" if it is in another repository.
	PullRequest string
}

// ValidBranch reports whether git allows the name of a branch, which becomes an argument of git.
func ValidBranch(name string) bool { return !noBranch.Get().MatchString(name) }

// With returns the link with the values of a patch.
func (l Link) With(p Patch) Link {
	for _, field := range []struct {
		value *string
		into  *string
	}{{p.Branch, &l.Branch}, {p.Worktree, &l.Worktree}, {p.PullRequest, &l.PullRequest}} {
		if field.value != nil {
			*field.into = *field.value
		}
	}
	return l
}

const maxLinkText = 1024 // bytes

var (
	pullRequest    = lazyregexp.New(`^(?:([\w.-]+/[\w.-]+)?#)?([1-9]\d{0,9})$`)
	pullRequestURL = lazyregexp.New(`^https?://[^/\s]+/([\w.-]+/[\w.-]+)/pull/([1-9]\d{0,9})(?:[/?#]\S*)?$`)
	noBranch       = lazyregexp.New(`^-|^/|//|\.\.|@\{|[\x00-\x20\x7f~^:?*\[\\]|/$|\.$|\.lock$|^@$`)
)

// checkLink checks the parts of a link in a patch, and returns the link to store.
func (p Patch) checkLink() (Patch, error) {
	if p.Branch != nil && (!ValidBranch(*p.Branch) || len(*p.Branch) > maxLinkText || !utf8.ValidString(*p.Branch)) {
		return Patch{}, &InvalidError{Field: "branch", Problem: fmt.Sprintf("Invalid branch %q: git does not allow this name", shorten(*p.Branch))}
	}
	if p.Worktree != nil {
		path := strings.TrimSpace(*p.Worktree)
		if len(path) > maxLinkText || !utf8.ValidString(path) || strings.ContainsFunc(path, unicode.IsControl) {
			return Patch{}, &InvalidError{Field: "worktree", Problem: "Invalid worktree: use the path of a directory, on one line"}
		}
		p.Worktree = &path
	}
	if p.PullRequest != nil && *p.PullRequest != "" {
		m := pullRequest.Get().FindStringSubmatch(*p.PullRequest)
		if m == nil {
			m = pullRequestURL.Get().FindStringSubmatch(*p.PullRequest)
		}
		if m == nil {
			return Patch{}, &InvalidError{
				Field:   "pull_request",
				Problem: fmt.Sprintf("Invalid pull request %q. Use a number, owner/name#12, or the URL of a pull request", shorten(*p.PullRequest)),
			}
		}
		value := m[2]
		if m[1] != "" {
			value = m[1] + "#" + m[2]
		}
		p.PullRequest = &value
	}
	return p, nil
}
