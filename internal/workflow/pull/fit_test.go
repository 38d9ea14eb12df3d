package pull_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/page"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/workflow/pull"
)

// large has more of everything than fits.
func large() pullrequest.Status {
	long := strings.Repeat("a <long> text 𝄞 \n", 400)
	s := pullrequest.Status{PullRequest: pullrequest.PullRequest{Number: 1, Title: strings.Repeat("t", 256), Body: long}}
	for i := range 200 {
		name := fmt.Sprintf("check %d %s", i, strings.Repeat("n", 60))
		s.Checks = append(s.Checks, pullrequest.Check{Name: name, Status: "completed", Conclusion: new("failure"), URL: "https://ci.example/" + name})
		s.Summary.Failing = append(s.Summary.Failing, name)
		s.Reviews = append(s.Reviews, pullrequest.Review{Author: fmt.Sprint("reviewer", i), State: "COMMENTED"})
		s.UnresolvedThreads = append(s.UnresolvedThreads, pullrequest.Thread{File: fmt.Sprint("file", i), Author: "bob", Text: fmt.Sprint(i, " ", long)})
		s.PullRequest.Labels = append(s.PullRequest.Labels, fmt.Sprint("label ", i))
		s.PullRequest.RequestedReviewers = append(s.PullRequest.RequestedReviewers, fmt.Sprint("person", i))
		s.PullRequest.RequestedTeams = append(s.PullRequest.RequestedTeams, fmt.Sprint("team", i))
	}
	for i := range 3 {
		s.Checks[i].Log = &pullrequest.Log{Step: "go test", Text: strings.Repeat("line\x00 of the log\n", 4000) + "the last line"}
	}
	return s
}

func TestFit(t *testing.T) {
	t.Parallel()
	whole := large()
	got := pull.Fit(nil, whole)
	if size := page.Size(got); size > 10<<10 {
		t.Errorf("got %d bytes", size)
	}
	if got.PullRequest.Body != "" {
		t.Error("got a body")
	}
	for i := range 3 {
		log := got.Checks[i].Log
		if log == nil || !strings.HasSuffix(log.Text, "\nthe last line") || !strings.HasPrefix(log.Text, "line") ||
			log.TruncatedBytes != len(whole.Checks[i].Log.Text)-len(log.Text) || len(log.Text) < 200 {
			t.Errorf("got log %+v", log)
		}
	}
	first := got.UnresolvedThreads[0]
	if len(got.UnresolvedThreads) < 3 || !strings.HasSuffix(first.Text, "…") ||
		first.TruncatedBytes != len(whole.UnresolvedThreads[0].Text)-len(strings.TrimSuffix(first.Text, "…")) {
		t.Errorf("got %d threads, %+v", len(got.UnresolvedThreads), first)
	}
	notes := strings.Join(got.Notes, "\n")
	for _, what := range []string{"checks, failing", "unresolved threads, the latest", "reviews, the ones", "labels", "requested reviewers", "requested teams", "names of failing checks"} {
		if !strings.Contains(notes, what) {
			t.Errorf("no note on %s: %s", what, notes)
		}
	}
	if whole.Checks[0].Log.TruncatedBytes != 0 || whole.UnresolvedThreads[0].TruncatedBytes != 0 {
		t.Error("the status of the client was changed")
	}
}

// Little takes what it needs, and what is unknown stays so.
func TestFitLeavesWhatFits(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", 3000)
	s := pullrequest.Status{
		Checks:            []pullrequest.Check{{Name: "a", Status: "completed", Conclusion: new("failure"), Log: &pullrequest.Log{Text: text}}},
		UnresolvedThreads: []pullrequest.Thread{{File: "a", Text: text}},
	}
	got := pull.Fit(nil, s)
	if got.Notes != nil || got.Checks[0].Log.Text != text || got.UnresolvedThreads[0].Text != text || got.UnresolvedThreads[0].TruncatedBytes != 0 {
		t.Errorf("got %+v", got)
	}
	if got := pull.Fit(nil, pullrequest.Status{}); got.UnresolvedThreads != nil {
		t.Error("unknown threads became none")
	}
	if got := pull.Fit(nil, pullrequest.Status{UnresolvedThreads: []pullrequest.Thread{}}); got.UnresolvedThreads == nil {
		t.Error("no threads became unknown")
	}
}

func TestFitOne(t *testing.T) {
	t.Parallel()
	whole := large().PullRequest
	got := pull.FitOne(nil, whole)
	if size := page.Size(got); size > 9<<10 {
		t.Errorf("got %d bytes", size)
	}
	if got.BodyTruncatedBytes != len(whole.Body)-len(strings.TrimSuffix(got.Body, "…")) || got.BodyTruncatedBytes == 0 {
		t.Errorf("got %d bytes left of %d, shown %d", got.BodyTruncatedBytes, len(whole.Body), len(got.Body))
	}
	for _, body := range []string{"", "short…", strings.Repeat("\x01", 3000), strings.Repeat("\"", 9000)} {
		whole.Body = body
		got := pull.FitOne(nil, whole)
		if page.Size(got.Body) > 6<<10 || got.BodyTruncatedBytes == 0 && got.Body != body {
			t.Errorf("%.10q: got %d bytes, %d left", body, len(got.Body), got.BodyTruncatedBytes)
		}
	}
}

// Nowhere does a cut leave a part of a secret.
func TestSecretsAtCuts(t *testing.T) {
	t.Parallel()
	const token = "0123456789abcdef"
	known := secret.New(nil)
	known.Add(token)
	s := pullrequest.Status{}
	for range 8 {
		s.Checks = append(s.Checks, pullrequest.Check{Status: "completed", Conclusion: new("failure"), Log: &pullrequest.Log{Text: strings.Repeat("x"+token, 1000)}})
		s.UnresolvedThreads = append(s.UnresolvedThreads, pullrequest.Thread{Text: strings.Repeat("x"+token, 1000)})
	}
	check := func(text string, cut int) {
		t.Helper()
		if cut == 0 || strings.ContainsAny(text, "0123456789") || !strings.Contains(text, secret.Mask) {
			t.Errorf("%d bytes cut: %q", cut, text)
		}
	}
	s = pull.Fit(known, s)
	for i := range s.UnresolvedThreads {
		check(s.UnresolvedThreads[i].Text, s.UnresolvedThreads[i].TruncatedBytes)
	}
	for i := range s.Checks {
		check(s.Checks[i].Log.Text, s.Checks[i].Log.TruncatedBytes)
	}
	pr := pull.FitOne(known, pullrequest.PullRequest{Body: strings.Repeat("x"+token, 1000)})
	check(pr.Body, pr.BodyTruncatedBytes)
}
