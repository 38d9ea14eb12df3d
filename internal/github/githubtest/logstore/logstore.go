// Package logstore is the store of logs beside the test server of GitHub: another server, which returns
// a log to every client with its secret address.
package logstore

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Log is a log, and which parts of it the store sends.
type Log struct {
	Text   string
	Ranges string // "none", "from" for those without a suffix, or "" for all
}

// Store is a running store.
type Store struct {
	url  string
	http *http.Server
	find func(id string) (Log, bool)

	mu       sync.Mutex
	requests []Request
	sent     int
}

// Request is a request to the store.
type Request struct {
	Header http.Header
	URI    string
}

// Signature opens every log of the store.
const Signature = "c2lnbmF0dXJl"

// Start starts a store on a free port of the loopback interface. find returns a log.
func Start(find func(id string) (Log, bool)) (*Store, error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start store of logs: %w", err)
	}
	s := &Store{url: "http://" + listener.Addr().String(), find: find}
	s.http = &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: time.Minute}
	go s.http.Serve(listener) //nolint:errcheck // ends with Close
	return s, nil
}

// Close ends the store.
func (s *Store) Close() { _ = s.http.Close() }

// Address returns the secret address of a log.
func (s *Store) Address(id string) string { return s.url + "/logs/" + id + "?sig=" + Signature }

// Requests returns the requests so far, and the number of bytes that the store sent.
func (s *Store) Requests() ([]Request, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests), s.sent
}

func (s *Store) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, Request{Header: r.Header.Clone(), URI: r.URL.RequestURI()})
	s.mu.Unlock()
	if r.URL.Query().Get("sig") != Signature || r.Header.Get("Authorization") != "" {
		// Real stores also accept only their own signatures.
		http.Error(w, "AuthenticationFailed "+r.Header.Get("Authorization"), http.StatusForbidden)
		return
	}
	log, ok := s.find(strings.TrimPrefix(r.URL.Path, "/logs/"))
	if !ok {
		http.NotFound(w, r)
		return
	}
	counted := &countedWriter{ResponseWriter: w, store: s}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	suffix := strings.HasPrefix(r.Header.Get("Range"), "bytes=-")
	if log.Ranges == "none" || log.Ranges == "from" && suffix {
		w.Header().Set("Content-Length", strconv.Itoa(len(log.Text)))
		_, _ = counted.Write([]byte(log.Text)) // the client may be gone
		return
	}
	http.ServeContent(counted, r, "", time.Time{}, strings.NewReader(log.Text))
}

// countedWriter counts what the store sends.
type countedWriter struct {
	http.ResponseWriter
	store *Store
}

func (w *countedWriter) Write(b []byte) (int, error) {
	n, err := w.ResponseWriter.Write(b)
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	w.store.sent += n
	return n, err
}
