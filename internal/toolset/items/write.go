package items

import (
	"context"
	"encoding/json"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/items/form"
)

// InitOut reports whether a project was created. One of the two is set.
type InitOut struct {
	Initialized   bool `json:"initialized,omitempty"`
	AlreadyExists bool `json:"alreadyExists,omitempty"`
}

// InitProject creates a project unless it exists, or a remote has shared items.
func (t *Tools) InitProject(ctx context.Context, _ None) (InitOut, error) {
	if t.offered != nil {
		if ref := t.offered(ctx); ref != "" {
			return InitOut{}, failure.New(failure.Invalid, "This repository has shared work items on "+cleantext.Line(ref),
				"Ask the user to run `copse item init --shared`, then `copse item sync`.")
		}
	}
	created, err := t.project.Init(ctx)
	if err != nil {
		return InitOut{}, err
	}
	return InitOut{Initialized: created, AlreadyExists: !created}, nil
}

// CreateIn is a new item. Empty fields get their default.
type CreateIn struct {
	Title       string    `json:"title"`
	Type        string    `json:"type,omitempty"`
	Status      string    `json:"status,omitempty"`
	Priority    string    `json:"priority,omitempty"`
	Assignee    string    `json:"assignee,omitempty"`
	Labels      Labels    `json:"labels,omitempty"`
	Iteration   string    `json:"iteration,omitempty"`
	Parent      Reference `json:"parent,omitempty"`
	DependsOn   []item.ID `json:"depends_on,omitempty"`
	Description string    `json:"description,omitempty"`
}

// CreateItem creates an item.
func (t *Tools) CreateItem(ctx context.Context, in CreateIn) (form.Item, error) {
	it, err := t.project.Create(ctx, item.Draft{
		Title: in.Title, Type: in.Type, Status: in.Status, Priority: in.Priority, Assignee: in.Assignee,
		Labels: in.Labels, Iteration: in.Iteration, Parent: item.ID(in.Parent), DependsOn: in.DependsOn, Description: in.Description,
	})
	if err != nil {
		return form.Item{}, err
	}
	return form.Of(ctx, &it, form.Section{}), nil
}

// UpdateIn is a change of an item. Absent fields do not change.
type UpdateIn struct {
	ID          item.ID                     `json:"id"`
	Title       *string                     `json:"title,omitempty"`
	Type        *string                     `json:"type,omitempty"`
	Status      *string                     `json:"status,omitempty"`
	Priority    *string                     `json:"priority,omitempty"`
	Assignee    *string                     `json:"assignee,omitempty"`
	Labels      *Labels                     `json:"labels,omitempty" description:"Replaces all; \"\" clears."`
	Iteration   *string                     `json:"iteration,omitempty"`
	Parent      toolset.Optional[Reference] `json:"parent,omitzero" description:"0, \"\" or null clears."`
	DependsOn   *[]item.ID                  `json:"depends_on,omitempty" description:"[] clears."`
	Description *string                     `json:"description,omitempty"`
	Branch      *string                     `json:"branch,omitempty" description:"\"\" clears."`
	Worktree    *string                     `json:"worktree,omitempty"`
	PullRequest *string                     `json:"pull_request,omitempty" number:"text" description:"Number or URL; \"\" clears."`
	Steal       bool                        `json:"steal,omitempty"`
}

// UpdateItem changes the given fields, nothing else.
func (t *Tools) UpdateItem(ctx context.Context, in UpdateIn) (form.Item, error) {
	p := item.Patch{
		Title: in.Title, Type: in.Type, Status: in.Status, Priority: in.Priority, Assignee: in.Assignee,
		Labels: (*[]string)(in.Labels), Iteration: in.Iteration, DependsOn: in.DependsOn, Description: in.Description,
		Branch: in.Branch, Worktree: in.Worktree, PullRequest: in.PullRequest, Steal: in.Steal,
	}
	if in.Parent.Set {
		p.Parent = new(item.ID(in.Parent.Value))
	}
	if p == (item.Patch{Steal: in.Steal}) {
		if _, err := t.project.Item(ctx, in.ID); err != nil {
			return form.Item{}, err
		}
		return form.Item{}, &toolset.ArgumentError{Message: "Nothing to change: pass at least one of title, type, status, priority, assignee, labels, iteration, " +
			"parent, depends_on, description, branch, worktree, and pull_request"}
	}
	it, err := t.project.Update(ctx, in.ID, p)
	if err != nil {
		return form.Item{}, err
	}
	return form.Of(ctx, &it, form.Section{}), nil
}

// CommentIn is a comment on an item.
type CommentIn struct {
	ID     item.ID `json:"id"`
	Text   string  `json:"text"`
	Author string  `json:"author,omitempty"`
}

// AddComment adds a comment.
func (t *Tools) AddComment(ctx context.Context, in CommentIn) (form.Comment, error) {
	c, err := t.project.AddComment(ctx, in.ID, in.Author, in.Text)
	if err != nil {
		return form.Comment{}, err
	}
	out := form.CommentOf(c)
	out.Body = form.Cut(secret.Of(ctx), out.Body, form.Budget/2)
	return out, nil
}

// IterationIn names an iteration.
type IterationIn struct {
	Name string `json:"name"`
}

// IterationOut is the current iteration.
type IterationOut struct {
	CurrentIteration string `json:"currentIteration"`
}

// SetIteration sets the current iteration.
func (t *Tools) SetIteration(ctx context.Context, in IterationIn) (IterationOut, error) {
	if err := t.project.SetIteration(ctx, in.Name); err != nil {
		return IterationOut{}, err
	}
	return IterationOut{CurrentIteration: form.Line(in.Name, form.LineLength)}, nil
}

// Labels are the labels of an item: a string with commas, or a list.
type Labels []string

// UnmarshalJSON accepts both forms.
func (l *Labels) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*l = item.SplitLabels(text)
		return nil
	}
	if err := json.Unmarshal(data, (*[]string)(l)); err != nil {
		return &toolset.ArgumentError{Message: `must be a string with commas, such as "ui, login", or a list of strings`}
	}
	return nil
}

// MarshalText makes it a string in the schema, which allows only one type.
func (l Labels) MarshalText() ([]byte, error) { return json.Marshal([]string(l)) }

// Reference is the number of an item, or none: 0 and "".
type Reference item.ID

// UnmarshalJSON accepts what an item.ID accepts, and the values for none.
func (r *Reference) UnmarshalJSON(data []byte) error {
	if text := string(data); text == "0" || text == `""` || text == `"0"` {
		*r = 0
		return nil
	}
	return json.Unmarshal(data, (*item.ID)(r))
}
