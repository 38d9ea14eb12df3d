package board_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/copse-dev/copse/internal/board"
	"github.com/copse-dev/copse/internal/board/entry"
	"github.com/copse-dev/copse/internal/board/markup"
	"github.com/copse-dev/copse/internal/secret"
)

// hostile is text that does everything that text of strangers must not do.
const hostile = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(1)>\x1b]0;title\x07\x1b[31mred\u202eevil\u2066\x9b2J" + known

// known is a secret that the program knows.
const known = "t0p-secret"

// view shows foreign text in every place that it has, and counts changes.
type view struct {
	kit     *markup.Kit
	changes int
}

func (*view) Name() string            { return "fake" }
func (*view) Title() string           { return "Fake" }
func (*view) Watches() []board.Source { return []board.Source{board.Items} }

func (v *view) Render(context.Context, board.Request) (board.Page, error) {
	files := fstest.MapFS{"v.tmpl": {Data: []byte(`{{define "all"}}<a href="{{.}}" title="{{.}}">{{line .}}</a><pre>{{lines .}}</pre>{{.}}{{chip "red" .}}{{template "command" .}}<form method="post" action="fake/do">{{token}}</form>{{end}}`)}}
	html, err := v.kit.Render(v.kit.Parse(files, "*.tmpl"), "all", hostile)
	row := board.Row{Key: hostile, Class: hostile, HTML: html}
	return board.Page{
		Title: hostile, Aside: hostile, Tools: html, Class: hostile,
		Sections: []board.Section{{Key: hostile, Class: hostile, Label: hostile, Head: html, Foot: html, Rows: []board.Row{row}}},
		Detail:   &board.Detail{Title: hostile, Sub: html, Close: hostile, Blocks: []board.Row{row}},
	}, err
}

func (v *view) Count(context.Context) board.Badge { return board.Badge{Text: hostile, Tone: hostile} }

func (v *view) Act(context.Context, board.Request, string, url.Values) (board.Outcome, error) {
	v.changes++
	if v.changes > 1 {
		return board.Outcome{}, errors.New(hostile)
	}
	return board.Outcome{To: "//evil.example/" + hostile, Notice: "<p>Done.</p>"}, nil
}

// Ask answers with the form.
func (v *view) Ask(_ context.Context, _ board.Request, form url.Values) (board.Page, error) {
	return board.Page{Title: "Asked", Aside: form.Get("text") + form.Get(entry.TokenField)}, nil
}

// stranger is a header that a request of another user has here.
const stranger = "X-Stranger"

// stand is a site with a board, and a browser.
type stand struct {
	t       *testing.T
	site    *board.Site
	server  *httptest.Server
	view    *view
	now     time.Time
	browser *http.Client
}

func newStand(t *testing.T) *stand {
	t.Helper()
	return standAt(t, "")
}

// standAt returns a stand whose pages have a host of their own.
func standAt(t *testing.T, host string) *stand {
	t.Helper()
	s := &stand{t: t, now: time.Now()}
	secrets := secret.New(nil)
	secrets.Add(known)
	clock := func() time.Time { return s.now }
	s.site = board.NewSite("PLACEHOLDER", board.SiteOptions{
		Now: clock, Key: func(context.Context) (string, error) { return "secret", nil },
		Own: func(r *http.Request) bool { return r.Header.Get(stranger) == "" }, Host: host,
		Open: func(_ context.Context, _ string, p markup.Placeholder) (*board.Board, error) {
			kit := markup.NewKit(markup.Options{Now: clock, Field: entry.TokenField, Token: p, Secrets: secrets})
			s.view = &view{kit: kit}
			return board.New(kit, board.Options{
				Views: []board.View{s.view}, Now: clock, Logger: slog.New(slog.DiscardHandler),
				Summary: func(context.Context) board.Summary { return board.Summary{Name: hostile, Line: hostile} },
			}), nil
		},
	})
	s.server = httptest.NewServer(s.site)
	t.Cleanup(func() { s.site.Close(); s.server.Close() })
	s.browser = s.newBrowser()
	return s
}

func (s *stand) newBrowser() *http.Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return &http.Client{Jar: jar}
}

func (s *stand) link(root string, readOnly bool) string {
	s.t.Helper()
	path, err := s.site.Link(s.t.Context(), root, readOnly)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.server.URL + path
}

// do sends a request and returns the status and the body.
func (s *stand) do(c *http.Client, method, address, body string, header ...string) (int, string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Second) // a stream that must not begin has no end
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Add(header[i], header[i+1])
	}
	res, err := c.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	for _, name := range []string{"Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy", "Cross-Origin-Resource-Policy"} {
		if res.Header.Get(name) == "" {
			s.t.Errorf("%s %s has no %s", method, address, name)
		}
	}
	if csp := res.Header.Get("Content-Security-Policy"); strings.Contains(csp, "unsafe") || !strings.Contains(csp, "default-src 'none'") {
		s.t.Errorf("the policy is %q", csp)
	}
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// Without a login there is one page, which says how to get one, on every route and method.
func TestNothingWithoutLogin(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	link := s.link("/a", false)
	base, _, _ := strings.Cut(link, "enter?")
	var asset string
	for _, a := range markup.Assets() {
		asset = a.Name
	}
	check := func(what string, c *http.Client, header ...string) {
		t.Helper()
		for _, route := range []string{"", "fake", "fake/do", "keys", "nowhere", "asset/" + asset, "live/fake", "leave", "enter", "enter?key=", "enter?key=x", "../x/", "%2e%2e/", "fake?x=<script>"} {
			for _, method := range []string{"GET", "POST", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"} {
				status, body := s.do(c, method, base+route, "", header...)
				if status != http.StatusUnauthorized || method == "GET" && !strings.Contains(body, "copse board") || strings.Contains(body, "Fake") || strings.Contains(body, "<script") {
					t.Errorf("%s: %s %s: %d %.200s", what, method, route, status, body)
				}
			}
		}
	}
	check("no cookie", s.newBrowser())
	check("a wrong cookie", s.newBrowser(), "Cookie", "copse_board=x")
	check("an empty cookie", s.newBrowser(), "Cookie", "copse_board=")
	other := s.newBrowser()
	if status, _ := s.do(other, "GET", s.link("/b", false), ""); status != http.StatusOK {
		t.Fatal(status)
	}
	check("the cookie of another board", other)
	if status, body := s.do(s.browser, "HEAD", link, ""); status != http.StatusUnauthorized {
		t.Errorf("a program that looks at links uses one: %d %s", status, body)
	}
	if status, _ := s.do(s.browser, "GET", link, ""); status != http.StatusOK {
		t.Errorf("the link does not open: %d", status)
	}
	if status, _ := s.do(s.newBrowser(), "GET", link, ""); status != http.StatusUnauthorized {
		t.Errorf("the link opens twice: %d", status)
	}
	for _, to := range []string{"//evil.example/", "http://evil.example/", "/mcp", "../../mcp", `\\evil.example`, "javascript:alert(1)"} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, s.link("/a", false)+"&to="+url.QueryEscape(to), nil)
		s.site.ServeHTTP(w, r)
		if got := w.Header().Get("Location"); !strings.HasPrefix(got, mustParse(t, base).Path) || strings.Contains(got, "..") {
			t.Errorf("a link with %q leads to %q", to, got)
		}
		if cookie := w.Header().Get("Set-Cookie"); !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Strict") {
			t.Errorf("scripts or other sites can use the cookie: %s", cookie)
		}
	}
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	cookies := s.browser.Jar.Cookies(u)
	check("the cookie under another name of this machine", s.newBrowser(), "Cookie", cookies[0].String(), "Host", "127.0.0.2:1")
	if got := s.browser.Jar.Cookies(&url.URL{Scheme: "http", Host: u.Host, Path: "/mcp"}); len(got) > 0 {
		t.Errorf("the cookie is sent elsewhere: %v", got)
	}
	late := s.link("/a", false)
	s.now = s.now.Add(entry.LinkTime)
	if status, _ := s.do(s.newBrowser(), "GET", late, ""); status != http.StatusUnauthorized {
		t.Errorf("the link opens after a minute: %d", status)
	}
	s.now = s.now.Add(entry.Idle + time.Second)
	check("a session that was not used for long", s.browser)
}

// Another user of the machine, who found the link in a list of processes, neither gets in with
// it nor uses it up.
func TestLinkOfAnotherUser(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	link, thief := s.link("/a", false), s.newBrowser()
	if status, body := s.do(thief, "GET", link, "", stranger, "1"); status != http.StatusUnauthorized || strings.Contains(body, "Fake") {
		t.Errorf("another user gets in: %d %s", status, body)
	}
	if got := thief.Jar.Cookies(mustParse(t, link)); len(got) > 0 {
		t.Errorf("another user has the cookie %v", got)
	}
	if status, _ := s.do(s.browser, "GET", link, ""); status != http.StatusOK {
		t.Errorf("the link was used up: %d", status)
	}
	// Nor does a stranger who has received the cookie, such as on another port of this machine.
	door, _, _ := strings.Cut(link, "enter?")
	if status, body := s.do(s.browser, "GET", door, "", stranger, "1"); status != http.StatusUnauthorized || strings.Contains(body, "Fake") {
		t.Errorf("another user gets in with the cookie: %d %s", status, body)
	}
}

// tokenOf returns the token that a page has for changes.
func tokenOf(page string) string {
	_, rest, _ := strings.Cut(page, `name="board-token" content="`)
	token, _, _ := strings.Cut(rest, `"`)
	return token
}

// Another user of the machine, who got the cookie from a browser, is answered like anybody without a
// login.
func TestCookieIsForThisUser(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	link := s.link("/a", false)
	base, _, _ := strings.Cut(link, "enter?")
	_, page := s.do(s.browser, "GET", link, "")
	token := tokenOf(page)
	for _, one := range [][]string{{"GET", "fake"}, {"GET", "live/fake"}, {"GET", "asset/board.css"}, {"POST", "fake/do"}} {
		status, body := s.do(s.browser, one[0], base+one[1], entry.TokenField+"="+token, stranger, "1", "Origin", s.server.URL, "Content-Type", "application/x-www-form-urlencoded")
		if status != http.StatusUnauthorized || strings.Contains(body, "Fake") {
			t.Errorf("%s %s: %d %s", one[0], one[1], status, body)
		}
	}
	if s.view.changes > 0 {
		t.Error("another user changed something")
	}
	if status, _ := s.do(s.browser, "GET", base+"fake", ""); status != http.StatusOK {
		t.Errorf("the session ended: %d", status)
	}
}

// A change needs a session that may change, the token, and an origin that is the page's own.
func TestChangesAreChecked(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	link := s.link("/a", false)
	base, _, _ := strings.Cut(link, "enter?")
	_, page := s.do(s.browser, "GET", link, "")
	token := tokenOf(page)
	if len(token) < 20 || strings.Contains(page, "PLACEHOLDER") || strings.Count(page, token) < 2 {
		t.Fatalf("the page has no token in its forms: %s", page)
	}
	const form = "application/x-www-form-urlencoded"
	origin := s.server.URL
	good := entry.TokenField + "=" + token
	for what, header := range map[string][]string{
		"no origin":          {"Content-Type", form},
		"a foreign origin":   {"Content-Type", form, "Origin", "http://evil.example"},
		"the null origin":    {"Content-Type", form, "Origin", "null"},
		"another port":       {"Content-Type", form, "Origin", "http://127.0.0.1:1"},
		"the origin of TLS":  {"Content-Type", form, "Origin", strings.Replace(origin, "http:", "https:", 1)},
		"two origins":        {"Content-Type", form, "Origin", origin, "Origin", "http://evil.example"},
		"a foreign page":     {"Content-Type", form, "Origin", origin, "Sec-Fetch-Site", "cross-site"},
		"another port's":     {"Content-Type", form, "Origin", origin, "Sec-Fetch-Site", "same-site"},
		"text":               {"Content-Type", "text/plain", "Origin", origin},
		"a form with files":  {"Content-Type", "multipart/form-data; boundary=x", "Origin", origin},
		"a body without any": {"Origin", origin},
	} {
		for _, route := range []string{"fake/do", "fake"} {
			if status, body := s.do(s.browser, "POST", base+route, good, header...); status != http.StatusForbidden && status != http.StatusUnsupportedMediaType || strings.Contains(body, "Asked") {
				t.Errorf("%s: %s: %d", what, route, status)
			}
		}
	}
	for what, body := range map[string]string{"no token": "", "a wrong token": entry.TokenField + "=x", "the cookie": entry.TokenField + "=" + s.browser.Jar.Cookies(mustParse(t, base))[0].Value} {
		for _, route := range []string{"fake/do", "fake"} {
			if status, _ := s.do(s.browser, "POST", base+route+"?"+good, body, "Content-Type", form, "Origin", origin); status != http.StatusForbidden {
				t.Errorf("%s: %s: %d", what, route, status)
			}
		}
	}
	reader := s.newBrowser()
	_, page = s.do(reader, "GET", s.link("/a", true), "")
	token = tokenOf(page)
	if status, body := s.do(reader, "POST", base+"fake/do", entry.TokenField+"="+token, "Content-Type", form, "Origin", origin); status != http.StatusForbidden || !strings.Contains(body, "read-only") {
		t.Errorf("a session that only reads: %d %s", status, body)
	}
	// A form that changes nothing is answered there, too, in a page that nobody updates.
	status, body := s.do(reader, "POST", base+"fake", "text=said&"+entry.TokenField+"="+token, "Content-Type", form, "Origin", origin)
	if status != http.StatusOK || !strings.Contains(body, "Asked") || !strings.Contains(body, ">said<") || strings.Contains(body, "board-live") {
		t.Errorf("a form that asks: %d %s", status, body)
	}
	if s.view.changes != 0 {
		t.Fatalf("%d changes were made", s.view.changes)
	}
	s.browser.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if r.URL.Host != mustParse(t, base).Host || !strings.HasPrefix(r.URL.Path, mustParse(t, base).Path) {
			t.Errorf("a change leads to %s", r.URL)
		}
		return nil
	}
	if status, body := s.do(s.browser, "POST", base+"fake/do", good, "Content-Type", form, "Origin", origin); status != http.StatusOK || s.view.changes != 1 || !strings.Contains(body, "<p>Done.</p>") {
		t.Errorf("a good change: %d, %d changes", status, s.view.changes)
	}
	status, body = s.do(s.browser, "POST", base+"fake/do", "", "Content-Type", form, "Origin", origin, entry.TokenHeader, strings.TrimPrefix(good, entry.TokenField+"="))
	if status != http.StatusUnprocessableEntity {
		t.Errorf("a change that fails: %d", status)
	}
	harmless(t, "an error", body)
}

// A page that is open gets no changes after somebody has left its session.
func TestStreamEndsWithSession(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	link := s.link("/r", false)
	_, page := s.do(s.browser, http.MethodGet, link, "")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	root, _, _ := strings.Cut(link, "enter?")
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, root+"live/fake", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.browser.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatal(res.Status)
	}
	s.do(s.browser, http.MethodPost, root+"leave", entry.TokenField+"="+tokenOf(page), "Origin", s.server.URL, "Content-Type", "application/x-www-form-urlencoded")
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Errorf("the stream goes on: %v", err)
	}
}

func mustParse(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// harmless checks that foreign text in a page is text.
func harmless(t *testing.T, what, page string) {
	t.Helper()
	page = strings.ReplaceAll(page, `<script src="asset/`, "") // ours
	for _, bad := range []string{"<script", "<img", "\x1b", "\x07", "\u202e", "\u2066", "\u009b", `href="javascript`} {
		if strings.Contains(page, bad) {
			t.Errorf("%s contains %q:\n%s", what, bad, page)
		}
	}
}

// Foreign text is text in every place of a page, of an update and of an error.
func TestForeignText(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	link := s.link("/a", false)
	base, _, _ := strings.Cut(link, "enter?")
	_, page := s.do(s.browser, "GET", link, "")
	if !strings.Contains(page, "evil") {
		t.Fatalf("the page shows no foreign text: %s", page)
	}
	harmless(t, "the page", page)
	if strings.Contains(page, known) {
		t.Errorf("the page has a secret: %s", page)
	}
	_, page = s.do(s.browser, "GET", base+"fake?"+url.QueryEscape(hostile)+"="+url.QueryEscape(hostile), "")
	harmless(t, "a page with a hostile address", page)
	_, page = s.do(s.browser, "GET", base+url.PathEscape(hostile), "")
	harmless(t, "a page that is missing", page)
	_, page = s.do(s.newBrowser(), "GET", base+url.PathEscape(hostile)+"?"+url.QueryEscape(hostile), "")
	harmless(t, "the page before the login", page)
	if got := markup.Harmless("<b>\x1b[31m\u202ea\u200f\n\t</b>"); got != "<b>[31ma\n\t</b>" {
		t.Errorf("got %q", got)
	}
}

// The pages have one host, so a script that a stranger stored in the browser for another run of the
// site, or for another name of this machine, is not at theirs.
func TestHost(t *testing.T) {
	t.Parallel()
	s := standAt(t, "run.localhost")
	link, err := s.site.Link(t.Context(), "/w", false)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		host string
		want int
	}{
		{"localhost:3000", http.StatusUnauthorized}, {"127.0.0.1", http.StatusUnauthorized}, {"before.localhost", http.StatusUnauthorized},
		{"xrun.localhost", http.StatusUnauthorized}, {"x.run.localhost", http.StatusUnauthorized}, {"run.localhost:3000", http.StatusSeeOther},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+tt.host+link, nil)
		w := httptest.NewRecorder()
		s.site.ServeHTTP(w, r)
		if w.Code != tt.want {
			t.Errorf("%s: %d", tt.host, w.Code)
		}
	}
}
