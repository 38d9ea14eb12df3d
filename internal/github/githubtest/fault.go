package githubtest

import (
	"net"
	"net/http"
	"strings"
)

// fault returns the first fault that applies to r.
func (s *Server) fault(r *http.Request) (Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.fixture.Faults {
		if !strings.Contains(r.URL.RequestURI(), f.Path) || f.Times > 0 && s.met[i] >= f.Times {
			continue
		}
		s.met[i]++
		return f, true
	}
	return Fault{}, false
}

const (
	webPage    = "<!DOCTYPE html>\n<html><head><title>Unicorn! · GitHub</title></head><body>Try again.</body></html>\n"
	limitsPage = "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api"
	burstPage  = limitsPage + "#about-secondary-rate-limits"
	pullsPage  = "https://docs.github.com/rest/pulls/pulls#list-pull-requests"
	burst      = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
)

func (s *Server) misbehave(w http.ResponseWriter, r *http.Request, f Fault) {
	h := w.Header()
	switch f.Kind {
	case Unauthorized:
		s.problem(w, http.StatusUnauthorized, "Bad credentials", "https://docs.github.com/rest")
	case Forbidden:
		s.problem(w, http.StatusForbidden, "Resource not accessible by personal access token", pullsPage)
	case NotFound:
		s.notFound(w, r)
	case Unprocessable:
		s.send(w, http.StatusUnprocessableEntity, object{
			"message": "Validation Failed", "documentation_url": pullsPage, "status": "422",
			"errors": []object{{"resource": "PullRequest", "code": "invalid", "field": "state"}},
		})
	case RateLimit:
		h.Set("X-RateLimit-Remaining", "0")
		h.Set("X-RateLimit-Used", h.Get("X-RateLimit-Limit"))
		s.problem(w, http.StatusForbidden, "API rate limit exceeded for user ID 1.", limitsPage)
	case SecondaryLimit:
		h.Set("Retry-After", "60")
		s.problem(w, http.StatusForbidden, burst, burstPage)
	case SecondaryLimitBare:
		s.problem(w, http.StatusForbidden, burst, burstPage)
	case TooMany:
		h.Set("Retry-After", "60")
		s.problem(w, http.StatusTooManyRequests, burst, burstPage)
	case ServerError:
		s.send(w, http.StatusInternalServerError, object{"message": "Server Error"})
	case BadGateway:
		h.Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(http.StatusBadGateway)
		w.Write([]byte(webPage)) //nolint:errcheck // the client may be gone
	case WebPage:
		h.Set("Content-Type", "text/html; charset=utf-8")
		w.Write([]byte(webPage)) //nolint:errcheck // the client may be gone
	case Garbage:
		w.Write([]byte("\x00\x01 not JSON")) //nolint:errcheck // the client may be gone
	case EmptyObject:
		w.Write([]byte("{}")) //nolint:errcheck // the client may be gone
	case Hang:
		s.wait(r)
		panic(http.ErrAbortHandler)
	case HangBody:
		s.half(w)
		s.wait(r)
		panic(http.ErrAbortHandler)
	case Truncate:
		s.half(w)
		panic(http.ErrAbortHandler)
	case Reset:
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			if tcp, ok := conn.(*net.TCPConn); ok {
				tcp.SetLinger(0) //nolint:errcheck // then it is closed properly
			}
			_ = conn.Close()
		}
	case Echo:
		s.problem(w, http.StatusUnprocessableEntity, "Not understood: Authorization: "+r.Header.Get("Authorization"), pullsPage)
	case Redirect:
		h.Set("Location", f.Location)
		s.send(w, http.StatusFound, object{"message": "Found", "url": f.Location})
	}
}

// wait ends when the client leaves or the server closes.
func (s *Server) wait(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-s.closed:
	}
}

// half sends the beginning of a longer answer.
func (s *Server) half(w http.ResponseWriter) {
	w.Header().Set("Content-Length", "1000")
	w.Write([]byte(`{"number": 42, "title": "Only ha`)) //nolint:errcheck // the client may be gone
	http.NewResponseController(w).Flush()               //nolint:errcheck // the client may be gone
}
