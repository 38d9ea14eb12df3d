package browser_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/copse-dev/copse/internal/presence"
	"github.com/copse-dev/copse/internal/test/chrome"
	"github.com/copse-dev/copse/internal/test/demo"
	"github.com/copse-dev/copse/internal/test/need"
)

// git runs git in the repository, as another process does.
func (s *site) git(args ...string) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "git", args...)
	cmd.Dir, cmd.Env = s.d.Dir, s.d.Environ
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

// TestLive changes the repository from another process. The open page shows it, with a few
// kilobytes, and neither the rows that stayed nor what a person typed or reached change.
func TestLive(t *testing.T) {
	chromium(t)
	s := serve(t, demo.New(t))
	b := open(t, s.link("stacks"), chromedp.EmulateViewport(1440, 900))
	b.until("GitHub has answered", `document.querySelector(".chip.blue") !== null`)
	b.live()
	eval[bool](b, `(document.querySelector('a.open[href*="SHOP-7"]').closest("li").mine = true, document.querySelector('a.open[href*="SHOP-7"]').focus(), true)`)
	b.received = 0
	for what, change := range map[string]struct {
		do   func()
		seen string
	}{
		"a branch": {func() { s.git("branch", "feature/new", "main") }, `document.querySelector('a.open[href*="feature%2Fnew"]') !== null`},
		"a file": {func() {
			if err := os.WriteFile(filepath.Join(s.d.Dir, "new.go"), []byte("package main\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, `document.body.textContent.includes("2 changed")`},
	} {
		change.do()
		took := b.until(what, change.seen)
		t.Logf("%s is shown after %s", what, took.Round(time.Millisecond)) // tens of milliseconds and the pause, on a machine with nothing else to do
	}
	s.git("branch", "-D", "-q", "feature/new")
	b.until("the branch is gone", `document.querySelector('a.open[href*="feature%2Fnew"]') === null`)
	if !eval[bool](b, `document.querySelector('a.open[href*="SHOP-7"]').closest("li").mine === true`) {
		t.Error("a row that did not change was replaced")
	}
	if !eval[bool](b, `document.activeElement.href?.includes("SHOP-7") === true`) {
		t.Error("an update took the focus away")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.received == 0 || b.received > 3*5<<10 {
		t.Errorf("three updates have %d bytes, more than 5 KB each", b.received)
	}
}

// TestKeys goes through the page without a mouse.
func TestKeys(t *testing.T) {
	chromium(t)
	s := serve(t, demo.New(t))
	b := open(t, s.link("stacks"), chromedp.EmulateViewport(1440, 900), media("prefers-reduced-motion", "reduce"))
	b.live()
	press := func(keys string) { b.do(chromedp.KeyEvent(keys)) }
	press("?")
	b.until("the list of keys", `document.getElementById("keys").open`)
	press(kb.Escape)
	b.until("it closes", `!document.getElementById("keys").open`)
	press("j")
	press("j")
	b.until("the second row", `document.activeElement === document.querySelectorAll("#sections a.open")[1]`)
	press("k")
	b.until("the first row", `document.activeElement === document.querySelectorAll("#sections a.open")[0]`)
	press(kb.Enter)
	b.until("the panel", `!document.getElementById("detail").hidden && location.search.startsWith("?branch=")`)
	press(kb.Escape)
	b.until("it closes", `document.getElementById("detail").hidden && location.search === ""`)
	press("2")
	b.until("the second view", `document.querySelector("#nav [aria-current]").textContent.startsWith("Worktrees")`)
	b.do(chromedp.NavigateBack())
	b.until("back", `document.querySelector("h1").textContent === "Stacks"`)
	if n := eval[float64](b, `getComputedStyle(Object.assign(document.querySelector(".row"), {className: "row changed"})).animationDuration === "0s" || getComputedStyle(document.querySelector(".row")).animationName === "none" ? 1 : 0`); n != 1 {
		t.Error("a changed row moves although the person asked for less motion")
	}
}

// TestEveryViewIsLive changes, from another process, what each of the views shows.
func TestEveryViewIsLive(t *testing.T) {
	chromium(t)
	d := demo.New(t)
	s := serve(t, d)
	env, _ := s.env()
	agent := presence.NewRegister(filepath.Join(env.RuntimeDir(), "presence"), env.Now, func(error) {})
	t.Cleanup(func() { _ = agent.Close() })
	b := open(t, s.link("items"), chromedp.EmulateViewport(1440, 900))
	base := eval[string](b, "document.baseURI")
	for _, one := range []struct {
		page, what string
		change     func()
		seen       string
	}{
		{"items", "an item", func() { s.copse("item", "create", "Written elsewhere") }, `document.body.innerText.includes("Written elsewhere")`},
		{"items/2", "a comment", func() { s.copse("item", "comment", "2", "Said elsewhere") }, `document.querySelector("#detail").innerText.includes("Said elsewhere")`},
		{"items/2", "a claim", func() { s.copse("item", "claim", "2") }, `document.querySelector('form[action*="/release"]') !== null`},
		{"items?view=tree", "a status", func() { s.copse("item", "update", "4", "--status", "done") }, `document.querySelector(".tree .chip.green") !== null`},
		{"worktrees", "a worktree", func() {
			s.git("worktree", "add", "-q", "-b", "feature/elsewhere", filepath.Join(filepath.Dir(d.Dir), "elsewhere"))
		}, `document.body.innerText.includes("feature/elsewhere")`},
		{"worktrees", "an agent", func() { agent.Seen("Elsewhere", d.Dir, "show_item") }, `document.querySelector("#sections").innerText.includes("Elsewhere")`},
		{"health", "a server that ends", func() {
			s.git("worktree", "remove", "--force", filepath.Join(filepath.Dir(d.Dir), "elsewhere"))
		}, `!document.body.innerText.includes("feature/elsewhere")`},
		{"prompts", "a prompt", func() {
			path := filepath.Join(d.Dir, ".agent", "team", "registry.json")
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(`{"tools":{"commands":[{"c1":"say","c2":"hello","c3":"elsewhere","description":"Hello"}]}}`), 0o600); err != nil {
				t.Fatal(err)
			}
		}, `document.body.innerText.includes("say hello elsewhere")`},
	} {
		b.do(chromedp.Navigate(base+one.page), chromedp.WaitVisible(chromedp.CSS("#main h1")))
		b.live()
		one.change()
		t.Logf("%s: %s is shown after %s", one.page, one.what, b.until(one.what, one.seen).Round(time.Millisecond))
	}
}

// A page that is not connected says so, and since when, until it is connected again. After a restart
// of the server, which refuses it, it names the command that opens a new page.
func TestRestart(t *testing.T) {
	chromium(t)
	s := serve(t, demo.New(t))
	b := open(t, s.link("items"))
	t.Cleanup(func() {
		for _, p := range b.Forgive() {
			if !strings.Contains(p, "Failed to load resource") {
				t.Error(p)
			}
		}
	})
	b.live()
	says := func(what, want string) {
		t.Helper()
		b.until(what, fmt.Sprintf(`/^%s$/.test(document.getElementById("lost").textContent)`, want))
	}
	const trying = `Not connected since \d\d:\d\d; trying again`
	says("no message", "")
	eval[int](b, `(() => {
		const timeout = setTimeout, Source = EventSource;
		window.setTimeout = (f, ms) => timeout(f, ms / 20);
		window.EventSource = function (url) { return new Source(window.broken ? "nowhere" : url); };
		window.EventSource.CLOSED = Source.CLOSED;
		window.broken = true;
		document.dispatchEvent(new Event("visibilitychange"));
		return 0;
	})()`)
	says("the page is not connected", trying)
	b.until("the message covers nothing", `document.getElementById("lost").getBoundingClientRect().bottom <= document.getElementById("top").getBoundingClientRect().top`)
	s.copse("item", "create", "In the meantime")
	eval[bool](b, `window.broken = false; true`)
	says("the page is connected again", "")
	b.live()
	b.until("the page is up to date", `document.getElementById("main").innerText.includes("In the meantime")`)
	s.stop()
	says("the server has ended", trying)
	s.start()
	says("the server has restarted", "The server has restarted or the login has expired: run copse board")
}

// tab presses the tabulator until an element has the focus.
func (b *tab) tab(selector string) {
	b.t.Helper()
	for range 120 {
		b.do(chromedp.KeyEvent(kb.Tab))
		if eval[bool](b, fmt.Sprintf("document.activeElement?.matches(%q) === true", selector)) {
			return
		}
	}
	b.t.Fatalf("no number of tabs leads to %s", selector)
}

// TestTasksByKeyboard runs a task and stops it with the keyboard alone. A running task and one that
// failed have no barrier that axe-core knows.
func TestTasksByKeyboard(t *testing.T) {
	chromium(t)
	script := axe(t)
	if _, err := exec.LookPath("just"); err != nil {
		need.Skip(t, "just is not installed")
	}
	d := demo.New(t)
	if err := os.WriteFile(filepath.Join(d.Dir, "justfile"), []byte("# Wait for someone\n[confirm]\nawait who:\n  @echo waiting for {{quote(who)}}; sleep 60\n\nbroken:\n  @echo 'it is broken' >&2; exit 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.Environ = append(d.Environ, "PATH="+os.Getenv("PATH"))
	s := serve(t, d)
	b := open(t, s.link("stacks"), chromedp.EmulateViewport(1440, 900))
	b.live()
	press := func(keys string) { b.do(chromedp.KeyEvent(keys)) }
	everywhere := func(what string) {
		t.Helper()
		for _, form := range []struct {
			scheme        string
			width, height int64
		}{{"light", 1440, 900}, {"dark", 1440, 900}, {"light", 390, 844}} {
			b.do(chromedp.EmulateViewport(form.width, form.height), media("prefers-color-scheme", form.scheme))
			b.accessible(script)
			if wide := eval[int](b, "document.documentElement.scrollWidth"); wide > int(form.width) {
				t.Errorf("%s: the page is %d pixels wide, more than the window", what, wide)
			}
		}
		b.do(chromedp.EmulateViewport(1440, 900), media())
	}
	press("4")
	b.until("the view", `document.querySelector("h1").textContent === "Tasks"`)
	b.live()
	press("j")
	press(kb.Enter)
	b.until("the field", `document.activeElement?.id === "p0"`)
	press("eve")
	b.tab("input[name=confirmed]")
	press(" ")
	b.tab("#detail .button.main")
	press(kb.Enter)
	b.until("the output", `!!document.querySelector("#detail pre.out")?.textContent.includes("waiting for eve")`)
	everywhere("a running task")
	b.tab(`form[action*="/stop"] button`)
	press(kb.Enter)
	b.until("the end", `document.querySelector("#detail .chip.amber")?.textContent === "stopped"`)
	b.until("the notice", `document.getElementById("notice").textContent !== ""`)
	press(kb.Escape)
	b.until("the notice is closed", `document.getElementById("notice").textContent === ""`)
	press(kb.Escape)
	b.until("the panel is closed", `document.getElementById("detail").hidden`)
	b.tab(`#sections a.open[href="tasks?task=broken"]`)
	press(kb.Enter)
	b.until("the form", `document.querySelector('#detail form[action="tasks/run"]') !== null`)
	b.tab("#detail .button.main")
	press(kb.Enter)
	b.until("the failure", `document.querySelector("#detail .chip.red") !== null && document.querySelector("#detail pre.out").textContent.includes("it is broken")`)
	everywhere("a task that failed")
}

// TestItemsByKeyboard does with the keyboard alone what the page offers for items.
func TestItemsByKeyboard(t *testing.T) {
	chromium(t)
	s := serve(t, demo.New(t))
	b := open(t, s.link("items"), chromedp.EmulateViewport(1440, 900))
	b.live()
	press := func(keys string) { b.do(chromedp.KeyEvent(keys)) }
	press("c")
	b.until("the form", `document.activeElement?.name === "title"`)
	press("By keyboard" + kb.Enter)
	b.shows("was created")
	b.until("the panel", `document.querySelector("#detail h2")?.textContent.includes("By keyboard") === true`)
	id := eval[string](b, `location.pathname.split("/").pop()`)
	b.tab("#comment")
	press("Said with keys.")
	b.tab(`form[action*="/comment"] button`)
	press(kb.Enter)
	b.until("the comment", `document.querySelector(".quote")?.textContent.includes("Said with keys.") === true`)
	b.tab(`form[action*="/claim"] button`)
	press(kb.Enter)
	b.until("the claim", `document.querySelector('form[action*="/release"]') !== null`)
	b.tab(`form[action*="/release"] button`)
	press(kb.Enter)
	b.until("the release", `document.querySelector('form[action*="/release"]') === null && document.body.innerText.includes("Nobody works on it")`)
	b.tab(`a[href*="edit=1"]`)
	press(kb.Enter)
	b.until("the form", `document.activeElement?.id === "e-title"`)
	press(" alone" + kb.Enter)
	b.until("the title", `document.querySelector("#detail h2")?.textContent.includes("By keyboard alone") === true`)
	b.tab(`a[href*="delete=1"]`)
	press(kb.Enter)
	b.until("the second step", `document.activeElement?.matches("#detail button.danger") === true`)
	press(kb.Enter)
	b.shows("was deleted")
	b.tab("#notice button")
	press(kb.Enter)
	b.until("it is back", fmt.Sprintf(`document.querySelector('a.open[href^="items/%s"]') !== null`, id))

	// Several at once.
	b.do(chromedp.Navigate(eval[string](b, "document.baseURI")+"items"), chromedp.WaitVisible(chromedp.CSS("#main h1")))
	b.live()
	press("j")
	press("x")
	press("j")
	press("x")
	b.until("two are checked", `document.querySelectorAll("input.pick:checked").length === 2`)
	b.tab(".bulk summary")
	press(kb.Enter)
	b.tab("#bulk-field")
	press("a") // assignee
	b.tab("#bulk-value")
	press("eve")
	b.tab("#bulk button")
	press(kb.Enter)
	b.shows("2 items changed")
	if got := s.copse("item", "list", "--all", "--assignee", "eve", "--json"); strings.Count(got, `"assignee": "eve"`)+strings.Count(got, `"assignee":"eve"`) != 2 {
		t.Error(got)
	}
}

// TestPromptsByKeyboard finds and renders a prompt with the keyboard alone.
func TestPromptsByKeyboard(t *testing.T) {
	chromium(t)
	s := serve(t, demo.New(t))
	b := open(t, s.link("stacks"), chromedp.EmulateViewport(1440, 900))
	b.live()
	press := func(keys string) { b.do(chromedp.KeyEvent(keys)) }
	press("5")
	b.until("the view", `document.querySelector("h1").textContent === "Prompts"`)
	b.live()
	b.tab("#prompts-text")
	press("commit message")
	b.until("the prompt", `location.search.includes("commit") && document.querySelectorAll(".prompts .row").length === 1`)
	press(kb.Escape)
	press("j")
	press(kb.Enter)
	b.until("the panel", `document.querySelector("#detail form") !== null`)
	b.tab("#detail .button.main")
	press(kb.Enter)
	b.until("the text", `(document.querySelector("#detail pre.tall")?.textContent.length || 0) > 20`)
	b.tab("#blocks > :last-child [data-copy]")
}

// TestWithoutScripts reads and uses the page where scripts are off.
func TestWithoutScripts(t *testing.T) {
	chromium(t)
	d := demo.New(t)
	if _, err := exec.LookPath("just"); err == nil {
		d.Environ = append(d.Environ, "PATH="+os.Getenv("PATH"))
	}
	s := serve(t, d)
	b := open(t, s.link("stacks"), chromedp.EmulateViewport(1440, 900))
	base := eval[string](b, "document.baseURI")
	see := func(selector string) step { return chromedp.WaitVisible(chromedp.CSS(selector)) }
	click := func(selector string) step { return chromedp.Click(chromedp.CSS(selector)) }
	b.do(chrome.Command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}), chromedp.Navigate(base+"stacks"),
		click(`a.open[href*="SHOP-7"]`), see("#detail h2"),
		click(`#nav a[href="worktrees"]`), see(".worktrees .row"), click(".worktrees .row a.open"), see("#detail .refs.mono li"),
		click(`#top .help`), see("#main .keys"),
		click(`#nav a[href="items"]`), see(".status .row"), click(`a.open[href="items/2"]`), see("#detail #comment"),
		chromedp.SendKeys(chromedp.CSS("#comment"), "Without scripts."), click(`form[action*="/comment"] button`), see("#detail .quote"), see("#notice"),
		click(".switch a:not(.on)"), see(".tree .row"), chromedp.SendKeys(chromedp.CSS("#q"), "cookie"), click(".filters noscript button, .filters button"), see(".tree .row:only-child"),
		chromedp.Navigate(base+"items/4?delete=1"), see("#detail button.danger"), click("#detail button.danger"), see("#notice form button"), click("#notice form button"), see("#detail h2"),
		click(`#nav a[href="prompts"]`), see(".prompts .row"), click(".prompts .row a.open"), see("#detail form"), click("#detail .button.main"), see("#detail pre.tall"),
		click(`#nav a[href="tasks"]`), see("#main .card"),
		click(`#nav a[href="health"]`), see(".health .row"),
		chromedp.Navigate(base+"search?q=login"), see(".hits .row"))
	if got := s.copse("item", "show", "2"); !strings.Contains(got, "Without scripts.") {
		t.Error(got)
	}
	if _, err := exec.LookPath("just"); err == nil {
		b.do(chromedp.Navigate(base+"tasks?task=test"), see("#detail form"), click("#detail .button.main"), see("#detail pre.out"))
	}
}
