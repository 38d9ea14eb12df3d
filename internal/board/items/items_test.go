package items_test

import (
	"context"
	"errors"
	"fmt"
	"html"
	"html/template"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/board"
	"github.com/copse-dev/copse/internal/board/items"
	"github.com/copse-dev/copse/internal/board/markup"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/workflow/claims"
)

// place is a store of items with its view.
type place struct {
	*testing.T
	store *local.Store
	view  *items.View
}

func empty(t *testing.T) place { return emptyWith(t, nil) }

// emptyWith returns a store without a project, with a view that does not show secrets.
func emptyWith(t *testing.T, secrets *secret.Set) place {
	t.Helper()
	dir := t.TempDir()
	store := local.New(location.Search{Dir: dir, Root: dir}, time.Now)
	t.Cleanup(func() { _ = store.Close() })
	kit := markup.NewKit(markup.Options{Now: time.Now, Secrets: secrets, Field: "token", Token: "TOKEN"})
	return place{t, store, items.New(kit, items.Options{
		Store: store, Claims: claims.New(store, nil, time.Now), Agent: claim.Agent{Name: "ada", Worktree: dir}, Now: time.Now,
	})}
}

func start(t *testing.T, titles ...string) place {
	t.Helper()
	p := empty(t)
	if _, err := p.store.Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, title := range titles {
		p.create(item.Draft{Title: title})
	}
	return p
}

func (p place) create(d item.Draft) item.Item {
	p.Helper()
	it, err := p.store.Create(p.Context(), d)
	if err != nil {
		p.Fatal(err)
	}
	return it
}

// text returns everything that a page shows.
func text(page board.Page) string {
	var b strings.Builder
	add := func(parts ...template.HTML) {
		for _, h := range parts {
			b.WriteString(string(h) + "\n")
		}
	}
	add(page.Tools)
	for _, s := range page.Sections {
		add(s.Head, s.Foot)
		for _, r := range s.Rows {
			add(r.HTML)
		}
	}
	if page.Detail != nil {
		add(page.Detail.Sub)
		for _, r := range page.Detail.Blocks {
			add(r.HTML)
		}
	}
	return b.String()
}

func (p place) page(path, query string, readOnly bool) board.Page {
	p.Helper()
	q, err := url.ParseQuery(query)
	if err != nil {
		p.Fatal(err)
	}
	page, err := p.view.Render(p.Context(), board.Request{Path: path, Query: q, ReadOnly: readOnly})
	if err != nil {
		p.Fatalf("%s?%s: %v", path, query, err)
	}
	return page
}

func (p place) act(path, action string, form url.Values) (board.Outcome, error) {
	return p.view.Act(p.Context(), board.Request{Path: path, Query: url.Values{"label": {"kept"}}}, action, form)
}

func (p place) item(id item.ID) item.Item {
	p.Helper()
	it, err := p.store.Item(p.Context(), id)
	if err != nil {
		p.Fatal(err)
	}
	return it
}

// rows returns the keys of the rows of each section, by its label.
func rows(page board.Page) map[string]string {
	all := map[string]string{}
	for _, s := range page.Sections {
		var keys []string
		for _, r := range s.Rows {
			keys = append(keys, r.Key)
		}
		if len(keys) > 0 {
			all[s.Label] = strings.Join(keys, " ")
		}
	}
	return all
}

func TestBoardAndTree(t *testing.T) {
	t.Parallel()
	p := start(t, "Passkeys")
	p.create(item.Draft{Title: "Session cookie", Status: "in-progress", Parent: 1, Assignee: "bob", Labels: []string{"login"}})
	p.create(item.Draft{Title: "Audit trail", Parent: 2, Priority: "critical", DependsOn: []item.ID{1}})
	for query, want := range map[string]string{
		"":                       "map[backlog:3 1 in-progress:2]",
		"view=tree":              "map[Tree of items:1 2 3]",
		"view=tree&assignee=bob": "map[Tree of items:2]",
		"q=session+cook":         "map[in-progress:2]",
		"q=%233":                 "map[backlog:3]",
		"label=login":            "map[in-progress:2]",
		"priority=critical":      "map[backlog:3]",
		"status=done":            "map[]",
	} {
		if got := fmt.Sprint(rows(p.page("", query, false))); got != want {
			t.Errorf("?%s: got %s, want %s", query, got, want)
		}
	}
	if got := text(p.page("", "", false)); !strings.Contains(got, "waits for 1") || !strings.Contains(got, `href="items/2"`) {
		t.Error(got)
	}
	if got := text(p.page("", "status=done", false)); !strings.Contains(got, "No item matches") {
		t.Error(got)
	}
	if page := p.page("3", "view=tree", false); !page.Sections[0].Rows[2].Selected || page.Detail.Close != "items?view=tree" || page.Sections[0].Rows[2].Class != "depth2" {
		t.Errorf("%+v", page)
	}
}

func TestEmptyStatesSayWhatToDo(t *testing.T) {
	t.Parallel()
	if got := text(empty(t).page("", "", false)); !strings.Contains(got, "copse item init") {
		t.Error(got)
	}
	if got := text(start(t).page("", "", false)); !strings.Contains(got, "copse item create") {
		t.Error(got)
	}
	_, err := start(t).view.Render(t.Context(), board.Request{Path: "7"})
	if f, ok := errors.AsType[*failure.Error](err); !ok || f.Kind != failure.NotFound || f.Hint(failure.Words{}) == "" {
		t.Errorf("%v", err)
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	p := start(t, "Passkeys")
	did := func(path, action string, form url.Values) board.Outcome {
		t.Helper()
		out, err := p.act(path, action, form)
		if err != nil {
			t.Fatalf("%s: %v", action, err)
		}
		return out
	}
	out := did("", "create", url.Values{"title": {"Cookie"}, "labels": {"a, b"}, "parent": {"#1"}, "depends_on": {"1"}, "description": {"Why\r\nso"}, "status": {"todo"}})
	if it := p.item(2); out.To != "items/2?label=kept" || it.Title != "Cookie" || len(it.Labels) != 2 || it.Parent != 1 || it.Description != "Why\nso" || it.Status != "todo" {
		t.Errorf("%+v, to %s", it, out.To)
	}
	did("2", "update", url.Values{"title": {"Session cookie"}, "parent": {""}, "labels": {""}})
	if it := p.item(2); it.Title != "Session cookie" || it.Parent != 0 || len(it.Labels) != 0 || it.Description != "Why\nso" {
		t.Errorf("%+v", it)
	}
	did("2", "comment", url.Values{"text": {"Done with Lax."}})
	if it := p.item(2); len(it.Comments) != 1 || it.Comments[0].Author != "ada" {
		t.Errorf("%+v", it.Comments)
	}
	for what, call := range map[string]func() error{
		"an empty comment":        func() error { _, err := p.act("2", "comment", url.Values{"text": {" "}}); return err },
		"no title":                func() error { _, err := p.act("", "create", url.Values{"title": {""}}); return err },
		"an unknown status":       func() error { _, err := p.act("2", "update", url.Values{"status": {"nowhere"}}); return err },
		"a parent that is none":   func() error { _, err := p.act("2", "update", url.Values{"parent": {"x"}}); return err },
		"an unknown action":       func() error { _, err := p.act("2", "explode", nil); return err },
		"an action on no item":    func() error { _, err := p.act("", "update", nil); return err },
		"an item that is not":     func() error { _, err := p.act("99", "update", url.Values{"title": {"x"}}); return err },
		"a deletion without look": func() error { _, err := p.act("2", "delete", nil); return err },
	} {
		if f, ok := errors.AsType[*failure.Error](call()); !ok || f.Hint(failure.Words{}) == "" {
			t.Errorf("%s is not refused with what to do", what)
		}
	}
}

var fingerprint = regexp.MustCompile(`name="seen" value="([^"]+)"`)

// A deletion takes two steps, and what was shown must hold. It can be undone.
func TestDelete(t *testing.T) {
	t.Parallel()
	p := start(t, "Passkeys")
	p.create(item.Draft{Title: "Child", Parent: 1})
	look := func() string {
		shown := text(p.page("1", "delete=1", false))
		if !strings.Contains(shown, "These lose their parent") {
			t.Fatal(shown)
		}
		return fingerprint.FindStringSubmatch(shown)[1]
	}
	seen := look()
	if _, err := p.act("1", "update", url.Values{"title": {"Changed"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.act("1", "delete", url.Values{"seen": {seen}}); err == nil || !strings.Contains(err.Error(), "changed since") {
		t.Errorf("an item that changed is deleted: %v", err)
	}
	out, err := p.act("1", "delete", url.Values{"seen": {look()}})
	if err != nil || !strings.Contains(string(out.Notice), `action="items/1/restore`) {
		t.Fatalf("%v, %s", err, out.Notice)
	}
	if _, err := p.store.Item(t.Context(), 1); !item.IsNotFound(err) {
		t.Fatal(err)
	}
	if _, err := p.act("1", "restore", nil); err != nil {
		t.Fatal(err)
	}
	if p.item(1).Title != "Changed" || p.item(2).Parent != 1 {
		t.Error("the item did not come back as it was")
	}
}

func TestClaimsAndHistory(t *testing.T) {
	t.Parallel()
	p := start(t, "Passkeys")
	if _, ok := any(p.store).(storage.Claimer); !ok {
		t.Fatal("the store keeps no claims")
	}
	codex := claim.WithAgent(context.Background(), claim.Agent{Name: "codex", Worktree: "/elsewhere"})
	if _, err := any(p.store).(storage.Claimer).Claim(codex, storage.ClaimRequest{ID: 1}); err != nil {
		t.Fatal(err)
	}
	if shown := text(p.page("1", "", false)); !strings.Contains(shown, "codex") || !strings.Contains(shown, "items/1/release") {
		t.Error(shown)
	}
	if _, err := p.act("1", "claim", nil); err == nil || !strings.Contains(err.Error(), "codex") {
		t.Errorf("what another agent holds is claimed: %v", err)
	}
	if _, err := p.act("1", "claim", url.Values{"steal": {"1"}}); err != nil {
		t.Fatal(err)
	}
	if shown := text(p.page("", "", false)); !strings.Contains(shown, "ada") {
		t.Error(shown)
	}
	if _, err := p.act("1", "release", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := p.act("1", "update", url.Values{"title": {"Renamed"}}); err != nil {
		t.Fatal(err)
	}
	shown := text(p.page("1", "", false))
	change := regexp.MustCompile(`name="change" value="([^"]+)"`).FindStringSubmatch(shown)
	if change == nil || !strings.Contains(shown, "title: Passkeys → Renamed") {
		t.Fatal(shown)
	}
	if _, err := p.act("1", "undo", url.Values{"change": {change[1]}}); err != nil || p.item(1).Title != "Passkeys" {
		t.Errorf("%v, %+v", err, p.item(1).Title)
	}
}

func TestBulk(t *testing.T) {
	t.Parallel()
	p := start(t, "A", "B", "C")
	for _, step := range []struct{ field, value string }{{"status", "done"}, {"assignee", "bob"}, {"priority", "high"}, {"label", "x"}} {
		if _, err := p.act("", "bulk", url.Values{"id": {"1", "3"}, "field": {step.field}, "value": {step.value}}); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[item.ID]string{1: "done bob high [x]", 2: "backlog  medium []", 3: "done bob high [x]"} {
		it := p.item(id)
		if got := fmt.Sprint(it.Status, " ", it.Assignee, " ", it.Priority, " ", it.Labels); got != want {
			t.Errorf("%d: %s", id, got)
		}
	}
	for _, form := range []url.Values{
		{"field": {"status"}, "value": {"done"}}, {"id": {"1"}, "field": {"title"}, "value": {"x"}}, {"id": {"x"}, "field": {"status"}, "value": {"done"}},
		{"id": {"2", "99"}, "field": {"status"}, "value": {"done"}},
	} {
		if f, ok := errors.AsType[*failure.Error](second(p.act("", "bulk", form))); !ok || f.Hint(failure.Words{}) == "" {
			t.Errorf("%v is not refused with what to do", form)
		}
	}
}

func second(_ board.Outcome, err error) error { return err }

func TestReadOnlyOffersNoChanges(t *testing.T) {
	t.Parallel()
	p := start(t, "Passkeys")
	for _, query := range []string{"", "edit=1", "delete=1", "new=1", "view=tree"} {
		for _, path := range []string{"", "1"} {
			if got := text(p.page(path, query, true)); strings.Contains(got, `method="post"`) || strings.Contains(got, "TOKEN") || strings.Contains(got, "data-create") {
				t.Errorf("%s?%s: %s", path, query, got)
			}
		}
	}
}

// The form for a new item has the type that a command line or an assistant without a type gets.
func TestTypeOfNewItem(t *testing.T) {
	t.Parallel()
	p := start(t)
	for query, want := range map[string]string{"new=1": "task", "new=1&type=epic": "epic"} {
		if got := text(p.page("", query, false)); !strings.Contains(got, "<option selected>"+want+"</option>") {
			t.Errorf("%s does not select %s: %s", query, want, got)
		}
	}
}

// Scripts that strangers store in every field stay text.
func TestStrangersText(t *testing.T) {
	t.Parallel()
	p := start(t)
	const evil = `"'><img src=x onerror=alert(1)><script>alert(2)</script>{{.}}`
	for range 2 {
		p.create(item.Draft{
			Title: evil, Assignee: evil, Iteration: "it" + evil, Labels: []string{evil}, Description: evil + "\n\n[x](javascript:alert(1)) ![](https://evil.example/x.png)", Priority: "high",
		})
	}
	if _, err := p.store.AddComment(t.Context(), 1, evil, evil); err != nil {
		t.Fatal(err)
	}
	codex := claim.WithAgent(context.Background(), claim.Agent{Name: evil, Worktree: evil})
	if _, err := any(p.store).(storage.Claimer).Claim(codex, storage.ClaimRequest{ID: 1}); err != nil {
		t.Fatal(err)
	}
	on := []item.ID{2}
	if _, err := p.store.Update(codex, 1, item.Patch{DependsOn: &on, Worktree: new("/" + evil)}); err != nil {
		t.Fatal(err)
	}
	seen := fingerprint.FindStringSubmatch(text(p.page("2", "delete=1&iteration=*", false)))
	all := ""
	for _, query := range []string{"iteration=*", "iteration=*&view=tree", "iteration=*&edit=1", "iteration=*&delete=1", "new=1&q=" + url.QueryEscape(evil) + "&label=" + url.QueryEscape(evil) + "&from=30+" + url.QueryEscape(evil)} {
		for _, path := range []string{"", "1"} {
			all += text(p.page(path, query, false))
		}
	}
	out, err := p.act("2", "delete", url.Values{"seen": {seen[1]}})
	if err != nil {
		t.Fatal(err)
	}
	all += string(out.Notice)
	for _, bad := range []string{"<img", "<script", `href="javascript:`, `"'>`, `src="https`} {
		if at := strings.Index(all, bad); at >= 0 {
			t.Errorf("a page has %s: %s", bad, all[max(0, at-200):min(len(all), at+100)])
		}
	}
}

// However many items there are, a page has a window of them, and leads to all.
func TestManyItems(t *testing.T) {
	t.Parallel()
	p := start(t)
	for i := range 65 {
		p.create(item.Draft{Title: fmt.Sprintf("Item %d %s", i, strings.Repeat("long ", 40))})
	}
	seen := map[string]bool{}
	query := ""
	for range 5 {
		page := p.page("", query, false)
		if size := len(text(page)); size > 40<<10 {
			t.Fatalf("a page has %d bytes", size)
		}
		for _, r := range page.Sections[0].Rows {
			if seen[r.Key] {
				t.Errorf("%s is shown twice", r.Key)
			}
			seen[r.Key] = true
		}
		next := regexp.MustCompile(`href="items\?([^"]+)">More`).FindStringSubmatch(string(page.Sections[0].Foot))
		if next == nil {
			break
		}
		query = html.UnescapeString(next[1])
	}
	if len(seen) != 65 {
		t.Errorf("%d of 65 items can be reached", len(seen))
	}
}

// A panel shows no secret, whatever Markdown makes of its characters, and where it is too long for Markdown.
func TestSecretsInMarkdown(t *testing.T) {
	t.Parallel()
	for _, word := range []string{
		"aB*3kd*9xZmmmm", `Tr\!xyzw*abcd*q`, "pass`word`1234ab", "qwe[rt](http://x)yuiop", "ab&copy;defghij", "a**b**cdefgh", "a<b>cdefghijkl", "http://ada_b_cdefgh", "<!--abcdefghijk-->",
	} {
		secrets := secret.New(nil)
		secrets.Add(word)
		p := emptyWith(t, secrets)
		if _, err := p.store.Init(t.Context()); err != nil {
			t.Fatal(err)
		}
		long := strings.Repeat("x", 60<<10)
		p.create(item.Draft{Title: "x", Description: "begin " + word + " end " + long})
		for range 4 {
			if _, err := p.store.AddComment(t.Context(), 1, "ada", "begin "+word+" end\n"+long); err != nil {
				t.Fatal(err)
			}
		}
		panel, err := p.view.Panel(t.Context(), 1, true)
		if err != nil {
			t.Fatal(err)
		}
		shown := ""
		for _, block := range panel.Blocks {
			shown += string(block.HTML)
		}
		if got := strings.Count(shown, "begin"); got != 5 {
			t.Errorf("%d texts", got)
		}
		for _, between := range regexp.MustCompile(`(?s)begin (.*?) end`).FindAllStringSubmatch(shown, -1) {
			if rest := strings.NewReplacer(secret.Mask, "", "`", "", "<code>", "", "</code>", "").Replace(between[1]); rest != "" {
				t.Errorf("%s: shows %s", word, between[1])
			}
		}
	}
}
