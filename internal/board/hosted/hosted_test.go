package hosted_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/board/hosted"
	"github.com/copse-dev/copse/internal/board/markup"
	"github.com/copse-dev/copse/internal/github"
	"github.com/copse-dev/copse/internal/workflow/verdict"
)

func views() *hosted.Views {
	return hosted.New(markup.NewKit(markup.Options{Now: time.Now, Redact: func(html string) string {
		return strings.ReplaceAll(html, "hunter2hunter2", "***")
	}}), time.Now)
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
	row := `{"id":1,"title":%[1]s,"type":%[1]s,"status":%[1]s,"priority":%[1]s,"iteration":%[1]s,"assignee":%[1]s,"labels":[%[1]s]`
	branch := `{"branch":%[1]s,"parent":%[1]s,"source":%[1]s,"current":true,"missing":true,"needs_restack":true,"ahead":1,"behind":2,"unpushed":3,"unpulled":4,` +
		`"pull_request":{"state":"open","number":7,"reason":%[1]s,"draft":true,"review_decision":"changes_requested","unresolved_threads":2,"checks":"failing","failing":[%[1]s],"failing_more":1},` +
		`"worktree":{"name":%[1]s,"dirty":2,"operation":%[1]s},"items":[{"id":1,"status":%[1]s}],"jira":{"key":%[1]s,"status":%[1]s}}`
	v := views()
	for name, c := range map[string]struct {
		draw func(json.RawMessage) (string, error)
		data string
	}{
		"stack": {drawStack(v), `{"status":{"verdict":"blocked","blocker":%[1]s,"next":%[1]s,"trunk":%[1]s,"github":{"state":"failed","reason":%[1]s},` +
			`"branches":[` + branch + `,{"branch":%[1]s,"pull_request":{"state":"failed","reason":%[1]s}}],"showing":%[1]s,"notes":[%[1]s]},
			"found":{"pull_request":{"title":%[1]s,"requested_reviewers":[%[1]s]},"checks":[{"name":%[1]s,"status":%[1]s,"url":%[1]s}]}}`},
		"items": {v.DrawItems, `{"items":[` + row + `,"dependsOn":[2,3]}],"total":5,"next_cursor":%[1]s}`},
		"tree":  {v.DrawTree, `{"tree":[` + row + `,"children":[` + row + `,"children":[],"omitted":3}]}]}`},
		"item":  {v.DrawItem, row + `,"description":%[1]s,"comments":[{"author":%[1]s,"date":%[1]s,"body":%[1]s}]}`},
	} {
		plain, err := c.draw(json.RawMessage(fmt.Sprintf(c.data, `"word"`)))
		if err != nil || strings.Count(plain, "word") < 4 {
			t.Fatalf("%s: %v\n%s", name, err, plain)
		}
		for _, attack := range attacks {
			html, err := c.draw(json.RawMessage(fmt.Sprintf(c.data, quoted(attack))))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := tags(html), tags(plain); got != want {
				t.Errorf("%s: %q changes the elements:\n%s\nwant\n%s", name, attack, got, want)
			}
			if strings.ContainsAny(html, "\x1b\x07\u202e") || strings.Contains(html, "hunter2") {
				t.Errorf("%s: %q is shown as it is:\n%s", name, attack, html)
			}
		}
	}
}

// drawStack returns how the verdict in data is drawn, with what GitHub said.
func drawStack(v *hosted.Views) func(data json.RawMessage) (string, error) {
	return func(data json.RawMessage) (string, error) {
		var in struct {
			Status verdict.Status `json:"status"`
			Found  github.Status  `json:"found"`
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

// What is no answer is not drawn: the client shows its text.
func TestNothingToDraw(t *testing.T) {
	t.Parallel()
	if html, err := views().DrawStack(verdict.Status{Verdict: verdict.Unknown}); err != nil || !strings.Contains(html, "Nothing is stacked yet") {
		t.Errorf("got %q, %v", html, err)
	}
	if _, err := views().DrawItems(json.RawMessage(`[]`)); err == nil {
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
