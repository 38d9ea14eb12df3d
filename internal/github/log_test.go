package github_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/github"
	"github.com/copse-dev/copse/internal/github/githubtest"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/remote"
)

// lines returns n numbered lines.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %06d of the test\n", i)
	}
	return b.String()
}

func failingJob(log string) githubtest.CheckRun {
	return githubtest.CheckRun{Name: "test", Conclusion: "failure", Steps: []githubtest.Step{
		{Name: "Checkout", Log: "cloning"},
		{Name: "go test", Conclusion: "failure", Log: log + "--- FAIL: TestX\x1b[31m\n##[error]Process completed with exit code 1.\n"},
		{Name: "Post Checkout", Log: "cleaning up"},
	}}
}

// withLogs reads a status with its logs.
func withLogs(t *testing.T, c *github.Client) pullrequest.Status {
	t.Helper()
	got, err := c.Status(t.Context(), repo, 42)
	if err != nil {
		t.Fatal(err)
	}
	c.Logs(t.Context(), repo, &got)
	return got
}

// The log is that of the failing step, read from its end, and its store never sees the
// token.
func TestLogs(t *testing.T) {
	t.Parallel()
	for _, ranges := range []string{"", "from", "none"} {
		for _, rest := range []bool{false, true} {
			for name, n := range map[string]int{"short": 3, "long": 20_000} {
				t.Run(fmt.Sprintf("%s log, ranges %q, REST only %t", name, ranges, rest), func(t *testing.T) {
					t.Parallel()
					f := holding(githubtest.PullRequest{Number: 42, CheckRuns: []githubtest.CheckRun{failingJob(lines(n)), {Name: "ok", Conclusion: "success"}}})
					f.RESTOnly, f.StoreRanges = rest, ranges
					s := start(t, f)
					got := withLogs(t, connect(t, s))
					log := got.Checks[0].Log
					if log == nil {
						t.Fatalf("got no log; notes %q", got.Notes)
					}
					want := fmt.Sprintf("line %06d of the test\n--- FAIL: TestX\n##[error]Process completed with exit code 1.", n-1)
					if log.Step != "go test" || !strings.HasSuffix(log.Text, want) || !strings.HasPrefix(log.Text, "line ") {
						t.Errorf("got step %q, %d bytes from %.60q to %q", log.Step, len(log.Text), log.Text, log.Text[max(0, len(log.Text)-120):])
					}
					asked, sent := s.Store()
					// A store that sends everything is not read on for long: what is on
					// its way when the connection ends is not read.
					if len(log.Text) > 64<<10 || ranges == "" && sent > 64<<10 {
						t.Errorf("kept %d bytes of the %d that were sent", len(log.Text), sent)
					}
					for _, r := range asked {
						for _, name := range []string{"Authorization", "Cookie", "X-Github-Api-Version", "Referer"} {
							if v := r.Header.Get(name); v != "" {
								t.Errorf("the store got %s: %s", name, v)
							}
						}
					}
					if got.Checks[1].Log != nil {
						t.Error("a log of a check that passed")
					}
				})
			}
		}
	}
}

// What there is no log of is said.
func TestNoLogs(t *testing.T) {
	t.Parallel()
	gone := githubtest.CheckRun{Name: "d gone", Conclusion: "failure", Steps: []githubtest.Step{}}
	external := githubtest.CheckRun{Name: "e external", Conclusion: "failure"}
	f := holding(githubtest.PullRequest{Number: 42, CheckRuns: []githubtest.CheckRun{gone, external}, Statuses: []githubtest.Status{{Context: "f status", State: "error"}}})
	for i := range 4 {
		job := failingJob("")
		job.Name = fmt.Sprint("x", i)
		f.Repositories[0].PullRequests[0].CheckRuns = append(f.Repositories[0].PullRequests[0].CheckRuns, job)
	}
	s := start(t, f)
	c := connect(t, s)
	got := withLogs(t, c)
	want := []string{
		`no log of "d gone": GitHub does not have it, or no longer`,
		`no log of "e external": it is not a job of GitHub Actions; see its url`,
		`no log of "f status": it is not a job of GitHub Actions; see its url`,
		"copse did not read the logs of 2 further failing checks",
	}
	if diff := cmp.Diff(want, got.Notes); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, kind := range []githubtest.Kind{githubtest.Forbidden, githubtest.Redirect} {
		update(t, s, func(f *githubtest.Fixture) {
			f.Faults = []githubtest.Fault{{Kind: kind, Path: "/logs", Location: "http://user:hunter2@127.0.0.1:1/x?sig=hunter2"}}
		})
		got := withLogs(t, c)
		if text := fmt.Sprint(got.Notes); strings.Contains(text, "hunter2") || !strings.Contains(text, "no log of x0: ") {
			t.Errorf("%s: got notes %q", kind, got.Notes)
		}
	}
	update(t, s, func(f *githubtest.Fixture) {
		f.Faults = []githubtest.Fault{{Kind: githubtest.Redirect, Path: "/logs", Location: "ftp://127.0.0.1/x?sig=hunter2"}}
	})
	if text := fmt.Sprint(withLogs(t, c).Notes); strings.Contains(text, "hunter2") {
		t.Errorf("got notes %s", text)
	}
	cached, err := c.Status(remote.WithCachedOnly(t.Context()), repo, 42)
	if err != nil {
		t.Fatal(err)
	}
	sent := len(s.Requests())
	c.Logs(remote.WithCachedOnly(t.Context()), repo, &cached)
	if len(s.Requests()) != sent || cached.Checks[3].Log != nil {
		t.Error("logs were fetched although nothing may be sent")
	}
}
