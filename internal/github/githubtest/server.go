package githubtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/github/githubtest/graph"
	"github.com/copse-dev/copse/internal/github/githubtest/logstore"
)

// Server is a running fake GitHub. Its API is at URL, and at URL/api/v3, where an Enterprise server
// has it.
type Server struct {
	URL string

	http   *http.Server
	mux    *http.ServeMux
	closed chan struct{}

	mu       sync.Mutex
	fixture  Fixture
	met      []int // by each fault, so far
	requests []Request
	used     int                        // of the rate limit
	made     map[string]json.RawMessage // repositories, as they are sent
	store    *logstore.Store

	documents map[string]graph.Document // valid documents, by their text
}

// Request is a received request.
type Request struct {
	Method        string
	URI           string // path and query
	IfNoneMatch   string
	Authorization string
	Accept        string
	APIVersion    string
	UserAgent     string
	// Status is that of the answer; 0 when there was none.
	Status int
}

// Start starts a server on a free port of the loopback interface.
func Start(f Fixture) (*Server, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start GitHub server: %w", err)
	}
	s := &Server{
		URL:     "http://" + listener.Addr().String(),
		mux:     http.NewServeMux(),
		closed:  make(chan struct{}),
		fixture: f,
		met:     make([]int, len(f.Faults)),
		made:    map[string]json.RawMessage{},

		documents: map[string]graph.Document{},
	}
	s.mux.HandleFunc("GET /repos/{owner}/{repo}/pulls", s.listPulls)
	s.mux.HandleFunc("GET /repos/{owner}/{repo}/pulls/{number}", s.getPull)
	s.mux.HandleFunc("GET /repos/{owner}/{repo}/pulls/{number}/reviews", s.listReviews)
	s.mux.HandleFunc("GET /repos/{owner}/{repo}/commits/{sha}/check-runs", s.listCheckRuns)
	s.mux.HandleFunc("GET /repos/{owner}/{repo}/commits/{sha}/status", s.getStatus)
	s.mux.HandleFunc("GET /repos/{owner}/{repo}/actions/jobs/{job}", s.getJob)
	s.mux.HandleFunc("GET /repos/{owner}/{repo}/actions/jobs/{job}/logs", s.getLogs)
	s.mux.HandleFunc("GET /repos/{owner}/{repo}/rules/branches/{branch...}", s.listRules)
	s.mux.HandleFunc("GET /repos/{owner}/{repo}/branches/{branch...}", s.getBranch)
	s.mux.HandleFunc("POST /graphql", s.answerGraphQL)
	s.mux.HandleFunc("/", s.notFound)
	if s.store, err = logstore.Start(s.log); err != nil {
		_ = listener.Close()
		return nil, err
	}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go s.http.Serve(listener) //nolint:errcheck // ends with Close
	return s, nil
}

// Close ends the server and every request that still hangs.
func (s *Server) Close() {
	close(s.closed)
	s.store.Close()
	_ = s.http.Close()
}

// Update changes the content of the server, and resets the counts of faults.
func (s *Server) Update(change func(*Fixture)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.fixture)
	s.met = make([]int, len(s.fixture.Faults))
	return s.fixture.check()
}

// Requests returns the requests received so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// ServeHTTP answers as GitHub's API.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	index := s.record(r)
	rec := &statusWriter{ResponseWriter: w, record: func(status int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.requests[index].Status = status
	}}
	s.header(rec)
	if f, ok := s.fault(r); ok {
		s.misbehave(rec, r, f)
		return
	}
	if !s.authorized(r) {
		if r.Header.Get("Authorization") == "" {
			s.problem(rec, http.StatusUnauthorized, "Requires authentication", "https://docs.github.com/rest")
		} else {
			s.problem(rec, http.StatusUnauthorized, "Bad credentials", "https://docs.github.com/rest")
		}
		return
	}
	path := strings.TrimPrefix(r.URL.Path, "/api/v3")
	if path == "/api/graphql" {
		path = "/graphql"
	}
	if to, ok := s.moved(path); ok {
		if r.URL.RawQuery != "" {
			to += "?" + r.URL.RawQuery
		}
		rec.Header().Set("Location", s.URL+to)
		s.send(rec, http.StatusMovedPermanently, object{
			"message": "Moved Permanently", "url": s.URL + to,
			"documentation_url": "https://docs.github.com/rest/guides/best-practices-for-using-the-rest-api#follow-redirects",
		})
		return
	}
	r2 := r.Clone(r.Context())
	r2.URL.Path, r2.URL.RawPath = s.byNumber(path), ""
	s.mux.ServeHTTP(rec, r2)
}

func (s *Server) record(r *http.Request) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, Request{
		Method: r.Method, URI: r.URL.RequestURI(),
		IfNoneMatch: r.Header.Get("If-None-Match"), Authorization: r.Header.Get("Authorization"),
		Accept: r.Header.Get("Accept"), APIVersion: r.Header.Get("X-GitHub-Api-Version"), UserAgent: r.Header.Get("User-Agent"),
	})
	return len(s.requests) - 1
}

// authorized accepts the token as GitHub does: as a bearer token, with the older scheme "token",
// and as the password of basic authentication.
func (s *Server) authorized(r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	token := s.fixture.Token
	if token == "" {
		return true
	}
	if _, password, ok := r.BasicAuth(); ok {
		return password == token
	}
	scheme, value, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return (strings.EqualFold(scheme, "bearer") || strings.EqualFold(scheme, "token")) && value == token
}

func (s *Server) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, err := time.Parse(time.RFC3339, s.fixture.Date); err == nil {
		return t
	}
	return time.Now()
}

const hourlyLimit = 5000

// header sets the headers of every answer of GitHub.
func (s *Server) header(w http.ResponseWriter) {
	now := s.now().UTC()
	s.mu.Lock()
	used := min(s.used, hourlyLimit)
	number := len(s.requests)
	s.mu.Unlock()
	h := w.Header()
	h.Set("Date", now.Format(http.TimeFormat))
	h.Set("Server", "github.com")
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("X-GitHub-Media-Type", "github.v3; format=json")
	h.Set("X-GitHub-Api-Version-Selected", "2022-11-28")
	h.Set("X-GitHub-Request-Id", fmt.Sprintf("C0DE:%04X", number))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-RateLimit-Limit", strconv.Itoa(hourlyLimit))
	h.Set("X-RateLimit-Used", strconv.Itoa(used))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(hourlyLimit-used))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(now.Add(time.Hour).Unix(), 10))
	h.Set("X-RateLimit-Resource", "core")
}

// serve sends v with its ETag, or reports that the client already has it, which does not count
// against the rate limit.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	sum := sha256.Sum256(body)
	etag := `W/"` + hex.EncodeToString(sum[:]) + `"`
	h := w.Header()
	h.Set("Etag", etag)
	h.Set("Cache-Control", "private, max-age=60, s-maxage=60")
	h.Set("Vary", "Accept, Authorization, Cookie, X-GitHub-OTP,Accept-Encoding, Accept, X-Requested-With")
	if r.Header.Get("If-None-Match") == etag {
		h.Del("Content-Type")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	s.mu.Lock()
	s.used++
	s.mu.Unlock()
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body) //nolint:errcheck // the client may be gone
}

// send sends v unchanged.
func (s *Server) send(w http.ResponseWriter, status int, v any) {
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) //nolint:errcheck // the client may be gone
}

// problem sends an error in GitHub's form.
func (s *Server) problem(w http.ResponseWriter, status int, message, documentation string) {
	s.send(w, status, object{"message": message, "documentation_url": documentation, "status": strconv.Itoa(status)})
}

func (s *Server) notFound(w http.ResponseWriter, _ *http.Request) {
	s.problem(w, http.StatusNotFound, "Not Found", "https://docs.github.com/rest")
}

// statusWriter records the status of an answer before the client gets it.
type statusWriter struct {
	http.ResponseWriter
	record func(status int)
	known  bool
}

func (w *statusWriter) WriteHeader(status int) {
	w.known = true
	w.record(status)
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(b []byte) (int, error) {
	if !w.known {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(b)
}

func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
