// Package browser measures the local page in Chromium: what a person waits for, and what open pages
// cost while nothing changes.
package browser

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/copse-dev/copse/bench/daemon"
	"github.com/copse-dev/copse/bench/fixture"
	"github.com/copse-dev/copse/bench/measure"
	"github.com/copse-dev/copse/bench/report"
	"github.com/copse-dev/copse/internal/github/githubtest"
)

// Measure measures the local page: in Chromium what a person waits for and feels, and beside it
// what pages cost that stay open. sizes are the numbers of branches.
func Measure(ctx context.Context, work, copse string, rounds int, sizes []int) ([]report.Row, error) {
	var rows []report.Row
	for _, n := range sizes {
		more, err := openPage(ctx, filepath.Join(work, fmt.Sprintf("page-%d", n)), copse, n, rounds)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// openPage measures the page of a repository with n branches and 10,000 items.
func openPage(ctx context.Context, dir, copse string, n, rounds int) ([]report.Row, error) {
	if err := fixture.Repository(ctx, dir, n); err != nil {
		return nil, err
	}
	if err := fixture.Items(dir, 10_000); err != nil {
		return nil, err
	}
	s, err := servePage(ctx, dir, copse, n)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	name := fmt.Sprintf("page of %s branches: ", report.Thousands(n))
	rows, err := s.inChromium(ctx, name, rounds)
	if err != nil {
		return nil, err
	}
	if n == 1_000 {
		more, err := s.stayOpen(ctx, name)
		return append(rows, more...), err
	}
	return rows, nil
}

// pageServer is copse up with a page.
type pageServer struct {
	*daemon.Process
	dir, copse string
	github     *githubtest.Server
}

func servePage(ctx context.Context, dir, copse string, n int) (*pageServer, error) {
	shop := githubtest.Repository{Name: "acme/shop"}
	for i := range min(n, 200) {
		base := "main"
		if i%10 != 0 {
			base = fixture.BranchName(i - 1)
		}
		shop.PullRequests = append(shop.PullRequests, githubtest.PullRequest{
			Number: i + 1, Title: fmt.Sprintf("Change %d of the team", i), Head: fixture.BranchName(i), Base: base, Mergeable: new(true), MergeableState: "clean", ReviewDecision: "approved",
			CheckRuns: []githubtest.CheckRun{{Name: "build", Conclusion: "success"}, {Name: "lint", Conclusion: "success"}, {Name: "unit tests", Conclusion: []string{"success", "failure"}[i%7/6]}, {Name: "end to end", Conclusion: "success"}},
		})
	}
	github, err := githubtest.Start(githubtest.Fixture{Token: "bench", Repositories: []githubtest.Repository{shop}})
	if err != nil {
		return nil, err
	}
	ports, err := daemon.FreePorts()
	if err != nil {
		return nil, err
	}
	if err := fixture.Git(ctx, dir, "", "remote", "add", "origin", "https://github.com/acme/shop"); err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp(filepath.Dir(dir), "h")
	if err != nil {
		return nil, err
	}
	time.Sleep(measure.Settle)
	up, err := daemon.Start(ctx, dir, []string{"HOME=" + home, "XDG_RUNTIME_DIR=" + home, "XDG_STATE_HOME=" + home, "XDG_CONFIG_HOME=" + home, "XDG_CACHE_HOME=" + home,
		"GITHUB_API_URL=" + github.URL, "GH_TOKEN=bench"}, copse, "up", "--port", strconv.Itoa(ports[0]), "--disable", "jira")
	if err != nil {
		return nil, err
	}
	s := &pageServer{Process: up, dir: dir, copse: copse, github: github}
	_, err = up.Served(ctx, copse)
	return s, err
}

func (s *pageServer) stop() {
	s.Stop()
	s.github.Close()
}

// link returns a link that opens a page, once.
func (s *pageServer) link(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, s.copse, "board", "--print-url")
	cmd.Dir, cmd.Env = s.dir, s.Env
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// inChromium measures what a person sees. Without Chromium there are no rows.
func (s *pageServer) inChromium(ctx context.Context, name string, rounds int) ([]report.Row, error) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		return nil, nil
	}
	data, err := os.MkdirTemp("", "copse-bench-chromium-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(data)
	allocator, stop := chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.UserDataDir(data), chromedp.Flag("disable-dev-shm-usage", true))...)
	defer stop()
	tab, end := chromedp.NewContext(allocator)
	defer end()
	link, err := s.link(ctx)
	if err != nil {
		return nil, err
	}
	if err := chromedp.Do(tab, chromedp.EmulateViewport(1440, 900), chromedp.Navigate(link), chromedp.WaitVisible(chromedp.CSS("#main h1"))); err != nil {
		return nil, err
	}
	base, err := chromedp.Run(tab, chromedp.Evaluate[string]("document.baseURI"))
	if err != nil {
		return nil, err
	}
	if err := seeGitHub(tab); err != nil {
		return nil, err
	}
	var rows []report.Row
	paint, first, size, err := paints(tab, base+"stacks", rounds)
	if err != nil {
		return nil, err
	}
	rows = append(rows,
		report.Limit(name+"first byte of the stacks", "ms", first, 150),
		report.Limit(name+"first paint of the stacks", "ms", paint, 150),
		report.Limit(name+"size of the stacks with style and scripts", "KB", size, 150))
	for _, view := range []struct{ what, page, field string }{
		{"scroll the stacks", "stacks", ""},
		{"scroll 10,000 items as a tree", "items?view=tree", ""},
		{"filter 10,000 items by typing", "items", "#q"},
		{"search everything by typing", "stacks", "#find"},
	} {
		if err := chromedp.Do(tab, chromedp.Navigate(base+view.page), chromedp.WaitVisible(chromedp.CSS("#main h1"))); err != nil {
			return nil, err
		}
		time.Sleep(time.Second) // what happens at the beginning is measured above
		usual, worst, err := frames(tab, view.field)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", view.what, err)
		}
		rows = append(rows,
			report.Limit(name+view.what+", 19 of 20 frames", "ms", usual, 34),
			report.Row{What: name + view.what + ", longest frame", Unit: "ms", Value: worst, Within: true})
	}
	return rows, nil
}

// seeGitHub waits until the page shows pull requests, so that its rows are full.
func seeGitHub(tab context.Context) error {
	for range 200 {
		shown, err := chromedp.Run(tab, chromedp.Evaluate[bool](`document.querySelector(".checks") !== null`))
		if err != nil || shown {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("the page shows no pull request")
}

// paints opens a page several times, and returns the medians of the times from the request to
// the first paint with content and to the first byte, and the size of what it consists of.
func paints(tab context.Context, address string, rounds int) (paint, first, size float64, err error) {
	type timing struct{ Paint, First, Size float64 }
	var painted, begun []time.Duration
	for range rounds {
		// A page that is opened from nowhere; style and scripts are in the browser's cache.
		if err := chromedp.Do(tab, chromedp.Navigate("about:blank"), chromedp.Navigate(address), chromedp.WaitVisible(chromedp.CSS("#main h1"))); err != nil {
			return 0, 0, 0, err
		}
		at, err := chromedp.Run(tab, chromedp.Evaluate[timing](`new Promise((done) => {
			const look = () => {
				const paint = performance.getEntriesByName("first-contentful-paint")[0];
				if (!paint) return void setTimeout(look, 10);
				const [page] = performance.getEntriesByType("navigation"), parts = performance.getEntriesByType("resource").filter((r) => r.name.includes("/asset/"));
				done({Paint: paint.startTime, First: page.responseStart, Size: [page, ...parts].reduce((sum, r) => sum + r.decodedBodySize, 0) / 1024});
			};
			look();
		})`, chromedp.EvalAwaitPromise))
		if err != nil {
			return 0, 0, 0, err
		}
		ms := func(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }
		painted, begun, size = append(painted, ms(at.Paint)), append(begun, ms(at.First)), at.Size
	}
	return report.Milliseconds(measure.Median(painted)), report.Milliseconds(measure.Median(begun)), size, nil
}

// frames scrolls a page from end to end, or types into a field of it, and returns how far
// apart its frames were meanwhile: those of 19 in 20, and the farthest.
func frames(tab context.Context, field string) (usual, worst float64, err error) {
	if _, err := chromedp.Run(tab, chromedp.Evaluate[bool](`(() => {
		window.gaps = [];
		let last = performance.now();
		const next = () => { const now = performance.now(); window.gaps.push(now - last); last = now; requestAnimationFrame(next); };
		requestAnimationFrame(next);
		return true;
	})()`)); err != nil {
		return 0, 0, err
	}
	if field == "" {
		_, err := chromedp.Run(tab, chromedp.Evaluate[bool](`new Promise((done) => {
			const step = () => { scrollBy(0, 80); if (scrollY + innerHeight >= document.documentElement.scrollHeight - 1) done(true); else requestAnimationFrame(step); };
			step();
		})`, chromedp.EvalAwaitPromise))
		if err != nil {
			return 0, 0, err
		}
	} else {
		if err := chromedp.Do(tab, chromedp.Focus(chromedp.CSS(field))); err != nil {
			return 0, 0, err
		}
		for _, key := range "team 12" {
			if err := chromedp.Do(tab, chromedp.KeyEvent(string(key))); err != nil {
				return 0, 0, err
			}
			time.Sleep(120 * time.Millisecond)
		}
		for range 4 {
			if err := chromedp.Do(tab, chromedp.KeyEvent(kb.Backspace)); err != nil {
				return 0, 0, err
			}
			time.Sleep(120 * time.Millisecond)
		}
		time.Sleep(300 * time.Millisecond)
	}
	gaps, err := chromedp.Run(tab, chromedp.Evaluate[[]float64]("window.gaps.slice(1).sort((a, b) => a - b)"))
	if err != nil || len(gaps) == 0 {
		return 0, 0, err
	}
	return gaps[len(gaps)*19/20], gaps[len(gaps)-1], nil
}

const (
	openPages = 50
	// quiet is how long they stay open while nothing changes.
	quiet = 15 * time.Second
)

// stayOpen measures what open pages cost while nothing changes, and the size of an update.
func (s *pageServer) stayOpen(ctx context.Context, name string) ([]report.Row, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	link, err := s.link(ctx)
	if err != nil {
		return nil, err
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	browser := &http.Client{Jar: jar, Transport: daemon.ToHere()}
	base, _, _ := strings.Cut(link, "enter?")
	if err := s.read(ctx, browser, link, io.Discard); err != nil {
		return nil, err
	}
	updates := make(chan int, 1000)
	for range openPages {
		go func() {
			_ = s.read(ctx, browser, base+"live/stacks", counter(updates)) // it ends with the context
		}()
	}
	time.Sleep(3 * time.Second) // the pages read their first state
	drain(updates)
	before := s.processor()
	time.Sleep(quiet)
	spent := s.processor() - before
	drain(updates)
	if err := fixture.Git(ctx, s.dir, "", "branch", fixture.BranchName(0)+"-more", fixture.BranchName(0)); err != nil {
		return nil, err
	}
	var size int
	select {
	case size = <-updates:
	case <-time.After(10 * time.Second):
		return nil, errors.New("no update came")
	}
	return []report.Row{
		report.Limit(fmt.Sprintf("%s%d of them open, nothing changes: share of a processor", name, openPages), "%", 100*spent.Seconds()/quiet.Seconds(), 1),
		report.Limit(name+"size of an update", "KB", float64(size)/1024, 5),
	}, nil
}

func (s *pageServer) read(ctx context.Context, browser *http.Client, address string, into io.Writer) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return err
	}
	res, err := browser.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", address, res.Status)
	}
	_, err = io.Copy(into, bufio.NewReader(res.Body))
	return err
}

// counter sends the size of each event.
func counter(sizes chan<- int) io.Writer {
	r, w := io.Pipe()
	go func() {
		lines := bufio.NewReader(r)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			if strings.HasPrefix(line, "data: ") {
				sizes <- len(line)
			}
		}
	}()
	return w
}

func drain(sizes <-chan int) {
	for {
		select {
		case <-sizes:
		default:
			return
		}
	}
}

// processor is how much time of a processor the server has used.
func (s *pageServer) processor() time.Duration {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.Cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11]) // numbers, as the kernel writes them
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}
