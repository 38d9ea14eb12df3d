package peers

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/bench/fixture"
	"github.com/copse-dev/copse/bench/measure"
	"github.com/copse-dev/copse/bench/report"
	"github.com/copse-dev/copse/internal/github/githubtest"
	"github.com/copse-dev/copse/internal/test/stdio"
)

// comparison compares servers at the same work on the same data, in turns. A peer that
// fails is left out of what it fails at, and the report says so; only copse must not fail.
type comparison struct {
	ctx    context.Context
	work   string // directory
	peers  []Peer
	rounds int
	env    []string
	left   []string
}

// atOnce returns how many calls are under way in the measurement of throughput: as many as
// take a server about a second.
func atOnce(each time.Duration) int { return min(max(int(time.Second/max(each, 1)), 20), 2000) }

// Compare makes the tables about peers.
func Compare(ctx context.Context, work string, found []Peer, rounds int) ([]report.Table, []string, error) {
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
	dir := filepath.Join(work, "shop")
	if err := fixture.Shop(ctx, dir, 1000); err != nil {
		return nil, nil, err
	}
	time.Sleep(measure.Settle)
	starting, err := c.starting(dir)
	if err != nil {
		return nil, nil, err
	}
	calls, err := c.works(dir, []string{listDir, readFile, branchNow, branchStack, listBranches, listItems, searchItem, showItem, newItem, getPR})
	return append([]report.Table{starting}, calls...), c.left, err
}

// spawn starts a peer in a directory.
func (c *comparison) spawn(p Peer, dir string) (*stdio.Server, error) {
	return stdio.SpawnWith(c.ctx, dir, append(slices.Clone(c.env), p.env...), p.argv...)
}

// failed notes that a peer cannot do something. The error is not nil if the peer is copse.
func (c *comparison) failed(p Peer, work string, err error) error {
	if p.Name == report.Own {
		return fmt.Errorf("%s: %s: %w", p.Name, work, err)
	}
	c.left = append(c.left, fmt.Sprintf("%s fails to %s: %s", p.Name, work, report.Reason(err)))
	return nil
}

// contender is a server that takes part in a work.
type contender struct {
	Peer
	server *stdio.Server
	took   []time.Duration
}

// starting measures what a client waits and pays for before the first question.
func (c *comparison) starting(dir string) (report.Table, error) {
	t := report.Table{
		Name: "start", Title: "Start", Note: "The time from the start of the process to the answer to `initialize`, the cost of `tools/list` for a model, and the memory four seconds after both.",
		Columns: []string{"first answer, ms (median)", "p99", "tools", "tools/list, bytes", "tokens, about", "idle memory, MiB"}, Log: true,
	}
	type state struct {
		took   []time.Duration
		values []float64
		failed bool
	}
	all := make([]state, len(c.peers))
	for round := range max(c.rounds/10, 5) {
		for i, p := range c.peers {
			if all[i].failed {
				continue
			}
			s, err := c.spawn(p, dir)
			if err == nil {
				all[i].took = append(all[i].took, s.FirstAnswer)
				if round == 0 {
					all[i].values, err = upFront(s)
				}
				s.End()
			}
			if err != nil {
				all[i].failed = true
				if err := c.failed(p, "start", err); err != nil {
					return t, err
				}
			}
		}
	}
	var able []Peer
	for i, p := range c.peers {
		if all[i].failed {
			continue
		}
		able = append(able, p)
		t.Rows = append(t.Rows, report.Line{Server: p.Name, Values: append([]float64{report.Milliseconds(measure.Median(all[i].took)), report.Milliseconds(measure.P99(all[i].took))}, all[i].values...)})
	}
	c.peers = able
	return t, nil
}

// upFront returns what each client and its model read at the start: how many tools, bytes
// and tokens; and the memory after that.
func upFront(s *stdio.Server) ([]float64, error) {
	list, err := s.Request("tools/list", "{}")
	if err != nil {
		return nil, err
	}
	n := float64(len(list))
	time.Sleep(measure.Settle) // the server is idle then
	return []float64{float64(strings.Count(string(list), `"inputSchema"`)), n, n / bytesPerToken, s.Memory()}, nil
}

// bytesPerToken is a rule of thumb for English and JSON.
const bytesPerToken = 4

// results are the tables about calls.
type results struct {
	latency, throughput, size, memory report.Table
}

// works measures calls, one after the other and many at once, of all who can do a work.
func (c *comparison) works(dir string, names []string) ([]report.Table, error) {
	r := results{
		latency: report.Table{
			Name: "calls", Title: "One call after another", Note: "The time from a request to its answer. The servers take turns, call by call.",
			Columns: []string{"ms (median)", "p99"}, Log: true,
		},
		throughput: report.Table{
			Name: "throughput", Title: "Many calls at once", Note: "Calls for about a second, sent without waiting for answers.",
			Columns: []string{"calls per second"}, Log: true, Higher: true,
		},
		size: report.Table{
			Name: "answers", Title: "What an answer costs a model", Note: "The size of the text of the result. Servers return different numbers of rows, and of facts in a row, such as a title or a status. Compare the bytes for each fact.",
			Columns: []string{"bytes", "tokens, about", "rows", "facts in a row", "bytes for each fact"}, Log: true,
		},
		memory: report.Table{
			Name: "memory", Title: "Memory after the work", Note: "The highest memory use of a server and its child processes, with 1,000 work items.",
			Columns: []string{"peak, MiB"},
		},
	}
	peaks := make(map[string]float64)
	for _, work := range names {
		if err := c.one(dir, work, &r, peaks); err != nil {
			return nil, err
		}
	}
	for _, p := range c.peers {
		if peak := peaks[p.Name]; peak > 0 {
			r.memory.Rows = append(r.memory.Rows, report.Line{Server: p.Name, Values: []float64{peak}})
		}
	}
	return []report.Table{r.latency, r.throughput, r.size, r.memory}, nil
}

// one measures one work.
func (c *comparison) one(dir, work string, r *results, peaks map[string]float64) error {
	doing, err := c.contenders(dir, work, r)
	defer func() {
		for _, d := range doing {
			d.server.End()
		}
	}()
	if err != nil {
		return err
	}
	for n := range c.rounds {
		doing, err = c.all(doing, work, func(d *contender) error {
			ask := d.calls[work]
			took, _, err := d.server.Call(ask.tool, ask.with(n+1))
			d.took = append(d.took, took)
			return err
		})
		if err != nil {
			return err
		}
	}
	_, err = c.all(slices.Clone(doing), work, func(d *contender) error {
		each := measure.Median(d.took)
		r.latency.Rows = append(r.latency.Rows, report.Line{Work: work, Server: d.Name, Values: []float64{report.Milliseconds(each), report.Milliseconds(measure.P99(d.took))}})
		defer func() { peaks[d.Name] = max(peaks[d.Name], d.server.Peak()) }()
		if work == newItem {
			return nil
		}
		ask, n := d.calls[work], atOnce(each)
		took, failed, err := d.server.Pipeline(n, func(i int) (tool, args string) { return ask.tool, ask.with(i) })
		if err == nil && failed > 0 {
			err = fmt.Errorf("%d of %d calls at once fail", failed, n)
		}
		if err != nil {
			return err
		}
		r.throughput.Rows = append(r.throughput.Rows, report.Line{Work: work, Server: d.Name, Values: []float64{float64(n) / took.Seconds()}})
		return nil
	})
	return err
}

// contenders starts the servers that do a work, and notes what their first answers cost. It
// returns those that run with an error, too.
func (c *comparison) contenders(dir, work string, r *results) ([]*contender, error) {
	var doing []*contender
	for _, p := range c.peers {
		if _, ok := p.calls[work]; !ok {
			continue
		}
		s, err := c.spawn(p, dir)
		if err != nil {
			if err := c.failed(p, work, err); err != nil {
				return doing, err
			}
			continue
		}
		doing = append(doing, &contender{Peer: p, server: s})
	}
	return c.all(doing, work, func(d *contender) error { // the first call opens things
		ask := d.calls[work]
		_, answer, err := d.server.Call(ask.tool, ask.with(0))
		if err == nil {
			r.size.Rows = append(r.size.Rows, report.Line{Work: work, Server: d.Name, Values: ask.cost(textOf(answer))})
		}
		return err
	})
}

// all lets each server do something, ends those that fail, and returns the others.
func (c *comparison) all(doing []*contender, work string, do func(*contender) error) ([]*contender, error) {
	var able []*contender
	for i, d := range doing {
		err := do(d)
		if err == nil {
			able = append(able, d)
			continue
		}
		d.server.End()
		if err := c.failed(d.Peer, work, err); err != nil {
			return append(able, doing[i+1:]...), err
		}
	}
	return able, nil
}

// fakeGitHub returns a GitHub for all who ask one; under the path that a GitHub Enterprise has.
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
