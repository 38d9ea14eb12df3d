package browser_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/copse-dev/copse/internal/presence"
	"github.com/copse-dev/copse/internal/test/chrome"
	"github.com/copse-dev/copse/internal/test/demo"
)

// busy adds to the demonstration what happens beside the person who looks: a second worktree
// whose branch conflicts with the first, two agents, one of them silent, and a claim.
func busy(t *testing.T, d *demo.Demo) {
	t.Helper()
	s := &site{t: t, d: d, env: environment(d)}
	pay := filepath.Join(filepath.Dir(d.Dir), "shop-pay")
	s.git("worktree", "add", "-q", "-b", "feature/receipts", pay, "main")
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(pay, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(pay, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("internal/login/session.go", "package login\n\n// Session is not kept for receipts.\ntype Session struct{ Receipt bool }\n")
	s.git("-C", pay, "add", ".")
	s.git("-C", pay, "commit", "-q", "-m", "Send a receipt by mail")
	write("receipt.go", "package main\n")
	s.copse("branch", "parent", "feature/receipts", "main")
	s.copse("item", "create", "Receipts by mail", "--status", "in-progress", "--priority", "high")
	s.copse("item", "link", "5", "--branch", "feature/receipts")
	s.copse("item", "link", "2", "--branch", "feature/SHOP-8-session", "--pr", "43")
	s.copse("item", "claim", "2")
	s.fetched("refs/remotes/origin/main", "main")
}

// fetched leaves what a fetch leaves that ended three minutes ago and brought the commit.
func (s *site) fetched(ref, commit string) {
	s.t.Helper()
	s.git("update-ref", ref, commit)
	path := filepath.Join(s.d.Dir, ".git", "FETCH_HEAD")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		s.t.Fatal(err)
	}
	env, _ := s.env()
	at := env.Now().Add(-3 * time.Minute)
	if err := os.Chtimes(path, at, at); err != nil {
		s.t.Fatal(err)
	}
}

// agents lets two agents work in the worktrees until the test ends.
func (s *site) agents() {
	s.t.Helper()
	env, _ := s.env()
	late := func() time.Time { return env.Now().Add(-7 * time.Minute) }
	for name, one := range map[string]struct {
		dir, tool string
		now       func() time.Time
	}{"Claude Code": {s.d.Dir, "update_item", env.Now}, "Codex": {filepath.Join(filepath.Dir(s.d.Dir), "shop-pay"), "run_just_task", late}} {
		r := presence.NewRegister(filepath.Join(env.RuntimeDir(), "presence"), one.now, func(error) {})
		r.Seen(name, one.dir, one.tool)
		s.t.Cleanup(func() { _ = r.Close() })
	}
}

// middles returns the vertical middles of the rows of two branches; a wire has one of them at
// each end.
const middles = `(() => {
	const middle = (name) => { const r = document.querySelector('#sections a.open[href*="' + name + '"]').closest("li").getBoundingClientRect(); return (r.top + r.bottom) / 2; };
	const wire = document.querySelector(".wire")?.getBoundingClientRect() || {top: 0, bottom: 0, width: 0, right: 0};
	return [middle("session"), middle("receipts"), wire.top, wire.bottom, wire.width, document.querySelector("#sections .card").getBoundingClientRect().left - wire.right];
})()`

// TestStacks looks at everything that a row of the stacks says, and at the wire between two
// branches that conflict.
func TestStacks(t *testing.T) {
	chromium(t)
	d := demo.New(t)
	busy(t, d)
	(&site{t: t, d: d, env: environment(d)}).copse("branch", "status", "--fresh") // which asks Jira
	s := serve(t, d, "-v")                                                        // with Jira
	s.agents()
	b := open(t, s.link("stacks"), chromedp.EmulateViewport(1440, 900))
	b.until("GitHub has answered", `!!document.querySelector("#top .fresh time") && document.querySelector(".chip.blue") !== null`)
	b.until("the stacks are counted", `document.querySelector("nav").innerText.includes("3")`)
	b.until("the radar has found a conflict", `document.querySelector(".wire") !== null`)
	b.until("the agents are there", `document.body.innerText.includes("Claude Code") && document.body.innerText.includes("last seen")`)
	row := `document.querySelector('#sections a.open[href*="SHOP-8"]').closest("li")`
	for _, want := range []string{"Remember who logged in", "#43 open", "changes requested", "↑3 ↓0", "Claude Code", "item 2", "SHOP-8", "conflicts with feature/receipts"} {
		if !eval[bool](b, row+`.innerText.includes("`+want+`")`) {
			t.Errorf("the row does not say %q: %s", want, eval[string](b, row+".innerText"))
		}
	}
	if jira := eval[string](b, row+`.querySelector(".cells > div:last-child").innerText`); !strings.Contains(jira, "SHOP-8") {
		t.Errorf("the row does not name the Jira issue beside the item: %s", jira)
	}
	straight := func(where string) {
		t.Helper()
		m := eval[[]float64](b, middles)
		for _, distance := range []float64{min(m[0], m[1]) - m[2], max(m[0], m[1]) - m[3], m[5]} {
			if math.Abs(distance) > 2 || m[4] < 3 {
				t.Errorf("%s: the wire does not connect the rows: %v", where, m)
			}
		}
	}
	straight("wide")
	// Checks have their names where a mouse or the keyboard points.
	checks := `document.querySelector('#sections a.open[href*="SHOP-8"]').closest("li").querySelector(".checks")`
	shown := func() bool {
		return eval[bool](b, `[...`+checks+`.children].some((li) => li.textContent === "e2e failed" && li.getBoundingClientRect().width > 40 && getComputedStyle(li).textIndent === "0px")`)
	}
	if shown() {
		t.Error("the names of checks cover the page")
	}
	eval[bool](b, `(`+checks+`.focus(), true)`)
	if !shown() {
		t.Error("the names of checks are not shown on focus")
	}
	eval[bool](b, `(document.activeElement.blur(), true)`)
	at := eval[[]float64](b, `(() => { const r = `+checks+`.getBoundingClientRect(); return [r.x + 4, r.y + r.height / 2]; })()`)
	b.do(chromedp.MouseClickXY(at[0], at[1]))
	if !shown() {
		t.Error("the names of checks are not shown on hover")
	}
	b.do(chromedp.MouseClickXY(2, 2))

	// A row stays where it is when it is opened, and the panel says what conflicts.
	before := eval[float64](b, `document.querySelector('#sections a.open[href*="receipts"]').getBoundingClientRect().top`)
	b.click(`#sections a.open[href*="receipts"]`)
	b.until("the panel", `document.querySelector("#detail h2")?.textContent === "feature/receipts"`)
	if after := eval[float64](b, `document.querySelector('#sections a.open[href*="receipts"]').getBoundingClientRect().top`); math.Abs(after-before) > 60 {
		t.Errorf("the row moves from %v to %v", before, after)
	}
	b.until("the conflict", `document.querySelector("#detail").innerText.includes("internal/login/session.go")`)
	b.click(`#sections a.open[href*="SHOP-8"]`)
	b.until("the issue", `[...document.querySelectorAll("#detail .kv > div")].some((one) => one.querySelector("dt").textContent === "Jira" && /^SHOP-8 · \w/.test(one.querySelector("dd").textContent))`)
	b.do(chromedp.EmulateViewport(390, 844))
	straight("phone")
	for _, width := range []int{16, 72} { // one path, and five
		if !eval[bool](b, fmt.Sprintf(`(() => {
			const row = document.querySelector('#sections a.open[href*="SHOP-8"]').closest("li"), graph = row.querySelector(".g > svg");
			graph.setAttribute("width", %d);
			return [...row.querySelectorAll(".cells > div")].every((one) => {
				const text = document.createRange();
				text.selectNodeContents(one);
				return [...text.getClientRects()].every((r) => r.width === 0 || r.left >= graph.getBoundingClientRect().right);
			});
		})()`, width)) {
			t.Errorf("the graph of %d pixels covers the text of its row", width)
		}
	}
	b.do(chromedp.EmulateViewport(1440, 900), chrome.Command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}),
		chromedp.Navigate(eval[string](b, "document.baseURI")+"stacks"), chromedp.WaitVisible(chromedp.CSS(".wire")))
	b.do(chrome.Command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: false}))
	straight("without scripts")
}

// TestPicture makes the picture of the README from the demonstration, or compares it.
func TestPicture(t *testing.T) {
	chromium(t)
	d := demo.New(t)
	busy(t, d)
	s := serve(t, d)
	s.agents()
	b := open(t, s.link("stacks?branch=feature%2FSHOP-8-session"), chromedp.EmulateViewport(1440, 800))
	b.until("GitHub has answered", `!!document.querySelector("#top .fresh time") && document.querySelector(".chip.blue") !== null`)
	b.until("the stacks are counted", `document.querySelector("nav").innerText.includes("3")`)
	b.until("the radar has found a conflict", `document.querySelector(".wire") !== null`)
	b.until("the agents are there", `document.body.innerText.includes("Claude Code") && document.body.innerText.includes("last seen")`)
	b.until("the thread", `document.body.innerText.includes("A day is too long for a shared computer.")`)
	b.until("the trunk", `document.body.innerText.includes("trunk · up to date with origin/main, fetched 3 min ago")`)
	for _, scheme := range []string{"light", "dark"} {
		b.do(media("prefers-color-scheme", scheme, "prefers-reduced-motion", "reduce"))
		b.looksLike(filepath.Join("..", "..", "..", "docs", "board-"+scheme+".png"), 1)
	}
}
