// Package items is the toolset of the work-item tracker: sixteen tools and two
// resources over a [storage.Backend].
//
// Use [New]. The handlers are methods of [Tools], plain functions of a context and a typed input
// that tests call directly; their answers are defined next to them. Errors of the domain appear
// unchanged; nothing names a path of the machine. By default, an answer fits 10 KB: lists continue
// with a cursor, long texts with an offset.
package items

import (
	"context"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/items/form"
	"github.com/copse-dev/copse/internal/toolset/plain"
	"github.com/copse-dev/copse/internal/workflow/backlog"
	"github.com/copse-dev/copse/internal/workflow/claims"
)

// Project stores the items, and can create a store.
type Project interface {
	storage.Backend
	// Init creates a project. created is false if it already exists.
	Init(ctx context.Context) (created bool, err error)
}

// Tools contains the handlers, and the previewed deletions.
type Tools struct {
	project Project
	backlog *backlog.Backlog
	claims  *claims.Claims
	now     func() time.Time
	links   backlog.Linker       // nil: lists mark no pull requests
	pulls   backlog.PullRequests // nil likewise
	watch   Watcher              // nil: nobody can subscribe to the list
	offered func(context.Context) string

	mu       sync.Mutex
	previews map[item.ID]preview
}

// New returns the handlers. The clock is that of the previews.
func New(p Project, now func() time.Time) *Tools {
	return &Tools{project: p, backlog: backlog.New(p), claims: claims.New(p, nil, now), now: now, previews: make(map[item.ID]preview)}
}

// MarkMerged lets list_items and search_items mark open items whose pull request is merged,
// according to the cache. Call it before the tools are used.
func (t *Tools) MarkMerged(links backlog.Linker, pulls backlog.PullRequests) *Tools {
	t.links, t.pulls = links, pulls
	return t
}

// Claiming lets claim_item and release_item use claims that are renewed elsewhere, too. Call it
// before the tools are used.
func (t *Tools) Claiming(c *claims.Claims) *Tools {
	t.claims = c
	return t
}

// Offering lets init_project refuse a second store beside shared items. offered returns the ref of the
// shared items that this clone does not use, "" for none. Call it before the tools are used.
func (t *Tools) Offering(offered func(context.Context) string) *Tools {
	t.offered = offered
	return t
}

// Watcher calls changed after each change of the items, until ctx ends. No change after the
// call of ready is missed.
type Watcher func(ctx context.Context, ready, changed func())

// Watched lets clients subscribe to the list of items. Call it before any tool call.
func (t *Tools) Watched(by Watcher) *Tools {
	t.watch = by
	return t
}

// Toolset returns the toolset "items".
func (t *Tools) Toolset() toolset.Toolset {
	var (
		style = plain.Style{Indent: form.Indent, Message: message, NextStep: nextStep}

		// A preview of a deletion does not count as reading: without confirm_delete, which
		// --read-only removes, it would be useless.
		reads   = toolset.Hints{ReadOnly: true, Idempotent: true}
		adds    = toolset.Hints{}
		sets    = toolset.Hints{Idempotent: true}
		deletes = toolset.Hints{Destructive: true}
	)
	return toolset.Toolset{
		Name: "items",
		Tools: []toolset.Tool{
			plain.Object(style, toolset.Spec{
				Name: "init_project", Hints: sets,
				Description: "Set up work items (tasks, issues): initialize a new .tic project in the current directory.",
			}, t.InitProject),
			plain.Object(style, toolset.Spec{
				Name: "get_config", Hints: reads,
				Description: "Get the allowed types, statuses, priorities, and iterations of work items, and the current iteration.",
			}, t.GetConfig),
			plain.Rows(style, "items", "", toolset.Spec{
				Name: "list_items", Hints: reads,
				Description: "List work items (tasks, todos, tickets, issues), by default of the current iteration (sprint); open ones ready to start.",
			}, t.ListItems),
			plain.Object(style, toolset.Spec{
				Name: "show_item", Hints: reads,
				Description: "Show a work item (task, todo, ticket, issue) with all details, description, and comments.",
			}, t.ShowItem),
			plain.Object(style, toolset.Spec{
				Name: "create_item", Hints: adds,
				Description: "Create, add, or open a work item (task, todo, ticket, issue, bug). Valid values: get_config.",
			}, t.CreateItem),
			plain.Object(style, toolset.Spec{
				Name: "update_item", Hints: sets,
				Description: "Change a work item (task, todo, ticket, issue): mark it done, assign it, set its priority.",
			}, t.UpdateItem),
			plain.Object(style, toolset.Spec{
				Name: "claim_item", Hints: adds,
				Description: "Claim a work item (task), so that no other agent works on it.",
			}, t.ClaimItem),
			plain.Object(style, toolset.Spec{
				Name: "release_item", Hints: sets,
				Description: "Release a claimed work item (task).",
			}, t.ReleaseItem),
			plain.Object(style, toolset.Spec{
				Name: "delete_item", Title: "Preview deletion", Hints: sets,
				Description: "Preview what to delete with a work item (task, todo, ticket); deletes nothing. Valid 10 minutes.",
			}, t.DeleteItem),
			plain.Object(style, toolset.Spec{
				Name: "confirm_delete", Title: "Delete item", Hints: deletes,
				Description: "Confirm the deletion previewed by delete_item: delete the item.",
			}, t.ConfirmDelete),
			plain.Object(style, toolset.Spec{
				Name: "add_comment", Hints: adds,
				Description: "Comment on a work item (task, todo, ticket, issue), add a note.",
			}, t.AddComment),
			plain.Object(style, toolset.Spec{
				Name: "set_iteration", Hints: sets,
				Description: "Switch to an iteration (sprint), the next one for instance; a new name is added.",
			}, t.SetIteration),
			plain.Rows(style, "items", "", toolset.Spec{
				Name: "search_items", Hints: reads,
				Description: "Search or find text in titles and descriptions of work items (tasks, todos, tickets, issues).",
			}, t.SearchItems),
			plain.Rows(style, "items", "", toolset.Spec{
				Name: "get_children", Hints: reads,
				Description: "List the children (subtasks) of a work item (task, epic).",
			}, t.GetChildren),
			plain.Rows(style, "items", "", toolset.Spec{
				Name: "get_dependents", Hints: reads,
				Description: "List the work items (tasks) that depend on an item: what is blocked by it.",
			}, t.GetDependents),
			plain.Rows(style, "tree", "To see more below an item, pass it as root; list_items and get_children list all items.", toolset.Spec{
				Name: "get_item_tree", Hints: reads,
				Description: "Get the backlog as a tree: work items (tasks) nested in a hierarchy below their parents (epics).",
			}, t.GetItemTree),
		},
		Instructions: []toolset.Instruction{
			{Say: "Plans and to-dos of the project are work items: list_items with ready=true lists those that can be started, show_item returns one in full.", Tools: []string{"list_items", "show_item"}},
			{Say: "Other agents may work here: claim_item before you begin, update_item to a done status or release_item when you stop.", Tools: []string{"claim_item", "update_item", "release_item"}},
			{Say: "Keep them up to date with create_item and update_item; get_config has the valid values.", Tools: []string{"create_item", "update_item", "get_config"}},
		},
		Resources: []toolset.Resource{t.list()},
		Templates: []toolset.Template{t.template()},
	}
}
