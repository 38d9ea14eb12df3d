// Package model is a fake language model on loopback that follows a script, for tests of the
// programs that use copse. It speaks the parts of the protocols of Anthropic, OpenAI (both), and
// Google that those programs use, and records its requests.
//
// It keeps no state between requests: a request contains the results of all calls so far, and they
// decide on the next call. Requests without tools, which programs send for titles and summaries,
// get a short answer.
package model

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
)

// Call is a call of a tool.
type Call struct {
	Tool string
	Args string // JSON
	// Own means that the tool is the program's own, so its name is the whole one.
	Own bool
}

// Script returns the next call, false at the end. results are those of the calls before.
type Script func(results []string) (Call, bool)

// Model is a running model.
type Model struct {
	*httptest.Server
	// name returns the name by which a program calls a tool of the server; namespace contains it.
	name      func(tool string) string
	namespace string
	script    Script

	mu       sync.Mutex
	results  []string
	tools    []string
	requests []string
}

// New starts a model. name returns the name that a program gives to a tool.
func New(script Script, name func(tool string) string) *Model {
	m := &Model{script: script, name: name}
	m.Server = httptest.NewServer(m)
	return m
}

// InNamespace makes the model call tools in a namespace.
func (m *Model) InNamespace(name string) { m.namespace = name }

// Results returns the tool results that the model received.
func (m *Model) Results() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.results)
}

// Tools returns the names of the tools that it was offered, in their order.
func (m *Model) Tools() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.tools)
}

// Requests returns the requests with tools, as they were sent.
func (m *Model) Requests() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// maxRequest is how much of a request is read.
const maxRequest = 64 << 20

// dialect is the protocol of a maker.
type dialect interface {
	// read returns the tools of a request and the results in it.
	read(body []byte) (tools, results []string, err error)
	// answer writes a call, or the end with ok false. n is how many calls there were.
	answer(w io.Writer, n int, call Call, ok, stream bool)
}

// ServeHTTP answers a request of a program.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var d dialect
	stream := strings.Contains(string(body), `"stream":true`)
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/messages"):
		d = anthropic{}
	case strings.HasSuffix(path, "/responses"):
		d = responses{m.namespace}
	case strings.HasSuffix(path, "/chat/completions"):
		d = chat{}
	case strings.HasSuffix(path, ":streamGenerateContent"), strings.HasSuffix(path, ":generateContent"):
		d, stream = google{}, strings.HasSuffix(path, ":streamGenerateContent")
	case strings.Contains(path, "ount"): // of tokens
		fmt.Fprint(w, `{"input_tokens":1,"totalTokens":1}`)
		return
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{}`)
		return
	}
	tools, results, err := d.read(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var call Call
	ok := false
	if len(tools) > 0 {
		m.remember(string(body), tools, results)
		if call, ok = m.script(results); ok && !call.Own {
			call.Tool = m.name(call.Tool)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	if stream {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	d.answer(w, len(results), call, ok, stream)
}

func (m *Model) remember(body string, tools, results []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.requests) == 0 {
		m.tools = tools
	}
	m.requests = append(m.requests, body)
	if len(results) > len(m.results) {
		m.results = results
	}
}

// object is a JSON object.
type object = map[string]any

// event writes a server-sent event.
func event(w io.Writer, name string, data any) {
	line, err := json.Marshal(data)
	if err != nil {
		panic(err) // it is made here
	}
	if name != "" {
		fmt.Fprintf(w, "event: %s\n", name)
	}
	fmt.Fprintf(w, "data: %s\n\n", line)
}

// whole writes an answer that is not a stream.
func whole(w io.Writer, data any) {
	_ = json.NewEncoder(w).Encode(data) // a program that hangs up misses nothing
}

// text returns the text of a value that is a string, or blocks with texts.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var blocks []struct{ Text string }
	if json.Unmarshal(raw, &blocks) == nil {
		var all []string
		for _, b := range blocks {
			all = append(all, b.Text)
		}
		return strings.Join(all, "\n")
	}
	return string(raw)
}

// done is what the model says at the end.
const done = "Done."

func id(n int) string { return fmt.Sprintf("call_%d", n+1) }
