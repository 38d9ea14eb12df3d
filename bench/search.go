package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/bench/daemon"
	"github.com/copse-dev/copse/bench/fixture"
	"github.com/copse-dev/copse/bench/measure"
	"github.com/copse-dev/copse/bench/report"
	"github.com/copse-dev/copse/internal/test/stdio"
)

// searchTime is what a search may take, in milliseconds, with each letter that is typed.
const searchTime = 30

// typed are queries that fit many files, many items, and little, as a person types them.
func typed() []string {
	var all []string
	for _, query := range []string{"sub5/inner file7", "session token crash", "Item 4711"} {
		for end := 1; end <= len(query); end++ {
			if query[end-1] != ' ' {
				all = append(all, query[:end])
			}
		}
	}
	return all
}

// searching measures the search across kinds over 10,000 items and some files: as a tool,
// and as the page that shows hits as one types. The slowest letter counts.
func searching(ctx context.Context, work string, copse []string, rounds, files int) ([]report.Row, error) {
	dir := filepath.Join(work, "searched")
	if err := fixture.Files(ctx, dir, files); err != nil {
		return nil, err
	}
	if err := fixture.Items(dir, 10_000); err != nil {
		return nil, err
	}
	time.Sleep(measure.Settle)
	name := "10,000 items and " + report.Thousands(files) + " files: "
	s, err := stdio.Spawn(ctx, dir, copse...)
	if err != nil {
		return nil, err
	}
	first, _, err := s.Call("search_all", `{"query":"s"}`)
	if err != nil {
		return nil, err
	}
	tool, err := slowest(rounds, 0, func(query string) error {
		_, _, err := s.Call("search_all", fmt.Sprintf(`{"query":%q}`, query))
		return err
	})
	if err != nil {
		return nil, err
	}
	rows := []report.Row{
		{What: name + "first search_all after start", Unit: "ms", Value: report.Milliseconds(first), Within: true},
		report.Limit(name+"search_all, slowest letter typed", "ms", report.Milliseconds(tool), searchTime),
		{What: name + "memory", Unit: "MiB", Value: s.Memory(), Within: true},
	}
	if err := s.Stop(); err != nil {
		return nil, err
	}
	page, err := searchPage(ctx, work, dir, copse[0], rounds)
	return append(rows, report.Limit(name+"the page, slowest letter typed", "ms", report.Milliseconds(page), searchTime)), err
}

// searchPage measures the page that hits are shown on, as a browser asks for it.
func searchPage(ctx context.Context, work, dir, copse string, rounds int) (time.Duration, error) {
	ports, err := daemon.FreePorts()
	if err != nil {
		return 0, err
	}
	home, err := os.MkdirTemp(work, "p") // a socket's path must be short
	if err != nil {
		return 0, err
	}
	env := []string{"HOME=" + home, "XDG_RUNTIME_DIR=" + home, "XDG_STATE_HOME=" + home, "XDG_CONFIG_HOME=" + home}
	up, err := daemon.Start(ctx, dir, env, copse, "up", "--port", fmt.Sprint(ports[0]))
	if err != nil {
		return 0, err
	}
	defer up.Stop()
	if _, err := up.Served(ctx, copse); err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, copse, "board", "--print-url")
	cmd.Dir, cmd.Env = dir, up.Env
	link, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("copse board: %w", err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return 0, err
	}
	browser := &http.Client{Jar: jar, Transport: daemon.ToHere()}
	get := func(address string) (*url.URL, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return nil, err
		}
		res, err := browser.Do(req)
		if err != nil {
			return nil, err
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		switch {
		case err != nil:
			return nil, err
		case res.StatusCode != http.StatusOK:
			return nil, fmt.Errorf("status %d", res.StatusCode)
		case !strings.Contains(string(text), "<h1>Search</h1>"):
			return nil, errors.New("this is not the page of the search")
		}
		return res.Request.URL, nil
	}
	page, err := get(strings.TrimSpace(string(link)) + "&to=search")
	if err != nil {
		return 0, err
	}
	const pause = 12 * time.Millisecond // within the rate that a client may have
	return slowest(rounds, pause, func(query string) error {
		page.RawQuery = url.Values{"q": {query}}.Encode()
		_, err := get(page.String())
		return err
	})
}

// slowest returns the time of the query that takes longest, as the median over some rounds.
// The first round and the pauses are not counted.
func slowest(rounds int, pause time.Duration, ask func(query string) error) (time.Duration, error) {
	took := map[string][]time.Duration{}
	for i := range rounds + 1 {
		for _, query := range typed() {
			time.Sleep(pause)
			begun := time.Now()
			if err := ask(query); err != nil {
				return 0, fmt.Errorf("search for %q: %w", query, err)
			}
			if i > 0 {
				took[query] = append(took[query], time.Since(begun))
			}
		}
	}
	var medians []time.Duration
	for _, times := range took {
		medians = append(medians, measure.Median(times))
	}
	return slices.Max(medians), nil
}
