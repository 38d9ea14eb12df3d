package pull

import (
	"fmt"

	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/page"
	"github.com/copse-dev/copse/internal/secret"
)

// Shares of the size budget of an answer, in bytes.
const (
	// statusBudget is for a status without its notes. Its lists share what the rest
	// leaves.
	statusBudget = page.DefaultBudget - 256
	// bodyBudget is for the body of a pull request.
	bodyBudget = 6 << 10
	// namesBudget is for each list of names: failing checks, labels, reviewers.
	namesBudget = 512
	// threadSize is what a thread takes beside its text, and shortText what of its
	// text is shown even if there are many.
	threadSize, shortText = 250, 200
	// fewPassed is the number of listed checks that passed, if the rest of the status needs their
	// space.
	fewPassed = 10
)

// FitOne returns a pull request without known secrets in its body, whose body and lists are cut to the budget of an answer. It notes
// how much of the body is missing.
func FitOne(known *secret.Set, pr pullrequest.PullRequest) pullrequest.PullRequest {
	pr = fitNames(pr)
	pr.Body, pr.BodyTruncatedBytes = page.Head(known, pr.Body, bodyBudget)
	return pr
}

func fitNames(pr pullrequest.PullRequest) pullrequest.PullRequest {
	notes := append([]string(nil), pr.Notes...)
	pr.Labels = fitList(pr.Labels, "labels", &notes)
	pr.RequestedReviewers = fitList(pr.RequestedReviewers, "requested reviewers", &notes)
	pr.RequestedTeams = fitList(pr.RequestedTeams, "requested teams", &notes)
	pr.Notes = notes
	return pr
}

func fitList(names []string, what string, notes *[]string) []string {
	n := page.Fit(names, page.Size, namesBudget)
	if n < len(names) {
		*notes = append(*notes, fmt.Sprintf("showing %d of %d %s", n, len(names), what))
	}
	return names[:n]
}

// Fit returns a status without the body of its pull request, whose lists are cut to the budget of
// an answer. Failing checks come first, then the latest threads, so the least important entries are
// cut. Notes describe what was cut.
func Fit(known *secret.Set, s pullrequest.Status) pullrequest.Status {
	s.PullRequest.Notes = append([]string(nil), s.Notes...)
	s.PullRequest = fitNames(s.PullRequest)
	s.PullRequest.Body, s.PullRequest.BodyTruncatedBytes = "", 0
	s.Notes, s.PullRequest.Notes = s.PullRequest.Notes, nil
	note := func(format string, args ...any) { s.Notes = append(s.Notes, fmt.Sprintf(format, args...)) }

	s.Summary.Failing = fitList(s.Summary.Failing, "names of failing checks", &s.Notes)
	checks, logs, logSize := split(s.Checks)
	budget, sizes := statusBudget-page.Size(s.Summary)-page.Size(s.PullRequest), []int{page.Sizes(checks), logSize, page.Sizes(s.UnresolvedThreads), page.Sizes(s.Reviews)}
	if sizes[0]+sizes[1]+sizes[2]+sizes[3] > budget {
		checks = withFewPassed(checks)
		sizes[0] = page.Sizes(checks)
	}
	each := page.Share(sizes, budget)
	checks = checks[:page.Fit(checks, page.Size, each)]
	if len(checks) < len(s.Checks) {
		note("showing %d of %d checks, failing ones first, then pending ones", len(checks), len(s.Checks))
	}
	s.Checks = join(known, checks, logs, each)
	var threads int
	all := len(s.UnresolvedThreads)
	s.UnresolvedThreads, threads = fitThreads(known, s.UnresolvedThreads, each)
	if threads < all {
		note("showing %d of %d unresolved threads, the latest first", threads, all)
	}
	if n := page.Fit(s.Reviews, page.Size, each); n < len(s.Reviews) {
		note("showing %d of %d reviews, the ones that count first", n, len(s.Reviews))
		s.Reviews = s.Reviews[:n]
	}
	return s
}

// withFewPassed returns checks without most of those that passed, which are the last.
func withFewPassed(checks []pullrequest.Check) []pullrequest.Check {
	passed := 0
	for i, c := range checks {
		if !c.Passed() {
			continue
		}
		if passed++; passed > fewPassed {
			return checks[:i]
		}
	}
	return checks
}

// split returns the checks without their logs and without the addresses of those that
// passed, and the logs with the bytes that they take.
func split(all []pullrequest.Check) (checks []pullrequest.Check, logs []*pullrequest.Log, size int) {
	checks, logs = make([]pullrequest.Check, len(all)), make([]*pullrequest.Log, len(all))
	for i, c := range all {
		if c.Log != nil {
			size += page.Size(c.Log)
		}
		logs[i], c.Log = c.Log, nil
		if c.Passed() {
			c.URL = ""
		}
		checks[i] = c
	}
	return checks, logs, size
}

// join gives the checks their logs back, which share a budget.
func join(known *secret.Set, checks []pullrequest.Check, logs []*pullrequest.Log, budget int) []pullrequest.Check {
	var sizes []int
	for i := range checks {
		if logs[i] != nil {
			sizes = append(sizes, page.Size(logs[i]))
		}
	}
	each := page.Share(sizes, budget)
	for i := range checks {
		if logs[i] == nil {
			continue
		}
		log := *logs[i]
		log.Text, log.TruncatedBytes = page.Tail(known, log.Text, each-page.Size(pullrequest.Log{Step: log.Step}))
		checks[i].Log = &log
	}
	return checks
}

// fitThreads cuts the texts of threads, and then their number, to a budget.
func fitThreads(known *secret.Set, threads []pullrequest.Thread, budget int) ([]pullrequest.Thread, int) {
	if page.Sizes(threads) > budget {
		each := max(budget/len(threads)-threadSize, shortText)
		cut := make([]pullrequest.Thread, len(threads))
		for i, t := range threads {
			t.Text, t.TruncatedBytes = page.Head(known, t.Text, each)
			cut[i] = t
		}
		threads = cut
	}
	n := page.Fit(threads, page.Size, budget)
	return threads[:n], n
}
