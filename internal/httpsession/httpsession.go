// Package httpsession tracks the clients of an HTTP server whose sessions outlive a
// single request, and ends a session when its client disconnects.
//
// A [Registry] contains the sessions. [Registry.Begin] opens one for a request;
// [Session.Name] gives it the ID with which later requests [Registry.Enter] it. Every
// Begin and Enter is paired with a [Session.Leave] when the request or stream closes.
// Work that belongs to the client runs under [Session.Run] or [Session.Hold].
//
// It guarantees that
//
//   - a session without an ID ends with its request;
//   - a session ends when its client has had no request or stream open for the grace
//     period while work still runs for it, or for the idle period otherwise;
//   - a session ends with what admitted it, if the request that began it came [Until] then;
//   - the end of a session cancels all its work;
//   - there are never more than Max sessions. The client that has been silent longest
//     makes room; a client with an open request or stream never does.
package httpsession

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Options are the limits of a registry. All of them are required.
type Options struct {
	// Max is the maximum number of sessions.
	Max int
	// Grace is how long a client may have nothing open before it counts as disconnected.
	Grace time.Duration
	// Idle is how long a silent session without work lasts.
	Idle time.Duration
}

// ErrFull means that all sessions belong to connected clients.
var ErrFull = errors.New("too many sessions are open")

// Registry holds the sessions of one server. It is safe for concurrent use.
type Registry struct {
	o Options

	mu     sync.Mutex
	closed bool
	all    map[*Session]struct{}
	named  map[string]*Session
}

// New returns an empty registry.
func New(o Options) *Registry {
	return &Registry{o: o, all: make(map[*Session]struct{}), named: make(map[string]*Session)}
}

// Session is the session of one client.
type Session struct {
	registry *Registry
	ctx      context.Context //nolint:containedctx // the session's lifetime, which spans requests
	cancel   context.CancelFunc

	// The registry's lock guards the rest.
	id     string
	open   int // requests and streams
	held   int // calls and subscriptions
	calls  int
	silent time.Time
	timer  *time.Timer
}

// Begin opens a session for a request. The error is ErrFull if there is no room.
func (r *Registry) Begin() (*Session, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || len(r.all) >= r.o.Max && !r.makeRoom() {
		return nil, ErrFull
	}
	s := &Session{registry: r, open: 1}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	r.all[s] = struct{}{}
	return s, nil
}

// makeRoom ends the session whose client has been silent longest, preferably one without work. It
// reports whether it found a session to end.
func (r *Registry) makeRoom() bool {
	var victim *Session
	for s := range r.all {
		if s.open > 0 {
			continue
		}
		if victim == nil || (s.held == 0) != (victim.held == 0) && s.held == 0 ||
			(s.held == 0) == (victim.held == 0) && s.silent.Before(victim.silent) {
			victim = s
		}
	}
	if victim == nil {
		return false
	}
	victim.end()
	return true
}

// Enter opens a request or stream of the session with this ID, which must be followed by
// Leave. It returns nil if there is no such session.
func (r *Registry) Enter(id string) *Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.named[id]
	if s == nil {
		return nil
	}
	s.open++
	if s.timer != nil {
		s.timer.Stop()
	}
	return s
}

// Has reports whether there is a session with this ID.
func (r *Registry) Has(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.named[id] != nil
}

// Present returns the number of clients that are connected: those that have a request or
// stream open, or had one within the grace period.
func (r *Registry) Present() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for s := range r.all {
		if s.open > 0 || time.Since(s.silent) < r.o.Grace {
			n++
		}
	}
	return n
}

// Close ends all sessions and refuses new ones.
func (r *Registry) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for s := range r.all {
		s.end()
	}
}

// Name sets the ID of the session for later requests, once. It reports whether it did: not for an
// empty ID, nor for a session that has one or has ended.
func (s *Session) Name(id string) bool {
	s.registry.mu.Lock()
	defer s.registry.mu.Unlock()
	if s.ctx.Err() != nil || s.id != "" || id == "" {
		return false
	}
	s.id = id
	s.registry.named[id] = s
	return true
}

// Leave closes a request or stream.
func (s *Session) Leave() {
	s.registry.mu.Lock()
	defer s.registry.mu.Unlock()
	s.open--
	if s.open > 0 || s.ctx.Err() != nil {
		return
	}
	if s.id == "" {
		s.end()
		return
	}
	s.silent = time.Now()
	if s.timer == nil {
		s.timer = time.AfterFunc(s.registry.o.Grace, s.check)
	} else {
		s.timer.Reset(s.registry.o.Grace)
	}
}

// check ends the session if its client has disconnected.
func (s *Session) check() {
	s.registry.mu.Lock()
	defer s.registry.mu.Unlock()
	if s.open > 0 || s.ctx.Err() != nil {
		return
	}
	silent := time.Since(s.silent)
	switch {
	case silent < s.registry.o.Grace: // it left again after the timer was set
		s.timer.Reset(s.registry.o.Grace - silent)
	case s.held > 0 || silent >= s.registry.o.Idle:
		s.end()
	default:
		s.timer.Reset(s.registry.o.Idle - silent)
	}
}

// End ends the session and cancels all its work.
func (s *Session) End() {
	s.registry.mu.Lock()
	defer s.registry.mu.Unlock()
	s.end()
}

// end is End for a caller that holds the lock.
func (s *Session) end() {
	s.cancel()
	if s.timer != nil {
		s.timer.Stop()
	}
	delete(s.registry.all, s)
	if s.registry.named[s.id] == s {
		delete(s.registry.named, s.id)
	}
}

type untilKey struct{}

// Until returns a context for a request. A session that the request begins ends with end at the latest.
func Until(ctx, end context.Context) context.Context {
	return context.WithValue(ctx, untilKey{}, end)
}

// EndWith ends the session when what [Until] has put into the context of a request ends.
func (s *Session) EndWith(ctx context.Context) {
	if end, ok := ctx.Value(untilKey{}).(context.Context); ok {
		stop := context.AfterFunc(end, s.End)
		context.AfterFunc(s.ctx, func() { stop() })
	}
}

// Context ends with the session.
func (s *Session) Context() context.Context { return s.ctx }

// Hold records work for the client until release is called, however often.
func (s *Session) Hold() (release func()) {
	s.registry.mu.Lock()
	s.held++
	s.registry.mu.Unlock()
	return sync.OnceFunc(func() {
		s.registry.mu.Lock()
		s.held--
		s.registry.mu.Unlock()
	})
}

// UnderWay returns the number of the client's calls that run, or that of its other open requests and
// streams if there are more of them: a call can outlive its request, and a request its call. Ask while
// a request is open.
func (s *Session) UnderWay() int {
	s.registry.mu.Lock()
	defer s.registry.mu.Unlock()
	return max(s.open-1, s.calls)
}

// count adds to the number of calls.
func (s *Session) count(n int) {
	s.registry.mu.Lock()
	defer s.registry.mu.Unlock()
	s.calls += n
}

// Run returns a context for a call of the client, which ends with ctx or with the session,
// whichever is first. The caller calls done when the call has returned.
func (s *Session) Run(ctx context.Context) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.ctx, cancel)
	release := s.Hold()
	s.count(1)
	return ctx, func() {
		stop()
		cancel()
		release()
		s.count(-1)
	}
}
