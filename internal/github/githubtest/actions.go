package githubtest

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/github/githubtest/logstore"
)

// jobID returns the number of a check run, which is that of its job in GitHub Actions.
func jobID(p PullRequest, i int) int { return p.Number*100_000 + i + 1 }

// app returns the slug of the app that made a check run.
func (c CheckRun) app() string {
	if c.Log != "" || c.Steps != nil {
		return "github-actions"
	}
	return "acme-ci"
}

func (c CheckRun) details() any { return nilIfEmpty(c.URL) }

// job returns the check run in the path of r.
func (s *Server) job(r *http.Request) (CheckRun, bool) {
	repo, _ := s.repository(r)
	for _, p := range repo.PullRequests {
		for i, c := range p.CheckRuns {
			if strconv.Itoa(jobID(p, i)) == r.PathValue("job") && c.app() == "github-actions" {
				return c, true
			}
		}
	}
	return CheckRun{}, false
}

// The steps of a job take a minute each, from this time on.
var jobStart = time.Date(2026, 3, 4, 5, 0, 0, 0, time.UTC) //nolint:gochecknoglobals // a constant

func (s *Server) getJob(w http.ResponseWriter, r *http.Request) {
	c, ok := s.job(r)
	if !ok {
		s.notFound(w, r)
		return
	}
	steps := []object{}
	for i, step := range c.Steps {
		from := jobStart.Add(time.Duration(i) * time.Minute)
		steps = append(steps, object{
			"name": step.Name, "status": "completed", "conclusion": cmp.Or(step.Conclusion, "success"), "number": i + 1,
			"started_at": from.Format(time.RFC3339), "completed_at": from.Add(59 * time.Second).Format(time.RFC3339),
		})
	}
	s.serve(w, r, object{"name": c.Name, "status": "completed", "conclusion": c.Conclusion, "steps": steps})
}

// getLogs answers as GitHub does: the log is in a store on another host, at a secret address.
func (s *Server) getLogs(w http.ResponseWriter, r *http.Request) {
	c, ok := s.job(r)
	switch {
	case !ok:
		s.notFound(w, r)
		return
	case c.Log == "" && c.Steps != nil && c.text() == "":
		s.problem(w, http.StatusGone, "Server Error: Logs have expired", "https://docs.github.com/rest/actions/workflow-jobs")
		return
	}
	w.Header().Set("Location", s.store.Address(r.PathValue("job")))
	w.WriteHeader(http.StatusFound)
}

// text returns the log: each line with the time at which it was written.
func (c CheckRun) text() string {
	if c.Log != "" {
		return c.Log
	}
	var b strings.Builder
	for i, step := range c.Steps {
		from := jobStart.Add(time.Duration(i) * time.Minute)
		n := 0
		for line := range strings.SplitSeq(strings.TrimSuffix(step.Log, "\n"), "\n") {
			if step.Log == "" {
				continue
			}
			fmt.Fprintf(&b, "%s %s\n", from.Add(time.Duration(n)*time.Microsecond).Format("2006-01-02T15:04:05.0000000Z"), line)
			n++
		}
	}
	return b.String()
}

// log returns the log of a job, for the store.
func (s *Server) log(id string) (logstore.Log, bool) {
	s.mu.Lock()
	fixture := s.fixture
	s.mu.Unlock()
	for _, repo := range fixture.Repositories {
		for _, p := range repo.PullRequests {
			for i, c := range p.CheckRuns {
				if strconv.Itoa(jobID(p, i)) == id {
					return logstore.Log{Text: c.text(), Ranges: fixture.StoreRanges}, true
				}
			}
		}
	}
	return logstore.Log{}, false
}

// Store returns the requests to the store of logs and the number of bytes that it sent.
func (s *Server) Store() ([]logstore.Request, int) { return s.store.Requests() }

// listRules answers with the rules of a branch.
func (s *Server) listRules(w http.ResponseWriter, r *http.Request) {
	repo, ok := s.repository(r)
	if !ok {
		s.notFound(w, r)
		return
	}
	rules := []object{}
	if p := repo.Rules; p != nil {
		if len(p.Checks) > 0 {
			checks := []object{}
			for _, name := range p.Checks {
				checks = append(checks, object{"context": name})
			}
			rules = append(rules, object{"type": "required_status_checks", "parameters": object{"required_status_checks": checks}})
		}
		if p.Approvals > 0 || p.ResolveThreads || p.CodeOwners {
			rules = append(rules, object{"type": "pull_request", "parameters": object{
				"required_approving_review_count": p.Approvals, "required_review_thread_resolution": p.ResolveThreads,
				"require_code_owner_review": p.CodeOwners,
			}})
		}
		for _, name := range p.Other {
			rules = append(rules, object{"type": name})
		}
	}
	s.serve(w, r, rules)
}

// getBranch answers with a branch, of which only the protection is filled in.
func (s *Server) getBranch(w http.ResponseWriter, r *http.Request) {
	repo, ok := s.repository(r)
	if !ok {
		s.notFound(w, r)
		return
	}
	contexts := []string{}
	if repo.Protection != nil {
		contexts = append(contexts, repo.Protection.Checks...)
	}
	s.serve(w, r, object{"name": r.PathValue("branch"), "protected": repo.Protection != nil, "protection": object{
		"enabled": repo.Protection != nil, "required_status_checks": object{"enforcement_level": "non_admins", "contexts": contexts},
	}})
}
