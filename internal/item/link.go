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

// The keys of a link's file, in their order.
const (
	linkItem        = "item"
	linkBranch      = "branch"
	linkWorktree    = "worktree"
	linkPullRequest = "pull_request"
)

// ParseLink reads the file of a link: lines "key: value". Of a repeated key, as after a merge of
// two texts, the last value is used; other lines are ignored.
func ParseLink(text string) Link {
	var l Link
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		value = strings.TrimSpace(value)
		switch key {
		case linkBranch:
			if !noBranch.Get().MatchString(value) { // it becomes an argument of git
				l.Branch = value
			}
		case linkWorktree:
			l.Worktree = value
		case linkPullRequest:
			l.PullRequest = value
		}
	}
	return l
}

// LinkedItem returns the number that the file of a link has for a person, 0 if it has
// none. The item can have another number now.
func LinkedItem(text string) ID {
	for line := range strings.Lines(text) {
		if key, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ":"); key == linkItem {
			if id, err := ParseID(strings.TrimSpace(value)); err == nil {
				return id
			}
		}
	}
	return 0
}

// Text returns the file of a link. The number of the item is for people: it is not read, because it
// can change.
func (l Link) Text(id ID) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d\n", linkItem, id)
	for _, line := range [][2]string{{linkBranch, l.Branch}, {linkWorktree, l.Worktree}, {linkPullRequest, l.PullRequest}} {
		if line[1] != "" {
			fmt.Fprintf(&b, "%s: %s\n", line[0], line[1])
		}
	}
	return b.String()
}

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
	if p.Branch != nil && (noBranch.Get().MatchString(*p.Branch) || len(*p.Branch) > maxLinkText || !utf8.ValidString(*p.Branch)) {
		return Patch{}, &InvalidError{Field: linkBranch, Problem: fmt.Sprintf("Invalid branch %q: git does not allow this name", shorten(*p.Branch))}
	}
	if p.Worktree != nil {
		path := strings.TrimSpace(*p.Worktree)
		if len(path) > maxLinkText || !utf8.ValidString(path) || strings.ContainsFunc(path, unicode.IsControl) {
			return Patch{}, &InvalidError{Field: linkWorktree, Problem: "Invalid worktree: use the path of a directory, on one line"}
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
				Field:   linkPullRequest,
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

// maxBranch is how many bytes of a proposed branch come from the title.
const maxBranch = 60

// BranchName proposes the name of a branch for an item: tic/3-short-title.
func (s *Summary) BranchName() string {
	var b strings.Builder
	for _, r := range strings.ToLower(s.Title) {
		switch {
		case b.Len() >= maxBranch:
		case unicode.IsLetter(r), unicode.IsDigit(r):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	name := fmt.Sprintf("tic/%d", s.ID)
	if slug := strings.Trim(b.String(), "-"); slug != "" {
		name += "-" + slug
	}
	return name
}
