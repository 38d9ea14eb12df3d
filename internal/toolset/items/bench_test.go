package items_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/toolset/items"
)

// BenchmarkCall is what the tools take on top of the store, which has 1,000 items.
func BenchmarkCall(b *testing.B) {
	store := local.New(location.Search{Dir: b.TempDir()}, time.Now)
	b.Cleanup(func() { _ = store.Close() })
	tools := items.New(store, time.Now)
	if _, err := tools.InitProject(b.Context(), items.None{}); err != nil {
		b.Fatal(err)
	}
	for i := range 1000 {
		in := items.CreateIn{Title: fmt.Sprint("An item of the list ", i), Labels: items.Labels{"one", "two"}, Description: strings.Repeat("Some text. ", 50)}
		if _, err := tools.CreateItem(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
	for _, tool := range tools.Toolset().Tools {
		args, ok := map[string]string{
			"list_items": `{}`, "search_items": `{"query":"TEXT"}`, "get_item_tree": `{}`, "show_item": `{"id":500}`,
		}[tool.Name]
		if !ok {
			continue
		}
		b.Run(tool.Name, func(b *testing.B) {
			for b.Loop() {
				if res := tool.Call(b.Context(), json.RawMessage(args)); res.IsError {
					b.Fatal(res.Text)
				}
			}
		})
	}
}
