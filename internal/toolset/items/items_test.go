package items_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/remote"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/items"
	"github.com/copse-dev/copse/internal/toolset/items/form"
	"github.com/copse-dev/copse/internal/workflow/pull"
)

// begin makes the tools of a new project, and the clock of their previews.
func begin(t *testing.T) (tools *items.Tools, dir string, clock *time.Time) {
	t.Helper()
	dir = t.TempDir()
	store := local.New(location.Search{Dir: dir}, time.Now)
	t.Cleanup(func() { _ = store.Close() })
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tools = items.New(store, func() time.Time { return now })
	if _, err := tools.InitProject(t.Context(), items.None{}); err != nil {
		t.Fatal(err)
	}
	return tools, dir, &now
}

func create(t *testing.T, tools *items.Tools, in items.CreateIn) form.Item {
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

func show(t *testing.T, tools *items.Tools, in items.ShowIn) form.Item {
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
	other := items.New(local.New(location.Search{Dir: dir}, time.Now), time.Now)
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
		"escapes":    strings.Repeat("\t\"\\", 20_000) + ".",
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

func TestOneLongComment(t *testing.T) {
	t.Parallel()
	tools, _, _ := begin(t)
	create(t, tools, items.CreateIn{Title: "One"})
	comment(t, tools, 1, strings.Repeat("huge ", 10_000))
	want := []string{"comments: the beginning of the last of 1; continue it with comments_offset=0"}
	if it := show(t, tools, items.ShowIn{ID: 1}); !slices.Equal(it.Showing, want) {
		t.Errorf("it shows %q", it.Showing)
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
	want := "comments: the beginning of the last of 41; continue it with comments_offset=40, or the earlier ones with comments_offset=0"
	if len(it.Showing) != 2 || it.Showing[1] != want || len(it.Comments) != 1 || !strings.HasSuffix(it.Comments[0].Body, "…") {
		t.Errorf("it shows %v, %+v", it.Showing, it.Comments)
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
	// One that is too long by itself comes in parts.
	var whole strings.Builder
	for calls := 0; ; calls++ {
		it = show(t, tools, items.ShowIn{ID: 1, Comments: new(n), Comment: whole.Len()})
		if len(it.Comments) != 1 || calls > 3 {
			t.Fatalf("after %d bytes it shows %d comments, %v", whole.Len(), len(it.Comments), it.Showing)
		}
		whole.WriteString(it.Comments[0].Body)
		if !strings.Contains(strings.Join(it.Showing, "\n"), fmt.Sprintf("continue with comments_offset=%d, comment_offset=%d", n, whole.Len())) {
			break
		}
	}
	if whole.String() != strings.TrimSpace(strings.Repeat("huge ", 10_000)) {
		t.Errorf("the parts have %d bytes", whole.Len())
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
			in.Parent = items.Reference(i) // a deep one
		}
		create(t, tools, in)
	}
	for i := range 50 {
		name := filepath.Join(dir, ".tic", "items", fmt.Sprintf("%d.md", 1000+i))
		if err := os.WriteFile(name, []byte("---\n[\n---\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for tool, args := range map[string]string{
		"list_items": `{}`, "search_items": `{"query":"needle"}`, "get_children": `{"id":1}`, "get_dependents": `{"id":1}`,
		"get_item_tree": `{}`, "delete_item": `{"id":1}`, "get_config": `{}`, "show_item": `{"id":1}`,
	} {
		res := call(t, tools, tool, args)
		size := 0
		for _, text := range res.Text {
			size += len(text)
		}
		if res.IsError || size > 10<<10 || len(res.Structured) > 10<<10 {
			t.Errorf("%s: %d and %d bytes, error %v", tool, size, len(res.Structured), res.IsError)
		}
		if tool == "get_item_tree" && !strings.HasPrefix(res.Text[1], "Left out: ") {
			t.Errorf("a cut tree says %q", res.Text[1:])
		}
		if size < 1<<10 && tool != "get_config" && tool != "show_item" {
			t.Errorf("%s: only %d bytes, %s", tool, size, res.Text)
		}
	}
}

// Nothing that can be written into a file makes a default answer too large, and
// each says what it lacks.
func TestHugeFrontMatter(t *testing.T) {
	t.Parallel()
	var iterations strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&iterations, "  - iteration-%d\n", i)
	}
	config := "types:\n  - task\nstatuses:\n  - todo\ncurrent_iteration: iteration-2999\niterations:\n" + iterations.String()
	for name, text := range map[string]string{"words": "wörd ", "markup": "<a\"&\\>", "emoji": "🙂", "digits": "7"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkHuge(t, config, strings.Repeat(text, 1000))
		})
	}
}

func checkHuge(t *testing.T, config, long string) {
	t.Helper()
	tools, dir, _ := begin(t)
	quoted, err := json.Marshal(long)
	if err != nil {
		t.Fatal(err)
	}
	file := fmt.Sprintf("---\nid: \"7\"\ntitle: %[1]s\ntype: %[1]s\nstatus: %[1]s\niteration: iteration-2999\npriority: %[1]s\nassignee: %[1]s\n"+
		"labels:\n%[2]sdepends_on:\n%[3]s---\n%[4]s\n", quoted, strings.Repeat("  - läbel\n", 1000), strings.Repeat("  - \"123456\"\n", 1001), long)
	for name, text := range map[string]string{"config.yml": config, filepath.Join("items", "7.md"): file} {
		path := filepath.Join(dir, ".tic", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for tool, want := range map[string]string{
		"list_items":    `"dependsOn: 40 of 1001; the resource tic://item/7 has all"`,
		"show_item":     `"dependsOn: 40 of 1001; the resource tic://item/7 has all"`,
		"get_item_tree": `…`,
		"delete_item":   `…`,
		"get_config":    `of 3000; .tic/config.yml has all"`,
	} {
		args := `{}`
		if tool == "show_item" || tool == "delete_item" {
			args = `{"id":7}`
		}
		res := call(t, tools, tool, args)
		text := strings.Join(res.Text, "\n")
		if res.IsError || len(text) > 10<<10 || len(res.Structured) > 10<<10 {
			t.Errorf("%s: %d and %d bytes, error %v", tool, len(text), len(res.Structured), res.IsError)
		}
		if !strings.Contains(text, want) || !strings.Contains(string(res.Structured), want) {
			t.Errorf("%s does not say %s:\n%.400s", tool, want, text)
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
	if err != nil || len(out.Rows) != 100 || *out.Total != 120 || out.NextCursor == "" {
		t.Errorf("%d of %d items, %v", len(out.Rows), *out.Total, err)
	}
}

func TestWithoutProject(t *testing.T) {
	t.Parallel()
	store := local.New(location.Search{Dir: t.TempDir()}, time.Now)
	const want = "Not a tic project. Use the init_project tool first."
	ctx := claim.WithAgent(t.Context(), claim.Agent{Name: "ada"})
	for _, tool := range items.New(store, time.Now).Toolset().Tools {
		if tool.Name == "init_project" {
			continue
		}
		args := map[string]any{}
		for _, name := range tool.Input().Required {
			args[name] = "x"
			if name == "id" {
				args[name] = 1
			}
		}
		data, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(toolset.Result{Text: []string{want}, IsError: true}, tool.Call(ctx, data)); diff != "" {
			t.Errorf("%s: %s", tool.Name, diff)
		}
	}
}

// What goes wrong is said in a sentence that says what to do.
func TestErrorsOfTheStore(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"The call failed: change the items in .tic: out of luck": errors.New("change the items in .tic: out of luck"),
		"It leads elsewhere": failure.New(failure.NoRepository, "It leads elsewhere", "Start again."),
		"Another process is busy changing the work items. Nothing was changed; try again.": fmt.Errorf("change the items: %w", &lockedstore.BusyError{Waited: time.Second}),
		"The disk is full. Nothing was changed; ask the user to free space.":               fmt.Errorf("write %q: %w", "items/3.md", syscall.ENOSPC),
		"The call was canceled. Nothing was changed.":                                      context.Canceled,
		"Nobody knows. Look.":                                                &storage.StoreError{Problem: "Nobody knows", Next: "Look.", Err: context.Canceled},
		"config.yml is empty; restore it":                                    &storage.ConfigError{File: "config.yml", Reason: "is empty; restore it"},
		"Cannot make folder .tic: " + syscall.EROFS.Error() + allow:          fmt.Errorf("make folder .tic: %w", syscall.EROFS),
		"Cannot change the items in .tic: " + syscall.EACCES.Error() + allow: fmt.Errorf("change the items in .tic: %w", syscall.EACCES),
		"Work item #3 changed since the preview. Call delete_item again.":    &storage.ChangedError{ID: 3},
	} {
		res := items.New(failing{err: err}, time.Now).Toolset().Tools[0].Call(t.Context(), nil)
		text := []string{want}
		if failed, ok := errors.AsType[*failure.Error](err); ok {
			text = append(text, failed.Hint(failure.Words{}))
		}
		if diff := cmp.Diff(toolset.Result{Text: text, IsError: true}, res); diff != "" {
			t.Error(diff)
		}
	}
}

const allow = ". Nothing was changed; ask the user to allow reading and writing the .tic directory."

// A directory that may not be written is said so, without a path of the machine.
func TestReadOnlyDir(t *testing.T) {
	t.Parallel()
	if os.Geteuid() < 1 {
		t.Skip("permissions do not bind this user")
	}
	tools, dir, _ := begin(t)
	create(t, tools, items.CreateIn{Title: "One"})
	store := filepath.Join(dir, ".tic")
	for _, directory := range []string{filepath.Join(store, "items"), store} {
		if err := os.Chmod(directory, 0o555); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(directory, 0o755) })
	}
	res := call(t, tools, "update_item", `{"id":1,"title":"Two"}`)
	if !res.IsError || !strings.HasPrefix(res.Text[0], "Cannot change the items in .tic") || strings.Contains(res.Text[0], dir) {
		t.Errorf("%+v", res)
	}
	if it := show(t, tools, items.ShowIn{ID: 1}); it.Title != "One" {
		t.Errorf("it has the title %q", it.Title)
	}
}

// A change of nothing is an error that says what can change.
func TestUpdateOfNothing(t *testing.T) {
	t.Parallel()
	tools, _, _ := begin(t)
	create(t, tools, items.CreateIn{Title: "One"})
	before := show(t, tools, items.ShowIn{ID: 1})
	for _, args := range []string{`{"id":1}`, `{"id":1,"steal":true}`} {
		res := call(t, tools, "update_item", args)
		if !res.IsError || !strings.Contains(res.Text[0], "Nothing to change: pass at least one of title, ") {
			t.Errorf("%s: %+v", args, res)
		}
	}
	if after := show(t, tools, items.ShowIn{ID: 1}); after.Updated != before.Updated {
		t.Errorf("it was updated: %v", after.Updated)
	}
	if res := call(t, tools, "update_item", `{"id":1,"parent":null}`); res.IsError {
		t.Errorf("without a parent: %+v", res)
	}
}

// call calls a tool by its name, as a server does.
func call(t *testing.T, tools *items.Tools, name, args string) toolset.Result {
	t.Helper()
	for _, tool := range tools.Toolset().Tools {
		if tool.Name == name {
			return tool.Call(t.Context(), json.RawMessage(args))
		}
	}
	t.Fatalf("no tool %s", name)
	return toolset.Result{}
}

type failing struct {
	items.Project
	err error
}

func (f failing) Init(context.Context) (bool, error) { return false, f.err }

// cachedPulls are the pull requests in a cache.
type cachedPulls map[int]pullrequest.PullRequest

func (p cachedPulls) Get(ctx context.Context, ref pull.Ref) (pullrequest.PullRequest, error) {
	if !remote.FromCache(ctx) {
		return pullrequest.PullRequest{}, errors.New("a list sent a request")
	}
	if pr, ok := p[ref.Number]; ok {
		return pr, nil
	}
	return pullrequest.PullRequest{}, errors.New("not in the cache")
}

// Lists mark what is open although its pull request is merged.
func TestMergedPullRequests(t *testing.T) {
	t.Parallel()
	store := local.New(location.Search{Dir: t.TempDir()}, time.Now)
	t.Cleanup(func() { _ = store.Close() })
	tools := items.New(store, time.Now).MarkMerged(store, cachedPulls{10: {Merged: true}, 11: {}})
	if _, err := tools.InitProject(t.Context(), items.None{}); err != nil {
		t.Fatal(err)
	}
	for i, pullRequest := range []string{"10", "11", "12", ""} {
		it := create(t, tools, items.CreateIn{Title: "Item"})
		if _, err := store.Update(t.Context(), it.ID, item.Patch{PullRequest: &pullRequest}); err != nil {
			t.Fatal(i, err)
		}
	}
	listed, err := tools.ListItems(t.Context(), items.ListIn{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := tools.SearchItems(t.Context(), items.SearchIn{Query: "item"})
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range []items.ListOut{listed, found} {
		var marks []string
		for _, row := range list.Rows {
			marks = append(marks, row.PR)
		}
		if diff := cmp.Diff([]string{"merged", "", "", ""}, marks); diff != "" {
			t.Error(diff)
		}
	}
}

// A client that subscribed to the list is told when it reads differently, and not when only
// something else has changed.
func TestListResource(t *testing.T) {
	t.Parallel()
	tools, _, _ := begin(t)
	touched := make(chan struct{})
	tools.Watched(func(ctx context.Context, ready, changed func()) {
		ready()
		for {
			select {
			case <-ctx.Done():
				return
			case <-touched:
				changed()
			}
		}
	})
	list := tools.Toolset().Resources[0]
	ctx, cancel := context.WithCancel(t.Context())
	told, ended := make(chan struct{}, 10), make(chan error)
	go func() { ended <- list.Watch(ctx, func() { told <- struct{}{} }) }()
	touched <- struct{}{}
	create(t, tools, items.CreateIn{Title: "new here"})
	touched <- struct{}{}
	touched <- struct{}{}
	cancel()
	if err := <-ended; err != nil || len(told) != 1 {
		t.Errorf("told %d times of one change: %v", len(told), err)
	}
	text, err := list.Read(t.Context())
	if err != nil || !strings.Contains(text, `"title": "new here"`) {
		t.Errorf("the list is %s: %v", text, err)
	}
}

// Wherever an answer begins and ends, it has no part of a secret, and offsets remain those of the stored text.
func TestSecretsAtCuts(t *testing.T) {
	t.Parallel()
	const token = "ghp_0123456789abcdefABCDEF"
	tools, _, _ := begin(t)
	known := secret.New(nil)
	known.Add(token)
	ctx := secret.With(t.Context(), known)
	text := strings.Repeat("x", 3<<10) + token + strings.Repeat("y", 100<<10) + token + strings.Repeat("z", 50<<10)
	it := create(t, tools, items.CreateIn{Title: "One", Description: text})
	comment(t, tools, it.ID, text)
	check := func(what string, it form.Item) {
		t.Helper()
		for _, c := range append(it.Comments, form.Comment{Body: it.Description}) {
			if left := strings.Trim(strings.ReplaceAll(c.Body, secret.Mask, ""), "xyz…\n"); left != "" {
				t.Fatalf("%s: %q is left", what, left)
			}
		}
	}
	get := func(in items.ShowIn) form.Item {
		t.Helper()
		it, err := tools.ShowItem(ctx, in)
		if err != nil {
			t.Fatal(err)
		}
		return it
	}
	for at := range len(token) {
		in := items.ShowIn{ID: it.ID, Description: new(3<<10 + at), Comments: new(0), Comment: 3<<10 + at}
		got := get(in)
		check(fmt.Sprintf("from byte %d of the secret", at), got)
		if !strings.HasPrefix(got.Description, secret.Mask+"y") || !strings.HasPrefix(got.Comments[0].Body, secret.Mask+"y") {
			t.Errorf("from byte %d of the secret: %.30q, %.30q", at, got.Description, got.Comments[0].Body)
		}
		// The part ends where the other secret is.
		room := len(got.Description) - len(secret.Mask) + len(token) - at
		begin := 3<<10 + len(token) + 100<<10 - room + at
		in = items.ShowIn{ID: it.ID, Description: &begin, Comments: new(0), Comment: begin}
		if got = get(in); at > 0 && !strings.HasSuffix(got.Description, "y"+secret.Mask) {
			t.Errorf("to byte %d of the secret: %q", at, got.Description[len(got.Description)-40:])
		}
		check(fmt.Sprintf("to byte %d of the secret", at), got)
	}
	for length := range 2 * len(token) {
		it := create(t, tools, items.CreateIn{Title: "One", Description: strings.Repeat("x", length) + strings.Repeat(token, 1000)})
		comment(t, tools, it.ID, strings.Repeat("x", length)+strings.Repeat(token, 1000))
		check("the first part", get(items.ShowIn{ID: it.ID}))
		create(t, tools, items.CreateIn{Title: "Two", Description: "find" + strings.Repeat("x", 100+length) + token})
	}
	for _, query := range []string{"find", "x", "0123", "F"} {
		found, err := tools.SearchItems(ctx, items.SearchIn{Query: query})
		if err != nil || len(found.Rows) == 0 {
			t.Fatal(found, err)
		}
		for _, row := range found.Rows {
			if text := strings.ReplaceAll(row.Snippet, secret.Mask, ""); strings.ContainsAny(text, "_0123456789ABCDEF") {
				t.Errorf("snippet of %s: %q", query, row.Snippet)
			}
		}
	}
}
