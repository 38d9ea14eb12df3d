package browser_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/copse"
	"github.com/copse-dev/copse/internal/test/chrome"
	"github.com/copse-dev/copse/internal/test/demo"
	"github.com/copse-dev/copse/internal/test/need"
)

// copse runs a command in the repository, as another process does.
func (s *site) copse(args ...string) string {
	s.t.Helper()
	env, out := s.env(args...)
	env.Stdin = bytes.NewReader(nil)
	if code := copse.Run(s.t.Context(), env); code != app.OK {
		s.t.Fatalf("copse %v: %s", args, out)
	}
	return out.String()
}

// click clicks an element with a script's help, wherever it is on the page.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.until(selector, fmt.Sprintf("document.querySelector(%q) !== null", selector))
	eval[bool](b, fmt.Sprintf("(document.querySelector(%q).click(), true)", selector))
}

// fill types a value into a field.
func (b *tab) fill(selector, value string) {
	b.t.Helper()
	b.until(selector, fmt.Sprintf("document.querySelector(%q) !== null", selector))
	eval[bool](b, fmt.Sprintf("(document.querySelector(%q).focus(), document.querySelector(%q).select?.(), true)", selector, selector))
	b.do(chromedp.KeyEvent(value))
}

// shows waits until the page has a text.
func (b *tab) shows(text string) {
	b.t.Helper()
	b.until(text, fmt.Sprintf("document.body.innerText.includes(%q)", text))
}

// TestItems does everything with an item that the page offers, and sees what another process
// does.
func TestItems(t *testing.T) {
	chromium(t)
	s := serve(t, demo.New(t))
	b := open(t, s.link("items"), chromedp.EmulateViewport(1440, 900))
	b.live()
	b.do(chromedp.KeyEvent("c"))
	b.until("the form", `document.activeElement?.name === "title"`)
	b.do(chromedp.KeyEvent("Rotate the key" + kb.Enter))
	b.shows("was created")
	id := eval[string](b, `location.pathname.split("/").pop()`)
	if got := s.copse("item", "show", id); !strings.Contains(got, "Rotate the key") {
		t.Fatal(got)
	}
	b.fill(`textarea[name=text]`, "Done with **Lax**.")
	b.click(`form[action*="/comment"] button`)
	b.until("the comment", `document.querySelector(".quote strong")?.textContent === "Lax"`)
	b.click(`a[href*="edit=1"]`)
	b.fill(`#e-title`, "Rotate the signing key")
	b.click(`#detail .button.main`)
	b.shows("was changed")
	b.until("the new title", `document.querySelector("#detail h2").textContent.includes("signing")`)
	b.click(`form[action*="/undo"] button`)
	b.until("the old title", `!document.querySelector("#detail h2").textContent.includes("signing")`)
	b.click(`form[action*="/claim"] button`)
	b.until("the claim", `document.querySelector('form[action*="/release"]') !== null`)
	watching := open(t, s.link("worktrees"), chromedp.EmulateViewport(1440, 900))
	watching.shows("holds item " + id)
	b.click(`form[action*="/release"] button`)
	watching.until("the release", `!document.body.innerText.includes("holds item")`)
	b.shows("Nobody works on it")
	s.copse("item", "update", id, "--status", "in-progress")
	b.until("what another process did", `document.querySelector("[aria-label='in-progress'] .selected") !== null`)

	// Two steps, and back.
	b.click(`a[href*="delete=1"]`)
	b.shows("Delete item " + id + "?")
	b.click(`form[action*="/delete"] button`)
	b.shows("was deleted")
	b.until("it is gone", fmt.Sprintf(`document.querySelector('a.open[href^="items/%s"]') === null`, id))
	b.click(`#notice form button`)
	b.until("it is back", fmt.Sprintf(`document.querySelector('a.open[href^="items/%s"]') !== null`, id))

	// Filter while typing; check two; change both.
	b.click(`a[href="items"]`)
	b.fill(`#q`, "rotate")
	b.until("one is left", `document.querySelectorAll(".status .row").length === 1 && location.search.includes("q=rotate")`)
	b.until("the focus stays", `document.activeElement.id === "q"`)
	b.do(chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent("j"), chromedp.KeyEvent("x"))
	b.until("it is checked", `document.querySelector("input.pick").checked`)
	b.click(`.bulk summary`)
	eval[bool](b, `(document.querySelector("#bulk-field").value = "priority", true)`)
	b.fill(`#bulk-value`, "critical")
	b.click(`#bulk button`)
	b.shows("1 item changed")
	if got := s.copse("item", "show", id); !strings.Contains(got, "critical") {
		t.Error(got)
	}
}

// TestReadOnly opens pages that offer no change.
func TestReadOnly(t *testing.T) {
	chromium(t)
	s := serve(t, demo.New(t))
	b := open(t, s.link("items/2", "--read-only"), chromedp.EmulateViewport(1440, 900))
	for _, page := range []string{"items/2", "items?new=1", "tasks", "prompts"} {
		b.do(chromedp.Navigate(eval[string](b, "document.baseURI")+page), chromedp.WaitVisible(chromedp.CSS("#main h1")))
		if n := eval[int](b, `document.querySelectorAll('form[method=post]:not([data-ask]), [data-create]').length`); n != 0 {
			t.Errorf("%s offers %d changes", page, n)
		}
	}
	status := eval[int](b, `fetch(document.baseURI + "items/2/update", {method: "POST", body: new URLSearchParams({title: "x"}), headers: {"X-Board-Token": document.querySelector('meta[name="board-token"]').content}}).then((r) => r.status)`)
	if status != 403 {
		t.Errorf("a change is answered with %d", status)
	}
	b.Forgive() // the browser notes the status
}

// TestTasks runs a task with arguments, watches it, and stops it.
func TestTasks(t *testing.T) {
	chromium(t)
	if _, err := exec.LookPath("just"); err != nil {
		need.Skip(t, "just is not installed")
	}
	d := demo.New(t)
	if err := os.WriteFile(filepath.Join(d.Dir, "justfile"), []byte("# Say it\nsay what:\n  @echo heard {{quote(what)}}\n\n[confirm]\nwait:\n  @echo begun; sleep 60\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.Environ = append(d.Environ, "PATH="+os.Getenv("PATH"))
	s := serve(t, d)
	b := open(t, s.link("tasks?task=say"), chromedp.EmulateViewport(1440, 900))
	b.live()
	b.fill("#p0", "good news")
	b.click("#detail .button.main")
	b.until("the output", `!!document.querySelector("#detail pre.out")?.textContent.includes("heard good news")`)
	b.until("the end", `document.querySelector("#detail .chip.green")?.textContent === "done"`)
	b.do(chromedp.Navigate(eval[string](b, "document.baseURI")+"tasks?task=wait"), chromedp.WaitVisible(chromedp.CSS("#detail h2")))
	if eval[bool](b, `document.querySelector("#detail form").checkValidity()`) {
		t.Error("a task that asks runs without an answer")
	}
	b.click("input[name=confirmed]")
	b.click("#detail .button.main")
	b.until("the output", `!!document.querySelector("#detail pre.out")?.textContent.includes("begun")`)
	b.click(`form[action*="/stop"] button`)
	b.until("the end", `document.querySelector("#detail .chip.amber")?.textContent === "stopped"`)
}

// copied clicks a button that copies, and returns what the clipboard has then.
func (b *tab) copied(selector string) string {
	b.t.Helper()
	in := chromedp.FromContext(b.Ctx).BrowserContextID
	for _, name := range []string{"clipboard-read", "clipboard-write"} {
		b.do(chrome.Command(browser.SetPermission, browser.SetPermissionParams{Permission: &browser.PermissionDescriptor{Name: name}, Setting: browser.PermissionSettingGranted, BrowserContextID: in}))
	}
	b.do(chrome.Command(emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}), chromedp.Click(chromedp.CSS(selector)))
	b.shows("Copied.")
	return eval[string](b, "navigator.clipboard.readText()")
}

// TestPromptsAndSearch finds by typing, from every page.
func TestPromptsAndSearch(t *testing.T) {
	chromium(t)
	s := serve(t, demo.New(t))
	b := open(t, s.link("prompts"), chromedp.EmulateViewport(1440, 900))
	b.live()
	b.fill("#prompts-text", "commi")
	b.until("the prompt", `document.querySelectorAll(".prompts .row").length > 0 && location.search.includes("q=commi")`)
	b.click(".prompts .row a.open")
	b.until("the panel", `document.querySelector("#detail form") !== null`)
	b.click("#detail .button.main")
	b.until("the text", `(document.querySelector("#detail pre.tall")?.textContent.length || 0) > 20 && !document.querySelector("#detail [data-copy]").hidden`)
	if at := eval[string](b, "location.href"); strings.Contains(at, "render") || strings.Contains(at, "input") || strings.Contains(at, "uv0") {
		t.Errorf("values are in the address: %s", at)
	}
	b.accessible(axe(t))
	if got := b.copied(`#blocks > :last-child [data-copy]`); got == "" || got != eval[string](b, `document.querySelector("#detail pre.tall").textContent`) {
		t.Errorf("%q is copied", got)
	}

	b.do(chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent("/"))
	b.until("the search box", `document.activeElement.id === "find"`)
	b.do(chromedp.KeyEvent("login"))
	b.until("what was found", `location.pathname.endsWith("/search") && document.querySelectorAll(".hits .row").length > 2 && document.activeElement.id === "find"`)
	b.do(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Enter))
	b.until("the first hit", `!location.pathname.endsWith("/search") || location.search.includes("at=")`)
}
