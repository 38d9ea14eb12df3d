package clients_test

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/copse-dev/copse/internal/test/chrome"
)

//go:embed host.html
var hostPage string

// imports are the modules that the official host side consists of.
const imports = `{"imports":{
  "@modelcontextprotocol/ext-apps/app-bridge": "/modules/@modelcontextprotocol/ext-apps/dist/src/app-bridge.js",
  "@modelcontextprotocol/client": "/modules/@modelcontextprotocol/client/dist/index.mjs",
  "@modelcontextprotocol/client/_shims": "/modules/@modelcontextprotocol/client/dist/shimsBrowser.mjs",
  "@modelcontextprotocol/core": "/modules/@modelcontextprotocol/core/dist/index.mjs",
  "@modelcontextprotocol/core/internal": "/modules/@modelcontextprotocol/core/dist/internal.mjs",
  "zod": "/modules/zod/index.js", "zod/v4": "/modules/zod/v4/index.js", "zod/compile": "/modules/zod/compile.js",
  "pkce-challenge": "/modules/pkce-challenge/dist/index.browser.js", "jose": "/modules/jose/dist/webapi/index.js",
  "eventsource": "/modules/eventsource/dist/index.js", "eventsource-parser": "/modules/eventsource-parser/dist/index.js",
  "eventsource-parser/stream": "/modules/eventsource-parser/dist/stream.js"}}`

// evil is a title that would do something on a careless page.
const evil = `<img src=x onerror="pwned()"><script>pwned()</script>`

// TestApps shows the views of tools in the official host side, in a real browser.
func TestApps(t *testing.T) {
	t.Parallel()
	f := setup(t)
	chrome.Path(t)
	copse := filepath.Join(f.bin, "copse")
	run(t, f.repo, "git", "checkout", "-q", "-b", "feature/<svg/onload=pwned()>")
	run(t, f.repo, copse, "item", "init")
	run(t, f.repo, copse, "item", "create", evil, "--description", evil)
	run(t, f.repo, copse, "item", "create", "Draw the view", "--description", "See https://example.com/design?a=1&b=2.")
	h := startAppHost(t, f, copse)

	browser := &chrome.Browser{Flags: map[string]any{"disable-features": "IsolateSandboxedIframes", "disable-site-isolation-trials": true}}
	t.Cleanup(browser.Close)

	tab := open(t, browser, h, "list_items")
	tab.await(`document.querySelectorAll("#list [data-row]").length === 2`)
	tab.is(`document.querySelector("#list .what a").textContent.includes("onerror=")`, "the title is shown as text")
	tab.is(`document.querySelectorAll("img, svg, #list script").length === 0 && typeof pwned === "undefined"`, "no text became an element")
	tab.is(`document.documentElement.dataset.theme === "dark" && getComputedStyle(document.body).backgroundColor === "rgb(1, 2, 3)" &&
		getComputedStyle(document.body).fontFamily === "monospace"`, "the view has the host's theme")
	// Filter, open, change and comment, each through the host.
	tab.run(`const find = document.querySelector("#filter"); find.value = "draw"; find.dispatchEvent(new InputEvent("input", { bubbles: true }))`)
	tab.await(`document.querySelectorAll("#list [data-row]:not([hidden])").length === 1`)
	tab.run(`document.querySelector('#list a[href="items/1"]').click()`)
	tab.await(`document.querySelector("#item .text")?.textContent.includes("<script>") && document.querySelectorAll("#to-status option").length > 2`)
	tab.is(`document.querySelectorAll("#item a[href^='stacks'], #item a[href*='edit=']").length === 0`, "what has no tool is not offered")
	tab.run(`document.querySelector("#to-status").value = "done"; document.querySelector('form[action^="items/1/update"] button').click()`)
	tab.await(`document.querySelector("#list .chip.green")?.textContent === "done" && document.querySelector("#item header").textContent.includes("done")`)
	tab.is(`getComputedStyle(document.querySelector("#list .chip.green")).color === "rgb(4, 5, 6)"`, "a color with a meaning is the host's")
	tab.run(`document.querySelector("#comment").value = "said in the view"; document.querySelector('form[action^="items/1/comment"] button').click()`)
	tab.await(`document.querySelector("#item").textContent.includes("said in the view")`)
	tab.run(`document.querySelector('#list a[href="items/2"]').click()`)
	tab.await(`document.querySelector('form[action^="items/2/claim"]')`)
	tab.run(`document.querySelector("#item .text a").click()`)
	tab.hostAwait(`window.opened === "https://example.com/design?a=1&b=2"`) // the host decides whether to open it
	tab.run(`document.querySelector('form[action^="items/2/claim"] button').click()`)
	tab.await(`document.querySelector('form[action^="items/2/release"]') && document.querySelector("#list .chip.blue")`)
	if out := run(t, f.repo, copse, "item", "show", "1"); !strings.Contains(out, "said in the view") || !strings.Contains(out, "done") {
		t.Errorf("the item has not changed:\n%s", out)
	}
	tab.run(`document.querySelector("#list").dataset.old = ""; document.querySelector("[data-close]").click(); document.querySelector("[data-refresh]").click()`)
	tab.await(`document.querySelector("#item").children.length === 0 && !("old" in document.querySelector("#list").dataset) && document.querySelectorAll("#list [data-row]").length === 2`)
	tab.inHost(`lighten()`)
	tab.await(`document.documentElement.dataset.theme === "light"`)
	tab.hostIs(`window.height > 100`, "the host knows the view's height")
	tab.inHost(`teardown().then(() => { window.down = true })`)
	tab.hostAwait(`window.down`)
	if want := "show_item update_item list_items show_item add_comment list_items show_item show_item claim_item list_items show_item list_items"; h.calls() != want {
		t.Errorf("the view called %s, want %s", h.calls(), want)
	}

	tab = open(t, browser, h, "get_item_tree")
	tab.await(`document.querySelectorAll("#list [data-row]").length === 2`)
	tab = open(t, browser, h, "get_stack_status")
	tab.await(`document.querySelector("#list .stack a.open")?.textContent === "feature/<svg/onload=pwned()>"`)
	tab.is(`document.querySelectorAll("img, [onload], [onerror]").length === 0 && typeof pwned === "undefined"`, "no branch became an element")
	tab.run(`document.querySelector("#list").dataset.old = ""; document.querySelector("[data-refresh]").click()`)
	tab.await(`!("old" in document.querySelector("#list").dataset)`)
}

// appHost is the program around the official host side: it has the connection to the server.
type appHost struct {
	url    string
	in     io.Writer
	out    *bufio.Scanner
	mu     sync.Mutex
	called []string
}

// startAppHost starts copse for a host with the extension.
func startAppHost(t *testing.T, f fixture, copse string) *appHost {
	cmd := exec.CommandContext(t.Context(), copse, "mcp", "serve")
	cmd.Dir, cmd.Env = f.repo, append(os.Environ(), "GH_TOKEN=", "GITHUB_TOKEN=")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait() // the context can have killed it
	})
	h := &appHost{in: in, out: bufio.NewScanner(out)}
	h.out.Buffer(nil, 1<<24)
	mux := http.NewServeMux()
	mux.Handle("/modules/", http.StripPrefix("/modules/", http.FileServer(http.Dir(f.modules))))
	mux.HandleFunc("/host", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, strings.Replace(hostPage, "IMPORTS", imports, 1))
	})
	mux.HandleFunc("/favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	answer := func(serve func(body map[string]any) (any, error)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			var body map[string]any
			err := json.NewDecoder(r.Body).Decode(&body)
			var out any
			if err == nil {
				out, err = serve(body)
			}
			if err != nil {
				t.Error(err)
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(out)
		}
	}
	mux.HandleFunc("POST /begin", answer(h.begin))
	mux.HandleFunc("POST /call", answer(func(body map[string]any) (any, error) {
		h.mu.Lock()
		h.called = append(h.called, fmt.Sprint(body["name"]))
		h.mu.Unlock()
		return h.ask("tools/call", body)
	}))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	h.url = server.URL
	return h
}

func (h *appHost) calls() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.called, " ")
}

// ask sends a request to copse.
func (h *appHost) ask(method string, params map[string]any) (json.RawMessage, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	params["_meta"] = map[string]any{
		"io.modelcontextprotocol/protocolVersion": "2026-07-28",
		"io.modelcontextprotocol/clientCapabilities": map[string]any{"extensions": map[string]any{
			"io.modelcontextprotocol/ui": map[string]any{"mimeTypes": []string{"text/html;profile=mcp-app"}},
		}},
	}
	if err := json.NewEncoder(h.in).Encode(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}); err != nil {
		return nil, err
	}
	for h.out.Scan() {
		var message struct {
			ID     *int            `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal(h.out.Bytes(), &message); err != nil {
			return nil, err
		}
		if message.ID != nil {
			if message.Error != nil {
				return nil, fmt.Errorf("%s: %s", method, message.Error)
			}
			return message.Result, nil
		}
	}
	return nil, errors.Join(io.ErrUnexpectedEOF, h.out.Err())
}

// begin calls a tool as a model does, and reads the page that the tool is linked with.
func (h *appHost) begin(body map[string]any) (any, error) {
	list, err := h.ask("tools/list", map[string]any{})
	if err != nil {
		return nil, err
	}
	var tools struct {
		Tools []struct {
			Name string `json:"name"`
			Meta struct {
				UI struct {
					URI string `json:"resourceUri"`
				} `json:"ui"`
			} `json:"_meta"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(list, &tools); err != nil {
		return nil, err
	}
	out := map[string]any{"arguments": map[string]any{}, "tool": map[string]any{"name": body["tool"], "inputSchema": map[string]any{"type": "object"}}}
	for _, tool := range tools.Tools {
		if tool.Name != body["tool"] {
			continue
		}
		read, err := h.ask("resources/read", map[string]any{"uri": tool.Meta.UI.URI})
		if err != nil {
			return nil, err
		}
		var page struct {
			Contents []struct {
				Type string `json:"mimeType"`
				Text string `json:"text"`
			} `json:"contents"`
		}
		if err := json.Unmarshal(read, &page); err != nil || len(page.Contents) != 1 || page.Contents[0].Type != "text/html;profile=mcp-app" {
			return nil, fmt.Errorf("%s is %.200s: %w", tool.Meta.UI.URI, read, err)
		}
		out["page"] = page.Contents[0].Text
	}
	out["result"], err = h.ask("tools/call", map[string]any{"name": body["tool"], "arguments": map[string]any{}})
	return out, err
}

// tab is a page of the browser with a view in it.
type tab struct {
	*chrome.Tab

	mu    sync.Mutex
	world runtime.ExecutionContextID // the view's
}

// open shows the answer of a tool.
func open(t *testing.T, browser *chrome.Browser, h *appHost, tool string) *tab {
	t.Helper()
	h.mu.Lock()
	h.called = nil
	h.mu.Unlock()
	one := &tab{}
	one.Tab = browser.Tab(t, strings.TrimPrefix(h.url, "http://"), func(event any) {
		if e, ok := event.(*runtime.EventExecutionContextCreated); ok && (e.Context.Origin == "://" || e.Context.Origin == "null") {
			one.mu.Lock()
			one.world = e.Context.ID
			one.mu.Unlock()
		}
	})
	one.Debug = true // the host side logs each message
	one.Do(chromedp.Navigate(h.url + "/host?tool=" + tool))
	one.hostAwait(`window.shown`)
	return one
}

// evaluate runs an expression in the view, or in the host around it.
func evaluate[T any](b *tab, expression string, inView bool) (T, error) {
	b.mu.Lock()
	world := b.world
	b.mu.Unlock()
	return chromedp.Run(b.Ctx, chromedp.Evaluate[T](expression, func(p *runtime.EvaluateParams) {
		if inView {
			p.ContextID = world
		}
	}))
}

func (b *tab) until(expression string, inView bool) {
	b.T.Helper()
	var err error
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		var yes bool
		if yes, err = evaluate[bool](b, "Boolean("+expression+")", inView); yes && err == nil {
			return
		}
	}
	html, _ := evaluate[string](b, `document.body.innerHTML`, inView)
	b.T.Fatalf("it never came to be that %s: %v\n%.4000s", expression, err, html)
}

// await waits until an expression is true in the view, hostAwait in the host.
func (b *tab) await(expression string)     { b.T.Helper(); b.until(expression, true) }
func (b *tab) hostAwait(expression string) { b.T.Helper(); b.until(expression, false) }

// is checks an expression in the view, hostIs in the host.
func (b *tab) is(expression, what string)     { b.T.Helper(); b.check(expression, what, true) }
func (b *tab) hostIs(expression, what string) { b.T.Helper(); b.check(expression, what, false) }

func (b *tab) check(expression, what string, inView bool) {
	b.T.Helper()
	if yes, err := evaluate[bool](b, expression, inView); !yes || err != nil {
		b.T.Errorf("%s: %v", what, err)
	}
}

// run does something in the view, inHost in the host.
func (b *tab) run(script string)    { b.T.Helper(); b.do(script, true) }
func (b *tab) inHost(script string) { b.T.Helper(); b.do(script, false) }

func (b *tab) do(script string, inView bool) {
	b.T.Helper()
	if _, err := evaluate[bool](b, "(() => { "+script+"; return true })()", inView); err != nil {
		b.T.Fatalf("%s: %v", script, err)
	}
}
