package browser_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/copse"
	"github.com/copse-dev/copse/internal/test/chrome"
	"github.com/copse-dev/copse/internal/test/demo"
)

// chromium skips the test where there is no browser.
func chromium(t *testing.T) {
	t.Helper()
	chrome.Path(t)
}

// site is a copse up that serves a repository.
type site struct {
	t   *testing.T
	d   *demo.Demo
	env func(args ...string) (app.Env, *bytes.Buffer)

	up   []string // the command line of copse up
	stop func()   // ends it
}

// serve runs copse up in the repository until the test ends, without Jira unless flags are
// given.
func serve(t *testing.T, d *demo.Demo, flags ...string) *site {
	t.Helper()
	run, err := os.MkdirTemp("", "b") //nolint:usetesting // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(run) })
	d.Environ = append(d.Environ, "XDG_RUNTIME_DIR="+run, "XDG_CONFIG_HOME="+filepath.Join(run, "config"))
	s := &site{t: t, d: d, env: environment(d)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	if flags == nil {
		flags = []string{"--disable", "jira"}
	}
	s.up = append([]string{"up", "--port", fmt.Sprint(port)}, flags...)
	s.start()
	t.Cleanup(func() { s.stop() })
	return s
}

// start runs copse up until stop is called, and returns when it serves.
func (s *site) start() {
	s.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan string, 1)
	go func() {
		env, out := s.env(s.up...)
		code := copse.Run(ctx, env)
		ended <- fmt.Sprintf("copse up ended with %d: %s", code, out)
	}()
	s.stop = sync.OnceFunc(func() {
		stop()
		<-ended
	})
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		env, _ := s.env("status")
		if copse.Run(s.t.Context(), env) == app.OK {
			return
		}
		select {
		case said := <-ended:
			ended <- said
			s.t.Fatal(said)
		default:
		}
		if time.Now().After(deadline) {
			s.t.Fatal("copse up does not serve")
		}
	}
}

// environment returns what a run of copse has around it, with a clock that begins now.
func environment(d *demo.Demo) func(args ...string) (app.Env, *bytes.Buffer) {
	began := time.Now()
	return func(args ...string) (app.Env, *bytes.Buffer) {
		var out bytes.Buffer
		env := d.Env(args...)
		first := env.Now()
		env.Now = func() time.Time { return first.Add(time.Since(began)) } // links and limits need time to pass
		env.Stdout, env.Stderr = &out, &out
		return env, &out
	}
}

// link returns a link that opens a page.
func (s *site) link(page string, flags ...string) string {
	s.t.Helper()
	env, out := s.env(append([]string{"board", "--print-url"}, flags...)...)
	if code := copse.Run(s.t.Context(), env); code != app.OK {
		s.t.Fatalf("copse board: %s", out)
	}
	return strings.TrimSpace(out.String()) + "&to=" + url.QueryEscape(page)
}

// started is the one browser of all tests. For it, a name of a stranger leads to this machine,
// as after DNS rebinding.
var started = chrome.Browser{Flags: map[string]any{"host-resolver-rules": "MAP " + rebound + " 127.0.0.1"}}

// rebound is a name that a stranger has let point to this machine.
const rebound = "evil.example"

func TestMain(m *testing.M) {
	code := m.Run()
	started.Close()
	os.Exit(code)
}

// step is something that a person does, or that is done for one.
type step = chrome.Step

// media emulates preferences, such as prefers-color-scheme and its value, and no others.
func media(pairs ...string) step {
	var features []*emulation.MediaFeature
	for i := 0; i+1 < len(pairs); i += 2 {
		features = append(features, &emulation.MediaFeature{Name: pairs[i], Value: pairs[i+1]})
	}
	return chrome.Command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
}

// tab is a page of a board in the browser.
type tab struct {
	*chrome.Tab
	t *testing.T

	mu       sync.Mutex
	received int // bytes of updates
}

// open opens a page that a link leads to.
func open(t *testing.T, link string, prepare ...step) *tab {
	t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	b := &tab{t: t}
	b.Tab = started.Tab(t, u.Host, func(event any) {
		if e, ok := event.(*network.EventEventSourceMessageReceived); ok {
			b.mu.Lock()
			b.received += len(e.Data)
			b.mu.Unlock()
		}
	})
	b.do(prepare...)
	b.do(chromedp.Navigate(link), chromedp.WaitVisible(chromedp.CSS("#main h1")))
	return b
}

// again returns the tab for a part of its test.
func (b *tab) again(t *testing.T) *tab {
	return &tab{Tab: &chrome.Tab{T: t, Ctx: b.Ctx, At: b.At}, t: t}
}

// do takes steps, which must succeed.
func (b *tab) do(steps ...step) { b.t.Helper(); b.Do(steps...) }

// get returns what an action gives.
func get[T any](b *tab, a chromedp.Action[T]) T { b.t.Helper(); return chrome.Get(b.Tab, a) }

// eval returns what an expression gives.
func eval[T any](b *tab, expression string) T { b.t.Helper(); return chrome.Eval[T](b.Tab, expression) }

// until waits until an expression is true, and returns how long that took.
func (b *tab) until(what, expression string) time.Duration {
	b.t.Helper()
	return b.Until(what, expression)
}

// live waits until the page is connected and misses no change.
func (b *tab) live() {
	b.t.Helper()
	b.until("the page is connected", `document.readyState === "complete" && (!document.querySelector('meta[name="board-live"]') || document.documentElement.dataset.live === "true")`)
}
