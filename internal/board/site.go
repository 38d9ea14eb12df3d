package board

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/board/entry"
	"github.com/copse-dev/copse/internal/board/markup"
	"github.com/copse-dev/copse/internal/board/parts"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/httpguard"
)

// Path is where a server has the boards.
const Path = "/board/"

// SiteOptions configure a site.
type SiteOptions struct {
	// Open opens the board of a worktree. The board puts the placeholder where a form needs a
	// token.
	Open func(ctx context.Context, root string, p markup.Placeholder) (*Board, error)
	// Key returns the secret from which the addresses of boards are derived. The addresses change
	// with it.
	Key func(ctx context.Context) (string, error)
	// Own reports whether a request comes from a process of this user; others get nothing. Other
	// users of the machine can read a link in the arguments of the program that opens it, and its
	// path helps them to a browser's cookie. nil takes all.
	Own func(*http.Request) bool
	// Certain means that the system says whose each connection is, so Own is never a guess.
	Certain bool
	// Host is the name of the host of all pages, without a port. A browser stores scripts, such as
	// service workers, by host and port, and another user can have the port while the site does not
	// run. A name that nobody knew before has none. "" takes all.
	Host string
	Now  func() time.Time
}

// Site serves the boards of worktrees below [Path]. A guard in front of it checks the Host and
// the Origin of each request. Close it after use.
type Site struct {
	o           SiteOptions
	placeholder markup.Placeholder

	mu     sync.Mutex
	boards map[string]*mounted // by id
	closed bool
}

// mounted is a board with the access to it.
type mounted struct {
	*Board
	path   string // "/board/ID/"
	access *entry.Access
}

// NewSite returns a site without boards. placeholder must be a secret of this process.
func NewSite(placeholder markup.Placeholder, o SiteOptions) *Site {
	return &Site{o: o, placeholder: placeholder, boards: make(map[string]*mounted)}
}

// ErrClosed reports that the site has ended.
var ErrClosed = errors.New("copse up is shutting down")

// Link opens the board of a worktree and returns the path and query that log a browser in, once and
// within [entry.LinkTime].
func (s *Site) Link(ctx context.Context, root string, readOnly bool) (string, error) {
	key, err := s.o.Key(ctx)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte("board\x00" + root))
	id := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(mac.Sum(nil)[:15]))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "", ErrClosed
	}
	at := s.boards[id]
	if at == nil {
		b, err := s.o.Open(ctx, root, s.placeholder)
		if err != nil {
			return "", err
		}
		at = &mounted{Board: b, path: Path + id + "/", access: entry.New(Path+id+"/", s.o.Now)}
		s.boards[id] = at
	}
	return at.path + "enter?key=" + url.QueryEscape(at.access.Link(readOnly)), nil
}

// Close ends all pages and closes the boards.
func (s *Site) Close() {
	s.mu.Lock()
	boards := s.boards
	s.boards, s.closed = nil, true
	s.mu.Unlock()
	for _, at := range boards {
		at.Close()
	}
}

// find returns the board that a request is for, nil if there is none, and the path below it.
func (s *Site) find(r *http.Request) (at *mounted, rest string) {
	id, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, Path), "/")
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.boards[id], rest
}

// Host returns the name of the host of all pages, "" if any host can have them.
func (s *Site) Host() string { return s.o.Host }

// hosts reports whether a request is for the site's host.
func (s *Site) hosts(r *http.Request) bool {
	u, err := url.Parse("http://" + r.Host)
	return s.o.Host == "" || err == nil && strings.EqualFold(u.Hostname(), s.o.Host)
}

// Standing states whether a request has a session or, where the system says so, is of a process of
// this user. A flood of other users must not keep this user from logging in, or use up the limit of
// a session whose cookie they know.
func (s *Site) Standing(r *http.Request) httpguard.Standing {
	if s.o.Own != nil && !s.o.Own(r) {
		return httpguard.Stranger
	}
	if at, _ := s.find(r); at != nil && at.access.Session(r) != nil {
		return httpguard.Admitted
	}
	if s.o.Certain {
		return httpguard.Own
	}
	return httpguard.Stranger
}

// ServeHTTP answers a request below Path.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	headers(w.Header())
	at, rest := s.find(r)
	if at == nil {
		entry.Refuse(w, r, "Page not found, or its server has restarted.")
		return
	}
	if !s.hosts(r) {
		entry.Refuse(w, r, "The address of this page has changed.")
		return
	}
	if s.o.Own != nil && !s.o.Own(r) {
		entry.Refuse(w, r, "This page is for the user who runs copse up.")
		return
	}
	if rest == "enter" {
		s.enter(w, r, at)
		return
	}
	session := at.access.Session(r)
	if session == nil {
		entry.Refuse(w, r, "Only a browser that opened a link from copse can see this page.")
		return
	}
	if err := at.moved(); err != nil {
		entry.Refuse(w, r, err.Error())
		return
	}
	switch {
	case r.Method == http.MethodPost:
		s.change(w, r, at, session, rest)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD, POST")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	case strings.HasPrefix(rest, "asset/"):
		serveAsset(w, r, strings.TrimPrefix(rest, "asset/"))
	case strings.HasPrefix(rest, "live/"):
		s.stream(w, r, at, session, strings.TrimPrefix(rest, "live/"))
	default:
		s.show(w, r, at, session, rest)
	}
}

// headers sets the headers of every answer.
func headers(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "+
		"form-action 'self'; base-uri 'self'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	// No other site learns the address. With "no-referrer", browsers would hide the origin of a
	// form from this server, too, so that a page without scripts could change nothing.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// enter uses a link.
func (s *Site) enter(w http.ResponseWriter, r *http.Request, at *mounted) {
	// Programs that look at links before a person follows them use other methods.
	if r.Method != http.MethodGet || !at.access.Enter(w, r, r.URL.Query().Get("key")) {
		entry.Refuse(w, r, "This link was already used, or is older than a minute.")
		return
	}
	to := at.path
	if next := r.URL.Query().Get("to"); next != "" {
		to = at.inside(next)
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// inside returns the address of a page of this board, whatever the argument is.
func (at *mounted) inside(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || u.Host != "" || u.Opaque != "" || strings.HasPrefix(u.Path, "/") || strings.Contains(u.Path, "..") || strings.Contains(u.Path, `\`) {
		return at.path
	}
	u.Path, u.RawPath = at.path+u.Path, ""
	return u.String()
}

func serveAsset(w http.ResponseWriter, r *http.Request, name string) {
	for _, a := range markup.Assets() {
		if a.Name == name {
			w.Header().Set("Content-Type", a.Type)
			w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.Body))
			return
		}
	}
	http.NotFound(w, r)
}

// request returns the view that a path names, and the request to it.
func (at *mounted) request(rest string, query url.Values, s *entry.Session) (View, Request) {
	name, path, _ := strings.Cut(strings.TrimSuffix(rest, "/"), "/")
	return at.view(name), Request{Path: path, Query: query, ReadOnly: s.ReadOnly || at.o.ReadOnly}
}

// show answers with a page.
func (s *Site) show(w http.ResponseWriter, r *http.Request, at *mounted, session *entry.Session, rest string) {
	if rest == "" && len(at.o.Views) > 0 {
		http.Redirect(w, r, at.path+at.o.Views[0].Name(), http.StatusSeeOther)
		return
	}
	v, request := at.request(rest, r.URL.Query(), session)
	status := http.StatusOK
	if v == nil {
		v, request, status = missing{}, Request{}, http.StatusNotFound
		if rest == "keys" {
			v, status = keys{at.Board}, http.StatusOK
		}
	}
	s.answer(r.Context(), w, at, session, page{View: v, show: v.Render, Request: request, status: status})
}

// page is a page that is asked for.
type page struct {
	View
	Request
	show   show
	status int
	// once means that the page is an answer that is not kept up to date.
	once bool
}

// answer renders a page and writes it: first the frame, which a browser shows while the content is
// made.
func (s *Site) answer(ctx context.Context, w http.ResponseWriter, at *mounted, session *entry.Session, p page) {
	send := func(text []byte, err error) bool {
		if err != nil {
			at.o.Logger.Error("the board cannot show a page", "view", p.Name(), "error", err)
			text = []byte("<title>copse</title><p>The page could not be rendered. For the reason, see the log of copse up.</p>")
		}
		_, _ = w.Write(s.fill(text, session)) // a disconnected browser misses nothing
		_ = http.NewResponseController(w).Flush()
		return err == nil
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(p.status)
	if !send(at.shell.open(at.path)) {
		return
	}
	type made struct {
		page Page
		err  error
	}
	content := make(chan made, 1)
	go func() {
		page, err := at.content(ctx, p.View, p.show, p.Request)
		content <- made{page, err}
	}()
	here := address(p.View, p.Request)
	d := document{Address: here, Token: session.Token}
	if len(p.Watches()) > 0 && !p.once {
		d.Live = "live/" + here
	}
	frame, err := at.begin(ctx, p.View)
	var text []byte
	if err == nil {
		text, err = at.shell.begin(p.View, frame, d)
	}
	if !send(text, err) {
		return
	}
	got := <-content
	if ctx.Err() != nil {
		return
	}
	var scr parts.Screen
	if err = got.err; err == nil {
		scr, err = at.shell.screen(p.View, got.page, frame)
	}
	if err == nil {
		text, err = at.shell.finish(scr, template.HTML(session.Notice()))
	}
	if send(text, err) {
		at.countOne(ctx, p.View) // for the next page
	}
}

// fill inserts the token of a session where a form needs it.
func (s *Site) fill(text []byte, session *entry.Session) []byte {
	return bytes.ReplaceAll(text, []byte(s.placeholder), []byte(session.Token))
}

// stream sends the changes of a page while it is open.
func (s *Site) stream(w http.ResponseWriter, r *http.Request, at *mounted, session *entry.Session, rest string) {
	query := r.URL.Query()
	version := query.Get("board_version")
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		version = last
	}
	query.Del("board_version")
	v, request := at.request(rest, query, session)
	if v == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	out := http.NewResponseController(w)
	if out.Flush() != nil {
		return
	}
	ctx, cancel := session.During(r.Context())
	defer cancel()
	_ = at.live.follow(ctx, v, request, version, func(m message) error {
		if _, err := fmt.Fprintf(w, "id: %s\ndata: %s\n\n", m.version, s.fill(m.steps, session)); err != nil {
			return err
		}
		return out.Flush()
	}) // the browser connects again
}

// maxForm is the maximum size of a form.
const maxForm = 1 << 20

// change answers a form.
func (s *Site) change(w http.ResponseWriter, r *http.Request, at *mounted, session *entry.Session, rest string) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); strings.TrimSpace(kind) != "application/x-www-form-urlencoded" {
		at.fail(w, http.StatusUnsupportedMediaType, "The form has an unsupported type.", "")
		return
	}
	if err := r.ParseForm(); err != nil {
		at.fail(w, http.StatusBadRequest, "The form could not be read.", "Reload the page and try again.")
		return
	}
	if !session.Allows(r) {
		at.fail(w, http.StatusForbidden, "This change did not come from a page of this board.", "Reload the page and try again.")
		return
	}
	if rest == "leave" {
		session.Leave()
		http.Redirect(w, r, at.path, http.StatusSeeOther)
		return
	}
	if v, request := at.request(rest, r.URL.Query(), session); v != nil {
		if asker, ok := v.(Asker); ok && request.Path == "" {
			form := r.PostForm
			form.Del(entry.TokenField)
			s.answer(r.Context(), w, at, session, page{
				View: v, Request: request, status: http.StatusOK, once: true,
				show: func(ctx context.Context, r Request) (Page, error) { return asker.Ask(ctx, r, form) },
			})
			return
		}
	}
	cut := strings.LastIndex(rest, "/")
	if cut < 0 {
		http.NotFound(w, r)
		return
	}
	v, request := at.request(rest[:cut], r.URL.Query(), session)
	actor, ok := v.(Actor)
	if !ok {
		http.NotFound(w, r)
		return
	}
	if request.ReadOnly {
		at.fail(w, http.StatusForbidden, "This page is read-only.", "Start copse up without --read-only to change things here.")
		return
	}
	form := r.PostForm
	form.Del(entry.TokenField)
	done, err := actor.Act(r.Context(), request, rest[cut+1:], form)
	if err != nil {
		e := failure.Of(err)
		at.fail(w, http.StatusUnprocessableEntity, e.Message(at.o.Words), e.Hint(at.o.Words))
		return
	}
	session.Notify(string(done.Notice))
	http.Redirect(w, r, at.inside(done.To), http.StatusSeeOther)
}

// fail answers a change that failed.
func (at *mounted) fail(w http.ResponseWriter, status int, what, do string) {
	page, err := at.shell.kit.Render(at.shell.templates, "failed", struct {
		opening
		What, Do string
	}{openingOf(at.path), what, do})
	if err != nil {
		http.Error(w, http.StatusText(status), status)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, string(page)) // a disconnected browser misses nothing
}

// missing returns the page for an unknown address.
type missing struct{}

func (missing) Name() string      { return "missing" }
func (missing) Title() string     { return "Not found" }
func (missing) Watches() []Source { return nil }
func (missing) Render(context.Context, Request) (Page, error) {
	return Page{}, failure.New(failure.NotFound, "Page not found", "Choose one from the navigation.")
}

// keys returns the page that lists the keys.
type keys struct{ board *Board }

func (keys) Name() string      { return "keys" }
func (keys) Title() string     { return "Keys" }
func (keys) Watches() []Source { return nil }
func (k keys) Render(context.Context, Request) (Page, error) {
	html, err := k.board.kit.Render(k.board.shell.templates, "keys", nil)
	return Page{Title: "Keys", Sections: []Section{{Key: "keys", Label: "Keys", Head: html}}}, err
}
