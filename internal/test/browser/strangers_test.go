package browser_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/copse-dev/copse/internal/presence"
	"github.com/copse-dev/copse/internal/test/demo"
)

const (
	// evil runs on a page that shows it as HTML, in an attribute, or as an address.
	evil = `"'><img src=x onerror="window.pwned=1"><svg onload="window.pwned=1"><script>window.pwned=1</script>`
	// evilName is the same for names of branches and files.
	evilName = `<img src=x onerror=window.pwned=1>`
)

// TestStoredScripts stores scripts in every field that a stranger can write, and opens every
// view and panel. None of them runs, and no address points outside the web.
func TestStoredScripts(t *testing.T) {
	chromium(t)
	quoted, err := json.Marshal(evil)
	if err != nil {
		t.Fatal(err)
	}
	said := strings.TrimSuffix(string(quoted[1:]), `"`)
	d := demo.New(t,
		"Log in with a passkey", said, "Stay logged in", said, "bob", said, "eve", said, "e2e", said, `"lint"`, `"`+said+`"`, "session.go", said,
		"A day is too long for a shared computer.", said, "In Review", said, "In Progress", said,
		"https://github.com/acme/shop/actions/runs/9/job/43", "javascript:window.pwned=1")
	busy(t, d)
	s := &site{t: t, d: d, env: environment(d)}
	branch := "feature/" + strings.ReplaceAll(evilName, " ", "/") + `"'`
	tree := filepath.Join(filepath.Dir(d.Dir), evilName)
	s.git("worktree", "add", "-q", "-b", branch, tree, "feature/receipts")
	s.copse("branch", "parent", branch, "feature/receipts")
	s.copse("item", "create", evil, "--description", evil+"\n\n[x](javascript:window.pwned=1)\n\n![](https://evil.example/x.png)", "--assignee", evil, "--labels", evil, "--iteration", evil)
	s.copse("item", "link", "6", "--branch", branch, "--pr", "42")
	s.copse("item", "comment", "6", evil, "--author", evil)
	s.copse("item", "update", "6", "--parent", "1")
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(d.Dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d.Dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(evilName, "")
	write("justfile", "# "+evil+"\nshout what='"+evilName+"':\n  @printf '\\033]0;x\\007\\033[31m%s\\n' "+`{{quote(what)}}`+"\n")
	write(".agent/evil/registry.json", fmt.Sprintf(`{"tools":{"commands":[{"c1":%q,"c2":"b","c3":"c","description":%q,"usage":%q,"uv":[{"name":%q,"description":%q}]}]}}`, evilName, evil, evil, evilName, evil))
	pages := []string{
		"stacks", "stacks?branch=" + url.QueryEscape(branch), "stacks?branch=feature%2FSHOP-8-session", "stacks?branch=feature%2FSHOP-7-login",
		"worktrees", "worktrees?at=" + url.QueryEscape(tree), "worktrees?at=" + url.QueryEscape(d.Dir),
		"items?iteration=*", "items?iteration=*&view=tree", "items/6", "items/6?edit=1", "items/6?delete=1", "items/1",
		"prompts", "prompts?agent=evil&c1=" + url.QueryEscape(evilName) + "&c2=b&c3=c", "search?q=pwned", "search?q=onerror&kind=file", "health", url.PathEscape(evilName), "items/" + url.PathEscape(evilName),
	}
	if _, err := exec.LookPath("just"); err == nil {
		d.Environ = append(d.Environ, "PATH="+os.Getenv("PATH"))
		s.copse("task", "run", "shout")
		pages = append(pages, "tasks", "tasks?task=shout")
	}
	s.copse("branch", "status", "--fresh")
	s = serve(t, d, "-v")
	env, _ := s.env()
	agent := presence.NewRegister(filepath.Join(env.RuntimeDir(), "presence"), env.Now, func(error) {})
	agent.Seen(evil, d.Dir, evilName)
	t.Cleanup(func() { _ = agent.Close() })
	b := open(t, s.link("stacks"), chromedp.EmulateViewport(1440, 900))
	b.until("GitHub has answered", `document.querySelector(".chip.blue") !== null`)
	b.until("the agent is there", `[...document.querySelectorAll(".row")].some((r) => r.innerText.includes("onerror") && r.innerText.includes("just now"))`)
	base := eval[string](b, "document.baseURI")
	harmless := func(page string) {
		t.Helper()
		if bad := eval[string](b, `window.pwned ? "a script ran" : [...document.querySelectorAll("#app img, #app svg[onload], #app script, [onerror], [onload]")].map((e) => e.outerHTML).join()
			|| [...document.querySelectorAll("a[href], form[action]")].map((e) => e.href || e.action).filter((a) => !/^https?:/.test(a)).join()`); bad != "" {
			t.Errorf("%s: %s", page, bad)
		}
	}
	for _, page := range pages {
		b.do(chromedp.Navigate(base+page), chromedp.WaitVisible(chromedp.CSS("#main h1")))
		b.until(page+" shows what a stranger wrote", `document.body.innerText.includes("window.pwned") || /There is no|not found/.test(document.body.innerText)`)
		harmless(page)
		b.Forgive() // the status of a page that is missing
	}
	// The run has a page of its own, and an update is not another way in.
	if eval[bool](b, `document.querySelector('a[href^="tasks/"]') !== null`) {
		b.click(`a[href^="tasks/"]`)
		b.until("the output", `document.querySelector("#detail pre.out")?.textContent.includes("window.pwned") === true`)
		harmless("a run")
	}
	b.do(chromedp.Navigate(base+"items?iteration=*"), chromedp.WaitVisible(chromedp.CSS("#main h1")))
	b.live()
	s.copse("item", "create", "Later "+evil)
	b.until("the update", `document.body.innerText.includes("Later")`)
	harmless("an update")
}

// TestOtherOrigins visits pages of strangers with a browser that is logged in: under a name that
// a stranger has let point to this machine, and on another port of this machine. They read
// nothing and change nothing.
func TestOtherOrigins(t *testing.T) {
	chromium(t)
	s := serve(t, demo.New(t))
	b := open(t, s.link("items"), chromedp.EmulateViewport(1440, 900))
	base := eval[string](b, "document.baseURI")
	here, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{here.Path + "items", here.Path + "live/items", here.Path, "/board/", "/mcp", "/healthz"} {
		b.do(chromedp.Navigate("http://" + rebound + ":" + here.Port() + path))
		if text := eval[string](b, "document.documentElement.innerText"); strings.Contains(text, "Session cookie") || strings.Contains(text, "backlog") || len(text) > 400 {
			t.Errorf("a page under another name shows %s: %q", path, text)
		}
		if got := eval[string](b, fmt.Sprintf(`fetch(%q).then((r) => r.status + " " + r.type, (e) => "refused")`, path)); got != "403 basic" && got != "refused" {
			t.Errorf("a script under another name gets %s: %s", path, got)
		}
	}
	b.Forgive()

	// A page on another port has the same site, so cookies alone do not stop it.
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><title>stranger</title><iframe id="frame" src="%[1]sitems"></iframe>
<form id="form" method="post" action="%[1]sitems/create" target="sink"><input name="title" value="Forged"></form><iframe name="sink"></iframe>`, base)
	}))
	t.Cleanup(stranger.Close)
	there := strings.Replace(stranger.URL, "127.0.0.1", here.Hostname(), 1)
	b.do(chromedp.Navigate(there), chromedp.WaitReady(chromedp.CSS("#form")))
	try := func(what, script, want string) {
		t.Helper()
		if got := eval[string](b, script); got != want {
			t.Errorf("%s: %s", what, got)
		}
	}
	for _, path := range []string{"items", "live/items", "items/2"} {
		try("reading "+path, fmt.Sprintf(`fetch(%q, {credentials: "include"}).then((r) => r.text()).then((text) => "read " + text.slice(0, 80), () => "refused")`, base+path), "refused")
	}
	try("a form from a script", fmt.Sprintf(`fetch(%q, {method: "POST", credentials: "include", mode: "no-cors", body: new URLSearchParams({title: "Forged"})}).then((r) => r.text(), () => "").then((text) => text || "nothing is read")`, base+"items/create"), "nothing is read")
	try("a stream", fmt.Sprintf(`new Promise((done) => { const s = new EventSource(%q, {withCredentials: true}); s.onmessage = () => done("read"); s.onerror = () => done("refused"); })`, base+"live/items"), "refused")
	try("a frame", `new Promise((done) => setTimeout(() => { let text = ""; try { text = frame.contentDocument?.body?.innerText || ""; } catch { } done(text.includes("Items") ? "read" : "refused"); }, 300))`, "refused")
	try("a form", `(document.getElementById("form").submit(), new Promise((done) => setTimeout(() => done("sent"), 500)))`, "sent")
	b.Forgive()
	if list := s.copse("item", "list", "--all"); strings.Contains(list, "Forged") {
		t.Errorf("a stranger's page made an item: %s", list)
	}
}
