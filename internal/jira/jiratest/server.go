package jiratest

import (
	"cmp"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

const jsonType = "application/json;charset=UTF-8"

// Server is a fake Jira. Create it with [New].
type Server struct {
	fixture Fixture
	mux     *http.ServeMux
	closed  chan struct{}

	mu       sync.Mutex
	requests []Request
	faults   []*fault
}

// Request is a received request, including credentials.
type Request struct {
	Method string
	Path   string // without the context path
	Query  string
	Header http.Header
	Body   string
}

// New returns a server of f, which must not be changed afterward.
func New(f Fixture) *Server {
	f.MaxResults = cmp.Or(f.MaxResults, 100)
	s := &Server{fixture: f, mux: http.NewServeMux(), closed: make(chan struct{})}
	handle := func(pattern string, h http.HandlerFunc) {
		method, path, _ := strings.Cut(pattern, " ")
		s.mux.HandleFunc(method+" "+f.Path+path, h)
	}
	handle("GET /rest/api/2/serverInfo", s.serverInfo)
	handle("GET /rest/api/2/issue/{key}", s.wikiIssue)
	handle("GET /rest/api/2/issue/{key}/comment", s.comments(2))
	if f.Cloud {
		handle("GET /rest/api/3/serverInfo", s.serverInfo)
		handle("GET /rest/api/3/issue/{key}", s.documentIssue)
		handle("GET /rest/api/3/issue/{key}/comment", s.comments(3))
		handle("POST /rest/api/3/search/jql", s.searchByToken)
		for _, removed := range []string{"GET /rest/api/2/search", "POST /rest/api/2/search", "GET /rest/api/3/search", "POST /rest/api/3/search"} {
			handle(removed, func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, Gone) })
		}
	} else {
		handle("POST /rest/api/2/search", s.searchByOffset)
	}
	return s
}

// Close ends the hanging requests.
func (s *Server) Close() { close(s.closed) }

// Requests returns the requests received so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has disconnected
	}
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	path := strings.TrimPrefix(r.URL.Path, s.fixture.Path)
	s.mu.Lock()
	s.requests = append(s.requests, Request{Method: r.Method, Path: path, Query: r.URL.RawQuery, Header: r.Header.Clone(), Body: string(body)})
	s.mu.Unlock()

	w.Header().Set("Cache-Control", "no-cache, no-store, no-transform")
	if what, ok := s.fault(path); ok {
		s.fail(w, r, what)
		return
	}
	if _, pattern := s.mux.Handler(r); pattern == "" {
		s.noSuchPath(w, r)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// noSuchPath answers requests to paths that this Jira does not have.
func (s *Server) noSuchPath(w http.ResponseWriter, r *http.Request) {
	if s.fixture.Cloud || !strings.HasPrefix(r.URL.Path, s.fixture.Path+"/rest/") {
		s.page(w, http.StatusNotFound, "Oops, you've found a dead link.")
		return
	}
	s.send(w, http.StatusNotFound, map[string]any{"message": "null for uri: http://" + r.Host + r.URL.Path, "status-code": http.StatusNotFound})
}

// admitted reports whether r has the credentials. If it has others, Data Center refuses the
// request; Cloud continues as with an anonymous visitor, and reports it only in a header.
func (s *Server) admitted(w http.ResponseWriter, r *http.Request) (ok, answered bool) {
	given := r.Header.Get("Authorization")
	want := "Bearer " + s.fixture.Secret
	if s.fixture.Login != "" {
		probe := http.Request{Header: http.Header{}}
		probe.SetBasicAuth(s.fixture.Login, s.fixture.Secret)
		want = probe.Header.Get("Authorization")
	}
	switch {
	case subtle.ConstantTimeCompare([]byte(given), []byte(want)) == 1:
		if !s.fixture.Cloud {
			w.Header().Set("X-Seraph-LoginReason", "OK")
		}
		return true, false
	case given == "":
		return false, false
	}
	w.Header().Set("X-Seraph-LoginReason", "AUTHENTICATED_FAILED")
	if s.fixture.Cloud {
		return false, false
	}
	w.Header().Set("WWW-Authenticate", `OAuth realm="http%3A%2F%2F`+r.Host+`"`)
	s.page(w, http.StatusUnauthorized, "Unauthorized (401)")
	return false, true
}

func (s *Server) serverInfo(w http.ResponseWriter, r *http.Request) {
	// Everyone may read this; in Cloud, even with wrong credentials.
	if _, answered := s.admitted(w, r); answered {
		return
	}
	info := map[string]any{"baseUrl": "http://" + r.Host + s.fixture.Path, "version": "10.3.5", "deploymentType": "Server", "serverTitle": "Jira"}
	if s.fixture.Cloud {
		info["version"], info["deploymentType"] = "1001.0.0-SNAPSHOT", "Cloud"
	}
	s.send(w, http.StatusOK, info)
}

func (s *Server) wikiIssue(w http.ResponseWriter, r *http.Request)     { s.issue(w, r, 2) }
func (s *Server) documentIssue(w http.ResponseWriter, r *http.Request) { s.issue(w, r, 3) }

func (s *Server) issue(w http.ResponseWriter, r *http.Request, version int) {
	ok, answered := s.admitted(w, r)
	if answered {
		return
	}
	if !ok && !s.fixture.Cloud {
		s.problem(w, http.StatusUnauthorized, "You do not have the permission to see the specified issue.", "Login Required")
		return
	}
	for _, issue := range s.fixture.Issues {
		if ok && strings.EqualFold(issue.Key, r.PathValue("key")) {
			s.send(w, http.StatusOK, s.render(r, issue, version, strings.Split(r.URL.Query().Get("fields"), ",")))
			return
		}
	}
	if s.fixture.Cloud {
		s.problem(w, http.StatusNotFound, "Issue does not exist or you do not have permission to see it.")
	} else {
		s.problem(w, http.StatusNotFound, "Issue Does Not Exist")
	}
}

// render returns an issue in the form of the API's version, with the requested fields; without a
// request for fields, with all.
func (s *Server) render(r *http.Request, issue Issue, version int, fields []string) map[string]any {
	all := map[string]any{
		"summary":     issue.Summary,
		"description": nil,
		"status":      map[string]any{"name": issue.Status, "id": "1", "statusCategory": map[string]any{"id": 2, "key": "new", "name": "To Do"}},
		"assignee":    nil,
		"project":     map[string]any{"key": issue.project()},
		"updated":     issue.Updated.Format("2006-01-02T15:04:05.000-0700"),
	}
	s.detailFields(issue, version, all)
	switch {
	case version == 3 && issue.Document != nil:
		all["description"] = issue.Document
	case version == 2 && issue.Wiki != "":
		all["description"] = issue.Wiki
	}
	if u, ok := s.user(issue.Assignee); ok {
		id := "name"
		if s.fixture.Cloud {
			id = "accountId"
		}
		all["assignee"] = map[string]any{id: u.Name, "displayName": u.DisplayName, "active": true}
	}
	if !slices.Contains(fields, "") && !slices.Contains(fields, "*all") {
		for name := range all {
			if !slices.Contains(fields, name) {
				delete(all, name)
			}
		}
	}
	self := fmt.Sprintf("http://%s%s/rest/api/%d/issue/%s", r.Host, s.fixture.Path, version, issue.Key)
	return map[string]any{"expand": "names,schema", "id": issue.Key, "self": self, "key": issue.Key, "fields": all}
}

func (s *Server) user(name string) (User, bool) {
	i := slices.IndexFunc(s.fixture.Users, func(u User) bool { return name != "" && u.Name == name })
	if i < 0 {
		return User{}, false
	}
	return s.fixture.Users[i], true
}

func (s *Server) send(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) //nolint:errcheck // the client has disconnected
}

// problem sends Jira's error object.
func (s *Server) problem(w http.ResponseWriter, status int, messages ...string) {
	s.send(w, status, map[string]any{"errorMessages": messages, "errors": map[string]string{}})
}

// page sends HTML.
func (s *Server) page(w http.ResponseWriter, status int, title string) {
	w.Header().Set("Content-Type", "text/html;charset=UTF-8")
	w.WriteHeader(status)
	title = html.EscapeString(title)
	fmt.Fprintf(w, "<!DOCTYPE html>\n<html><head><title>%s</title></head><body><h1>%s</h1></body></html>\n", title, title)
}
