// Package chrome opens pages in a real browser, for tests. The tests of a program share one
// [Browser]. Each [Tab] has its own cookies, and fails its test if a page writes to the console,
// fails, or contacts another machine.
package chrome

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/copse-dev/copse/internal/test/need"
)

// Path returns the path of the browser, and skips the test if there is none.
func Path(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path := need.Installed(name); path != "" {
			return path
		}
	}
	need.Skip(t, "Chromium is not installed (apt-get install chromium)")
	return ""
}

// Browser is a browser that starts with its first tab. Close it after the tests.
type Browser struct {
	// Flags are added to those that every browser gets.
	Flags map[string]any

	start  sync.Once
	ctx    context.Context
	cancel context.CancelFunc
	dir    string
	err    error
}

// Close ends the browser, if it was started.
func (b *Browser) Close() {
	if b.cancel != nil {
		b.cancel()
		_ = os.RemoveAll(b.dir)
	}
}

func (b *Browser) run(path string) {
	if b.dir, b.err = os.MkdirTemp("", "chromium"); b.err != nil {
		return
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.UserDataDir(b.dir), chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("font-render-hinting", "none"), chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("hide-scrollbars", true))
	for name, value := range b.Flags {
		options = append(options, chromedp.Flag(name, value))
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, closing := chromedp.NewContext(allocator)
	b.ctx, b.cancel = ctx, func() { closing(); stop() }
	b.err = chromedp.Do(ctx)
}

// Step is something that a person does, or that is done for one.
type Step = chromedp.Action[chromedp.Void]

// Command sends a command of the browser's protocol.
func Command[P, R any](c cdp.Command[P, R], params P) Step {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// Tab is a page of the browser.
type Tab struct {
	T   *testing.T
	Ctx context.Context
	// At is the only host and port that the page may ask.
	At string
	// Debug lets the page write what a console hides by default.
	Debug bool

	mu       sync.Mutex
	problems []string
}

// Tab returns an empty tab whose page may ask one host. The test ends with what went wrong in the
// tab. notice, if set, is called for each event.
func (b *Browser) Tab(t *testing.T, at string, notice func(event any)) *Tab {
	t.Helper()
	path := Path(t)
	b.start.Do(func() { b.run(path) })
	if b.err != nil {
		t.Fatal(b.err)
	}
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	tab := &Tab{T: t, Ctx: ctx, At: at}
	t.Cleanup(func() {
		for _, p := range tab.Forgive() {
			t.Error(p)
		}
		cancel()
	})
	err := chromedp.Listen(ctx, func(event any) {
		tab.judge(event)
		if notice != nil {
			notice(event)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	tab.Do(Command(network.Enable, network.EnableParams{}), Command(log.Enable, cdp.Empty{}))
	return tab
}

// Forgive returns what went wrong until now, and forgets it.
func (b *Tab) Forgive() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := b.problems
	b.problems = nil
	return found
}

// judge notes what must not happen.
func (b *Tab) judge(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	problem := func(format string, args ...any) { b.problems = append(b.problems, fmt.Sprintf(format, args...)) }
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if !b.Debug || e.Type != runtime.ConsoleAPICalledTypeDebug {
			problem("the page writes to the console:%s", words(e.Args))
		}
	case *runtime.EventExceptionThrown:
		problem("the script fails: %s", e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		problem("the browser complains: %s %s", e.Entry.Text, e.Entry.URL)
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err != nil || u.Scheme != "data" && u.Scheme != "about" && u.Host != b.At {
			problem("the page asks %s", e.Request.URL)
		}
	}
}

// words returns the texts and numbers that a page wrote, also those in lists.
func words(args []*runtime.RemoteObject) string {
	var out strings.Builder
	for _, a := range args {
		switch {
		case a.Preview != nil:
			for _, p := range a.Preview.Properties {
				fmt.Fprintf(&out, " %s=%s", p.Name, p.Value)
			}
		case len(a.Value) > 0:
			fmt.Fprintf(&out, " %s", a.Value)
		default:
			fmt.Fprintf(&out, " %s", a.Description)
		}
	}
	return out.String()
}

// patience is how long a step may take.
const patience = time.Minute

// Do takes steps, which must succeed.
func (b *Tab) Do(steps ...Step) {
	b.T.Helper()
	ctx, cancel := context.WithTimeout(b.Ctx, patience)
	defer cancel()
	if len(steps) == 0 {
		return
	}
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.T.Fatal(err)
	}
}

// Get returns what an action gives.
func Get[T any](b *Tab, a chromedp.Action[T]) T {
	b.T.Helper()
	ctx, cancel := context.WithTimeout(b.Ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		b.T.Fatal(err)
	}
	return v
}

// Eval returns what an expression gives.
func Eval[T any](b *Tab, expression string) T {
	b.T.Helper()
	return Get(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Until waits until an expression is true, and returns how long that took.
func (b *Tab) Until(what, expression string) time.Duration {
	b.T.Helper()
	began := time.Now()
	for deadline := began.Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if Eval[bool](b, expression) {
			return time.Since(began)
		}
		if time.Now().After(deadline) {
			b.T.Fatalf("%s: not within a minute:\n%s", what, Eval[string](b, "document.body.outerHTML"))
		}
	}
}
