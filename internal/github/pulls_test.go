package github_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/github"
	"github.com/copse-dev/copse/internal/github/githubtest"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/github/remoteurl"
	"github.com/copse-dev/copse/internal/github/rest"
	"github.com/copse-dev/copse/internal/remote"
)

// numbered returns open pull requests 1 to n.
func numbered(n int) []githubtest.PullRequest {
	var pulls []githubtest.PullRequest
	for i := range n {
		pulls = append(pulls, githubtest.PullRequest{Number: i + 1})
	}
	return pulls
}

func numbers(p rest.Page) []int {
	got := []int{}
	for _, pr := range p.PullRequests {
		got = append(got, pr.Number)
	}
	return got
}

func TestPullRequestsByState(t *testing.T) {
	t.Parallel()
	c := connect(t, start(t, holding(
		githubtest.PullRequest{Number: 1},
		githubtest.PullRequest{Number: 2, State: "closed"},
		githubtest.PullRequest{Number: 3, State: "closed", Merged: true},
		githubtest.PullRequest{Number: 4, Draft: true, Mergeable: new(true)},
	)))
	for state, want := range map[pullrequest.State][]int{pullrequest.Open: {4, 1}, pullrequest.Closed: {3, 2}, pullrequest.All: {4, 3, 2, 1}} {
		p, err := c.PullRequests(t.Context(), repo, state, rest.Cursor{}, 30)
		if err != nil || p.Next != nil || p.AsOf.IsZero() {
			t.Fatalf("%s: got %+v, %v", state, p, err)
		}
		if diff := cmp.Diff(want, numbers(p)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", state, diff)
		}
		for _, pr := range p.PullRequests {
			if pr.Mergeable != nil || pr.Merged != (pr.Number == 3) || pr.Draft != (pr.Number == 4) {
				t.Errorf("%s: got %+v", state, pr)
			}
		}
	}
}

func TestParseState(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]pullrequest.State{"": pullrequest.Open, "open": pullrequest.Open, "closed": pullrequest.Closed, "all": pullrequest.All, "merged": "", "Open": "", "open&x": ""} {
		got, err := pullrequest.ParseState(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v", in, got, err)
		}
	}
}

func TestAnEmptyListIsNoError(t *testing.T) {
	t.Parallel()
	p, err := connect(t, start(t, holding())).PullRequests(t.Context(), repo, pullrequest.Open, rest.Cursor{}, 30)
	if err != nil || p.PullRequests == nil || len(p.PullRequests) != 0 || p.Next != nil {
		t.Errorf("got %+v, %v", p, err)
	}
}

func TestNoSuchRepository(t *testing.T) {
	t.Parallel()
	_, err := connect(t, start(t, holding())).PullRequests(t.Context(), remoteurl.Repo{Owner: "acme", Name: "none"}, pullrequest.Open, rest.Cursor{}, 30)
	var e *remote.Error
	if !errors.As(err, &e) || e.Kind != remote.NotFound {
		t.Errorf("got error %v", err)
	}
}

func TestPagingCostsOneRequestACall(t *testing.T) {
	t.Parallel()
	const all = 250
	for _, limit := range []int{20, 30, 50, 99, 100} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			t.Parallel()
			s := start(t, holding(numbered(all)...))
			o := options(t, s)
			o.CacheDir = ""
			c := github.New(o)
			want := all
			calls := 0
			for at := (&rest.Cursor{}); at != nil; calls++ {
				p, err := c.PullRequests(t.Context(), repo, pullrequest.Open, *at, limit)
				if err != nil {
					t.Fatal(err)
				}
				for _, n := range numbers(p) {
					if n != want {
						t.Fatalf("got %d, want %d", n, want)
					}
					want--
				}
				if left := want > 0; (p.Next != nil) != left || left && len(p.PullRequests) != limit {
					t.Fatalf("got %d and next %v with %d left", len(p.PullRequests), p.Next, want)
				}
				at = p.Next
			}
			if want != 0 {
				t.Errorf("%d were left out", want)
			}
			// Where no page holds both what was last and all that is next, it
			// takes two.
			if n := len(s.Requests()); n > calls+calls/2+1 {
				t.Errorf("%d calls took %d requests", calls, n)
			}
		})
	}
}

func TestPagingWhileTheListChanges(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*githubtest.Repository)
		want   []int // after 20..11 were given
	}{
		{"nothing", func(*githubtest.Repository) {}, []int{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}},
		{"opened", func(r *githubtest.Repository) { r.PullRequests = numbered(50) }, []int{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}},
		{"given ones closed", func(r *githubtest.Repository) { closeAll(r, 11, 20) }, []int{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}},
		{"the last given closed", func(r *githubtest.Repository) { closeAll(r, 11, 11) }, []int{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}},
		{"the next ones closed", func(r *githubtest.Repository) { closeAll(r, 9, 10) }, []int{8, 7, 6, 5, 4, 3, 2, 1}},
		{"all closed", func(r *githubtest.Repository) { closeAll(r, 1, 20) }, []int{}},
		{"all to come closed", func(r *githubtest.Repository) { closeAll(r, 1, 10) }, []int{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, holding(numbered(20)...))
			c := connect(t, s)
			p, err := c.PullRequests(t.Context(), repo, pullrequest.Open, rest.Cursor{}, 10)
			if err != nil || p.Next == nil || p.Next.After != 11 {
				t.Fatalf("got next %v, %v", p.Next, err)
			}
			update(t, s, func(f *githubtest.Fixture) { tt.change(&f.Repositories[0]) })
			p, err = c.PullRequests(t.Context(), repo, pullrequest.Open, *p.Next, 10)
			if err != nil || p.Next != nil {
				t.Fatalf("got next %v, %v", p.Next, err)
			}
			if diff := cmp.Diff(tt.want, numbers(p)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestPagingGoesBack: the page on which the next ones were begins behind some
// of them, as two before it were closed.
func TestPagingGoesBack(t *testing.T) {
	t.Parallel()
	f := holding(numbered(300)...)
	closeAll(&f.Repositories[0], 299, 300)
	s := start(t, f)
	p, err := connect(t, s).PullRequests(t.Context(), repo, pullrequest.Open, rest.Cursor{After: 200, Offset: 101}, 100)
	if err != nil {
		t.Fatal(err)
	}
	got := numbers(p)
	if len(got) != 100 || got[0] != 199 || got[99] != 100 {
		t.Errorf("got %v", got)
	}
	if n := len(s.Requests()); n != 2 {
		t.Errorf("got %d requests, want 2", n)
	}
}

func closeAll(r *githubtest.Repository, from, to int) {
	r.PullRequests = slices.Clone(r.PullRequests)
	for i := range r.PullRequests {
		if n := r.PullRequests[i].Number; n >= from && n <= to {
			r.PullRequests[i].State = "closed"
		}
	}
}

// TestPagingLosesNothing: whatever is opened, closed and reopened between the
// calls, none is given twice, and whatever stays in the list is given.
func TestPagingLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		open := rowsOfPulls{}
		for range rapid.IntRange(0, 250).Draw(t, "at first") {
			open = append(open, true)
		}
		c := github.New(github.Options{API: &url.URL{Scheme: "https", Host: "api.github.com"}, Base: &open})
		stayed := map[int]bool{}
		for i := range open {
			stayed[i+1] = true
		}
		seen := map[int]bool{}
		for at := (&rest.Cursor{}); at != nil; {
			limit := rapid.IntRange(1, 100).Draw(t, "limit")
			p, err := c.PullRequests(t.Context(), repo, pullrequest.Open, *at, limit)
			if err != nil {
				t.Fatal(err)
			}
			if len(p.PullRequests) > limit {
				t.Fatalf("got %d, limit %d", len(p.PullRequests), limit)
			}
			for _, n := range numbers(p) {
				if seen[n] {
					t.Fatalf("%d came twice", n)
				}
				if !open[n-1] {
					t.Fatalf("%d is not open", n)
				}
				seen[n] = true
			}
			at = p.Next
			for range rapid.IntRange(0, 40).Draw(t, "opened") {
				open = append(open, true)
			}
			share := rapid.SampledFrom([]float64{0, 0.05, 0.9}).Draw(t, "share")
			random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "which"), 0))
			for i := range open {
				if random.Float64() < share {
					open[i] = !open[i]
					delete(stayed, i+1)
				}
			}
		}
		for n := range stayed {
			if !seen[n] {
				t.Fatalf("%d was left out", n)
			}
		}
	})
}

// rowsOfPulls answers for a list of pull requests that have nothing but a
// number; it says of each, from 1 on, whether it is open.
type rowsOfPulls []bool

func (open *rowsOfPulls) RoundTrip(r *http.Request) (*http.Response, error) {
	q := r.URL.Query()
	size, err1 := strconv.Atoi(q.Get("per_page"))
	number, err2 := strconv.Atoi(q.Get("page"))
	if err1 != nil || err2 != nil || size > 100 || q.Get("direction") != "desc" || q.Get("sort") != "created" || q.Get("state") != "open" {
		return nil, fmt.Errorf("unexpected request %s", r.URL)
	}
	var rows []string
	for i, isOpen := range slices.Backward(*open) {
		if isOpen {
			rows = append(rows, fmt.Sprintf(`{"number":%d}`, i+1))
		}
	}
	header := http.Header{}
	start := min((number-1)*size, len(rows))
	end := min(start+size, len(rows))
	if end < len(rows) {
		header.Set("Link", `<https://api.github.com/next>; rel="next"`)
	}
	body := "[" + strings.Join(rows[start:end], ",") + "]"
	return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// A server whose pages repeat forever, or have other pull requests than those asked for, costs a
// limited number of requests.
func TestEndlessPages(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"the same page": `[{"number":8},{"number":7}]`, "other numbers": `[{"number":99}]`} {
		var asked atomic.Int32
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			w.Header().Set("Link", `<http://localhost/>; rel="next"`)
			_, _ = io.WriteString(w, body)
		}))
		t.Cleanup(s.Close)
		api, err := url.Parse(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		c := github.New(github.Options{API: api})
		for _, from := range []rest.Cursor{{After: 7, Offset: 2}, {After: 3, Offset: 5000}} {
			if _, err := c.PullRequests(t.Context(), repo, pullrequest.Open, from, 30); err == nil || !strings.Contains(err.Error(), "in their order") {
				t.Errorf("%s after %d: %v", name, from.After, err)
			}
		}
		if n := asked.Load(); n > 3*(rest.MaxPages*rest.PerPage/30+1) {
			t.Errorf("%s: %d requests", name, n)
		}
	}
}

// A server that is always slow, but never too slow for one request, cannot hold up a call forever.
func TestSlowServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := func(r *http.Request) (*http.Response, error) {
			select {
			case <-r.Context().Done():
				return nil, r.Context().Err()
			case <-time.After(14 * time.Second):
			}
			body := `[{"number":99,"head":{"sha":"a"}}]`
			if r.Method == http.MethodPost {
				return &http.Response{StatusCode: http.StatusBadGateway, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
			}
			return &http.Response{
				StatusCode: http.StatusOK, Header: http.Header{"Link": {`<http://localhost/>; rel="next"`}},
				Body: io.NopCloser(strings.NewReader(body)), Request: r,
			}, nil
		}
		c := github.New(github.Options{API: &url.URL{Scheme: "https", Host: "api.github.com"}, Base: roundTripper(slow)})
		begun := time.Now()
		heads := make([]pullrequest.Head, 500)
		for i := range heads {
			heads[i] = pullrequest.Head{Branch: strconv.Itoa(i)}
		}
		for i, found := range c.OfBranches(t.Context(), repo, heads) {
			if _, known := found.Get(); known || !strings.Contains(found.Reason, "no answer in time") {
				t.Fatalf("branch %d: %+v", i, found)
			}
		}
		if took := time.Since(begun); took != time.Minute {
			t.Errorf("500 branches took %s", took)
		}
		begun = time.Now()
		if _, err := c.Status(t.Context(), repo, 99); err == nil {
			t.Error("there was no error")
		}
		if took := time.Since(begun); took > time.Minute {
			t.Errorf("a status took %s", took)
		}
	})
}

// roundTripper is a function that answers requests.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
