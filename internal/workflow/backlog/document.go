package backlog

import (
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
)

// Fields are an item in JSON without its long parts. Every key is there.
type Fields struct {
	ID        item.ID   `json:"id"`
	Title     string    `json:"title"`
	Type      string    `json:"type"`
	Status    string    `json:"status"`
	Iteration string    `json:"iteration"`
	Priority  string    `json:"priority"`
	Assignee  string    `json:"assignee"`
	Labels    []string  `json:"labels"`
	Created   string    `json:"created"`
	Updated   string    `json:"updated"`
	Parent    *item.ID  `json:"parent"`
	DependsOn []item.ID `json:"dependsOn"`
}

// FieldsOf returns the fields of an item.
func FieldsOf(s *item.Summary) Fields {
	f := Fields{
		ID: s.ID, Title: s.Title, Type: s.Type, Status: s.Status, Iteration: s.Iteration, Priority: s.Priority,
		Assignee: s.Assignee, Labels: s.Labels, Created: s.Created, Updated: s.Updated, DependsOn: s.DependsOn,
	}
	if s.Parent != 0 {
		f.Parent = &s.Parent
	}
	if f.Labels == nil {
		f.Labels = []string{}
	}
	if f.DependsOn == nil {
		f.DependsOn = []item.ID{}
	}
	return f
}

// Document is an item in JSON with its long parts.
type Document struct {
	Fields
	Description string    `json:"description"`
	Comments    []Comment `json:"comments"`
	// The branch, worktree, and pull request of the work.
	Branch      string `json:"branch,omitempty"`
	Worktree    string `json:"worktree,omitempty"`
	PullRequest string `json:"pull_request,omitempty"`
	// Claim is the claim of the item.
	Claim *Claim `json:"claim,omitempty"`
	// Renumbered are the numbers that the item had before a merge.
	Renumbered []Renumbered `json:"renumbered,omitempty"`
}

// Claim is a claim in JSON.
type Claim struct {
	Agent    string `json:"agent"`
	Worktree string `json:"worktree,omitempty"`
	Host     string `json:"host,omitempty"`
	Process  int    `json:"process,omitempty"`
	Since    string `json:"since"`
	Expires  string `json:"expires"`
	// ProcessGone means that the process of the agent has ended, or that the worktree of a claim from
	// the command line was removed; the claim ends soon.
	ProcessGone bool   `json:"process_gone,omitempty"`
	StolenFrom  string `json:"stolen_from,omitempty"`
	// Unconfirmed means that another clone of a shared store can still get the item.
	Unconfirmed bool `json:"unconfirmed,omitempty"`
}

// ClaimOf returns a claim.
func ClaimOf(c claim.Claim) *Claim {
	stamp := func(at time.Time) string { return at.UTC().Format(time.RFC3339) }
	return &Claim{
		Agent: c.Holder.Name, Worktree: c.Holder.Worktree, Host: c.Holder.Host, Process: c.Holder.Process.PID,
		Since: stamp(c.Since), Expires: stamp(c.End()), ProcessGone: !c.Gone.IsZero(),
		StolenFrom: c.StolenFrom, Unconfirmed: c.Unconfirmed,
	}
}

// Comment is a comment in JSON.
type Comment struct {
	Author string `json:"author"`
	Date   string `json:"date"`
	Body   string `json:"body"`
}

// Renumbered is a number that an item had.
type Renumbered struct {
	From item.ID `json:"from"`
	On   string  `json:"on"`
}

// DocumentOf returns an item with its long parts.
func DocumentOf(it *item.Item) Document {
	d := Document{
		Fields: FieldsOf(&it.Summary), Description: it.Description, Comments: []Comment{},
		Branch: it.Link.Branch, Worktree: it.Link.Worktree, PullRequest: it.Link.PullRequest,
	}
	for _, c := range it.Comments {
		d.Comments = append(d.Comments, Comment(c))
	}
	for _, f := range it.Former {
		d.Renumbered = append(d.Renumbered, Renumbered{f.ID, f.On})
	}
	return d
}
