// Package entry decides who may see a page on this machine: anyone who has followed a link that
// copse printed for this user.
//
// Make an [Access] with [New]. [Access.Link] returns a secret that gives access once, within
// [LinkTime]. [Access.Enter] trades it for a [Session], which a cookie names, and [Access.Session]
// finds the session of a request. [Session.Allows] decides whether a request may change
// something. [Refuse] answers those without a session. An Access guarantees that
//
//   - a link works once, and late or repeated use looks like a link that never existed;
//   - a cookie is valid only for the Access that set it, on the host and port where it was set, until
//     the process ends or the session is unused for [Idle];
//   - a browser sends the cookie only with requests below its own path, which pages on other
//     ports do not know: browsers share cookies among the ports of a host. A link reveals the path
//     to those who can read it, so the server must accept requests only from its own user;
//   - the number of links and sessions is limited; new ones replace the oldest.
//
// It is safe for concurrent use.
package entry

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/httpguard"
)

const (
	// LinkTime is how long a link is valid.
	LinkTime = time.Minute
	// Idle is how long a session lasts without a request.
	Idle = 24 * time.Hour

	maxLinks    = 16
	maxSessions = 64

	cookieName = "copse_board"
	// TokenField is the form field with the token of a change.
	TokenField = "board_token"
	// TokenHeader is the header with that token, for scripts.
	TokenHeader = "X-Board-Token"
)

// Access is the entry to the pages below one path.
type Access struct {
	path string
	now  func() time.Time

	mu       sync.Mutex
	links    []link
	sessions []*Session
}

type link struct {
	secret   string
	until    time.Time
	readOnly bool
}

// Session is a browser that has logged in.
type Session struct {
	// Token must accompany each change.
	Token string
	// ReadOnly means that the session cannot change anything.
	ReadOnly bool

	access *Access
	cookie string
	host   string
	ended  chan struct{}

	mu     sync.Mutex
	seen   time.Time
	notice string
}

// New returns the access to the pages below path, which ends with a slash.
func New(path string, now func() time.Time) *Access { return &Access{path: path, now: now} }

// Link returns a secret that gives access once. If readOnly is set, the session can only read.
func (d *Access) Link(readOnly bool) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	one := link{secret: rand.Text(), until: d.now().Add(LinkTime), readOnly: readOnly}
	if len(d.links) >= maxLinks {
		d.links = d.links[1:]
	}
	d.links = append(d.links, one)
	return one.secret
}

// Enter uses a link and sets the cookie of a new session. It reports whether the link was valid.
func (d *Access) Enter(w http.ResponseWriter, r *http.Request, secret string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := -1
	for i, l := range d.links {
		if same(l.secret, secret) && d.now().Before(l.until) {
			at = i
		}
	}
	if at < 0 {
		return false
	}
	s := &Session{
		Token: rand.Text(), ReadOnly: d.links[at].readOnly,
		access: d, cookie: rand.Text(), host: strings.ToLower(r.Host), seen: d.now(), ended: make(chan struct{}),
	}
	d.links = append(d.links[:at], d.links[at+1:]...)
	if len(d.sessions) >= maxSessions {
		close(d.sessions[0].ended)
		d.sessions = d.sessions[1:]
	}
	d.sessions = append(d.sessions, s)
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: s.cookie, Path: d.path, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	return true
}

// Session returns the session of a request, nil if it has none.
func (d *Access) Session(r *http.Request) *Session {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, cookie := range r.CookiesNamed(cookieName) {
		for _, s := range d.sessions {
			if same(s.cookie, cookie.Value) && s.host == strings.ToLower(r.Host) && s.touch(d.now()) {
				return s
			}
		}
	}
	return nil
}

// During returns a context that also ends with the session: when somebody leaves it, when a new one
// replaces it, or when it has been unused for [Idle].
func (s *Session) During(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		for left := s.left(); left > 0; left = s.left() {
			select {
			case <-s.ended:
				return
			case <-ctx.Done():
				return
			case <-time.After(left):
			}
		}
	}()
	return ctx, cancel
}

// left returns how long the session lasts without another request.
func (s *Session) left() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Idle - s.access.now().Sub(s.seen) + time.Nanosecond
}

// Leave ends a session.
func (s *Session) Leave() {
	s.access.mu.Lock()
	defer s.access.mu.Unlock()
	for i, other := range s.access.sessions {
		if other == s {
			close(s.ended)
			s.access.sessions = append(s.access.sessions[:i], s.access.sessions[i+1:]...)
			return
		}
	}
}

// Allows reports whether a request, whose form has been parsed, may change something: it must
// come from a page of this origin, and know the session's token.
func (s *Session) Allows(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) != 1 {
		return false // browsers send it with each change
	}
	if !httpguard.OwnOrigin(origins[0], r.Host) {
		return false
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return false
	}
	token := r.Header.Get(TokenHeader)
	if token == "" {
		token = r.PostForm.Get(TokenField)
	}
	return same(token, s.Token)
}

// Notify keeps a text for the next page of the session.
func (s *Session) Notify(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notice = text
}

// Notice returns the text for the next page, once.
func (s *Session) Notice() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.notice
	s.notice = ""
	return text
}

// touch records a request, unless the session was unused for too long.
func (s *Session) touch(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.seen) > Idle {
		return false
	}
	s.seen = now
	return true
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
