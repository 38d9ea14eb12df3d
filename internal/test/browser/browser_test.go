package browser_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/copse"
	"github.com/copse-dev/copse/internal/test/demo"
	"github.com/copse-dev/copse/internal/test/need"
)

// chromium returns the path of the browser, and skips the test where there is none.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	need.Skip(t, "Chromium is not installed (apt-get install chromium)")
	return ""
}

// site is a copse up that serves a repository.
type site struct {
	t   *testing.T
	d   *demo.Demo
	env func(args ...string) (app.Env, *bytes.Buffer)
}

// serve runs copse up in the repository until the test ends.
func serve(t *testing.T, d *demo.Demo) *site {
	t.Helper()
	run, err := os.MkdirTemp("", "b") //nolint:usetesting // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(run) })
	d.Environ = append(d.Environ, "XDG_RUNTIME_DIR="+run, "XDG_CONFIG_HOME="+filepath.Join(run, "config"))
	began := time.Now()
	s := &site{t: t, d: d, env: func(args ...string) (app.Env, *bytes.Buffer) {
		var out bytes.Buffer
		env := d.Env(args...)
		first := env.Now()
		env.Now = func() time.Time { return first.Add(time.Since(began)) } // links and limits need time to pass
		env.Stdout, env.Stderr = &out, &out
		return env, &out
	}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan string, 1)
	go func() {
		env, out := s.env("up", "--port", fmt.Sprint(port), "--disable", "jira")
		code := copse.Run(ctx, env)
		ended <- fmt.Sprintf("copse up ended with %d: %s", code, out)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		env, _ := s.env("status")
		if copse.Run(t.Context(), env) == app.OK {
			return s
		}
		select {
		case said := <-ended:
			ended <- said
			t.Fatal(said)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatal("copse up does not serve")
		}
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

// started is the one browser of all tests.
var started struct {
	sync.Once
	ctx    context.Context
	cancel context.CancelFunc
	dir    string
	err    error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if started.cancel != nil {
		started.cancel()
		_ = os.RemoveAll(started.dir)
	}
	os.Exit(code)
}

// step is something that a person does, or that is done for one.
type step = chromedp.Action[chromedp.Void]

// command sends a command of the protocol.
func command[P, R any](c cdp.Command[P, R], params P) step {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// media emulates a preference, such as prefers-color-scheme.
func media(name, value string) step {
	return command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: name, Value: value}}})
}

// tab is a page of the browser with cookies of its own. It fails its test for what a page must
// never do: write to the console, fail, or ask another machine.
type tab struct {
	t   *testing.T
	ctx context.Context
	at  string // host and port

	mu       sync.Mutex
	problems []string
	received int // bytes of updates
}

// open opens a page that a link leads to.
func open(t *testing.T, link string, prepare ...step) *tab {
	t.Helper()
	path := chromium(t)
	started.Do(func() {
		started.dir, started.err = os.MkdirTemp("", "chromium") //nolint:usetesting // it outlives a test
		options := append(chromedp.DefaultExecAllocatorOptions[:],
			chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.UserDataDir(started.dir), chromedp.Flag("disable-dev-shm-usage", true),
			chromedp.Flag("font-render-hinting", "none"), chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("hide-scrollbars", true))
		allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
		var closing context.CancelFunc
		started.ctx, closing = chromedp.NewContext(allocator)
		started.cancel = func() { closing(); stop() }
		if started.err == nil {
			started.err = chromedp.Do(started.ctx)
		}
	})
	if started.err != nil {
		t.Fatal(started.err)
	}
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(started.ctx, chromedp.WithNewBrowserContext())
	b := &tab{t: t, ctx: ctx, at: u.Host}
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, p := range b.problems {
			t.Error(p)
		}
		cancel()
	})
	if err := chromedp.Listen(ctx, b.notice); err != nil {
		t.Fatal(err)
	}
	b.do(command(network.Enable, network.EnableParams{}), command(log.Enable, cdp.Empty{}))
	b.do(prepare...)
	b.do(chromedp.Navigate(link), chromedp.WaitVisible(chromedp.CSS("#main h1")))
	return b
}

// notice notes what must not happen.
func (b *tab) notice(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	problem := func(format string, args ...any) { b.problems = append(b.problems, fmt.Sprintf(format, args...)) }
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		problem("the page writes to the console: %v", e.Args)
	case *runtime.EventExceptionThrown:
		problem("the script fails: %s", e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		problem("the browser complains: %s %s", e.Entry.Text, e.Entry.URL)
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err != nil || u.Scheme != "data" && u.Host != b.at {
			problem("the page asks %s", e.Request.URL)
		}
	case *network.EventEventSourceMessageReceived:
		b.received += len(e.Data)
	}
}

// patience is how long a step may take.
const patience = time.Minute

// do takes steps, which must succeed.
func (b *tab) do(steps ...step) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if len(steps) == 0 {
		return
	}
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// get returns what an action gives.
func get[T any](b *tab, a chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// eval returns what an expression gives.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	return get(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// until waits until an expression is true, and returns how long that took.
func (b *tab) until(what, expression string) time.Duration {
	b.t.Helper()
	began := time.Now()
	for deadline := began.Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if eval[bool](b, expression) {
			return time.Since(began)
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("%s: not within a minute:\n%s", what, eval[string](b, "document.body.outerHTML"))
		}
	}
}

// live waits until the page is connected and misses no change.
func (b *tab) live() {
	b.t.Helper()
	b.until("the page is connected", `document.readyState === "complete" && (!document.querySelector('meta[name="board-live"]') || document.documentElement.dataset.live === "true")`)
}
