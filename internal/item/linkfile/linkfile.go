// Package linkfile defines the format of the file with an item's [item.Link].
package linkfile

import (
	"fmt"
	"strings"

	"github.com/copse-dev/copse/internal/item"
)

// The keys of a link's file, in their order.
const (
	keyItem        = "item"
	keyBranch      = "branch"
	keyWorktree    = "worktree"
	keyPullRequest = "pull_request"
)

// Parse reads the file of a link: lines "key: value". Of a repeated key, as after a merge of
// two texts, the last value is used; other lines are ignored.
func Parse(text string) item.Link {
	var l item.Link
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		value = strings.TrimSpace(value)
		switch key {
		case keyBranch:
			if item.ValidBranch(value) {
				l.Branch = value
			}
		case keyWorktree:
			l.Worktree = value
		case keyPullRequest:
			l.PullRequest = value
		}
	}
	return l
}

// Item returns the number that the file of a link has for a person, 0 if it has
// none. The item can have another number now.
func Item(text string) item.ID {
	for line := range strings.Lines(text) {
		if key, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ":"); key == keyItem {
			if id, err := item.ParseID(strings.TrimSpace(value)); err == nil {
				return id
			}
		}
	}
	return 0
}

// Text returns the file of a link. The number of the item is for people: it is not read, because it
// can change.
func Text(l item.Link, id item.ID) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d\n", keyItem, id)
	for _, line := range [][2]string{{keyBranch, l.Branch}, {keyWorktree, l.Worktree}, {keyPullRequest, l.PullRequest}} {
		if line[1] != "" {
			fmt.Fprintf(&b, "%s: %s\n", line[0], line[1])
		}
	}
	return b.String()
}
