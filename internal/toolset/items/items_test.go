package items_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/items"
)

// begin makes the tools of a new project, and the clock of their previews.
func begin(t *testing.T) (tools *items.Tools, dir string, clock *time.Time) {
	t.Helper()
	dir = t.TempDir()
	store := local.New(local.Place{Dir: dir}, time.Now)
	t.Cleanup(func() { _ = store.Close() })
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tools = items.New(store, func() time.Time { return now })
	if _, err := tools.InitProject(t.Context(), items.None{}); err != nil {
		t.Fatal(err)
	}
	return tools, dir, &now
}

func create(t *testing.T, tools *items.Tools, in items.CreateIn) items.Item {
	t.Helper()
	it, err := tools.CreateItem(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return it
}

func comment(t *testing.T, tools *items.Tools, id item.ID, text string) {
	t.Helper()
	if _, err := tools.AddComment(t.Context(), items.CommentIn{ID: id, Text: text}); err != nil {
		t.Fatal(err)
	}
}

func show(t *testing.T, tools *items.Tools, in items.ShowIn) items.Item {
	t.Helper()
	it, err := tools.ShowItem(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return it
}

func TestPreviewsExpire(t *testing.T) {
	t.Parallel()
	tools, _, clock := begin(t)
	create(t, tools, items.CreateIn{Title: "One"})
	preview := func() {
		t.Helper()
		if _, err := tools.DeleteItem(t.Context(), items.DeleteIn{ID: 1}); err != nil {
			t.Fatal(err)
		}
	}
	preview()
	*clock = clock.Add(10*time.Minute + time.Second)
	_, err := tools.ConfirmDelete(t.Context(), items.DeleteIn{ID: 1})
	if err == nil || err.Error() != "The preview of item 1 is older than 10 minutes. Call delete_item again." {
		t.Errorf("an old preview gives %v", err)
	}
	preview()
	*clock = clock.Add(10 * time.Minute)
	if _, err := tools.ConfirmDelete(t.Context(), items.DeleteIn{ID: 1}); err != nil {
		t.Error(err)
	}
}

// A server does not confirm what another has previewed.
func TestPreviewsBelongToTheirServer(t *testing.T) {
	t.Parallel()
	tools, dir, _ := begin(t)
	create(t, tools, items.CreateIn{Title: "One"})
	if _, err := tools.DeleteItem(t.Context(), items.DeleteIn{ID: 1}); err != nil {
		t.Fatal(err)
	}
	other := items.New(local.New(local.Place{Dir: dir}, time.Now), time.Now)
	if _, err := other.ConfirmDelete(t.Context(), items.DeleteIn{ID: 1}); err == nil {
		t.Error("another server deletes what was not previewed with it")
	}
}

func TestLongTexts(t *testing.T) {
	t.Parallel()
	tools, _, _ := begin(t)
	for name, text := range map[string]string{
		"words":      strings.Repeat("some words ", 20_000),
		"characters": strings.Repeat("ä語🙂", 20_000),
		"escapes":    strings.Repeat("\x01\"\\", 20_000),
	} {
		t.Run(name, func(t *testing.T) {
			want := item.Text(text)
			it := create(t, tools, items.CreateIn{Title: name, Description: text})
			if size := encoded(t, it); size > 10<<10 {
				t.Errorf("creating it answers with %d bytes", size)
			}
			var whole strings.Builder
			for calls := 0; ; calls++ {
				offset := whole.Len()
				part := show(t, tools, items.ShowIn{ID: it.ID, Description: &offset})
				whole.WriteString(part.Description)
				if whole.Len() >= len(want) || calls > 100 {
					break
				}
				if len(part.Showing) != 1 || !strings.Contains(part.Showing[0], fmt.Sprintf("continue with description_offset=%d", whole.Len())) {
					t.Fatalf("after %d bytes it shows %v", whole.Len(), part.Showing)
				}
			}
			if whole.String() != want {
				t.Errorf("read in parts it has %d bytes, want %d", whole.Len(), len(want))
			}
		})
	}
	if it := show(t, tools, items.ShowIn{ID: 1, Description: new(1 << 40)}); it.Description != "" || len(it.Showing) != 1 {
		t.Errorf("behind the end there is %q, %v", it.Description, it.Showing)
	}
	largest := strings.Repeat("x", item.MaxText)
	if _, err := tools.CreateItem(t.Context(), items.CreateIn{Title: "x", Description: largest}); err != nil {
		t.Error(err)
	}
	_, err := tools.CreateItem(t.Context(), items.CreateIn{Title: "x", Description: largest + "x"})
	if err == nil || err.Error() != "The description has 1048577 bytes, more than the 1048576 (1 MiB) allowed" {
		t.Errorf("a description that is too large gives %v", err)
	}
}

func TestManyComments(t *testing.T) {
	t.Parallel()
	tools, _, _ := begin(t)
	create(t, tools, items.CreateIn{Title: "One", Description: strings.Repeat("long ", 2000)})
	const n = 40
	for i := range n {
		comment(t, tools, 1, fmt.Sprintf("%d %s", i, strings.Repeat("x", 300)))
	}
	comment(t, tools, 1, strings.Repeat("huge ", 10_000))
	it := show(t, tools, items.ShowIn{ID: 1})
	if size := encoded(t, it); size > 10<<10 {
		t.Errorf("showing it takes %d bytes", size)
	}
	want := "comments: the last 0 of 41; continue with comments_offset=0"
	if len(it.Showing) != 2 || it.Showing[1] != want {
		t.Errorf("it shows %v", it.Showing)
	}
	seen := 0
	for offset := 0; offset <= n; {
		part := show(t, tools, items.ShowIn{ID: 1, Comments: &offset})
		if len(part.Comments) == 0 {
			t.Fatalf("from %d on there is no comment: %v", offset, part.Showing)
		}
		for _, c := range part.Comments {
			if seen < n && !strings.HasPrefix(c.Body, fmt.Sprint(seen, " ")) {
				t.Errorf("comment %d is %.20q", seen, c.Body)
			}
			seen++
		}
		offset = seen
	}
	if seen != n+1 {
		t.Errorf("%d comments in all", seen)
	}
	it = show(t, tools, items.ShowIn{ID: 1, Comments: new(n)})
	if len(it.Comments) != 1 || len(it.Comments[0].Body) != len("huge ")*10_000-1 {
		t.Error("a comment that was asked for is cut")
	}
}

func encoded(t *testing.T, v any) int {
	t.Helper()
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return len(data)
}

// What a tool answers by default fits 10 KB, whatever there is.
func TestAnswersFit(t *testing.T) {
	t.Parallel()
	tools, dir, _ := begin(t)
	long := strings.Repeat("A title that goes on ", 5)
	for i := range 400 {
		in := items.CreateIn{Title: fmt.Sprint(long, i), Labels: items.Labels{"one", "two", "three"}, Description: "needle " + long}
		if i > 0 {
			in.Parent, in.DependsOn = 1, []item.ID{1}
		}
		if i > 200 {
			in.Parent = item.ID(i) // a deep one
		}
		create(t, tools, in)
	}
	for i := range 50 {
		name := filepath.Join(dir, ".tic", "items", fmt.Sprintf("%d.md", 1000+i))
		if err := os.WriteFile(name, []byte("---\n[\n---\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	byName := map[string]toolset.Tool{}
	for _, tool := range tools.Toolset().Tools {
		byName[tool.Name] = tool
	}
	for tool, args := range map[string]string{
		"list_items": `{}`, "search_items": `{"query":"needle"}`, "get_children": `{"id":1}`, "get_dependents": `{"id":1}`,
		"get_item_tree": `{}`, "delete_item": `{"id":1}`, "get_config": `{}`, "show_item": `{"id":1}`,
	} {
		res := byName[tool].Call(t.Context(), json.RawMessage(args))
		size := 0
		for _, text := range res.Text {
			size += len(text)
		}
		if res.IsError || size > 10<<10 || len(res.Structured) > 10<<10 {
			t.Errorf("%s: %d and %d bytes, error %v", tool, size, len(res.Structured), res.IsError)
		}
		if size < 1<<10 && tool != "get_config" && tool != "show_item" {
			t.Errorf("%s: only %d bytes, %s", tool, size, res.Text)
		}
	}
}

// A limit that was asked for is kept, as long as it takes.
func TestLimitIsKept(t *testing.T) {
	t.Parallel()
	tools, _, _ := begin(t)
	for i := range 120 {
		create(t, tools, items.CreateIn{Title: fmt.Sprint(strings.Repeat("long ", 20), i)})
	}
	out, err := tools.ListItems(t.Context(), items.ListIn{Limit: new(100)})
	if err != nil || len(out.Items) != 100 || out.Total != 120 || out.NextCursor == "" {
		t.Errorf("%d of %d items, %v", len(out.Items), out.Total, err)
	}
}

func TestWithoutProject(t *testing.T) {
	t.Parallel()
	store := local.New(local.Place{Dir: t.TempDir()}, time.Now)
	const want = "Not a tic project. Use the init_project tool first."
	for _, tool := range items.New(store, time.Now).Toolset().Tools {
		if tool.Name == "init_project" {
			continue
		}
		args := map[string]any{}
		for _, name := range tool.Input.Required {
			args[name] = "x"
			if name == "id" {
				args[name] = 1
			}
		}
		data, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(toolset.Result{Text: []string{want}, IsError: true}, tool.Call(t.Context(), data)); diff != "" {
			t.Errorf("%s: %s", tool.Name, diff)
		}
	}
}

// A store whose change fails says so without a path.
func TestErrorsOfTheStore(t *testing.T) {
	t.Parallel()
	broken := failing{err: errors.New("change the items in .tic: disk full")}
	res := items.New(broken, time.Now).Toolset().Tools[0].Call(t.Context(), nil)
	if diff := cmp.Diff(toolset.Result{Text: []string{"change the items in .tic: disk full"}, IsError: true}, res); diff != "" {
		t.Error(diff)
	}
}

type failing struct {
	items.Project
	err error
}

func (f failing) Init(context.Context) (bool, error) { return false, f.err }
