package jiratest

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Failure is a kind of faulty answer.
type Failure int

const (
	// Hang never answers: the request ends when the client, or [Server.Close],
	// gives up.
	Hang Failure = iota
	// Truncate announces more of an answer than it sends.
	Truncate
	// HTML is a page for people, with status 200, as login portals send.
	HTML
	// Unavailable is a 503 without JSON, as from a proxy.
	Unavailable
	// Internal is a 500 with Jira's error object.
	Internal
	// RateLimited is a 429 with a Retry-After of 37 seconds.
	RateLimited
	// Captcha is the 403 of Data Center after failed logins.
	Captcha
	// Forbidden is the 403 of a user without access.
	Forbidden
	// Gone is the 410 of a removed API.
	Gone
	// Redirect is a 302 to a login page on another host.
	Redirect
	// Echo is a 400 that repeats the credentials of the request.
	Echo
)

// RetryAfter is the wait in a RateLimited answer.
const RetryAfter = 37 * time.Second

type fault struct {
	path string
	what Failure
	left int
}

// Break makes the next times requests fail whose path ends in path. Faults apply in the order of
// the calls.
func (s *Server) Break(path string, what Failure, times int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &fault{path: path, what: what, left: times})
}

// fault returns the next failure for a request, if there is one.
func (s *Server) fault(path string) (Failure, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		if f.left > 0 && strings.HasSuffix(path, f.path) {
			f.left--
			return f.what, true
		}
	}
	return 0, false
}

func (s *Server) fail(w http.ResponseWriter, r *http.Request, what Failure) {
	switch what {
	case Hang:
		select {
		case <-r.Context().Done():
		case <-s.closed:
		}
		panic(http.ErrAbortHandler)
	case Truncate:
		w.Header().Set("Content-Type", jsonType)
		w.Header().Set("Content-Length", "1000")
		w.Write([]byte(`{"key": "`)) //nolint:errcheck // the client is to see a broken answer
	case HTML:
		s.page(w, http.StatusOK, "Log in")
	case Unavailable:
		s.page(w, http.StatusServiceUnavailable, "Service Unavailable")
	case Internal:
		s.problem(w, http.StatusInternalServerError, "Internal server error")
	case RateLimited:
		w.Header().Set("Retry-After", strconv.Itoa(int(RetryAfter.Seconds())))
		s.problem(w, http.StatusTooManyRequests, "Rate limit exceeded.")
	case Captcha:
		w.Header().Set("X-Seraph-LoginReason", "AUTHENTICATION_DENIED")
		w.Header().Set("X-Authentication-Denied-Reason", "CAPTCHA_CHALLENGE; login-url=https://"+r.Host+"/login.jsp")
		s.page(w, http.StatusForbidden, "Forbidden (403)")
	case Forbidden:
		s.problem(w, http.StatusForbidden, "You do not have permission to access this resource.")
	case Gone:
		s.problem(w, http.StatusGone, "The requested API has been removed.")
	case Echo:
		s.problem(w, http.StatusBadRequest, "Not understood: Authorization: "+r.Header.Get("Authorization"))
	case Redirect:
		http.Redirect(w, r, "https://login.example.com/sso?token=secret", http.StatusFound)
	}
}
