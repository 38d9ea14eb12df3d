package githubtest

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// object is a JSON object.
type object = map[string]any

// repository returns the repository in the path of r. Names are case-insensitive.
func (s *Server) repository(r *http.Request) (Repository, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := r.PathValue("owner") + "/" + r.PathValue("repo")
	for _, repo := range s.fixture.Repositories {
		if strings.EqualFold(repo.Name, name) {
			return repo, true
		}
	}
	return Repository{}, false
}

const firstID = 1000 // of a repository

// moved returns the new path of a renamed repository.
func (s *Server) moved(path string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, repo := range s.fixture.Repositories {
		for _, name := range repo.FormerNames {
			if rest, ok := strings.CutPrefix(path, "/repos/"+name+"/"); ok {
				return fmt.Sprintf("/repositories/%d/%s", firstID+i, rest), true
			}
		}
	}
	return "", false
}

// byNumber turns the path that names a repository by its number into the one that names it by its
// name.
func (s *Server) byNumber(path string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, repo := range s.fixture.Repositories {
		if rest, ok := strings.CutPrefix(path, fmt.Sprintf("/repositories/%d/", firstID+i)); ok {
			return "/repos/" + repo.Name + "/" + rest
		}
	}
	return path
}

func (s *Server) pull(r *http.Request) (Repository, PullRequest, bool) {
	repo, ok := s.repository(r)
	if !ok {
		return Repository{}, PullRequest{}, false
	}
	for _, p := range repo.PullRequests {
		if strconv.Itoa(p.Number) == r.PathValue("number") {
			return repo, p.filled(), true
		}
	}
	return Repository{}, PullRequest{}, false
}

// commit returns the pull requests whose head is in the path of r.
func (s *Server) commit(r *http.Request) (Repository, []PullRequest) {
	repo, _ := s.repository(r)
	var found []PullRequest
	for _, p := range repo.PullRequests {
		if p = p.filled(); p.SHA == r.PathValue("sha") {
			found = append(found, p)
		}
	}
	return repo, found
}

func (s *Server) getPull(w http.ResponseWriter, r *http.Request) {
	repo, p, ok := s.pull(r)
	if !ok {
		s.notFound(w, r)
		return
	}
	o := s.pullObject(repo, p)
	o["mergeable"] = p.Mergeable
	o["mergeable_state"] = p.MergeableState
	o["merged"] = p.Merged
	o["rebaseable"] = p.Mergeable
	o["comments"], o["review_comments"], o["commits"] = 0, 0, 1
	o["additions"], o["deletions"], o["changed_files"] = 10, 2, 1
	o["maintainer_can_modify"] = false
	maps.Copy(o, p.Override)
	s.serve(w, r, o)
}

func (s *Server) listPulls(w http.ResponseWriter, r *http.Request) {
	repo, ok := s.repository(r)
	if !ok {
		s.notFound(w, r)
		return
	}
	q := r.URL.Query()
	state := cmp.Or(q.Get("state"), "open")
	if state != "open" && state != "closed" && state != "all" {
		s.problem(w, http.StatusUnprocessableEntity, "Validation Failed", pullsPage)
		return
	}
	var pulls []PullRequest
	for _, p := range repo.PullRequests {
		if p = p.filled(); state == "all" || p.State == state {
			pulls = append(pulls, p)
		}
	}
	slices.SortStableFunc(pulls, func(a, b PullRequest) int {
		if q.Get("sort") == "updated" {
			return strings.Compare(a.UpdatedAt, b.UpdatedAt)
		}
		return a.Number - b.Number
	})
	// By default, GitHub sorts by creation with the newest first, and by anything else in ascending
	// order.
	if d := q.Get("direction"); d == "desc" || d == "" && (q.Get("sort") == "" || q.Get("sort") == "created") {
		slices.Reverse(pulls)
	}
	list := []object{}
	for _, p := range paged(s, w, r, pulls) {
		o := s.pullObject(repo, p)
		maps.Copy(o, p.Override)
		list = append(list, o)
	}
	s.serve(w, r, list)
}

func (s *Server) listReviews(w http.ResponseWriter, r *http.Request) {
	repo, p, ok := s.pull(r)
	if !ok {
		s.notFound(w, r)
		return
	}
	list := []object{}
	for i, review := range paged(s, w, r, p.Reviews) {
		list = append(list, s.reviewObject(repo, p, review, i))
	}
	s.serve(w, r, list)
}

func (s *Server) listCheckRuns(w http.ResponseWriter, r *http.Request) {
	repo, pulls := s.commit(r)
	if len(pulls) == 0 {
		s.problem(w, http.StatusUnprocessableEntity, "No commit found for SHA: "+r.PathValue("sha"), "https://docs.github.com/rest/checks/runs")
		return
	}
	var runs []numberedRun
	for _, p := range pulls {
		for i, c := range p.CheckRuns {
			runs = append(runs, numberedRun{c, jobID(p, i)})
		}
	}
	list := []object{}
	for i, run := range paged(s, w, r, runs) {
		list = append(list, s.checkRunObject(repo, r.PathValue("sha"), run, i))
	}
	s.serve(w, r, object{"total_count": len(runs), "check_runs": list})
}

func (s *Server) getStatus(w http.ResponseWriter, r *http.Request) {
	repo, pulls := s.commit(r)
	if len(pulls) == 0 {
		s.problem(w, http.StatusNotFound, "Not Found", "https://docs.github.com/rest/commits/statuses")
		return
	}
	var statuses []Status
	state := "success"
	for _, p := range pulls {
		statuses = append(statuses, p.Statuses...)
	}
	for _, st := range statuses {
		if st.State == "failure" || st.State == "error" {
			state = "failure"
		} else if st.State == "pending" && state == "success" {
			state = "pending"
		}
	}
	if len(statuses) == 0 {
		state = "pending"
	}
	sha := r.PathValue("sha")
	list := []object{}
	for i, st := range paged(s, w, r, statuses) {
		list = append(list, s.statusObject(repo, sha, st, i))
	}
	s.serve(w, r, object{
		"state": state, "statuses": list, "sha": sha, "total_count": len(statuses),
		"repository": s.repositoryObject(repo), "commit_url": s.api(repo, "commits", sha), "url": s.api(repo, "commits", sha, "status"),
	})
}

// paged returns the requested page of items, and links to the others.
func paged[T any](s *Server, w http.ResponseWriter, r *http.Request, items []T) []T {
	q := r.URL.Query()
	number, err := strconv.Atoi(q.Get("page"))
	if err != nil || number < 1 {
		number = 1
	}
	size, err := strconv.Atoi(q.Get("per_page"))
	if err != nil || size < 1 {
		size = 30
	}
	size = min(size, 100)
	last := (len(items) + size - 1) / size
	if links := pageLinks(s.URL+r.URL.Path, q, number, last); links != "" {
		w.Header().Set("Link", links)
	}
	start := min((number-1)*size, len(items))
	return items[start:min(start+size, len(items))]
}

func pageLinks(base string, q url.Values, number, last int) string {
	var links []string
	add := func(rel string, page int) {
		q := maps.Clone(q)
		q.Set("page", strconv.Itoa(page))
		links = append(links, fmt.Sprintf(`<%s?%s>; rel="%s"`, base, q.Encode(), rel))
	}
	if number > 1 {
		add("prev", min(number-1, max(last, 1)))
	}
	if number < last {
		add("next", number+1)
		add("last", last)
	}
	if number > 1 {
		add("first", 1)
	}
	return strings.Join(links, ", ")
}
