package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/bench/report"
	"github.com/copse-dev/copse/internal/test/stdio"

	"github.com/copse-dev/copse/internal/github/githubtest"
)

// comparison compares servers at the same work on the same data, in turns.
type comparison struct {
	ctx    context.Context
	work   string // folder
	peers  []peer
	rounds int
	env    []string
	left   []string
}

// atOnce is how many calls are under way in the measurement of throughput: as many as take
// a server about a second.
func atOnce(each time.Duration) int { return min(max(int(time.Second/max(each, 1)), 20), 2000) }

// compare makes the tables about peers.
func compare(ctx context.Context, work string, found []peer, rounds int) ([]report.Table, []string, error) {
	github, stop, err := fakeGitHub()
	if err != nil {
		return nil, nil, err
	}
	defer stop()
	c := &comparison{ctx: ctx, work: work, peers: found, rounds: rounds, env: []string{
		"GITHUB_API_URL=" + github + "/api/v3", "GH_TOKEN=bench", "GITHUB_PERSONAL_ACCESS_TOKEN=bench",
		// The GitHub server takes the name of a host and no port: it finds the way by a proxy.
		"GITHUB_HOST=http://github.bench.test", "HTTP_PROXY=" + github,
		"XDG_CACHE_HOME=" + filepath.Join(work, "cache"),
	}}
	if err := shop(ctx, filepath.Join(work, "shop"), 1000); err != nil {
		return nil, nil, err
	}
	time.Sleep(settle)
	starting, err := c.starting()
	if err != nil {
		return nil, nil, err
	}
	calls, err := c.works(filepath.Join(work, "shop"), []string{listFolder, readFile, listItems, searchItem, showItem, newItem, getPR})
	return append([]report.Table{starting}, calls...), c.left, err
}

// spawn starts a peer in a folder.
func (c *comparison) spawn(p peer, dir string) (*stdio.Server, error) {
	return stdio.SpawnWith(c.ctx, dir, append(slices.Clone(c.env), p.env...), p.argv...)
}

// starting measures what a client waits and pays for before the first question.
func (c *comparison) starting() (report.Table, error) {
	t := report.Table{
		Name: "start", Title: "Start", Note: "From the start of the process to the answer of initialize, in turns; what tools/list costs a model; memory after it.",
		Columns: []string{"first answer, ms (median)", "p99", "tools", "tools/list, bytes", "tokens, about", "idle memory, MiB"}, Log: true,
	}
	type state struct {
		took   []time.Duration
		values []float64
	}
	all := make([]state, len(c.peers))
	for round := range max(c.rounds/10, 5) {
		for i, p := range c.peers {
			s, err := c.spawn(p, filepath.Join(c.work, "shop"))
			if err != nil {
				return t, fmt.Errorf("%s: %w", p.Name, err)
			}
			all[i].took = append(all[i].took, s.FirstAnswer)
			if round == 0 {
				list, err := s.Request("tools/list", "{}")
				if err != nil {
					return t, fmt.Errorf("%s: %w", p.Name, err)
				}
				n := float64(len(list))
				all[i].values = []float64{float64(strings.Count(string(list), `"inputSchema"`)), n, n / bytesPerToken, s.Memory()}
			}
			s.End()
		}
	}
	for i, p := range c.peers {
		t.Rows = append(t.Rows, report.Line{Server: p.Name, Values: append([]float64{report.Milliseconds(median(all[i].took)), report.Milliseconds(p99(all[i].took))}, all[i].values...)})
	}
	return t, nil
}

// bytesPerToken is a rule of thumb for English and JSON.
const bytesPerToken = 4

func p99(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[min(len(d)-1, len(d)*99/100)]
}

// works measures calls, one after the other and many at once, of all who can do a work.
func (c *comparison) works(dir string, names []string) ([]report.Table, error) {
	latency := report.Table{
		Name: "calls", Title: "One call after the other", Note: "From the request to its answer. The servers take turns, call by call.",
		Columns: []string{"ms (median)", "p99"}, Log: true,
	}
	throughput := report.Table{
		Name: "throughput", Title: "Many calls at once", Note: "Calls for about a second, sent without waiting, until all are answered.",
		Columns: []string{"calls per second"}, Log: true,
	}
	size := report.Table{
		Name: "answers", Title: "What an answer costs a model", Note: "The text of the result; hosts show a model that or the structured half.",
		Columns: []string{"bytes", "tokens, about"}, Log: true,
	}
	memory := report.Table{
		Name: "memory", Title: "Memory after the work", Note: "The most that a server, with what it started, has held; 1,000 work items.",
		Columns: []string{"peak, MiB"},
	}
	peaks := make(map[string]float64)
	for _, work := range names {
		var doing []peer
		var servers []*stdio.Server
		for _, p := range c.peers {
			if _, ok := p.calls[work]; !ok {
				continue
			}
			s, err := c.spawn(p, dir)
			if err != nil {
				return nil, err
			}
			defer s.End()
			doing, servers = append(doing, p), append(servers, s)
		}
		took := make([][]time.Duration, len(doing))
		for n := range c.rounds + 1 {
			for i, p := range doing {
				ask := p.calls[work]
				d, answer, err := servers[i].Call(ask.tool, ask.with(n))
				if err != nil {
					return nil, fmt.Errorf("%s: %s: %w", p.Name, work, err)
				}
				if n == 0 { // opens things
					text := float64(len(textOf(answer)))
					size.Rows = append(size.Rows, report.Line{Work: work, Server: p.Name, Values: []float64{text, text / bytesPerToken}})
					continue
				}
				took[i] = append(took[i], d)
			}
		}
		for i, p := range doing {
			latency.Rows = append(latency.Rows, report.Line{Work: work, Server: p.Name, Values: []float64{report.Milliseconds(median(took[i])), report.Milliseconds(p99(took[i]))}})
			if work != newItem {
				ask := p.calls[work]
				n := atOnce(median(took[i]))
				d, failed, err := servers[i].Pipeline(n, func(i int) (tool, args string) { return ask.tool, ask.with(i) })
				if err == nil && failed > 0 {
					err = fmt.Errorf("%d of %d calls failed", failed, n)
				}
				if err != nil {
					return nil, fmt.Errorf("%s: %s: %w", p.Name, work, err)
				}
				throughput.Rows = append(throughput.Rows, report.Line{Work: work, Server: p.Name, Values: []float64{float64(n) / d.Seconds()}})
			}
			peaks[p.Name] = max(peaks[p.Name], servers[i].Peak())
			servers[i].End()
		}
	}
	for _, p := range c.peers {
		if peak := peaks[p.Name]; peak > 0 {
			memory.Rows = append(memory.Rows, report.Line{Server: p.Name, Values: []float64{peak}})
		}
	}
	return []report.Table{latency, throughput, size, memory}, nil
}

// fakeGitHub is a GitHub for all who ask one; under the path that a GitHub Enterprise has.
func fakeGitHub() (address string, stop func(), err error) {
	server, err := githubtest.Start(githubtest.Fixture{Token: "bench", Repositories: []githubtest.Repository{{
		Name: "acme/shop", PullRequests: []githubtest.PullRequest{{
			Number: 43, Title: "Remember who logged in", State: "open", Author: "ada", Base: "main", Head: "feature/session", SHA: "bbbb",
			CreatedAt: "2026-03-02T09:00:00Z", UpdatedAt: "2026-03-03T11:00:00Z",
		}},
	}}})
	if err != nil {
		return "", nil, err
	}
	target, err := url.Parse(server.URL)
	if err != nil {
		return "", nil, err
	}
	front := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Path = strings.TrimPrefix(r.Out.URL.Path, "/api/v3")
		r.SetURL(target)
	}})
	return front.URL, func() {
		front.Close()
		server.Close()
	}, nil
}

// shop makes a repository with a folder, a file and n work items in each tracker's form.
func shop(ctx context.Context, dir string, n int) error {
	if err := repository(ctx, dir, 10); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "folder"), 0o755); err != nil {
		return err
	}
	for i := range 100 {
		if err := os.WriteFile(filepath.Join(dir, "folder", fmt.Sprintf("file-%02d.go", i)), nil, 0o644); err != nil {
			return err
		}
	}
	text := strings.Repeat("sixty-three characters and one line feed make sixty-four bytes.\n", 64)
	if err := os.WriteFile(filepath.Join(dir, "four-kilobytes.txt"), []byte(text), 0o644); err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, "git", "-C", dir, "remote", "add", "origin", "https://github.com/acme/shop.git").CombinedOutput(); err != nil {
		return fmt.Errorf("git remote: %w: %s", err, out)
	}
	if err := project(dir, n); err != nil {
		return err
	}
	return backlogProject(dir, n)
}

// backlogProject makes the same items as project in the form of backlog.md 1.52.
func backlogProject(dir string, n int) error {
	tasks := filepath.Join(dir, "backlog", "tasks")
	if err := os.MkdirAll(tasks, 0o755); err != nil {
		return err
	}
	config := "project_name: \"bench\"\ndefault_status: \"To Do\"\nstatuses: [\"To Do\", \"In Progress\", \"Done\"]\nlabels: []\n" +
		"date_format: yyyy-mm-dd\nauto_open_browser: false\nremote_operations: false\nauto_commit: false\ntask_prefix: \"task\"\n"
	if err := os.WriteFile(filepath.Join(dir, "backlog", "config.yml"), []byte(config), 0o644); err != nil {
		return err
	}
	words := strings.Fields(vocabulary)
	random := rand.New(rand.NewPCG(1, 2))
	statuses := []string{"To Do", "In Progress", "Done"}
	for id := 1; id <= n; id++ {
		var b strings.Builder
		fmt.Fprintf(&b, "---\nid: TASK-%d\ntitle: Item %d of many\nstatus: %s\nassignee: [alice]\ncreated_date: '2026-03-02 08:00'\nlabels: [one, two]\n"+
			"dependencies: []\nordinal: %d\n---\n\n## Description\n\n<!-- SECTION:DESCRIPTION:BEGIN -->\n", id, id, statuses[id%len(statuses)], 1000*id)
		for size := 250; size < 1000; {
			word := words[random.IntN(len(words))]
			b.WriteString(word + " ")
			size += len(word) + 1
		}
		b.WriteString("\n<!-- SECTION:DESCRIPTION:END -->\n")
		if err := os.WriteFile(filepath.Join(tasks, fmt.Sprintf("task-%d - Item-%d-of-many.md", id, id)), []byte(b.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
