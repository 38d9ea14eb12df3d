package full

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/copse-dev/copse/internal/board/hosted"
	"github.com/copse-dev/copse/internal/board/items"
	"github.com/copse-dev/copse/internal/board/markup"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/toolset"
)

// drawings returns what draws answers as views.
func (w *Workspace) drawings(store storage.Store) *hosted.Views {
	kit := markup.NewKit(markup.Options{Now: w.env.Now, Secrets: w.env.Secrets})
	return hosted.New(kit, hosted.Options{
		Now: w.env.Now, ReadOnly: w.readOnly,
		Items: func() hosted.ItemsView {
			return items.New(kit, items.Options{Store: store, Now: w.env.Now, Hosted: true})
		},
	})
}

// shown returns the toolsets with views for clients that show them.
func shown(sets []toolset.Toolset, drawn *hosted.Views) []toolset.Toolset {
	for i := range sets {
		var page hosted.Page
		var draw map[string]func(context.Context, json.RawMessage) (string, error)
		linked := []string{"get_stack_status", "list_items", "get_item_tree"}
		switch sets[i].Name {
		case "branches":
			page = hosted.Stack() // its handler draws
		case "items":
			page, draw = hosted.Items(), map[string]func(context.Context, json.RawMessage) (string, error){
				"list_items": drawn.DrawItems, "get_item_tree": drawn.DrawTree, "show_item": drawn.DrawItem,
			}
		default:
			continue
		}
		sets[i].Pages = []toolset.Page{{URI: page.URI, Name: page.Name, Title: page.Title, Description: page.Description, HTML: page.HTML}}
		for j := range sets[i].Tools {
			t := &sets[i].Tools[j]
			isLinked := slices.Contains(linked, t.Name)
			if draw[t.Name] == nil && !isLinked {
				continue
			}
			t.View = &toolset.View{Draw: draw[t.Name]}
			if isLinked {
				t.View.URI = page.URI
			}
		}
	}
	return sets
}
