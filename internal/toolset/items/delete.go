package items

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/page"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/items/form"
)

// previewLife is how long a preview can be confirmed.
const previewLife = 10 * time.Minute

// preview is the preview of a deletion.
type preview struct {
	seen item.Fingerprint
	at   time.Time
}

// DeleteIn selects an item.
type DeleteIn struct {
	ID item.ID `json:"id"`
}

// DeleteOut describes the effects of a deletion.
type DeleteOut struct {
	Preview            bool    `json:"preview"`
	Item               Subject `json:"item"`
	AffectedChildren   []Named `json:"affectedChildren"`
	AffectedDependents []Named `json:"affectedDependents"`
	Message            string  `json:"message"`
	// Warnings are about unreadable files: their items could be affected, too.
	Warnings []string `json:"warnings,omitempty"`
}

// Subject is the item that would be deleted.
type Subject struct {
	ID     item.ID `json:"id"`
	Title  string  `json:"title"`
	Type   string  `json:"type"`
	Status string  `json:"status"`
}

// Named is an item by its title.
type Named struct {
	ID    item.ID `json:"id"`
	Title string  `json:"title"`
}

// affectedBudget is the maximum size of the names of the items of each kind in bytes.
const affectedBudget = 4 << 10

// DeleteItem previews the deletion of an item, and stores the preview.
func (t *Tools) DeleteItem(ctx context.Context, in DeleteIn) (DeleteOut, error) {
	p, broken, err := t.backlog.PreviewDeletion(ctx, in.ID, false)
	if err != nil {
		return DeleteOut{}, err
	}
	t.remember(in.ID, p.Fingerprint)
	out := DeleteOut{
		Preview: true, Item: Subject{
			p.Item.ID, form.Line(p.Item.Title, form.TitleLength), form.Line(p.Item.Type, form.LineLength), form.Line(p.Item.Status, form.LineLength),
		},
		AffectedChildren: named(p.Children), AffectedDependents: named(p.Dependents),
		Message:  "Use confirm_delete to proceed with deletion.",
		Warnings: warnings(broken),
	}
	if more := len(p.Children) + len(p.Dependents) - len(out.AffectedChildren) - len(out.AffectedDependents); more > 0 {
		out.Message += fmt.Sprintf(" This affects %s; get_children and get_dependents list all.", cleantext.Count(more, "more item"))
	}
	return out, nil
}

func named(list []*item.Summary) []Named {
	names := []Named{}
	for _, s := range list {
		names = append(names, Named{s.ID, form.Line(s.Title, form.TitleLength)})
	}
	return names[:page.Fit(names, func(n Named) int { return form.Size(n, 2) }, affectedBudget)]
}

// remember stores a preview, and drops expired ones.
func (t *Tools) remember(id item.ID, seen item.Fingerprint) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	for id, p := range t.previews {
		if now.Sub(p.at) > previewLife {
			delete(t.previews, id)
		}
	}
	t.previews[id] = preview{seen, now}
}

// recall returns the preview of an item, if it has not expired.
func (t *Tools) recall(id item.ID) (preview, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, ok := t.previews[id]
	switch age := t.now().Sub(p.at); {
	case !ok:
		return preview{}, &toolset.ArgumentError{
			Name: "id", Message: fmt.Sprintf("No pending delete for item %d. Call delete_item first to preview.", id),
		}
	case age > previewLife:
		delete(t.previews, id)
		return preview{}, &toolset.ArgumentError{
			Name: "id", Message: fmt.Sprintf("The preview of item %d is older than 10 minutes. Call delete_item again.", id),
		}
	}
	return p, nil
}

// ConfirmOut is the item that was deleted.
type ConfirmOut struct {
	Deleted item.ID `json:"deleted"`
}

// ConfirmDelete deletes an item as it was previewed.
func (t *Tools) ConfirmDelete(ctx context.Context, in DeleteIn) (ConfirmOut, error) {
	if _, err := t.project.Config(ctx); errors.Is(err, storage.ErrNoProject) {
		return ConfirmOut{}, err
	}
	p, err := t.recall(in.ID)
	if err != nil {
		return ConfirmOut{}, err
	}
	if err := t.project.Delete(ctx, in.ID, p.seen, false); err != nil {
		return ConfirmOut{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.previews[in.ID] == p {
		delete(t.previews, in.ID)
	}
	return ConfirmOut{Deleted: in.ID}, nil
}
