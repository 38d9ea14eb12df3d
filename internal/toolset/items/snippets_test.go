package items_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/toolset/items"
)

// A repeated search shows the current descriptions, no matter which process changed them.
func TestSnippetsAreOfNow(t *testing.T) {
	t.Parallel()
	tools, dir, _ := begin(t)
	create(t, tools, items.CreateIn{Title: "One", Description: "before the needle"})
	create(t, tools, items.CreateIn{Title: "Two", Description: "another needle"})
	search := func(query string) string {
		t.Helper()
		out, err := tools.SearchItems(t.Context(), items.SearchIn{Query: query})
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, row := range out.Rows {
			found = append(found, row.Snippet)
		}
		return strings.Join(found, "|")
	}
	const want = "before the needle|another needle"
	for range 2 {
		if got := search("needle"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	path := filepath.Join(dir, ".tic", "items", "1.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), "before", "beside", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := search("needle"); got != "beside the needle|another needle" {
		t.Errorf("after an editor's change: %q", got)
	}
	if got := search("the needle"); got != "beside the needle" {
		t.Errorf("another query: %q", got)
	}
}
