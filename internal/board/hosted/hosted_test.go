package hosted_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/board"
	"github.com/copse-dev/copse/internal/board/hosted"
	"github.com/copse-dev/copse/internal/board/items"
	"github.com/copse-dev/copse/internal/board/markup"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/workflow/verdict"
)

// kit redacts a secret, as the program's does.
func kit() *markup.Kit {
	secrets := secret.New(nil)
	secrets.Add("hunter2hunter2")
	return markup.NewKit(markup.Options{Now: time.Now, Secrets: secrets})
}

// views draws the items of a store; nil has none.
func views(store storage.Store, readOnly bool) *hosted.Views {
	return hosted.New(kit(), hosted.Options{Now: time.Now, ReadOnly: readOnly, Items: func() hosted.ItemsView {
		return items.New(kit(), items.Options{Store: store, Now: time.Now, Hosted: true})
	}})
}

// stored returns a store of two items with a text in each field that a stranger can write.
func stored(t *testing.T, text string) storage.Store {
	t.Helper()
	dir := t.TempDir()
	store := local.New(location.Search{Dir: dir, Root: dir}, time.Now)
	t.Cleanup(func() { _ = store.Close() })
	if _, err := store.Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, draft := range []item.Draft{
		{Title: text, Assignee: text, Iteration: text, Labels: []string{text}, Description: text, Priority: "high"},
		{Title: text, Parent: 1, DependsOn: []item.ID{1}},
	} {
		if _, err := store.Create(t.Context(), draft); err != nil {
			t.Fatal(err)
		}
	}
	stranger := claim.WithAgent(t.Context(), claim.Agent{Name: text, Worktree: "/" + text})
	if _, err := store.AddComment(stranger, 1, text, text); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Update(stranger, 2, item.Patch{Branch: new("feature/login"), PullRequest: new("7"), Worktree: new("/home/ada/login")}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Claim(stranger, storage.ClaimRequest{ID: 2}); err != nil {
		t.Fatal(err)
	}
	return store
}

// attacks are texts that strangers can write.
var attacks = []string{
	`<script>pwned()</script>`, `"><img src=x onerror=pwned()>`, `' onmouseover='pwned()`, `</pre></select><svg/onload=pwned()>`,
	`javascript:pwned()`, `{{.}}`, "\x1b]0;title\x07\u202eevil", "a hunter2hunter2",
}

// In whatever field a text is, it stays a text.
func TestForeignText(t *testing.T) {
	t.Parallel()
	quoted := func(text string) string {
		data, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	branch := `{"branch":%[1]s,"parent":%[1]s,"source":%[1]s,"current":true,"missing":true,"needs_restack":true,"ahead":1,"behind":2,"unpushed":3,"unpulled":4,` +
		`"pull_request":{"state":"open","number":7,"reason":%[1]s,"draft":true,"review_decision":"changes_requested","unresolved_threads":2,"checks":"failing","failing":[%[1]s],"failing_more":1},` +
		`"worktree":{"name":%[1]s,"dirty":2,"operation":%[1]s},"items":[{"id":1,"status":%[1]s}],"jira":{"key":%[1]s,"status":%[1]s}}`
	stack := `{"status":{"verdict":"blocked","blocker":%[1]s,"next":%[1]s,"trunk":%[1]s,"github":{"state":"failed","reason":%[1]s},` +
		`"branches":[` + branch + `,{"branch":%[1]s,"pull_request":{"state":"failed","reason":%[1]s}}],"showing":%[1]s,"notes":[%[1]s]},` +
		`"found":{"pull_request":{"title":%[1]s,"requested_reviewers":[%[1]s]},"checks":[{"name":%[1]s,"status":%[1]s,"url":%[1]s}]}}`
	drawn := func(text string) map[string]string {
		v := views(stored(t, text), false)
		all := map[string]string{}
		for name, draw := range map[string]func() (string, error){
			"stack": func() (string, error) { return drawStack(v)(json.RawMessage(fmt.Sprintf(stack, quoted(text)))) },
			"items": func() (string, error) {
				return v.DrawItems(t.Context(), json.RawMessage(`{"items":[{"id":1},{"id":2}],"total":5,"next_cursor":`+quoted(text)+`}`))
			},
			"tree": func() (string, error) {
				return v.DrawTree(t.Context(), json.RawMessage(`{"tree":[{"id":1,"children":[{"id":2,"omitted":3}]}]}`))
			},
			"item 1": func() (string, error) { return v.DrawItem(t.Context(), json.RawMessage(`{"id":1}`)) },
			"item 2": func() (string, error) { return v.DrawItem(t.Context(), json.RawMessage(`{"id":2}`)) },
		} {
			html, err := draw()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			all[name] = html
		}
		return all
	}
	plain := drawn("word")
	for _, attack := range attacks {
		for name, html := range drawn(attack) {
			if strings.Count(plain[name], "word") < 3 {
				t.Fatalf("%s shows too little:\n%s", name, plain[name])
			}
			// A description is Markdown, so it has elements of its own.
			got, want := tags(html), tags(plain[name])
			if strings.HasPrefix(name, "item ") {
				got, want = strings.Join(dangerous.FindAllString(got, -1), "\n"), ""
			}
			if got != want {
				t.Errorf("%s: %q changes the elements:\n%s\nwant\n%s", name, attack, got, want)
			}
			if strings.ContainsAny(html, "\x1b\x07\u202e") || strings.Contains(html, "hunter2") || strings.Contains(html, `href="javascript:`) {
				t.Errorf("%s: %q is shown as it is:\n%s", name, attack, html)
			}
		}
	}
}

// Items are drawn as the page draws them, without what a client has no tool for.
func TestSameAsPage(t *testing.T) {
	t.Parallel()
	store := stored(t, "word")
	page, err := items.New(kit(), items.Options{Store: store, Now: time.Now}).Render(t.Context(), board.Request{
		Path: "2", Query: url.Values{"view": {"tree"}, "iteration": {"*"}}, ReadOnly: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	links := strings.NewReplacer("?iteration=%2A&amp;view=tree", "", "?iteration=%2a&amp;view=tree", "")
	v := views(store, true)
	list, err := v.DrawTree(t.Context(), json.RawMessage(`{"tree":[{"id":1,"children":[{"id":2}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range page.Sections[0].Rows {
		if want := links.Replace(string(row.HTML)); !strings.Contains(list, want) || !strings.Contains(list, `<li class="row `+row.Class+`"`) {
			t.Errorf("the list\n%s\nlacks the row %s\n%s", list, row.Class, want)
		}
	}
	item, err := v.DrawItem(t.Context(), json.RawMessage(`{"id":2}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range page.Detail.Blocks {
		if want := links.Replace(string(block.HTML)); !strings.Contains(item, want) {
			t.Errorf("the item\n%s\nlacks the block %s\n%s", item, block.Key, want)
		}
	}
	if strings.Contains(item, "<form") {
		t.Errorf("a read-only server offers changes:\n%s", item)
	}
	if item, err = views(store, false).DrawItem(t.Context(), json.RawMessage(`{"id":2}`)); err != nil {
		t.Fatal(err)
	}
	var offered []string
	for _, form := range regexp.MustCompile(`action="items/2/([a-z]+)`).FindAllStringSubmatch(item, -1) {
		offered = append(offered, form[1])
	}
	slices.Sort(offered)
	if got := slices.Compact(offered); !slices.Equal(got, []string{"claim", "comment", "release", "update"}) {
		t.Errorf("the view offers %v", got)
	}
}

// dangerous matches elements and attributes that a view never has.
var dangerous = regexp.MustCompile(`(?i)<(script|img|svg|iframe|object|style)|<[^>]*\s(on[a-z]+|style|srcdoc)\b`)

// drawStack returns how the verdict in data is drawn, with what GitHub said.
func drawStack(v *hosted.Views) func(data json.RawMessage) (string, error) {
	return func(data json.RawMessage) (string, error) {
		var in struct {
			Status verdict.Status     `json:"status"`
			Found  pullrequest.Status `json:"found"`
		}
		if err := json.Unmarshal(data, &in); err != nil {
			return "", err
		}
		in.Status.Branches[0].PullRequest.Found = &in.Found
		return v.DrawStack(in.Status)
	}
}

// tags returns the elements of HTML with the names of their attributes.
func tags(html string) string {
	var all []string
	for _, tag := range regexp.MustCompile(`<[^>]*>`).FindAllString(html, -1) {
		all = append(all, regexp.MustCompile(`="[^"]*"`).ReplaceAllString(tag, ""))
	}
	return strings.Join(all, "\n")
}

// Anything that is not an answer is not drawn: the client shows its text.
func TestNothingToDraw(t *testing.T) {
	t.Parallel()
	if html, err := views(nil, false).DrawStack(verdict.Status{Verdict: verdict.Unknown}); err != nil || !strings.Contains(html, "Nothing is stacked yet") {
		t.Errorf("got %q, %v", html, err)
	}
	if _, err := views(nil, false).DrawItems(t.Context(), json.RawMessage(`[]`)); err == nil {
		t.Error("a list is taken for an object")
	}
}

// A page needs nothing from anywhere, and forbids it.
func TestPages(t *testing.T) {
	t.Parallel()
	for _, page := range []hosted.Page{hosted.Stack(), hosted.Items()} {
		html := page.HTML()
		if !strings.HasPrefix(page.URI, "ui://copse/") || !strings.HasPrefix(html, "<!doctype html>") {
			t.Errorf("%s begins with %.40q", page.URI, html)
		}
		if !strings.Contains(html, `content="default-src 'none'; script-src 'sha256-`) || strings.Contains(html, "unsafe") {
			t.Errorf("%s has no strict policy", page.URI)
		}
		if found := regexp.MustCompile(`(?i)\b(src|href|action)=|https?://|@import|url\(|\bon[a-z]+="|\bstyle="|\beval\(`).FindString(html); found != "" {
			t.Errorf("%s has %q", page.URI, found)
		}
		if len(html) > 64<<10 {
			t.Errorf("%s has %d bytes", page.URI, len(html))
		}
	}
}
