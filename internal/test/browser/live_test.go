package browser_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/copse-dev/copse/internal/test/chrome"
	"github.com/copse-dev/copse/internal/test/demo"
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

// TestWithoutScripts reads the page where scripts are off.
func TestWithoutScripts(t *testing.T) {
	chromium(t)
	s := serve(t, demo.New(t))
	b := open(t, s.link("stacks"), chromedp.EmulateViewport(1440, 900), chrome.Command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))
	b.do(chromedp.Click(chromedp.CSS(`a.open[href*="SHOP-7"]`)), chromedp.WaitVisible(chromedp.CSS("#detail h2")),
		chromedp.Click(chromedp.CSS(`#nav a[href="worktrees"]`)), chromedp.WaitVisible(chromedp.CSS(".worktrees .row")),
		chromedp.Click(chromedp.CSS(`#top .help`)), chromedp.WaitVisible(chromedp.CSS("#main .keys")))
}
