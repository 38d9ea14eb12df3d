package board

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/board/parts"
)

const (
	// pause is the shortest time between two updates of a page.
	pause = 200 * time.Millisecond
	// refresh is how often a page is rendered without a change, to update what depends on the
	// clock.
	refresh = time.Minute
	// linger is how long the board watches sources after the last page closed.
	linger = 20 * time.Second
)

// hub updates open pages. While no page is open, it does nothing. Pages with the same content share
// the work.
type hub struct {
	board *Board

	ctx     context.Context //nolint:containedctx // the lifetime of the hub, which is longer than any request
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	topics map[string]*topic
	watch  *watching // nil while nothing is watched
	idle   *time.Timer
}

// watching is a run of the board's Watch.
type watching struct {
	cancel context.CancelFunc
	ready  chan struct{}
	wake   chan struct{} // something may have changed
}

// topic is an open page.
type topic struct {
	view    View
	request Request
	readers map[chan message]bool
	last    parts.Screen
	dirty   bool
}

// message is a message to an open page: the steps from one version to another.
type message struct {
	from, version string
	steps         []byte // JSON
	// again means that the page is loaded again, so it gets no steps until it connects again.
	again bool
}

// to returns the message for a page of a version, and the page's next version. ok is false for a
// page that needs no message. A page can be newer than the last update, when it was made after a
// change that nobody had noticed, or while the update was on its way.
func (m message) to(version string) (_ message, next string, ok bool) {
	switch {
	case m.version == version:
		return m, version, false
	case m.from != version:
		m = reload(m.version)
	}
	if m.again {
		return m, "", true
	}
	return m, m.version, true
}

func newHub(b *Board) *hub {
	h := &hub{board: b, topics: make(map[string]*topic)}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	return h
}

func (h *hub) close() {
	h.cancel()
	h.mu.Lock()
	if h.idle != nil {
		h.idle.Stop()
	}
	h.mu.Unlock()
	h.running.Wait()
}

// follow calls send for each change of a page, until ctx or the hub ends. version is the version of
// the page that the reader has.
func (h *hub) follow(ctx context.Context, v View, r Request, version string, send func(message) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(h.ctx, cancel)()
	key := topicKey(v, r)
	updates := make(chan message, 16)
	ready := h.join(key, v, r, updates)
	defer h.leave(key, updates)
	select {
	case <-ready:
	case <-ctx.Done():
		return nil
	}
	// This shows changes from before the watch began.
	now, err := h.board.render(ctx, v, r)
	if err != nil {
		return err
	}
	if now.Version != version {
		version = ""
		if err := send(reload(now.Version)); err != nil {
			return err
		}
	}
	h.mu.Lock()
	if t := h.topics[key]; t != nil && t.last.Version == "" {
		t.last = now
		if t.dirty { // something changed while the page was rendered
			h.wake()
		}
	} else if t != nil && t.last.Version != now.Version {
		t.dirty = true
		h.wake()
	}
	h.mu.Unlock()
	if now.Version == version {
		// From now on, the page misses no change.
		if err := send(message{version: version, steps: []byte(`[]`)}); err != nil {
			return err
		}
	}
	return forward(ctx, updates, version, send)
}

// forward sends the updates that concern a page of a version, until ctx ends or the page reads too
// slowly.
func forward(ctx context.Context, updates <-chan message, version string, send func(message) error) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case u, ok := <-updates:
			if !ok {
				return nil // it reads too slowly
			}
			if u, version, ok = u.to(version); !ok {
				continue
			}
			if err := send(u); err != nil {
				return err
			}
		}
	}
}

func topicKey(v View, r Request) string {
	mode := "rw"
	if r.ReadOnly {
		mode = "ro"
	}
	return mode + " " + v.Name() + "/" + r.Path + "?" + r.Query.Encode()
}

func reload(version string) message {
	return message{version: version, steps: []byte(`[{"op":"reload"}]`), again: true}
}

// join adds a reader to a page. The first reader starts the watch.
func (h *hub) join(key string, v View, r Request, updates chan message) (ready <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topics[key]
	if t == nil {
		t = &topic{view: v, request: r, readers: make(map[chan message]bool)}
		h.topics[key] = t
	}
	t.readers[updates] = true
	if h.idle != nil {
		h.idle.Stop()
		h.idle = nil
	}
	if h.watch == nil {
		h.begin()
	}
	return h.watch.ready
}

// begin starts to watch the sources. The caller holds the lock.
func (h *hub) begin() {
	ctx, cancel := context.WithCancel(h.ctx)
	w := &watching{cancel: cancel, ready: make(chan struct{}), wake: make(chan struct{}, 1)}
	h.watch = w
	ready := sync.OnceFunc(func() { close(w.ready) })
	if h.board.o.Watch == nil {
		ready()
	} else {
		h.running.Go(func() {
			defer ready() // a failed watch delays nobody
			h.board.o.Watch(ctx, ready, h.changed)
		})
	}
	h.running.Go(func() { h.update(ctx, w) })
}

// leave removes a reader.
func (h *hub) leave(key string, updates chan message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.topics[key]; t != nil {
		delete(t.readers, updates)
		if len(t.readers) == 0 {
			delete(h.topics, key)
		}
	}
	if len(h.topics) > 0 || h.watch == nil || h.ctx.Err() != nil {
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(linger, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.idle == timer && h.watch != nil {
			h.watch.cancel()
			h.watch, h.idle = nil, nil
		}
	})
	h.idle = timer
}

// changed records that a source may have changed.
func (h *hub) changed(s Source) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.topics {
		// The navigation shows figures of other views.
		if slices.Contains(t.view.Watches(), s) || h.counts(s) {
			t.dirty = true
		}
	}
	h.wake()
}

// counts reports whether a figure in the navigation depends on a source.
func (h *hub) counts(s Source) bool {
	return slices.ContainsFunc(h.board.o.Views, func(v View) bool {
		_, counter := v.(Counter)
		return counter && slices.Contains(v.Watches(), s)
	})
}

// wake schedules the pages that need an update. The caller holds the lock.
func (h *hub) wake() {
	if h.watch == nil {
		return
	}
	select {
	case h.watch.wake <- struct{}{}:
	default:
	}
}

// update renders pages again when something has changed, until ctx ends.
func (h *hub) update(ctx context.Context, w *watching) {
	clock := time.NewTicker(refresh)
	defer clock.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-clock.C:
			h.mu.Lock()
			for _, t := range h.topics {
				t.dirty = true
			}
			h.mu.Unlock()
		case <-w.wake:
		}
		for _, key := range h.due() {
			h.remake(ctx, key)
		}
		rest := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			rest.Stop()
			return
		case <-rest.C:
		}
	}
}

// due returns the pages that need an update.
func (h *hub) due() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var keys []string
	for key, t := range h.topics {
		// A topic without a page has a reader that is about to render it.
		if t.dirty && t.last.Version != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// remake renders a page again and sends the differences to its readers.
func (h *hub) remake(ctx context.Context, key string) {
	h.mu.Lock()
	t := h.topics[key]
	if t == nil {
		h.mu.Unlock()
		return
	}
	t.dirty = false
	was := t.last
	h.mu.Unlock()
	now, err := h.board.render(ctx, t.view, t.request)
	if err != nil || now.Version == was.Version {
		return // the next change tries again
	}
	var steps bytes.Buffer
	encoder := json.NewEncoder(&steps)
	encoder.SetEscapeHTML(false) // the script reads it from the stream, which is not HTML
	all := parts.Changes(was, now)
	err = encoder.Encode(all)
	if err != nil {
		h.board.o.Logger.Error("the board cannot send an update", "error", err)
		return
	}
	update := message{from: was.Version, version: now.Version, steps: bytes.TrimSpace(steps.Bytes())}
	update.again = slices.ContainsFunc(all, func(s parts.Step) bool { return s.Op == parts.Reload })
	h.mu.Lock()
	defer h.mu.Unlock()
	t.last = now
	for updates := range t.readers {
		select {
		case updates <- update:
		default:
			close(updates) // the page reads it again when it connects again
			delete(t.readers, updates)
		}
	}
}
