// Package item is the domain of the work-item tracker: items, the rules for all of them, and
// queries.
//
// A [Snapshot] lists, searches, and shows the tree of all items; an [Item] is one of them with its
// description and comments. Backends store items (package storage is their contract) and enforce
// the rules of this package by calling [Config.Complete], [Config.Check], and [Text],
// and those of package relation, while nobody else can change the items.
//
// All errors of a rule are an [*InvalidError]; their texts state what is wrong and what is allowed,
// and are meant for the user.
package item

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/foreign"
)

// ID is the number of an item, at least 1. 0 means no item.
type ID int64

// MaxID is the largest number that is the same in every JSON implementation.
const MaxID ID = 1<<53 - 1

// ParseID reads a number in the form of a file or a person: decimal digits, no leading zeros.
func ParseID(s string) (ID, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n == 0 || n > uint64(MaxID) || s[0] == '0' || s[0] == '+' {
		return 0, &InvalidError{Field: "id", Problem: fmt.Sprintf("Invalid ID %q. An ID is a whole number from 1 to %d", shorten(s), MaxID)}
	}
	return ID(n), nil
}

// shorten limits how much of a user's text an answer repeats.
func shorten(s string) string {
	const maxShown = 80
	if len(s) <= maxShown {
		return s
	}
	return strings.ToValidUTF8(s[:maxShown], "") + "…"
}

// String returns the decimal number.
func (id ID) String() string { return strconv.FormatInt(int64(id), 10) }

// UnmarshalJSON accepts a number, 3, or a string with one, "3".
func (id *ID) UnmarshalJSON(data []byte) error {
	text := string(data)
	if strings.HasPrefix(text, `"`) {
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
	}
	parsed, err := ParseID(text)
	if err != nil {
		return err
	}
	*id = parsed
	return nil
}

// Summary is an item without its long parts.
type Summary struct {
	ID        ID
	Title     string
	Type      string
	Status    string
	Iteration string
	Priority  string
	Assignee  string
	Labels    []string
	Created   string // as written; ours are RFC 3339 in UTC with milliseconds
	Updated   string
	Parent    ID // 0 if it has none
	DependsOn []ID
}

// Item is a work item.
type Item struct {
	Summary
	Description string
	Comments    []Comment
	// Former are the numbers that the item had before, the latest first.
	Former []Former
	// Link names the branch, the worktree, and the pull request of the work on the item.
	Link Link
}

// Former is a number of an item before a merge changed it, because two clones had used it.
type Former struct {
	ID ID
	On string // the day, as 2026-11-21
}

// Comment is what somebody said about an item.
type Comment struct {
	Author string `json:"author"`
	Date   string `json:"date"` // as Summary.Created
	Body   string `json:"body"`
}

// Anonymous is the author of a comment that names none.
const Anonymous = "anonymous"

// DefaultType is the type of an item whose source has none.
const DefaultType = "issue"

// Priorities returns the values that a priority can have, lowest first.
func Priorities() []string { return []string{"low", defaultPriority, "high", "critical"} }

const defaultPriority = "medium"

// Config is the configuration of a project.
type Config struct {
	Types    []string
	Statuses []string // the first is that of new items
	// DoneStatuses are the statuses that mean done. If there are none, the last of the statuses
	// does, and each whose name means it.
	DoneStatuses []string
	// Iterations are the known ones. CurrentIteration is the default of new items and of lists; if
	// it is empty, lists have all iterations.
	Iterations       []string
	CurrentIteration string
	// NextID is the number that the configuration has for the next item, 0 if it
	// has none. The next item gets a larger one where items or trash need it.
	NextID ID
	// Warnings are about the project as a whole.
	Warnings []Warning
}

// Done reports whether a status means that the item is finished.
func (c Config) Done(status string) bool {
	if len(c.DoneStatuses) > 0 {
		return slices.Contains(c.DoneStatuses, status)
	}
	if len(c.Statuses) > 0 && status == c.Statuses[len(c.Statuses)-1] {
		return true
	}
	switch strings.ToLower(status) {
	case "done", "closed", "completed", "resolved", "cancelled", "canceled", "wontfix":
		return true
	}
	return false
}

// Warning is about an unusable part of the store. It does not affect the rest.
type Warning struct {
	File   string // relative to the store: "items/3.md"
	Reason string // with what to do
}

// String returns the warning as a sentence. The name can be a stranger's; "item 2" and "project shop" name what is in no
// file.
func (w Warning) String() string {
	kind, name, ok := strings.Cut(w.File, " ")
	if !ok || kind != "item" && kind != "project" {
		return foreign.Mention(w.File) + " " + w.Reason
	}
	return kind + " " + foreign.Mention(name) + " " + w.Reason
}

// Draft is an item to create. Empty fields get their default.
type Draft struct {
	Title       string
	Type        string
	Status      string
	Priority    string
	Assignee    string
	Iteration   string
	Labels      []string
	Parent      ID
	DependsOn   []ID
	Description string
}

// Patch is a change of an item. Nil fields do not change.
type Patch struct {
	Title       *string   `json:"title,omitempty"`
	Type        *string   `json:"type,omitempty"`
	Status      *string   `json:"status,omitempty"`
	Priority    *string   `json:"priority,omitempty"`
	Assignee    *string   `json:"assignee,omitempty"`
	Iteration   *string   `json:"iteration,omitempty"`
	Labels      *[]string `json:"labels,omitempty"`
	Parent      *ID       `json:"parent,omitempty"` // 0 for none
	DependsOn   *[]ID     `json:"depends_on,omitempty"`
	Description *string   `json:"description,omitempty"`
	// The parts of the Link; an empty text clears one.
	Branch      *string `json:"branch,omitempty"`
	Worktree    *string `json:"worktree,omitempty"`
	PullRequest *string `json:"pull_request,omitempty"`
	// Steal finishes an item that another agent holds. It is not a field of the item.
	Steal bool `json:"-"`
}

// UnmarshalJSON takes 0 for no parent, which is not an ID elsewhere.
func (p *Patch) UnmarshalJSON(data []byte) error {
	type plain Patch
	stored := struct {
		*plain
		Parent *int64 `json:"parent,omitempty"`
	}{plain: (*plain)(p)}
	if err := json.Unmarshal(data, &stored); err != nil {
		return err
	}
	if stored.Parent != nil {
		p.Parent = new(ID(*stored.Parent))
	}
	return nil
}
